//! Parses the query string of a request into a [`Query`].

use std::{borrow::Cow, collections::HashSet, ops::RangeInclusive};

use jiff::civil::Date;
use petstore_domain::{
    Limit, PetId, Problem,
    store_area::{Age, FieldDefinition, FieldKind, FieldSet, NamePrefix, Phrase},
    text::parse_integer,
};
use petstore_web::edge::ApiError;

use super::{
    filter::{
        AGE_PARAMETER, AgeFilter, CATEGORY_PARAMETER, FIELD_PREFIX, NAME_PARAMETER, NameFilter,
        SEARCH_PARAMETER, find_birth_field, find_filterable_field,
    },
    query::{CURSOR_PARAMETER, Query, SORT_LONGEST, SORT_PARAMETER, SortOrder},
    routes::Page,
};

/// The query parameter with the number of animals on a page.
const LIMIT_PARAMETER: &str = "limit";

/// The maximum number of fields in a filter, including the age. It is limited because the search
/// needs an additional read for each field.
const MAX_FILTER_FIELDS: usize = 8;

/// The page lengths that the `limit` of `/embed` and `/animals.json` may select.
const ALLOWED_LIMITS: RangeInclusive<i64> = 1..=48;

/// The maximum length of a field value, in characters. No choice of a field is longer.
const MAX_VALUE_LENGTH: usize = 64;

/// Parses the query string of a request for `page`. Ignores unknown and empty parameters. Fails
/// with 400 if a known parameter is invalid or is given twice.
///
/// A filter by age selects animals that have this age on the day `today`.
///
/// Example: `field.species=Dog&cursor=81` selects the page of dogs after the animal with the id 81.
pub(super) fn parse_query(
    query_string: Option<&str>,
    page: Page,
    fields: &FieldSet,
    today: Date,
) -> Result<Query, ApiError> {
    let mut parser = QueryParser {
        page,
        fields,
        today,
        query: Query::default(),
        seen_names: HashSet::new(),
    };
    let query_string = query_string.unwrap_or_default();
    for (name, value) in form_urlencoded::parse(query_string.as_bytes()) {
        parser.add_parameter(&name, &value)?;
    }
    parser.finish()
}

/// A query parameter that a page understands.
enum KnownParameter<'f> {
    Category,
    Name,
    Search,
    /// The age. It filters by the field with the date of birth.
    Age {
        birth_field: &'f FieldDefinition,
    },
    Cursor,
    Sort,
    Limit,
    /// The value of a field.
    Field(&'f FieldDefinition),
}

/// Collects the parameters of a query string into a [`Query`], one by one.
struct QueryParser<'f> {
    page: Page,
    fields: &'f FieldSet,
    today: Date,
    /// The result so far.
    query: Query,
    /// The names of the known, non-empty parameters so far, to reject duplicates.
    seen_names: HashSet<String>,
}

impl<'f> QueryParser<'f> {
    /// Adds a parameter to the query. Fails if the parameter is invalid or a duplicate.
    ///
    /// An unknown or empty parameter is not added. The query only records that there was one.
    fn add_parameter(&mut self, name: &str, value: &str) -> Result<(), ApiError> {
        let Some(parameter) = self.known_parameter(name) else {
            if may_select_animals(name, value) {
                self.query.has_unknown_parameters = true;
            }
            return Ok(());
        };
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

        self.set_value(&parameter, name, value)
    }

    /// Sets the part of the query for which a parameter stands. `name` is the name of the
    /// parameter, for messages about its value.
    fn set_value(
        &mut self,
        parameter: &KnownParameter<'_>,
        name: &str,
        value: &str,
    ) -> Result<(), ApiError> {
        let query = &mut self.query;
        match parameter {
            KnownParameter::Category => {
                query.filter.category_id = Some(parse_category_id(value)?);
            }
            KnownParameter::Name => query.filter.name = parse_name(value)?,
            KnownParameter::Search => query.filter.phrase = Some(parse_phrase(value)?),
            KnownParameter::Age { birth_field } => {
                query.filter.age = Some(parse_age(value, birth_field, self.today)?);
            }
            KnownParameter::Cursor => query.after = Some(parse_cursor(value)?),
            KnownParameter::Sort => query.order = parse_sort(value)?,
            KnownParameter::Limit => query.limit = parse_limit(value)?,
            KnownParameter::Field(field) => {
                let field_value = parse_field_value(value, name, field)?;
                let field_name = field.name.as_str().to_owned();
                query.filter.fields.insert(field_name, field_value);
            }
        }
        Ok(())
    }

