//! `Idempotency-Key`: a client that received no response can retry its request safely
//! (draft-ietf-httpapi-idempotency-key-header).

use std::borrow::Cow;

use hyper::HeaderMap;

use crate::{
    domain::IdempotencyKey,
    edge::{ApiError, Problem},
};

const HEADER: &str = "idempotency-key";

/// The idempotency key of a request, if it has one. Fails with 400 if it is invalid or given twice.
pub(super) fn key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, ApiError> {
    let mut fields = headers.get_all(HEADER).iter();
    let Some(field) = fields.next() else {
        return Ok(None);
    };
    let invalid = || {
        let message = "Idempotency-Key must be given once, as 1 to 255 visible ASCII characters, \
                       preferably in double quotes.";
        ApiError::new(Problem::InvalidParameter, message)
    };
    if fields.next().is_some() {
        return Err(invalid());
    }
    let text = field.to_str().ok().and_then(unquoted).ok_or_else(invalid)?;
    IdempotencyKey::new(text.into_owned()).map(Some).ok_or_else(invalid)
}

/// The content of a String (RFC 8941, section 3.3.3). Many clients send a UUID without quotes, so a
/// value without quotes is used as it is, unless it could be a list or have parameters.
fn unquoted(value: &str) -> Option<Cow<'_, str>> {
    let Some(rest) = value.strip_prefix('"') else {
        return (!value.contains(['"', '\\', ',', ';'])).then_some(Cow::Borrowed(value));
    };
    let inner = rest.strip_suffix('"')?;
    if !inner.contains(['"', '\\']) {
        return Some(Cow::Borrowed(inner));
    }
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        text.push(match character {
            '\\' => characters.next().filter(|escaped| matches!(escaped, '"' | '\\'))?,
            '"' => return None,
            other => other,
        });
    }
    Some(Cow::Owned(text))
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn read(fields: &[&str]) -> Result<Option<String>, Problem> {
        let mut headers = HeaderMap::new();
        for field in fields {
            headers.append(HEADER, HeaderValue::from_bytes(field.as_bytes()).unwrap());
        }
        key(&headers)
            .map(|key| key.map(|key| key.as_str().to_owned()))
            .map_err(|error| error.problem())
    }

    #[test]
    fn a_key_is_read_with_and_without_quotes() {
        assert_eq!(read(&[]), Ok(None));
        let longest = "k".repeat(255);
        let quoted_longest = format!("\"{}\"", r"\\".repeat(255));
        for (field, value) in [
            (r#""8e03978e-40d5-43dd-bc93-6894a57f9324""#, "8e03978e-40d5-43dd-bc93-6894a57f9324"),
            ("8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"),
            ("a/b+c==", "a/b+c=="),
            (r#""a,b;c""#, "a,b;c"),
            (r#""a\"b\\c""#, r#"a"b\c"#),
            (&longest, &longest),
            (&quoted_longest, &r"\".repeat(255)),
        ] {
            assert_eq!(read(&[field]), Ok(Some(value.to_owned())), "{field}");
        }
    }

    #[test]
    fn an_invalid_empty_or_repeated_key_is_rejected() {
        let too_long = "k".repeat(256);
        let quoted_too_long = format!("\"{too_long}\"");
        for fields in [
            &[""][..],
            &["\"\""],
            &["\""],
            &["\"a"],
            &["a\""],
            &["\"a\"b\""],
            &["\"a\\\""],
            &["\"a\\b\""],
            &["\"a\"; b=1"],
            &["\"a\", \"b\""],
            &["a, b"],
            &["a,b"],
            &["a;b"],
            &["a b"],
            &["\"a b\""],
            &["a\tb"],
            &["é"],
            &["\"é\""],
            &[&too_long],
            &[&quoted_too_long],
            &["a", "b"],
            &["a", "a"],
        ] {
            assert_eq!(read(fields), Err(Problem::InvalidParameter), "{fields:?}");
        }
    }

    proptest! {
        #[test]
        fn a_key_in_quotes_reads_back(text in "[!-~]{1,255}") {
            let escaped = text.replace('\\', r"\\").replace('"', "\\\"");
            prop_assert_eq!(read(&[&format!("\"{escaped}\"")]), Ok(Some(text)));
        }
    }
}
