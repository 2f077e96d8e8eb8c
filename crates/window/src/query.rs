//! The query string of the list: the filter, the sort order and the cursor. This module parses it,
//! and writes it in a canonical form for links and cache keys.

use std::{borrow::Cow, collections::HashSet, ops::RangeInclusive};

use jiff::civil::Date;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use petstore_domain::{
    Limit, PetId, Problem,
    store_area::{Age, FieldDefinition, FieldKind, FieldSet, NamePrefix, Phrase},
    text::parse_integer,
};
use petstore_web::edge::ApiError;

use super::filter::{
    AGE_PARAMETER, AgeFilter, CATEGORY_PARAMETER, FIELD_PREFIX, Filter, NAME_PARAMETER, NameFilter,
    Parameter, SEARCH_PARAMETER, birth_field, filterable_field,
};

/// The maximum number of fields in a filter, including the age. The search needs an additional read
/// for each field.
const MAX_FILTER_FIELDS: usize = 8;

/// The default number of animals on a page.
const PAGE_LENGTH: i64 = 24;

/// The page lengths that the `limit` of `/embed` and `/animals.json` may select.
const ALLOWED_LIMITS: RangeInclusive<i64> = 1..=48;

/// The maximum length of a field value, in characters. No choice of a field is longer.
const MAX_VALUE_LENGTH: usize = 64;

/// A parsed query, which selects one page of the list.
#[derive(Debug, Clone)]
pub(super) struct Query {
    pub(super) filter: Filter,
    pub(super) limit: Limit,
    /// The cursor: the id of the last animal on the previous page. `None` for the first page.
    pub(super) after: Option<PetId>,
    /// Whether the animals that have waited longest come first, instead of the newest.
    pub(super) longest_first: bool,
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
            limit: Limit::new(PAGE_LENGTH).unwrap_or_default(),
            after: None,
            longest_first: false,
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