    /// Returns the parameter with this name. Returns `None` if the page does not understand it. The
    /// parameter of a private field counts as unknown, so that a filter cannot reveal that the
    /// field exists.
    fn known_parameter(&self, name: &str) -> Option<KnownParameter<'f>> {
        match name {
            CATEGORY_PARAMETER => Some(KnownParameter::Category),
            NAME_PARAMETER => Some(KnownParameter::Name),
            SEARCH_PARAMETER => Some(KnownParameter::Search),
            AGE_PARAMETER => {
                let birth_field = find_birth_field(self.fields)?;
                Some(KnownParameter::Age { birth_field })
            }
            CURSOR_PARAMETER => Some(KnownParameter::Cursor),
            SORT_PARAMETER => Some(KnownParameter::Sort),
            LIMIT_PARAMETER if self.page.takes_limit() => Some(KnownParameter::Limit),
            _ => find_filterable_field(name, self.fields).map(KnownParameter::Field),
        }
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

/// Whether an unknown parameter was probably meant to select animals or a page of them, such as a
/// deleted field, or `page=2`.
///
/// All other unknown parameters have no meaning for the list. For example, other sites add tracking
/// parameters to their links.
fn may_select_animals(name: &str, value: &str) -> bool {
    if value.is_empty() {
        return false;
    }
    let selects_later_page = name == "page" && value != "1";
    selects_later_page || name.starts_with(FIELD_PREFIX)
}

/// Parses the `age` parameter. The result selects the animals that have this age on the day
/// `today`.
fn parse_age(
    value: &str,
    birth_field: &FieldDefinition,
    today: Date,
) -> Result<AgeFilter, ApiError> {
    let age: Age = value
        .parse()
        .map_err(|_| invalid_parameter("age must be 0, under3, 1, 3 or 8."))?;
    let birth_range = age.birth_range(&birth_field.name, today);
    Ok(AgeFilter { age, birth_range })
}

/// Parses the value of a field, and returns it in the spelling of the store. Accepts unknown
/// choices, because links can be older than the current choices.
fn parse_field_value(
    value: &str,
    parameter_name: &str,
    field: &FieldDefinition,
) -> Result<String, ApiError> {
    let is_boolean = field.kind == FieldKind::Boolean;
    if is_boolean && !["true", "false"].contains(&value) {
        let message = format!("{parameter_name} must be true or false.");
        return Err(invalid_parameter(message));
    }

    let choice = canonical_choice(field, value);
    let is_too_long = choice.chars().count() > MAX_VALUE_LENGTH;
    if is_too_long || choice.contains('\0') {
        let message = format!("{parameter_name} must be one of the choices.");
        return Err(invalid_parameter(message));
    }
    Ok(choice.to_owned())
}

/// Returns the value in the spelling of the store: the choice of the field that equals the value
/// regardless of upper and lower case. Returns the value itself if there is no such choice.
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

/// Parses the `sort` parameter.
fn parse_sort(value: &str) -> Result<SortOrder, ApiError> {
    match value {
        SORT_LONGEST => Ok(SortOrder::LongestWaitingFirst),
        "newest" => Ok(SortOrder::NewestFirst),
        _ => Err(invalid_parameter("sort must be longest or newest.")),
    }
}

/// Parses the `limit` parameter, the number of animals on a page.
fn parse_limit(value: &str) -> Result<Limit, ApiError> {
    parse_integer(value)
        .filter(|limit| ALLOWED_LIMITS.contains(limit))
        .and_then(Limit::new)
        .ok_or_else(|| invalid_parameter("limit must be from 1 to 48."))
}

/// Returns the error for an invalid parameter.
fn invalid_parameter(message: impl Into<Cow<'static, str>>) -> ApiError {
    ApiError::new(Problem::InvalidParameter, message)
}
