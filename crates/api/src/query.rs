//! Strict parsing of query strings: every parameter must be known, and given at most once.
//!
//! If unknown parameters were ignored, a client that guesses `page`, or writes `Status=`, would get the
//! wrong animals without noticing.

use std::{borrow::Cow, fmt::Display};

use percent_encoding::percent_decode_str;
use petstore_domain::{Limit, Problem, text::parse_integer};
use petstore_web::edge::ApiError;

/// The `expectation` ([`parse_parameter`]) of a parameter that is an int64.
pub(super) const AN_INTEGER: &str =
    "an integer from -9223372036854775808 to 9223372036854775807, without leading zeros";

/// How many characters of a text that the client sent appear in an error message: enough to recognize it.
const MAX_QUOTED_CHARACTERS: usize = 40;

/// The parameters of a query whose names are either fixed or begin with a prefix.
pub(super) struct PrefixedParameters<'a, const N: usize> {
    /// The values of the parameters with fixed names, in the order of the given names.
    pub(super) values: [Option<Cow<'a, str>>; N],
    /// The parameters with the prefix, in the order of the query.
    pub(super) prefixed: Vec<PrefixedParameter<'a>>,
}

/// A parameter whose name begins with a prefix.
pub(super) struct PrefixedParameter<'a> {
    /// The name without the prefix.
    pub(super) name: String,
    pub(super) value: Cow<'a, str>,
}

/// Returns the decoded values of the parameters with these names, in the order of the names. Fails with 400
/// if the query has an unknown or a duplicate parameter.
///
/// Example: with the names `limit` and `status`, `status=sold` has the values `None` and `Some("sold")`.
pub(super) fn parameters<'a, const N: usize>(
    query: Option<&'a str>,
    names: [&'static str; N],
) -> Result<[Option<Cow<'a, str>>; N], ApiError> {
    let mut values = [const { None }; N];
    for_each_parameter(query, |name, value| {
        let Some(index) = names.iter().position(|&known_name| known_name == name) else {
            return Err(unknown_parameter(name, &names));
        };
        set_once(&mut values[index], name, value)
    })?;
    Ok(values)
}

/// Parses a query like [`parameters`], and also collects the parameters whose names begin with `prefix`.
/// `prefixed_names` describes these in an error message.
///
/// Example: with the prefix `field.`, the parameter `field.breed=Beagle` has the name `breed`.
pub(super) fn prefixed_parameters<'a, const N: usize>(
    query: Option<&'a str>,
    names: [&'static str; N],
    prefix: &str,
    prefixed_names: &'static str,
) -> Result<PrefixedParameters<'a, N>, ApiError> {
    let mut values = [const { None }; N];
    let mut prefixed: Vec<PrefixedParameter<'a>> = Vec::new();
    for_each_parameter(query, |name, value| {
        if let Some(suffix) = name.strip_prefix(prefix) {
            if prefixed.iter().any(|parameter| parameter.name == suffix) {
                return Err(duplicate_parameter(name));
            }
            prefixed.push(PrefixedParameter {
                name: suffix.to_owned(),
                value,
            });
            return Ok(());
        }
        let Some(index) = names.iter().position(|&known_name| known_name == name) else {
            let all_names = [&names[..], &[prefixed_names]].concat();
            return Err(unknown_parameter(name, &all_names));
        };
        set_once(&mut values[index], name, value)
    })?;
    Ok(PrefixedParameters { values, prefixed })
}

/// Checks that the query has no parameters. Fails with 400 if it has one.
pub(super) fn reject_parameters(query: Option<&str>) -> Result<(), ApiError> {
    let [] = parameters(query, [])?;
    Ok(())
}

/// Calls `visit` with the decoded name and value of each parameter. Stops at the first call that fails, and
/// returns its error.
fn for_each_parameter<'a>(
    query: Option<&'a str>,
    mut visit: impl FnMut(&str, Cow<'a, str>) -> Result<(), ApiError>,
) -> Result<(), ApiError> {
    let query = query.unwrap_or_default();
    if query.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
        form_urlencoded::parse(query.as_bytes()).try_for_each(|(name, value)| visit(&name, value))
    } else {
        // Nothing is encoded, so skip the decoding, which is the expensive part.
        split_pairs(query).try_for_each(|(name, value)| visit(name, Cow::Borrowed(value)))
    }
}