    /// Parses the query string of a request. Ignores unknown and empty parameters. Fails with 400
    /// if a known parameter is invalid or is given twice.
    ///
    /// `takes_limit` is whether the route has a `limit` parameter. A filter by age selects animals that
    /// have this age on the day `today`.
    ///
    /// Example: `field.species=Dog&cursor=81` selects the page of dogs after the animal with the id
    /// 81.
    pub(super) fn parse(
        query: Option<&str>,
        fields: &FieldSet,
        takes_limit: bool,
        today: Date,
    ) -> Result<Self, ApiError> {
        let mut parser = QueryParser {
            fields,
            takes_limit,
            today,
            query: Self::default(),
            seen_names: HashSet::new(),
        };
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            parser.add_parameter(&name, &value)?;
        }
        parser.finish()
    }

    /// Whether search engines may index the page: only a first page in the default order, without text
    /// that a visitor typed. The URLs of later pages are not permanent.
    pub(super) fn is_indexed(&self) -> bool {
        self.after.is_none() && !self.longest_first && !self.filter.has_free_text()
    }

    /// Returns the query for the first page with the same filter, newest first.
    pub(super) fn into_first_page(self) -> Self {
        Self::for_filter(self.filter)
    }

    /// Returns the canonical query string, with its question mark: the known parameters in a fixed
    /// order, except `limit`. It is empty if there are no parameters.
    ///
    /// Example: `?sort=longest&field.species=Dog&cursor=81`.
    pub(super) fn canonical(&self) -> String {
        self.with_cursor(self.after)
    }

    /// Returns the query string of [`Self::canonical`] for the page that begins after the animal
    /// `after`, or for the first page without `after`.
    pub(super) fn with_cursor(&self, after: Option<PetId>) -> String {
        let mut parameters = self.filter.parameters();
        if self.longest_first {
            parameters.insert(0, Parameter::new("sort", "longest"));
        }
        if let Some(id) = after {
            parameters.push(Parameter::new("cursor", id.to_string()));
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
        query.longest_first = self.longest_first;
        format!("/{}", query.canonical())
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

/// Collects the parameters of a query string into a [`Query`], one by one.
struct QueryParser<'f> {
    fields: &'f FieldSet,
    takes_limit: bool,
    today: Date,
    /// The result so far.
    query: Query,
    /// The names of the known, non-empty parameters so far, to reject duplicates.
    seen_names: HashSet<String>,
}

impl QueryParser<'_> {
    /// Adds a parameter to the query. Does not add an unknown or empty parameter, but records in the
    /// query that there was one. Fails if the parameter is invalid or a duplicate.
    fn add_parameter(&mut self, name: &str, value: &str) -> Result<(), ApiError> {
        if !self.is_known(name) {
            self.query.has_unknown_parameters |= may_select_animals(name, value);
            return Ok(());
        }
        let is_blank_search = name == SEARCH_PARAMETER && value.trim().is_empty();
        if value.is_empty() || is_blank_search {
            self.query.has_empty_parameters = true;
            return Ok(());
        }
        // The percent-decoder substitutes U+FFFD for bytes that are not valid UTF-8.
        if value.contains('\u{FFFD}') {
            return Err(invalid_parameter(
                "The address must be UTF-8, with its bytes percent-encoded.",
            ));
        }
        if !self.seen_names.insert(name.to_owned()) {
            return Err(invalid_parameter(format!(
                "The address has {name} more than once."
            )));
        }

        match name {
            CATEGORY_PARAMETER => self.query.filter.category_id = Some(parse_category_id(value)?),
            NAME_PARAMETER => self.query.filter.name = parse_name(value)?,
            SEARCH_PARAMETER => self.query.filter.phrase = Some(parse_phrase(value)?),
            AGE_PARAMETER => self.query.filter.age = self.parse_age(value)?,
            "cursor" => self.query.after = Some(parse_cursor(value)?),
            "sort" => self.query.longest_first = parse_sort(value)?,
            "limit" => self.query.limit = parse_limit(value)?,
            _ => self.add_field(name, value)?,
        }
        Ok(())
    }

    /// Whether a parameter is known. The parameter of a private field counts as unknown, so that a
    /// filter cannot reveal that the field exists.
    fn is_known(&self, name: &str) -> bool {
        match name {
            CATEGORY_PARAMETER | NAME_PARAMETER | SEARCH_PARAMETER | "cursor" | "sort" => true,
            AGE_PARAMETER => birth_field(self.fields).is_some(),
            "limit" => self.takes_limit,
            _ => filterable_field(name, self.fields).is_some(),
        }
    }

    /// Parses the `age` parameter. Returns `None` if the date of birth is not public.
    fn parse_age(&self, value: &str) -> Result<Option<AgeFilter>, ApiError> {
        let Some(field) = birth_field(self.fields) else {
            return Ok(None);
        };
        let age: Age = value
            .parse()
            .map_err(|_| invalid_parameter("age must be 0, under3, 1, 3 or 8."))?;
        let birth_range = age.birth_range(&field.name, self.today);
        Ok(Some(AgeFilter { age, birth_range }))
    }

    /// Adds a filter by a field. `name` is the name of the parameter, such as `field.species`. The
    /// filter has the value in the spelling of the store. Unknown choices are accepted, because links
    /// can be older than the current choices.
    fn add_field(&mut self, name: &str, value: &str) -> Result<(), ApiError> {
        let field = filterable_field(name, self.fields);
        let is_boolean = field.is_some_and(|field| field.kind == FieldKind::Boolean);
        if is_boolean && !["true", "false"].contains(&value) {
            return Err(invalid_parameter(format!("{name} must be true or false.")));
        }

        let value = field.map_or(value, |field| canonical_choice(field, value));
        if value.chars().nth(MAX_VALUE_LENGTH).is_some() || value.contains('\0') {
            return Err(invalid_parameter(format!(
                "{name} must be one of the choices."
            )));
        }

        let field_name = name.trim_start_matches(FIELD_PREFIX);
        let fields = &mut self.query.filter.fields;
        fields.insert(field_name.to_owned(), value.to_owned());
        Ok(())
    }

    /// Returns the complete query. Fails if it filters by too many fields.
    fn finish(self) -> Result<Query, ApiError> {
        let filter = &self.query.filter;
        let count = filter.fields.len() + usize::from(filter.age.is_some());
        if count > MAX_FILTER_FIELDS {
            return Err(invalid_parameter(format!(
                "At most {MAX_FILTER_FIELDS} properties can be chosen at once, but these are {count}. Go back, and take \
                 some off."
            )));
        }
        Ok(self.query)
    }
}

