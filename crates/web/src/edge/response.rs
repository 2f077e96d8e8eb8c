//! The type of response bodies, and constructors for common responses.

use std::{
    mem,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use hyper::{
    HeaderMap, StatusCode,
    body::{self, Frame, SizeHint},
    header::{self, HeaderName, HeaderValue},
};
use petstore_store::Cause;

/// The media type of server-sent events.
pub const EVENT_STREAM: &str = "text/event-stream";

/// The number of header fields that a response usually has at most. Space for them is allocated at
/// once, which is cheaper than growing the map.
const USUAL_HEADER_FIELDS: usize = 12;

/// An HTTP response of the service.
pub type Response = hyper::Response<Body>;

/// The body of a response.
pub enum Body {
    /// A complete body in memory. A client that reads it slowly occupies nothing but this memory.
    Whole(Bytes),
    /// A body without end, such as server-sent events, which is generated while the client reads
    /// it.
    Stream(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
    /// A body with an end, which is generated while the client reads it. On an error, the
    /// connection is aborted, so that the client does not mistake a truncated body for a complete
    /// one.
    File(Pin<Box<dyn Stream<Item = Result<Bytes, Cause>> + Send>>),
}

impl Body {
    /// Returns the body, if it is completely in memory.
    pub fn whole(&self) -> Option<&Bytes> {
        match self {
            Self::Whole(body) => Some(body),
            Self::Stream(_) | Self::File(_) => None,
        }
    }
}

impl Default for Body {
    /// Returns an empty body.
    fn default() -> Self {
        Self::Whole(Bytes::new())
    }
}

impl From<Bytes> for Body {
    fn from(body: Bytes) -> Self {
        Self::Whole(body)
    }
}

impl body::Body for Body {
    type Data = Bytes;
    type Error = Cause;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cause>>> {
        match self.get_mut() {
            Self::Whole(body) if body.is_empty() => Poll::Ready(None),
            Self::Whole(body) => Poll::Ready(Some(Ok(Frame::data(mem::take(body))))),
            Self::Stream(pieces) => {
                let piece = ready!(pieces.poll_next_unpin(cx));
                Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
            }
            Self::File(pieces) => pieces.poll_next_unpin(cx).map_ok(Frame::data),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.whole().is_some_and(Bytes::is_empty)
    }

    fn size_hint(&self) -> SizeHint {
        match self.whole() {
            Some(body) => SizeHint::with_exact(body.len() as u64),
            None => SizeHint::default(),
        }
    }
}

/// Returns a redirect to `location`, with the given 3xx status.
pub fn redirect(status: StatusCode, location: HeaderValue) -> Response {
    let mut response = Response::default();
    *response.status_mut() = status;
    response.headers_mut().insert(header::LOCATION, location);
    response
}

/// Returns a response with a stream of server-sent events.
pub fn events(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    // Tells nginx to forward events immediately instead of buffering the response.
    headers.insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    response
}

/// Returns a response with this body, still without header fields.
pub fn with_body(body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Body::Whole(body.into()));
    *response.headers_mut() = HeaderMap::with_capacity(USUAL_HEADER_FIELDS);
    response
}

/// Returns a JSON response.
pub fn json(status: StatusCode, body: impl Into<Bytes>) -> Response {
    let mut response = with_body(body);
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    response
}

/// Turns the response to a `GET` into the response to a `HEAD`: drops the body, and sets the
/// `Content-Length` that it had.
///
/// A 304 has no body, so it stays as it is. A streamed body has no known length, so its response
/// gets no `Content-Length`.
pub(super) fn strip_body(response: &mut Response) {
    if response.status() == StatusCode::NOT_MODIFIED {
        return;
    }
    if let Some(length) = body::Body::size_hint(response.body()).exact() {
        response
            .headers_mut()
            .insert(header::CONTENT_LENGTH, length.into());
    }
    *response.body_mut() = Body::default();
}
