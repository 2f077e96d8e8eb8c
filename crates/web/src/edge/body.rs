//! Reads request bodies, with limits on size and time.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::{
    HeaderMap,
    body::{Body, Frame, SizeHint},
    header::{self, HeaderName, HeaderValue},
};
use petstore_domain::{PetName, Problem};
use petstore_photos::Format;

use super::error::ApiError;

/// The largest accepted JSON body, in bytes: so small that no name in it can exceed
/// [`PetName::MAX_LENGTH`].
pub(crate) const MAX_BODY: usize = PetName::MAX_LENGTH;

/// The media types of a patch, as in `Accept-Patch` (RFC 5789, section 3.1).
const PATCH_TYPES: &str = "application/merge-patch+json, application/json";

/// The body of a request, from a connection or from a test.
pub trait RequestBody:
    Body<Data = Bytes, Error: std::error::Error + Send + Sync + 'static> + Send + Unpin
{
}

impl<B> RequestBody for B where
    B: Body<Data = Bytes, Error: std::error::Error + Send + Sync + 'static> + Send + Unpin
{
}

/// A request body that has not been read yet. An operation may read it, or ignore it.
pub type UnreadBody<'r> = &'r mut (dyn Body<Data = Bytes, Error = BodyError> + Send + Unpin);

/// The reason that a body could not be read to its end.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct BodyError(Box<dyn std::error::Error + Send + Sync>);

/// A body that tracks whether it has been read to its end. hyper knows this only for a body that is
/// empty or has a `Content-Length`.
pub(super) struct TrackedBody<B> {
    body: B,
    is_read: bool,
}

impl<B: RequestBody> TrackedBody<B> {
    pub(super) fn new(body: B) -> Self {
        let is_read = body.is_end_stream();
        Self { body, is_read }
    }

    pub(super) fn is_read(&self) -> bool {
        self.is_read
    }
}

impl<B: RequestBody> Body for TrackedBody<B> {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        self.is_read = matches!(frame, Poll::Ready(None)) || self.body.is_end_stream();
        frame.map_err(|error| BodyError(error.into()))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Returns an upper bound for the bytes that will be read from a JSON body, from its declared
/// length.
pub fn max_length(body: &UnreadBody<'_>) -> usize {
    max_length_within(body, MAX_BODY)
}

/// Returns an upper bound for the bytes that will be read from a body: its declared length, or
/// `max` if it is longer or declares none.
pub fn max_length_within(body: &UnreadBody<'_>, max: usize) -> usize {
    let declared_length = body
        .size_hint()
        .upper()
        .and_then(|length| usize::try_from(length).ok());
    declared_length.unwrap_or(max).min(max)
}

/// The kinds of JSON bodies that an operation accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepted {
    /// JSON, with the `Content-Type` `application/json`.
    Json,
    /// JSON, or an empty body of any type.
    JsonOrNothing,
    /// A JSON merge patch (RFC 7396). Its `Content-Type` may also be `application/json`.
    Patch,
}

impl Accepted {
    /// Whether the `Content-Type` of the request is accepted.
    fn accepts_content_type(self, headers: &HeaderMap) -> bool {
        is_plain_body_of_type(headers, b"application/json")
            || (self == Self::Patch
                && is_plain_body_of_type(headers, b"application/merge-patch+json"))
    }

    /// Returns the 415 for a body of another type, with `Accept-Patch` if a patch is accepted.
    fn unsupported_type_error(self) -> ApiError {
        let patch = if self == Self::Patch {
            "application/merge-patch+json or "
        } else {
            ""
        };
        let message = format!(
            "The body must be JSON with Content-Type: {patch}application/json and without \
             Content-Encoding."
        );
        let error = ApiError::new(Problem::UnsupportedMediaType, message);
        if self != Self::Patch {
            return error;
        }
        error.with_header(
            HeaderName::from_static("accept-patch"),
            HeaderValue::from_static(PATCH_TYPES),
        )
    }
}

/// Reads a JSON body into memory.
///
/// Fails with 415 if the type is not accepted, with 413 if the body exceeds `MAX_BODY`, with 408 if
/// it does not arrive within `timeout`, and with 400 if it ends early.
pub async fn read_json(
    headers: &HeaderMap,
    body: UnreadBody<'_>,
    accepted: Accepted,
    timeout: Duration,
) -> Result<Bytes, ApiError> {
    let is_accepted = accepted.accepts_content_type(headers);
    if !is_accepted && accepted != Accepted::JsonOrNothing {
        return Err(accepted.unsupported_type_error());
    }
    // Only after a body of another type has been read is it known whether it is empty.
    let body = collect(body, MAX_BODY, timeout).await?;
    if is_accepted || body.is_empty() {
        Ok(body)
    } else {
        Err(accepted.unsupported_type_error())
    }
}

