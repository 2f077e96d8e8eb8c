//! Authentication: every request under `/v1` needs a valid API key.

use std::sync::Arc;

use hyper::{HeaderMap, header};
use petstore_app::{Caller, KeyError};
use petstore_domain::{Problem, Scope};
use petstore_web::edge::ApiError;

/// The message for a client whose connection was closed to make room for another one.
const CONNECTION_REPLACED: &str = "All connections are in use, so this one was closed for a new \
     one. Retry in a moment.";

/// Converts an authentication failure into an error.
///
/// The error is a 401 for an invalid key, a 503 if the connection was closed to make room for another one, and
/// a 503 or 500 if the store failed.
pub(crate) fn key_error(error: KeyError) -> ApiError {
    match error {
        KeyError::Invalid => invalid_key(),
        KeyError::Ended(ended) => invalid_key().caused_by(Arc::new(ended)),
        KeyError::ConnectionReplaced => ApiError::new(Problem::Unavailable, CONNECTION_REPLACED),
        KeyError::Store(error) => error.into(),
    }
}

/// Checks that the caller's key has `scope`. Fails with 403 if it does not, or if there is no caller.
pub(crate) fn require_scope(caller: Option<&Caller>, scope: Scope) -> Result<(), ApiError> {
    if caller.is_some_and(|caller| caller.may(scope)) {
        return Ok(());
    }
    Err(ApiError::insufficient_scope(scope))
}

/// Returns the key in the header `Authorization: Bearer KEY` (RFC 6750, section 2.1). Fails with 401 if the
/// request has no such header, or several.
///
/// The key itself is not checked.
pub(crate) fn presented_key(headers: &HeaderMap) -> Result<&[u8], ApiError> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next().ok_or_else(missing_key)?.as_bytes();
    if values.next().is_some() {
        return Err(invalid_key());
    }
    let Some(space) = value.iter().position(|&byte| byte == b' ') else {
        return Err(missing_key());
    };
    let (scheme, key) = value.split_at(space);
    if !scheme.eq_ignore_ascii_case(b"Bearer") {
        return Err(missing_key());
    }
    Ok(key.trim_ascii())
}

/// Returns the error for a request without a key.
pub(crate) fn missing_key() -> ApiError {
    ApiError::new(
        Problem::MissingApiKey,
        "An API key is required, sent as Authorization: Bearer KEY.",
    )
}

/// Returns the error for an invalid key. Its message does not depend on the reason, so that it reveals
/// nothing about existing keys.
pub(crate) fn invalid_key() -> ApiError {
    ApiError::new(
        Problem::InvalidApiKey,
        "The API key is not valid here: it is unknown, mistyped, expired or revoked, \
         or belongs to the other deployment.",
    )
}
