//! The query of the list: which animals, and where the page begins.

use std::{borrow::Cow, collections::HashSet, ops::RangeInclusive};

use jiff::civil::Date;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use petstore_domain::{
    Limit, PetId, Problem,
    store_area::{Age, FieldDefinition, FieldKind, FieldSet, NamePrefix, Phrase},
    text::parse_integer,
};
use petstore_web::edge::ApiError;

use super::filter::{AgeFilter, Filter, NameFilter, Parameter, birth_field, offered_field};

/// The maximum number of fields that filter at once, because a search reads the animals of each field.
const MAX_CHOSEN_FIELDS: usize = 8;

/// The number of animals on a page.
const PAGE_LENGTH: i64 = 24;

/// The numbers of animals that a page on another site can show.
const EMBEDDED_PAGE_LENGTHS: RangeInclusive<i64> = 1..=48;

/// The maximum length of the value of a choice, in characters.
const MAX_VALUE_LENGTH: usize = 64;

/// A page of the list.
#[derive(Debug, Clone)]
pub(super) struct Query {
    pub(super) filter: Filter,
    pub(super) limit: Limit,
    /// The last animal before the page, unless it is the first page.
    pub(super) after: Option<PetId>,
    /// Whether the animals that wait longest come first, instead of the newest.
    pub(super) longest_first: bool,
    /// Whether the request had empty parameters, as a form sends them.
    pub(super) has_empty: bool,
    /// Whether the request asked for a page or for animals in a way that the window does not know.
    pub(super) has_unknown: bool,
}

impl Default for Query {
    /// Returns the first page of all animals, the newest first.
    fn default() -> Self {
        Self {
            filter: Filter::default(),
            limit: Limit::new(PAGE_LENGTH).unwrap_or_default(),
            after: None,
            longest_first: false,
            has_empty: false,
            has_unknown: false,
        }
    }
}

impl Query {
    /// Returns the first page of the animals that pass a filter, the newest first.
    pub(super) fn for_filter(filter: Filter) -> Self {
        Self {
            filter,
            ..Self::default()
        }
    }

    /// Parses the query of a request. Parameters that the window does not know, and empty ones, count as absent. Fails
    /// with 400.
    ///
    /// `takes_limit` says whether the length of the page is one of the parameters. Animals have the ages that they
    /// have on the day `today`.
    ///
    /// Example: `field.species=Dog&cursor=81` is the page of dogs after the animal 81.
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
            names: HashSet::new(),
        };
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            parser.add(&name, &value)?;
        }
        parser.finish()
    }

    /// Whether a search engine may show the page: it stays, and no visitor has typed a part of it.
    pub(super) fn is_indexed(&self) -> bool {
        self.after.is_none() && !self.longest_first && !self.filter.is_typed()
    }

    /// Returns the first page with the same filter, the newest animals first.
    pub(super) fn into_first_page(self) -> Self {
        Self::for_filter(self.filter)
    }

    /// Returns the parameters of the query after a question mark, always in the same order. Empty without parameters.
    ///
    /// Example: `?sort=longest&field.species=Dog&cursor=81`.
    pub(super) fn canonical(&self) -> String {
        self.with_cursor(self.after)
    }

    /// Returns the parameters like [`Self::canonical`], for the page after the animal `after`.
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

        let encoded_parameters: Vec<String> = parameters.iter().map(encode).collect();
        format!("?{}", encoded_parameters.join("&"))
    }

    /// Returns the path of the first page of the list with this filter, in the order of this query.
    pub(super) fn path_with(&self, filter: Filter) -> String {
        let mut query = Self::for_filter(filter);
        query.longest_first = self.longest_first;
        format!("/{}", query.canonical())
    }
}

/// Returns a parameter as an address has it.
fn encode(parameter: &Parameter) -> String {
    let value = utf8_percent_encode(&parameter.value, NON_ALPHANUMERIC);
    format!("{}={value}", parameter.name)
}

/// A query, parameter by parameter.
struct QueryParser<'f> {
    fields: &'f FieldSet,
    takes_limit: bool,
    today: Date,
    /// The query of the parameters so far.
    query: Query,
    /// The names of the parameters so far.
    names: HashSet<String>,
}

