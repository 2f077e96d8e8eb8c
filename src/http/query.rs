//! Strict parsing of a query: every parameter must be known, and given once.
//!
//! Otherwise a client that guesses `page`, or writes `Status=`, would read the wrong animals
//! without notice.

use std::{borrow::Cow, fmt::Display};

use percent_encoding::percent_decode_str;

use crate::edge::{ApiError, Problem};
use crate::{domain::Limit, text::integer};

/// The decoded values of the parameters with these names. Fails with 400 for an unknown parameter,
/// and for a duplicate one.
pub(super) fn parameters<'a, const N: usize>(
    query: Option<&'a str>,
    names: [&'static str; N],
) -> Result<[Option<Cow<'a, str>>; N], ApiError> {
    let mut values = [const { None }; N];
    let mut take = |name: &str, value| {
        let Some(at) = names.iter().position(|&known| known == name) else {
            return Err(unknown(name, &names));
        };
        if values[at].replace(value).is_some() {
            let message = format!("The parameter {name} is given more than once.");
            return Err(ApiError::new(Problem::InvalidParameter, message));
        }
        Ok(())
    };
    let query = query.unwrap_or_default();
    if query.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
        form_urlencoded::parse(query.as_bytes())
            .try_for_each(|(name, value)| take(&name, value))?;
    } else {
        // Skips decoding, which is the expensive part.
        pairs(query).try_for_each(|(name, value)| take(name, Cow::Borrowed(value)))?;
    }
    Ok(values)
}

/// Rejects a query that is not UTF-8, for an operation with a parameter that can be any text: in
/// the values of [`parameters`], U+FFFD stands for what cannot be decoded. Fails with 400.
pub(super) fn check_utf8(query: Option<&str>) -> Result<(), ApiError> {
    if percent_decode_str(query.unwrap_or_default()).decode_utf8().is_ok() {
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
        None => Err(ApiError::new(Problem::InvalidParameter, format!("{name} must be {is}."))),
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(query: &str) -> Result<[Option<String>; 2], (Problem, String)> {
        parameters(Some(query), ["limit", "status"])
            .map(|values| values.map(|value| value.map(Cow::into_owned)))
            .map_err(|error| (error.problem(), error.message().to_owned()))
    }

    #[test]
    fn parameters_come_decoded_in_the_order_of_their_names() {
        assert_eq!(read(""), Ok([None, None]));
        assert_eq!(read("&&"), Ok([None, None]));
        assert_eq!(
            read("st%61tus=a+b%20c&limit=%C3%A9"),
            Ok([Some("é".to_owned()), Some("a b c".to_owned())])
        );
        assert_eq!(read("limit"), Ok([Some(String::new()), None]));
    }

    #[test]
    fn an_integer_in_a_path_is_decoded() {
        assert_eq!(path_integer("17"), Some(17));
        assert_eq!(path_integer("%317"), Some(17));
        assert_eq!(path_integer("-1"), Some(-1));
        for none in ["x", "%FF", "", "1.0", "9223372036854775808", "%00", "%2f1"] {
            assert_eq!(path_integer(none), None, "{none}");
        }
    }

    #[test]
    fn an_unknown_parameter_is_named_along_with_the_known_ones() {
        let (problem, message) = read("limit=1&page=2").unwrap_err();
        assert_eq!(problem, Problem::UnknownParameter);
        assert_eq!(
            message,
            "Unknown query parameter \"page\". This operation has only limit, status."
        );
        for query in ["Limit=1", "=1", "limit%00=1", "limit[]=1"] {
            assert_eq!(read(query).unwrap_err().0, Problem::UnknownParameter, "{query}");
        }
    }

    #[test]
    fn a_duplicate_parameter_is_rejected_even_with_the_same_value() {
        assert_eq!(read("limit=1&limit=1").unwrap_err().0, Problem::InvalidParameter);
    }

    #[test]
    fn a_query_that_is_not_utf_8_is_rejected() {
        assert!(check_utf8(None).is_ok() && check_utf8(Some("name=%C3%A9&a=%EF%BF%BD")).is_ok());
        for query in ["name=%FF", "name=a%C3", "name=%ED%A0%80", "limit=1&name=%C3&a=1"] {
            let error = check_utf8(Some(query)).unwrap_err();
            assert_eq!(error.problem(), Problem::InvalidParameter, "{query}");
        }
    }

    #[test]
    fn a_value_out_of_range_is_quoted_shortened_and_as_plain_text() {
        for (value, quoted) in [
            ("500", "between 1 and 100, but was 500."),
            ("ten", "an integer between 1 and 100, but was \"ten\"."),
            ("\u{1b}[2J\u{202e}", r#"but was "\u{1b}[2J\u{202e}"."#),
            (&"9".repeat(50), &format!("but was \"{}\".", "9".repeat(40))),
        ] {
            let error = out_of_range("limit", 1, 100, value);
            assert!(error.message().ends_with(quoted), "{}", error.message());
        }
    }

    proptest! {
        #[test]
        fn the_fast_path_parses_like_the_form_decoder(
            query in "[&=a-z\u{e9}]*",
        ) {
            let pairs = pairs(&query).map(|(name, value)| (name.into(), value.into()));
            let pairs: Vec<(Cow<_>, Cow<_>)> = pairs.collect();
            let decoded: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
            prop_assert_eq!(pairs, decoded);
        }
    }
}
