//! Strict parsing of a query: every parameter must be known, and given once.
//!
//! Otherwise a client that guesses `page`, or writes `Status=`, would read the wrong animals
//! without notice.

use std::{borrow::Cow, fmt::Display};

use percent_encoding::percent_decode_str;
use petstore_domain::{Limit, Problem, text::parse_integer};
use petstore_web::edge::ApiError;

/// Returns the decoded values of the parameters with these names. Fails with 400 for an unknown parameter,
/// and for a duplicate one.
///
/// Example: with the names `limit` and `status`, `status=sold` has the values `None` and `Some("sold")`.
pub(super) fn parameters<'a, const N: usize>(
    query: Option<&'a str>,
    names: [&'static str; N],
) -> Result<[Option<Cow<'a, str>>; N], ApiError> {
    let mut values = [const { None }; N];
    for_each(query, |name, value| {
        let index = names.iter().position(|&parameter| parameter == name);
        put(index.map(|index| &mut values[index]), name, value, &names)
    })?;
    Ok(values)
}

/// The parameters of a query in which the names of some parameters begin with a prefix.
pub(super) struct PrefixedParameters<'a, const N: usize> {
    /// The values of the parameters without the prefix, in the order of their names.
    pub(super) values: [Option<Cow<'a, str>>; N],
    pub(super) prefixed: Vec<PrefixedParameter<'a>>,
}

/// A parameter whose name begins with a prefix.
pub(super) struct PrefixedParameter<'a> {
    /// The name without the prefix.
    pub(super) name: String,
    pub(super) value: Cow<'a, str>,
}

/// Returns the values like [`parameters`], and the parameters whose names begin with `prefix`. `prefixed_names` is how an
/// error shows them.
pub(super) fn prefixed_parameters<'a, const N: usize>(
    query: Option<&'a str>,
    names: [&'static str; N],
    prefix: &str,
    prefixed_names: &'static str,
) -> Result<PrefixedParameters<'a, N>, ApiError> {
    let mut values = [const { None }; N];
    let mut prefixed: Vec<PrefixedParameter<'a>> = Vec::new();
    for_each(query, |name, value| {
        if let Some(suffix) = name.strip_prefix(prefix) {
            if prefixed.iter().any(|parameter| parameter.name == suffix) {
                return Err(duplicate(name));
            }
            prefixed.push(PrefixedParameter {
                name: suffix.to_owned(),
                value,
            });
            return Ok(());
        }
        let index = names.iter().position(|&parameter| parameter == name);
        let place = index.map(|index| &mut values[index]);
        put(
            place,
            name,
            value,
            &[&names[..], &[prefixed_names]].concat(),
        )
    })?;
    Ok(PrefixedParameters { values, prefixed })
}

/// Calls `take` with the decoded name and value of each parameter.
fn for_each<'a>(
    query: Option<&'a str>,
    mut take: impl FnMut(&str, Cow<'a, str>) -> Result<(), ApiError>,
) -> Result<(), ApiError> {
    let query = query.unwrap_or_default();
    if query.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
        form_urlencoded::parse(query.as_bytes()).try_for_each(|(name, value)| take(&name, value))
    } else {
        // Skips decoding, which is the expensive part.
        pairs(query).try_for_each(|(name, value)| take(name, Cow::Borrowed(value)))
    }
}

/// Puts a value into the place of its parameter. Fails if there is none, or if it has a value.
fn put<'a>(
    place: Option<&mut Option<Cow<'a, str>>>,
    name: &str,
    value: Cow<'a, str>,
    names: &[&str],
) -> Result<(), ApiError> {
    let place = place.ok_or_else(|| unknown(name, names))?;
    if place.replace(value).is_some() {
        Err(duplicate(name))
    } else {
        Ok(())
    }
}

/// Returns the error for a parameter that is given more than once.
fn duplicate(name: &str) -> ApiError {
    let name = beginning(name);
    let message = format!("The parameter {name} is given more than once.");
    ApiError::new(Problem::InvalidParameter, message)
}

/// Rejects a query that is not UTF-8, for an operation with a parameter that can be any text: in
/// the values of [`parameters`], U+FFFD stands for what cannot be decoded. Fails with 400.
pub(super) fn check_utf8(query: Option<&str>) -> Result<(), ApiError> {
    if percent_decode_str(query.unwrap_or_default())
        .decode_utf8()
        .is_ok()
    {
        return Ok(());
    }
    let message = "The query must be UTF-8, with its bytes percent-encoded.";
    Err(ApiError::new(Problem::InvalidParameter, message))
}

/// Returns the names and values of a query without encoded characters.
fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

/// Returns the beginning of a text, long enough to recognize it.
fn beginning(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Returns the error for a parameter that the operation does not have. `names` are its parameters.
fn unknown(name: &str, names: &[&str]) -> ApiError {
    let name = beginning(name);
    let parameters = match names {
        [] => "no query parameters".to_owned(),
        names => format!("only {}", names.join(", ")),
    };
    let message = format!("Unknown query parameter {name:?}. This operation has {parameters}.");
    ApiError::new(Problem::UnknownParameter, message)
}

/// Parses the parameter `limit`. Returns the default without it.
pub(super) fn limit(value: Option<&Cow<'_, str>>) -> Result<Limit, ApiError> {
    let Some(text) = value else {
        return Ok(Limit::default());
    };
    let limit = parse_integer(text).and_then(Limit::new);
    limit.ok_or_else(|| out_of_range("limit", Limit::MIN, Limit::MAX, text))
}

/// Parses a parameter, if the query has it. `expectation` completes the sentence "The parameter must be …".
pub(super) fn filter<T>(
    name: &str,
    value: Option<&Cow<'_, str>>,
    parse: impl Fn(&str) -> Option<T>,
    expectation: &str,
) -> Result<Option<T>, ApiError> {
    let Some(text) = value else {
        return Ok(None);
    };
    if let Some(value) = parse(text) {
        return Ok(Some(value));
    }
    let mut message = format!("{name} must be {expectation}.");
    if parse(&text.replace(' ', "+")).is_some() {
        message += " In a query, + means a space: write %2B.";
    }
    Err(ApiError::new(Problem::InvalidParameter, message))
}

/// The expectation of an int64 in a query.
pub(super) const AN_INTEGER: &str =
    "an integer from -9223372036854775808 to 9223372036854775807, without leading zeros";

/// Returns the error for a parameter whose value is not an integer between `least` and `greatest`.
pub(super) fn out_of_range(
    name: &str,
    least: impl Display,
    greatest: impl Display,
    value: &str,
) -> ApiError {
    let message = match parse_integer(value) {
        Some(value) => format!("{name} must be between {least} and {greatest}, but was {value}."),
        None => format!(
            "{name} must be an integer between {least} and {greatest}, but was {:?}.",
            beginning(value)
        ),
    };
    ApiError::new(Problem::InvalidParameter, message)
}

/// Parses a parameter of the path as an integer.
pub(super) fn path_integer(parameter: &str) -> Option<i64> {
    let text = percent_decode_str(parameter).decode_utf8().ok()?;
    parse_integer(&text)
}
