//! Strict parsing of a query: every parameter must be known, and given once.
//!
//! Otherwise a client that guesses `page`, or writes `Status=`, would read the wrong animals
//! without notice.

use std::{borrow::Cow, fmt::Display};

use percent_encoding::percent_decode_str;
use petstore_domain::{Limit, Problem, text::integer};
use petstore_web::edge::ApiError;

/// The decoded values of the parameters with these names. Fails with 400 for an unknown parameter,
/// and for a duplicate one.
pub(super) fn parameters<'a, const N: usize>(
    query: Option<&'a str>,
    names: [&'static str; N],
) -> Result<[Option<Cow<'a, str>>; N], ApiError> {
    let mut values = [const { None }; N];
    each(query, |name, value| {
        let at = names.iter().position(|&known| known == name);
        put(at.map(|at| &mut values[at]), name, value, &names)
    })?;
    Ok(values)
}

/// The values of parameters, in the order of their names, and the names and values of others.
pub(super) type WithOthers<'a, const N: usize> =
    ([Option<Cow<'a, str>>; N], Vec<(String, Cow<'a, str>)>);

/// The same, and the parameters whose name begins with `prefix`, by what follows it. `others` is how
/// they are shown.
pub(super) fn parameters_and<'a, const N: usize>(
    query: Option<&'a str>,
    names: [&'static str; N],
    prefix: &str,
    others: &'static str,
) -> Result<WithOthers<'a, N>, ApiError> {
    let (mut values, mut found) = ([const { None }; N], Vec::new());
    each(query, |name, value| {
        if let Some(of_prefix) = name.strip_prefix(prefix) {
            if found.iter().any(|(other, _)| other == of_prefix) {
                return Err(twice(name));
            }
            found.push((of_prefix.to_owned(), value));
            return Ok(());
        }
        let at = names.iter().position(|&known| known == name);
        put(
            at.map(|at| &mut values[at]),
            name,
            value,
            &[&names[..], &[others]].concat(),
        )
    })?;
    Ok((values, found))
}

/// Calls `take` with the decoded name and value of each parameter.
fn each<'a>(
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

fn put<'a>(
    place: Option<&mut Option<Cow<'a, str>>>,
    name: &str,
    value: Cow<'a, str>,
    known: &[&str],
) -> Result<(), ApiError> {
    let place = place.ok_or_else(|| unknown(name, known))?;
    if place.replace(value).is_some() {
        Err(twice(name))
    } else {
        Ok(())
    }
}

fn twice(name: &str) -> ApiError {
    let shown = shortened(name);
    let message = format!("The parameter {shown} is given more than once.");
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

fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    let given = query.split('&').filter(|pair| !pair.is_empty());
    given.map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

/// The beginning of a text, long enough to recognize it.
fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

fn unknown(name: &str, known: &[&str]) -> ApiError {
    let shown = shortened(name);
    let allowed = match known {
        [] => "no query parameters".to_owned(),
        known => format!("only {}", known.join(", ")),
    };
    let message = format!("Unknown query parameter {shown:?}. This operation has {allowed}.");
    ApiError::new(Problem::UnknownParameter, message)
}

/// Parses the parameter `limit`.
pub(super) fn limit(given: Option<&Cow<'_, str>>) -> Result<Limit, ApiError> {
    given.map_or(Ok(Limit::default()), |text| {
        let limit = integer(text).and_then(Limit::new);
        limit.ok_or_else(|| out_of_range("limit", Limit::MIN, Limit::MAX, text))
    })
}

/// Parses a parameter. `is` completes the sentence "The parameter must be …".
pub(super) fn filter<T>(
    name: &str,
    given: Option<&Cow<'_, str>>,
    parse: impl FnOnce(&str) -> Option<T>,
    is: &str,
) -> Result<Option<T>, ApiError> {
    let Some(text) = given else {
        return Ok(None);
    };
    match parse(text) {
        Some(value) => Ok(Some(value)),
        None => Err(ApiError::new(
            Problem::InvalidParameter,
            format!("{name} must be {is}."),
        )),
    }
}

/// What an int64 in a query must be.
pub(super) const AN_INTEGER: &str =
    "an integer from -9223372036854775808 to 9223372036854775807, without leading zeros";

/// 400 for a parameter whose value is not an integer of this range.
pub(super) fn out_of_range(
    name: &str,
    least: impl Display,
    most: impl Display,
    value: &str,
) -> ApiError {
    let message = match integer(value) {
        Some(value) => format!("{name} must be between {least} and {most}, but was {value}."),
        None => format!(
            "{name} must be an integer between {least} and {most}, but was {:?}.",
            shortened(value)
        ),
    };
    ApiError::new(Problem::InvalidParameter, message)
}

pub(super) fn path_integer(parameter: &str) -> Option<i64> {
    let text = percent_decode_str(parameter).decode_utf8().ok()?;
    integer(&text)
}