impl QueryParser<'_> {
    /// Adds a parameter. Ignores one that is unknown or empty.
    fn add(&mut self, name: &str, value: &str) -> Result<(), ApiError> {
        if !self.knows(name) {
            self.query.has_unknown |= asks_for_animals(name, value);
            return Ok(());
        }
        if value.is_empty() || name == "q" && value.trim().is_empty() {
            self.query.has_empty = true;
            return Ok(());
        }
        // The decoder puts this character in place of bytes that are not UTF-8.
        if value.contains('\u{FFFD}') {
            return Err(invalid(
                "The address must be UTF-8, with its bytes percent-encoded.",
            ));
        }
        if !self.names.insert(name.to_owned()) {
            return Err(invalid(format!("The address has {name} more than once.")));
        }

        match name {
            "categoryId" => self.query.filter.category_id = Some(parse_category_id(value)?),
            "name" => self.query.filter.name = parse_name(value)?,
            "q" => self.query.filter.phrase = Some(parse_phrase(value)?),
            "age" => self.query.filter.age = self.parse_age(value)?,
            "cursor" => self.query.after = Some(parse_cursor(value)?),
            "sort" => self.query.longest_first = parse_sort(value)?,
            "limit" => self.query.limit = parse_limit(value)?,
            _ => self.add_field(name, value)?,
        }
        Ok(())
    }

    /// Whether the window knows a parameter.
    fn knows(&self, name: &str) -> bool {
        match name {
            "categoryId" | "name" | "q" | "cursor" | "sort" => true,
            "age" => birth_field(self.fields).is_some(),
            "limit" => self.takes_limit,
            _ => offered_field(name, self.fields).is_some(),
        }
    }

    /// Parses a filter by age. Returns `None` if nobody may see the days of birth.
    fn parse_age(&self, value: &str) -> Result<Option<AgeFilter>, ApiError> {
        let Some(field) = birth_field(self.fields) else {
            return Ok(None);
        };
        let age: Age = value
            .parse()
            .map_err(|_| invalid("age must be 0, under3, 1, 3 or 8."))?;
        let births = age.birth_range(&field.name, self.today);
        Ok(Some(AgeFilter { age, births }))
    }

    /// Adds the value of a field, in the case in which the store writes it.
    fn add_field(&mut self, name: &str, value: &str) -> Result<(), ApiError> {
        let field = offered_field(name, self.fields);
        let is_boolean = field.is_some_and(|field| field.kind == FieldKind::Boolean);
        if is_boolean && !["true", "false"].contains(&value) {
            return Err(invalid(format!("{name} must be true or false.")));
        }

        let value = field.map_or(value, |field| store_spelling(field, value));
        if value.chars().nth(MAX_VALUE_LENGTH).is_some() || value.contains('\0') {
            return Err(invalid(format!("{name} must be one of the choices.")));
        }

        let field_name = name.trim_start_matches("field.");
        let fields = &mut self.query.filter.fields;
        fields.insert(field_name.to_owned(), value.to_owned());
        Ok(())
    }

    /// Returns the query of all parameters. Fails if it filters by too many fields.
    fn finish(self) -> Result<Query, ApiError> {
        let filter = &self.query.filter;
        let count = filter.fields.len() + usize::from(filter.age.is_some());
        if count > MAX_CHOSEN_FIELDS {
            return Err(invalid(format!(
                "At most {MAX_CHOSEN_FIELDS} properties can be chosen at once, but these are {count}. Go back, and take \
                 some off."
            )));
        }
        Ok(self.query)
    }
}

/// Whether a parameter that the window does not know asks for a page or for animals. Others were added on the way, as by
/// sites that count their visitors.
fn asks_for_animals(name: &str, value: &str) -> bool {
    let is_first_page = name == "page" && value == "1";
    let asks = name == "page" || name.starts_with("field.");
    asks && !value.is_empty() && !is_first_page
}

/// Returns the choice of a field that a value names, as the store writes it. Returns the value itself if no choice
/// fits.
///
/// Example: `dog` becomes `Dog`.
fn store_spelling<'v>(field: &'v FieldDefinition, value: &'v str) -> &'v str {
    let choices = field.choices.as_ref();
    choices
        .and_then(|choices| choices.find(value))
        .map_or(value, |choice| choice)
}

fn parse_category_id(value: &str) -> Result<i64, ApiError> {
    parse_integer(value).ok_or_else(|| {
        invalid("This link is incomplete: categoryId must be the number of a category.")
    })
}

/// Parses the beginning of a name. Returns `None` if it has no letter that a search compares.
fn parse_name(value: &str) -> Result<Option<NameFilter>, ApiError> {
    let Some(prefix) = NamePrefix::new(value) else {
        return Err(invalid("The name must not be longer than 64 characters."));
    };
    if prefix.is_empty() {
        return Ok(None);
    }
    Ok(Some(NameFilter {
        text: value.to_owned(),
        prefix,
    }))
}

fn parse_phrase(value: &str) -> Result<Phrase, ApiError> {
    match Phrase::new(value) {
        Some(phrase) => Ok(phrase.public()),
        None => Err(invalid(
            "A search must not be longer than 64 characters and 16 words.",
        )),
    }
}

fn parse_cursor(value: &str) -> Result<PetId, ApiError> {
    parse_integer(value).and_then(PetId::new).ok_or_else(|| {
        ApiError::new(
            Problem::InvalidCursor,
            "This link is incomplete or too old. Start from the first page.",
        )
    })
}

/// Parses the order of the list. Returns whether the animals that wait longest come first.
fn parse_sort(value: &str) -> Result<bool, ApiError> {
    match value {
        "longest" => Ok(true),
        "newest" => Ok(false),
        _ => Err(invalid("sort must be longest or newest.")),
    }
}

fn parse_limit(value: &str) -> Result<Limit, ApiError> {
    let length = parse_integer(value).filter(|length| EMBEDDED_PAGE_LENGTHS.contains(length));
    let Some(length) = length else {
        return Err(invalid("limit must be from 1 to 48."));
    };
    Ok(Limit::new(length).unwrap_or_default())
}

/// Returns the error for an invalid parameter.
fn invalid(message: impl Into<Cow<'static, str>>) -> ApiError {
    ApiError::new(Problem::InvalidParameter, message)
}
