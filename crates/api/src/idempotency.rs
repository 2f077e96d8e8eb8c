//! Parses `Idempotency-Key`, with which a client that received no response can safely retry its request
//! (draft-ietf-httpapi-idempotency-key-header).

use std::borrow::Cow;

use hyper::HeaderMap;
use petstore_domain::{IdempotencyKey, Problem};
use petstore_web::edge::ApiError;

const HEADER: &str = "idempotency-key";

/// Parses the idempotency key of a request, if it has one. Fails with 400 if the key is invalid or given
/// twice.
pub(super) fn parse_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, ApiError> {
    let mut values = headers.get_all(HEADER).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(invalid_key());
    }
    let text = value
        .to_str()
        .ok()
        .and_then(unquote_string)
        .ok_or_else(invalid_key)?;
    match IdempotencyKey::new(text.into_owned()) {
        Some(key) => Ok(Some(key)),
        None => Err(invalid_key()),
    }
}

/// Returns the error for an invalid idempotency key.
fn invalid_key() -> ApiError {
    ApiError::new(
        Problem::InvalidParameter,
        "Idempotency-Key must be given once, as 1 to 255 visible ASCII characters, \
         preferably in double quotes.",
    )
}

/// Returns the content of a structured field String (RFC 8941, section 3.3.3). Returns `None` if the value is
/// malformed.
///
/// Many clients send a UUID without quotes, so a value without quotes is accepted too. It must not have a
/// character that belongs to a list or to parameters.
///
/// Example: `"a\"b"` has the content `a"b`.
fn unquote_string(value: &str) -> Option<Cow<'_, str>> {
    let Some(after_quote) = value.strip_prefix('"') else {
        if value.contains(['"', '\\', ',', ';']) {
            return None;
        }
        return Some(Cow::Borrowed(value));
    };
    let content = after_quote.strip_suffix('"')?;
    if !content.contains(['"', '\\']) {
        return Some(Cow::Borrowed(content));
    }

    let mut text = String::with_capacity(content.len());
    let mut characters = content.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next()? {
                escaped_character @ ('"' | '\\') => text.push(escaped_character),
                _ => return None,
            },
            // A quote within the text must be escaped.
            '"' => return None,
            _ => text.push(character),
        }
    }
    Some(Cow::Owned(text))
}
