//! Error responses: maps each problem to its HTTP status, header fields and JSON body.

use std::{
    borrow::Cow,
    io::{self, ErrorKind},
    sync::Arc,
};

use bytes::Bytes;
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderName, HeaderValue},
};
use petstore_app::{NotEntered, WebhookError, journal::TooManyStreams};
use petstore_domain::{Problem, Scope};
use petstore_formats::json;
use petstore_photos::PhotoError;
use petstore_store::{Cause, StoreError, cause};
use serde::Serialize;

use super::{
    memory_account::{NoMemory, Reservation},
    response::{self, Response},
};

/// The message for a request after which the client cannot know if the change was made.
const OUTCOME_UNKNOWN: &str = "The service could not complete the request. A requested change may \
     or may not have been made; to be sure, retry with the same Idempotency-Key.";

/// Returns the HTTP status for a problem.
pub fn http_status(problem: Problem) -> StatusCode {
    match problem {
        Problem::MissingApiKey | Problem::InvalidApiKey => StatusCode::UNAUTHORIZED,
        Problem::InsufficientScope => StatusCode::FORBIDDEN,
        Problem::InvalidParameter
        | Problem::UnknownParameter
        | Problem::InvalidCursor
        | Problem::InvalidRequest
        | Problem::InvalidBody
        | Problem::UnknownMember
        | Problem::MissingIdempotencyKey
        | Problem::UnknownField
        | Problem::InvalidImage => StatusCode::BAD_REQUEST,
        Problem::CursorExpired | Problem::OperationRemoved => StatusCode::GONE,
        Problem::OldVersion => StatusCode::HTTP_VERSION_NOT_SUPPORTED,
        Problem::InvalidTransition
        | Problem::OpenOrder
        | Problem::FieldInUse
        | Problem::DuplicateValue
        | Problem::TooManyFields
        | Problem::TooManyPhotos
        | Problem::TooManyNotes
        | Problem::IdempotencyInProgress => StatusCode::CONFLICT,
        Problem::PhotosOff => StatusCode::NOT_IMPLEMENTED,
        Problem::PreconditionRequired => StatusCode::PRECONDITION_REQUIRED,
        Problem::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
        Problem::IdempotencyConflict => StatusCode::UNPROCESSABLE_ENTITY,
        Problem::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Problem::BodyTimeout => StatusCode::REQUEST_TIMEOUT,
        Problem::NotFound => StatusCode::NOT_FOUND,
        Problem::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Problem::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Problem::HeadTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        Problem::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Problem::Unavailable | Problem::StorageFull => StatusCode::SERVICE_UNAVAILABLE,
        Problem::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Adds the header fields that every response with this problem has.
fn add_headers(problem: Problem, headers: &mut HeaderMap) {
    let (name, value) = match problem {
        // RFC 6750, section 3: no error code if no key was sent.
        Problem::MissingApiKey => (header::WWW_AUTHENTICATE, r#"Bearer realm="petstore""#),
        Problem::InvalidApiKey => (
            header::WWW_AUTHENTICATE,
            r#"Bearer realm="petstore", error="invalid_token""#,
        ),
        // The request may be malformed, so the start of the next one is unknown.
        Problem::InvalidRequest => (header::CONNECTION, "close"),
        Problem::Unavailable | Problem::StorageFull | Problem::IdempotencyInProgress => {
            (header::RETRY_AFTER, "1")
        }
        _ => return,
    };
    headers.insert(name, HeaderValue::from_static(value));
}

/// A header field that an error response has in addition to the header fields of its problem.
#[derive(Debug)]
struct ExtraHeader {
    name: HeaderName,
    value: HeaderValue,
}

/// What the JSON body of an error has in addition to its usual members.
#[derive(Default)]
pub struct ErrorDetails<'a> {
    /// The member `failedIndex`: the position of the failed command in its batch.
    pub failed_index: Option<usize>,
    /// The member `current`: the current state of the resource, as JSON.
    pub current: Option<&'a [u8]>,
    /// The reserved memory to which the body counts.
    pub reservation: Option<Reservation>,
}

/// An error response, with its cause for the log.
#[derive(Debug)]
pub struct ApiError {
    problem: Problem,
    message: Cow<'static, str>,
    /// An additional header field, such as `Allow`. It is boxed to keep the error small.
    extra_header: Option<Box<ExtraHeader>>,
    cause: Option<Cause>,
    /// A complete body that replaces the usual one: JSON with more members, or a page.
    pub body: Option<Box<Bytes>>,
}

/// The members of the JSON body.
#[derive(Serialize)]
struct ErrorBody<'a> {
    code: &'a str,
    message: &'a str,
    status: u16,
}

impl ApiError {
    /// Creates an error response. `message` says which part of the request is wrong and what is
    /// allowed. Clients see it, so it must not reveal internals.
    pub fn new(problem: Problem, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            problem,
            message: message.into(),
            extra_header: None,
            cause: None,
            body: None,
        }
    }

    /// Replaces the message.
    pub fn with_message(self, message: &'static str) -> Self {
        Self {
            message: message.into(),
            ..self
        }
    }

    /// Adds a header field, such as `Allow`. It replaces one that was added before.
    pub(crate) fn with_header(self, name: HeaderName, value: HeaderValue) -> Self {
        Self {
            extra_header: Some(Box::new(ExtraHeader { name, value })),
            ..self
        }
    }

    /// Renders the JSON body with additional members.
    pub fn with_details(self, details: ErrorDetails<'_>) -> Self {
        let mut body = self.render();
        // Removes the closing brace, so that members can be appended.
        body.pop();
        if let Some(index) = details.failed_index {
            body.extend_from_slice(format!(",\"failedIndex\":{index}").as_bytes());
        }
        if let Some(current) = details.current {
            body.extend_from_slice(b",\"current\":");
            body.extend_from_slice(current);
        }
        body.push(b'}');
        let body = match details.reservation {
            Some(reservation) => reservation.fill(body),
            None => body.into(),
        };
        Self {
            body: Some(Box::new(body)),
            ..self
        }
    }

    /// Adds `failedIndex`, the position of the invalid command in its batch.
    pub fn with_index(self, index: usize) -> Self {
        self.with_details(ErrorDetails {
            failed_index: Some(index),
            ..ErrorDetails::default()
        })
    }

    /// Sets the cause, which only the log contains.
    pub fn caused_by(self, cause: Cause) -> Self {
        Self {
            cause: Some(cause),
            ..self
        }
    }

    /// Returns the 404 for an unknown path.
    pub fn no_such_path() -> Self {
        Self::new(Problem::NotFound, "There is nothing at this address.")
    }

    /// Returns the 405 for a path that has only these methods, in the format of `Allow`.
    pub fn method_not_allowed(methods: &str) -> Self {
        let message = format!("This path does not support this method. It supports {methods}.");
        let error = Self::new(Problem::MethodNotAllowed, message);
        // Methods are ASCII, so this never fails.
        match HeaderValue::from_str(methods) {
            Ok(methods) => error.with_header(header::ALLOW, methods),
            Err(_) => error,
        }
    }

    /// Returns the 403 for a key that lacks this scope (RFC 6750, section 3.1).
    pub fn insufficient_scope(scope: Scope) -> Self {
        let scope = scope.as_str();
        let challenge =
            format!(r#"Bearer realm="petstore", error="insufficient_scope", scope="{scope}""#);
        let message = format!("The API key lacks the scope {scope}.");
        let error = Self::new(Problem::InsufficientScope, message);
        // The names of scopes are ASCII, so this never fails.
        match HeaderValue::try_from(challenge) {
            Ok(challenge) => error.with_header(header::WWW_AUTHENTICATE, challenge),
            Err(_) => error,
        }
    }

    /// Returns the 429 for a client that exceeds its rate limit. It may retry after this many
    /// seconds.
    pub fn rate_limited(message: String, retry_after_seconds: u64) -> Self {
        Self::new(Problem::RateLimited, message)
            .with_header(header::RETRY_AFTER, retry_after_seconds.into())
    }

    /// Returns the 500 for an unexpected error. The message does not reveal the cause.
    pub fn internal(cause: Cause) -> Self {
        let message = "Internal error. The operator finds the cause in the log by the X-Request-Id \
                       of this response.";
        Self {
            cause: Some(cause),
            ..Self::new(Problem::Internal, message)
        }
    }

    /// Returns the 503 for a request that timed out. The store may still complete its work.
    pub(super) fn timed_out() -> Self {
        Self::new(Problem::Unavailable, OUTCOME_UNKNOWN).caused_by(cause("the request timed out"))
    }

    /// Converts the error into its response and its cause. Only the log may show the cause.
    pub fn into_response(mut self) -> (Response, Option<Cause>) {
        let status = http_status(self.problem);
        let body = match self.body.take() {
            Some(body) => *body,
            None => self.render().into(),
        };
        let mut response = response::json(status, body);
        add_headers(self.problem, response.headers_mut());
        if let Some(header) = self.extra_header {
            let ExtraHeader { name, value } = *header;
            response.headers_mut().insert(name, value);
        }
        (response, self.cause)
    }

    /// Renders the JSON body.
    fn render(&self) -> Vec<u8> {
        let status = http_status(self.problem).as_u16();
        json::render(&ErrorBody {
            code: self.problem.code(),
            message: &self.message,
            status,
        })
    }

    /// Returns the problem, which decides the status code.
    pub fn problem(&self) -> Problem {
        self.problem
    }

    /// Returns the message for people: what is wrong, and what to do.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl From<json::Invalid> for ApiError {
    fn from(invalid: json::Invalid) -> Self {
        match invalid {
            json::Invalid::Value(message) => Self::new(Problem::InvalidBody, message),
            json::Invalid::UnknownMember(message) => Self::new(Problem::UnknownMember, message),
        }
    }
}

impl From<NoMemory> for ApiError {
    fn from(error: NoMemory) -> Self {
        let message = "Too many responses are waiting for clients to read them. Retry in a moment, \
                       or request fewer animals per page.";
        Self::new(Problem::Unavailable, message).caused_by(Arc::new(error))
    }
}

impl From<NotEntered> for ApiError {
    fn from(error: NotEntered) -> Self {
        match error {
            NotEntered::InProgress => Self::new(
                Problem::IdempotencyInProgress,
                "The request with this Idempotency-Key is still in progress. Retry in a moment.",
            ),
            NotEntered::TooMany => Self::from(StoreError::Overloaded).caused_by(Arc::new(error)),
        }
    }
}

impl From<TooManyStreams> for ApiError {
    fn from(error: TooManyStreams) -> Self {
        Self::rate_limited(error.to_string(), TooManyStreams::RETRY_AFTER)
    }
}

impl From<WebhookError> for ApiError {
    fn from(error: WebhookError) -> Self {
        match error {
            WebhookError::Store(error) => error.into(),
            WebhookError::Vault(error) => {
                let message = "The service cannot use its key file for the secrets of webhooks. Ask \
                               the operator of the service to check --secret-key-file.";
                Self::new(Problem::Unavailable, message).caused_by(Arc::new(error))
            }
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let retry_later =
            "The service is overloaded or temporarily unavailable. Retry in a moment.";
        match error {
            StoreError::Overloaded => {
                Self::new(Problem::Unavailable, retry_later).caused_by(Arc::new(error))
            }
            StoreError::Unavailable(cause) => {
                Self::new(Problem::Unavailable, retry_later).caused_by(cause)
            }
            StoreError::Full(cause) => {
                Self::new(Problem::StorageFull, retry_later).caused_by(cause)
            }
            StoreError::OutcomeUnknown(cause) => {
                Self::new(Problem::Unavailable, OUTCOME_UNKNOWN).caused_by(cause)
            }
            StoreError::NulInText(cause) => {
                let message = "A text of the request has U+0000, which no text of the store can have. \
                               Remove it.";
                Self::new(Problem::InvalidRequest, message).caused_by(cause)
            }
            StoreError::Internal(cause) => Self::internal(cause),
        }
    }
}

impl From<PhotoError> for ApiError {
    fn from(error: PhotoError) -> Self {
        let retry_later =
            "The files of photos cannot be read or written at the moment. Retry later.";
        match error {
            PhotoError::Off => Self::new(
                Problem::PhotosOff,
                "This service keeps no photos. Ask its operator to set --photos.",
            ),
            PhotoError::Busy => Self::new(
                Problem::Unavailable,
                "Too many pictures wait to be decoded. Retry in a moment.",
            ),
            PhotoError::Invalid(problem) => Self::new(Problem::InvalidImage, problem.to_string()),
            PhotoError::PhotoStorage(ref cause) if is_full(cause) => {
                Self::new(Problem::StorageFull, retry_later).caused_by(Arc::new(error))
            }
            PhotoError::PhotoStorage(_) => {
                Self::new(Problem::Unavailable, retry_later).caused_by(Arc::new(error))
            }
            PhotoError::Thread(_) | PhotoError::Damaged(_) => Self::internal(Arc::new(error)),
        }
    }
}

/// Whether the error means that there is no space left: a full disk, a quota, or a file size limit.
fn is_full(cause: &io::Error) -> bool {
    matches!(
        cause.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
    )
}
