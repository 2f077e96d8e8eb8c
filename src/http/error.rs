//! Everything that can go wrong with a request, and the one place where a
//! status code is chosen for it.

use std::{borrow::Cow, sync::Arc};

use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderName, HeaderValue},
};
use serde::Serialize;

use super::{Response, json};
use crate::store::{Cause, StoreError};

/// What went wrong. [`Problem::code_and_status`] says how a client sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Problem {
    /// No API key was sent.
    MissingApiKey,
    /// The key is unknown, malformed, revoked, expired, or of the other deployment.
    InvalidApiKey,
    /// The key does not allow this operation.
    InsufficientScope,
    /// A query parameter has a value that is not allowed.
    InvalidParameter,
    /// A query parameter that the operation does not have.
    UnknownParameter,
    /// The cursor was not made by this service for this status.
    InvalidCursor,
    /// The head contradicts the rules of HTTP.
    InvalidRequest,
    /// The body is not a valid `NewPet`.
    InvalidBody,
    /// The idempotency key came with another animal before.
    IdempotencyConflict,
    /// The first request with this idempotency key is not answered yet.
    IdempotencyInProgress,
    /// More was asked than a key or an address may.
    RateLimited,
    /// The body did not arrive in time.
    BodyTimeout,
    /// Nothing is there.
    NotFound,
    /// The operation was removed on its announced date.
    OperationRemoved,
    /// The path is there, but not with this method.
    MethodNotAllowed,
    /// The body is larger than the service reads.
    BodyTooLarge,
    /// The request line and header fields are larger than the service reads.
    HeadTooLarge,
    /// The body is not declared to be JSON.
    UnsupportedMediaType,
    /// The service has more to do than it can, or its disk or database is away.
    Unavailable,
    /// A fault of ours.
    Internal,
}

impl Problem {
    /// The `code` of the Error body and the HTTP status. Codes are stable, and
    /// none is ever used for anything else.
    #[must_use]
    pub(super) fn code_and_status(self) -> (&'static str, StatusCode) {
        match self {
            Self::MissingApiKey => ("missing_api_key", StatusCode::UNAUTHORIZED),
            Self::InvalidApiKey => ("invalid_api_key", StatusCode::UNAUTHORIZED),
            Self::InsufficientScope => ("insufficient_scope", StatusCode::FORBIDDEN),
            Self::InvalidParameter => ("invalid_parameter", StatusCode::BAD_REQUEST),
            Self::UnknownParameter => ("unknown_parameter", StatusCode::BAD_REQUEST),
            Self::InvalidCursor => ("invalid_cursor", StatusCode::BAD_REQUEST),
            Self::InvalidRequest => ("invalid_request", StatusCode::BAD_REQUEST),
            Self::InvalidBody => ("invalid_body", StatusCode::BAD_REQUEST),
            Self::IdempotencyConflict => ("idempotency_conflict", StatusCode::UNPROCESSABLE_ENTITY),
            Self::IdempotencyInProgress => ("idempotency_in_progress", StatusCode::CONFLICT),
            Self::RateLimited => ("rate_limited", StatusCode::TOO_MANY_REQUESTS),
            Self::BodyTimeout => ("invalid_body", StatusCode::REQUEST_TIMEOUT),
            Self::NotFound => ("not_found", StatusCode::NOT_FOUND),
            Self::OperationRemoved => ("operation_removed", StatusCode::GONE),
            Self::MethodNotAllowed => ("method_not_allowed", StatusCode::METHOD_NOT_ALLOWED),
            Self::BodyTooLarge => ("payload_too_large", StatusCode::PAYLOAD_TOO_LARGE),
            Self::HeadTooLarge => {
                ("payload_too_large", StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)
            }
            Self::UnsupportedMediaType => {
                ("unsupported_media_type", StatusCode::UNSUPPORTED_MEDIA_TYPE)
            }
            Self::Unavailable => ("unavailable", StatusCode::SERVICE_UNAVAILABLE),
            Self::Internal => ("internal", StatusCode::INTERNAL_SERVER_ERROR),
        }
    }

