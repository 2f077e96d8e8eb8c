//! `Idempotency-Key`: a client that received no response can retry its request safely
//! (draft-ietf-httpapi-idempotency-key-header).

use std::borrow::Cow;

use hyper::HeaderMap;
use petstore_domain::{IdempotencyKey, Problem};
use petstore_web::edge::ApiError;

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
    IdempotencyKey::new(text.into_owned())
        .map(Some)
        .ok_or_else(invalid)
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
            '\\' => characters
                .next()
                .filter(|escaped| matches!(escaped, '"' | '\\'))?,
            '"' => return None,
            other => other,
        });
    }
    Some(Cow::Owned(text))
}