/// Reads a URL-encoded form of at most `max` bytes. Fails like [`read_json`].
pub async fn read_form(
    headers: &HeaderMap,
    body: UnreadBody<'_>,
    max: usize,
    timeout: Duration,
) -> Result<Bytes, ApiError> {
    if !is_plain_body_of_type(headers, b"application/x-www-form-urlencoded") {
        let message = "The body must be a form, as a browser sends it.";
        return Err(ApiError::new(Problem::UnsupportedMediaType, message));
    }
    collect(body, max, timeout).await
}

/// The pictures that an operation accepts.
pub struct Pictures {
    /// The accepted formats.
    pub formats: &'static [Format],
    /// The largest accepted picture, in bytes.
    pub max: usize,
}

/// Reads a picture. Fails like [`read_json`].
///
/// The `Content-Type` may name any accepted format, even if the picture has another one: generated
/// clients always send the same `Content-Type`, and the format is detected from the bytes anyway.
pub async fn read_picture(
    headers: &HeaderMap,
    body: UnreadBody<'_>,
    accepted_pictures: &Pictures,
    timeout: Duration,
) -> Result<Bytes, ApiError> {
    let media_types: Vec<_> = accepted_pictures
        .formats
        .iter()
        .map(|format| format!("image/{}", format.as_str().to_lowercase()))
        .collect();
    let is_accepted = media_types
        .iter()
        .any(|media_type| is_plain_body_of_type(headers, media_type.as_bytes()));
    if !is_accepted {
        let message = format!(
            "The body must be a picture, without Content-Encoding, whose Content-Type is {}. Send the \
             bytes of the picture, not a form.",
            join_alternatives(&media_types)
        );
        return Err(ApiError::new(Problem::UnsupportedMediaType, message));
    }
    collect(body, accepted_pictures.max, timeout).await
}

/// Joins words into a list of alternatives for a message.
///
/// Example: `a, b or c`.
fn join_alternatives(words: &[String]) -> String {
    match words {
        [first_words @ .., last_word] => format!("{} or {last_word}", first_words.join(", ")),
        [] => String::new(),
    }
}

/// Reads a body of any type into memory. Fails with 413 above `max` bytes, 408 after `timeout`, and
/// 400 if it ends early.
async fn collect(body: UnreadBody<'_>, max: usize, timeout: Duration) -> Result<Bytes, ApiError> {
    // A body whose declared length exceeds the limit need not be read.
    if body.size_hint().lower() > max as u64 {
        return Err(too_large_error(max));
    }
    match tokio::time::timeout(timeout, read_whole(Limited::new(body, max))).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large_error(max)),
        // The client caused the error, so the log does not need the reason.
        Ok(Err(_)) => Err(ApiError::new(
            Problem::InvalidBody,
            "The body ended too early, or its framing is invalid.",
        )),
        Err(_) => Err(late_body_error()),
    }
}

/// Returns the 408 for a body that does not arrive in time.
pub(super) fn late_body_error() -> ApiError {
    ApiError::new(Problem::BodyTimeout, "The body did not arrive in time.")
}

/// Returns the 413 for a body of more than `max` bytes.
fn too_large_error(max: usize) -> ApiError {
    let message = format!("The body is larger than {max} bytes.");
    ApiError::new(Problem::BodyTooLarge, message)
}

/// Reads a body into one contiguous buffer. Keeping the frames apart would be costly if a client
/// sends many small ones, because each occupies much more memory than its bytes.
async fn read_whole<B>(mut body: Limited<B>) -> Result<Bytes, <Limited<B> as Body>::Error>
where
    Limited<B>: Body<Data = Bytes> + Unpin,
{
    let mut whole_body = Vec::new();
    while let Some(frame) = body.frame().await {
        // Trailers, the only other kind of frame, are ignored.
        let Ok(data) = frame?.into_data() else {
            continue;
        };
        // A body of a single frame is returned without a copy.
        if whole_body.is_empty() && body.is_end_stream() {
            return Ok(data);
        }
        whole_body.extend_from_slice(&data);
    }
    Ok(whole_body.into())
}

/// Whether the body has this media type, and no `Content-Encoding`.
///
/// Parameters such as `charset` are ignored. With several `Content-Type` fields, the result is
/// false, because they are ambiguous.
///
/// Example: `Application/JSON; charset=utf-8` has the type `application/json`.
fn is_plain_body_of_type(headers: &HeaderMap, media_type: &[u8]) -> bool {
    if headers.contains_key(header::CONTENT_ENCODING) {
        return false;
    }
    let mut content_types = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(value), None) = (content_types.next(), content_types.next()) else {
        return false;
    };
    let type_without_parameters = value
        .as_bytes()
        .split(|&byte| byte == b';')
        .next()
        .unwrap_or_default();
    type_without_parameters
        .trim_ascii()
        .eq_ignore_ascii_case(media_type)
}