/// Stores the value of the parameter `name` in its slot. Fails if the slot already has a value.
fn set_once<'a>(
    slot: &mut Option<Cow<'a, str>>,
    name: &str,
    value: Cow<'a, str>,
) -> Result<(), ApiError> {
    if slot.replace(value).is_some() {
        Err(duplicate_parameter(name))
    } else {
        Ok(())
    }
}

/// Returns the error for a duplicate parameter.
fn duplicate_parameter(name: &str) -> ApiError {
    let name = truncate_for_message(name);
    let message = format!("The parameter {name} is given more than once.");
    ApiError::new(Problem::InvalidParameter, message)
}

/// Checks that a query is valid UTF-8. Fails with 400 if it is not.
///
/// Operations with free-text parameters need this check: [`parameters`] replaces invalid bytes with U+FFFD, so
/// they would go unnoticed.
pub(super) fn check_utf8(query: Option<&str>) -> Result<(), ApiError> {
    let decoded_query = percent_decode_str(query.unwrap_or_default()).decode_utf8();
    if decoded_query.is_ok() {
        return Ok(());
    }
    let message = "The query must be UTF-8, with its bytes percent-encoded.";
    Err(ApiError::new(Problem::InvalidParameter, message))
}

/// Splits a query without encoded characters into names and values. A parameter without `=` has an empty
/// value.
fn split_pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

/// Truncates a text that the client sent, for an error message.
fn truncate_for_message(text: &str) -> String {
    text.chars().take(MAX_QUOTED_CHARACTERS).collect()
}

/// Returns the error for an unknown parameter. `names` are the parameters of the operation.
fn unknown_parameter(name: &str, names: &[&str]) -> ApiError {
    let name = truncate_for_message(name);
    let parameters = match names {
        [] => "no query parameters".to_owned(),
        names => format!("only {}", names.join(", ")),
    };
    let message = format!("Unknown query parameter {name:?}. This operation has {parameters}.");
    ApiError::new(Problem::UnknownParameter, message)
}

/// Parses the parameter `limit`. Returns the default if it is absent. Fails with 400 if it is out of range.
pub(super) fn parse_limit(value: Option<&Cow<'_, str>>) -> Result<Limit, ApiError> {
    let Some(text) = value else {
        return Ok(Limit::default());
    };
    let limit = parse_integer(text).and_then(Limit::new);
    limit.ok_or_else(|| out_of_range("limit", Limit::MIN, Limit::MAX, text))
}

/// Parses an optional parameter. Fails with 400 if it is present but invalid.
///
/// `expectation` completes the sentence "The parameter must be …" of the error message.
pub(super) fn parse_parameter<T>(
    name: &str,
    value: Option<&Cow<'_, str>>,
    parse: impl Fn(&str) -> Option<T>,
    expectation: &str,
) -> Result<Option<T>, ApiError> {
    let Some(text) = value else {
        return Ok(None);
    };
    if let Some(parsed_value) = parse(text) {
        return Ok(Some(parsed_value));
    }
    let mut message = format!("{name} must be {expectation}.");
    // Many clients do not encode the plus sign of a time such as `2026-11-22T00:00:00+01:00`.
    if parse(&text.replace(' ', "+")).is_some() {
        message += " In a query, + means a space: write %2B.";
    }
    Err(ApiError::new(Problem::InvalidParameter, message))
}

/// Returns the error for a parameter whose value is not an integer from `min` to `max`.
pub(super) fn out_of_range(
    name: &str,
    min: impl Display,
    max: impl Display,
    value: &str,
) -> ApiError {
    let message = match parse_integer(value) {
        Some(integer) => format!("{name} must be between {min} and {max}, but was {integer}."),
        None => format!(
            "{name} must be an integer between {min} and {max}, but was {:?}.",
            truncate_for_message(value)
        ),
    };
    ApiError::new(Problem::InvalidParameter, message)
}

/// Parses a path parameter as an integer. Returns `None` if it is not one.
pub(super) fn path_integer(parameter: &str) -> Option<i64> {
    let text = percent_decode_str(parameter).decode_utf8().ok()?;
    parse_integer(&text)
}
