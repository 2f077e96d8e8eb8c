//! The query of a list: the filter, the sort order and the cursor. This module writes it in a
//! canonical form for links and cache keys. The parser is in `query_parser.rs`.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use petstore_domain::{Limit, PetId};

use super::{
    filter::{Filter, Parameter},
    offers::constant_limit,
};

/// The query parameter with the id of the last animal on the previous page.
pub(super) const CURSOR_PARAMETER: &str = "cursor";

/// The query parameter with the sort order: see [`SortOrder`].
pub(super) const SORT_PARAMETER: &str = "sort";

/// The value of `sort` for [`SortOrder::LongestWaitingFirst`].
pub(super) const SORT_LONGEST: &str = "longest";

/// The default number of animals on a page.
const PAGE_LENGTH: i64 = 24;

/// The order of the animals in a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum SortOrder {
    /// The animals that were added last come first.
    #[default]
    NewestFirst,
    /// The animals that have waited longest for a home come first.
    LongestWaitingFirst,
}

impl SortOrder {
    /// Returns the other order.
    pub(super) fn opposite(self) -> Self {
        match self {
            Self::NewestFirst => Self::LongestWaitingFirst,
            Self::LongestWaitingFirst => Self::NewestFirst,
        }
    }
}

/// A query, which selects one page of the list.
#[derive(Debug, Clone)]
pub(super) struct Query {
    pub(super) filter: Filter,
    pub(super) limit: Limit,
    /// The cursor: the id of the last animal on the previous page. `None` for the first page.
    pub(super) after: Option<PetId>,
    pub(super) order: SortOrder,
    /// Whether the request had empty parameters. A browser sends one for every empty input of the
    /// form.
    pub(super) has_empty_parameters: bool,
    /// Whether the request had unknown parameters that were probably meant to select animals, such
    /// as a field that no longer exists. If so, the page tells the visitor that it did not understand
    /// the whole link.
    pub(super) has_unknown_parameters: bool,
}

impl Default for Query {
    /// Returns the query for the first page of all animals, newest first.
    fn default() -> Self {
        Self {
            filter: Filter::default(),
            limit: constant_limit(PAGE_LENGTH),
            after: None,
            order: SortOrder::NewestFirst,
            has_empty_parameters: false,
            has_unknown_parameters: false,
        }
    }
}

impl Query {
    /// Returns the query for the first page of the animals that match a filter, newest first.
    pub(super) fn for_filter(filter: Filter) -> Self {
        Self {
            filter,
            ..Self::default()
        }
    }

    /// Whether search engines may index the page: only a first page in the default order, without text
    /// that a visitor typed. The URLs of later pages are not permanent.
    pub(super) fn is_indexed(&self) -> bool {
        self.after.is_none() && self.order == SortOrder::NewestFirst && !self.filter.has_free_text()
    }

    /// Returns the query for the first page with the same filter, newest first.
    pub(super) fn into_first_page(self) -> Self {
        Self::for_filter(self.filter)
    }

    /// Returns the canonical query string, with its question mark: the known parameters in a fixed
    /// order, except `limit`. It is empty if there are no parameters.
    ///
    /// Example: `?sort=longest&field.species=Dog&cursor=81`.
    pub(super) fn canonical_query_string(&self) -> String {
        self.query_string_after(self.after)
    }

    /// Returns the canonical query string for another page of the same list: the page that begins after
    /// the animal `after`. Without `after`, this is the first page.
    pub(super) fn query_string_after(&self, after: Option<PetId>) -> String {
        let mut parameters = self.filter.parameters();
        if self.order == SortOrder::LongestWaitingFirst {
            parameters.insert(0, Parameter::new(SORT_PARAMETER, SORT_LONGEST));
        }
        if let Some(id) = after {
            parameters.push(Parameter::new(CURSOR_PARAMETER, id.to_string()));
        }
        if parameters.is_empty() {
            return String::new();
        }

        let encoded_parameters: Vec<String> = parameters.iter().map(encode_parameter).collect();
        format!("?{}", encoded_parameters.join("&"))
    }

    /// Returns the path of the first page of the list with this filter, in the sort order of this
    /// query.
    pub(super) fn path_with(&self, filter: Filter) -> String {
        let mut query = Self::for_filter(filter);
        query.order = self.order;
        format!("/{}", query.canonical_query_string())
    }
}

/// Percent-encodes the value of a parameter. Parameter names contain no characters that need
/// encoding.
///
/// Example: the name `Zoë` becomes `name=Zo%C3%AB`.
fn encode_parameter(parameter: &Parameter) -> String {
    let value = utf8_percent_encode(&parameter.value, NON_ALPHANUMERIC);
    format!("{}={value}", parameter.name)
}