    /// The header fields that belong to this answer.
    fn add_headers(self, headers: &mut HeaderMap) {
        let (name, value) = match self {
            // RFC 6750, section 3: no error code where no key was sent.
            Self::MissingApiKey => (header::WWW_AUTHENTICATE, r#"Bearer realm="petstore""#),
            Self::InvalidApiKey => {
                (header::WWW_AUTHENTICATE, r#"Bearer realm="petstore", error="invalid_token""#)
            }
            Self::InsufficientScope => (
                header::WWW_AUTHENTICATE,
                r#"Bearer realm="petstore", error="insufficient_scope", scope="write""#,
            ),
            // Nobody knows where the next request would begin.
            Self::InvalidRequest => (header::CONNECTION, "close"),
            Self::Unavailable | Self::IdempotencyInProgress => (header::RETRY_AFTER, "1"),
            _ => return,
        };
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// A request that cannot be answered as asked.
#[derive(Debug)]
pub(super) struct ApiError {
    problem: Problem,
    message: Cow<'static, str>,
    /// A header field that says more: `Allow` or `Retry-After`.
    field: Option<(HeaderName, HeaderValue)>,
    cause: Option<Cause>,
}

impl ApiError {
    /// `message` is for people: which part of the request is wrong, and what
    /// is allowed. It names nothing of the inside.
    pub(super) fn new(problem: Problem, message: impl Into<Cow<'static, str>>) -> Self {
        Self { problem, message: message.into(), field: None, cause: None }
    }

    /// With what lay behind it, for the log.
    pub(super) fn caused_by(self, cause: Cause) -> Self {
        Self { cause: Some(cause), ..self }
    }

    /// Nothing is at the path.
    pub(super) fn no_such_path() -> Self {
        Self::new(Problem::NotFound, "This path does not exist.")
    }

    /// The path has only these methods.
    pub(super) fn method_not_allowed(allowed: &str) -> Self {
        let message = format!("This path does not support this method. It supports {allowed}.");
        Self {
            field: HeaderValue::from_str(allowed).ok().map(|allowed| (header::ALLOW, allowed)),
            ..Self::new(Problem::MethodNotAllowed, message)
        }
    }

    /// More was asked than allowed; in so many seconds there will be more.
    pub(super) fn rate_limited(message: String, more_in: u64) -> Self {
        Self {
            field: Some((header::RETRY_AFTER, more_in.into())),
            ..Self::new(Problem::RateLimited, message)
        }
    }

    /// A fault of ours.
    #[must_use]
    pub(super) fn internal(cause: Cause) -> Self {
        let message = "The service failed. Its log holds the cause, under the identifier \
                       in X-Request-Id.";
        Self { cause: Some(cause), ..Self::new(Problem::Internal, message) }
    }

    /// What was asked of the store may be done all the same, once it is back.
    pub(super) fn timed_out() -> Self {
        Self::new(Problem::Unavailable, MAY_HAVE_BEEN_ADDED).caused_by(Arc::new(TimedOut))
    }

    /// The answer, and what lay behind it, for the log.
    pub(super) fn into_response(self) -> (Response, Option<Cause>) {
        let (code, status) = self.problem.code_and_status();
        let body =
            json::render(&ErrorBody { code, message: &self.message, status: status.as_u16() });
        let mut response = json::response(status, body);
        self.problem.add_headers(response.headers_mut());
        if let Some((name, value)) = self.field {
            response.headers_mut().insert(name, value);
        }
        (response, self.cause)
    }

    /// What went wrong.
    pub(super) fn problem(&self) -> Problem {
        self.problem
    }

    #[cfg(test)]
    pub(super) fn message(&self) -> &str {
        &self.message
    }
}

/// What a client is told when the outcome of its request is not known.
pub(super) const MAY_HAVE_BEEN_ADDED: &str = "The service could not complete the request. An \
     animal that it should add may or may not have been added; retry with the same \
     Idempotency-Key to be sure.";

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let later = "The service cannot do this right now. Try again in a moment.";
        let (message, cause) = match error {
            StoreError::Internal(cause) => return Self::internal(cause),
            StoreError::Overloaded => (later, Some(Arc::new(error) as Cause)),
            StoreError::Unavailable(cause) => (later, Some(cause)),
            StoreError::OutcomeUnknown(cause) => (MAY_HAVE_BEEN_ADDED, Some(cause)),
        };
        Self { cause, ..Self::new(Problem::Unavailable, message) }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the request took too long")]
struct TimedOut;

/// The Error body of the contract.
#[derive(Serialize)]
struct ErrorBody<'a> {
    code: &'a str,
    message: &'a str,
    status: u16,
}