/// Whether an unknown parameter was probably meant to select animals or a page of them, such as an old
/// field, or `page=2`. Others, such as the tracking parameters that other sites add to links, have no
/// meaning for the list.
fn may_select_animals(name: &str, value: &str) -> bool {
    if value.is_empty() {
        return false;
    }
    let selects_later_page = name == "page" && value != "1";
    selects_later_page || name.starts_with(FIELD_PREFIX)
}

/// Returns the value in the spelling of the store: the choice of the field that equals the value
/// regardless of case. Returns the value itself if there is no such choice.
///
/// Example: `dog` becomes `Dog`.
fn canonical_choice<'v>(field: &'v FieldDefinition, value: &'v str) -> &'v str {
    let choices = field.choices.as_ref();
    let choice = choices.and_then(|choices| choices.find(value));
    choice.map_or(value, String::as_str)
}

/// Parses the `categoryId` parameter.
fn parse_category_id(value: &str) -> Result<i64, ApiError> {
    parse_integer(value).ok_or_else(|| {
        invalid_parameter("This link is incomplete: categoryId must be the number of a category.")
    })
}

/// Parses the `name` parameter, the beginning of an animal's name. Returns `None` if it has only
/// characters that the search ignores, so that it would match every name.
fn parse_name(value: &str) -> Result<Option<NameFilter>, ApiError> {
    let Some(prefix) = NamePrefix::new(value) else {
        return Err(invalid_parameter(
            "The name must not be longer than 64 characters.",
        ));
    };
    if prefix.is_empty() {
        return Ok(None);
    }
    Ok(Some(NameFilter {
        text: value.to_owned(),
        prefix,
    }))
}

/// Parses the `q` parameter, the search text.
fn parse_phrase(value: &str) -> Result<Phrase, ApiError> {
    match Phrase::new(value) {
        Some(phrase) => Ok(phrase.public()),
        None => Err(invalid_parameter(
            "A search must not be longer than 64 characters and 16 words.",
        )),
    }
}

/// Parses the `cursor` parameter, the id of the last animal on the previous page.
fn parse_cursor(value: &str) -> Result<PetId, ApiError> {
    parse_integer(value).and_then(PetId::new).ok_or_else(|| {
        ApiError::new(
            Problem::InvalidCursor,
            "This link is incomplete or too old. Start from the first page.",
        )
    })
}

/// Parses the `sort` parameter. Returns whether the animals that have waited longest come first.
fn parse_sort(value: &str) -> Result<bool, ApiError> {
    match value {
        "longest" => Ok(true),
        "newest" => Ok(false),
        _ => Err(invalid_parameter("sort must be longest or newest.")),
    }
}

/// Parses the `limit` parameter, the number of animals on a page.
fn parse_limit(value: &str) -> Result<Limit, ApiError> {
    let length = parse_integer(value).filter(|length| ALLOWED_LIMITS.contains(length));
    length
        .and_then(Limit::new)
        .ok_or_else(|| invalid_parameter("limit must be from 1 to 48."))
}

/// Returns the error for an invalid parameter.
fn invalid_parameter(message: impl Into<Cow<'static, str>>) -> ApiError {
    ApiError::new(Problem::InvalidParameter, message)
}
