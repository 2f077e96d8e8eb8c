//! Kinds of responses, and the body of a response.

use std::{
    mem,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use hyper::{
    HeaderMap, StatusCode,
    body::{self, Frame, SizeHint},
    header::{self, HeaderName, HeaderValue},
};
use petstore_store::Cause;

/// A response of the service to a request.
pub type Response = hyper::Response<Body>;

/// The body of a response.
pub enum Body {
    /// The whole body, so a client that reads slowly holds only memory.
    Whole(Bytes),
    /// A body that is made while the client reads it, piece by piece.
    Stream(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
    /// A body that is made piece by piece, and that has an end. After an error, the connection breaks off, so that no
    /// client takes a part for the whole.
    File(Pin<Box<dyn Stream<Item = Result<Bytes, Cause>> + Send>>),
}

impl Body {
    /// Returns the body, unless it is made in pieces.
    pub fn whole(&self) -> Option<&Bytes> {
        match self {
            Self::Whole(body) => Some(body),
            Self::Stream(_) | Self::File(_) => None,
        }
    }
}

impl Default for Body {
    /// Returns a body without bytes.
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
            Self::Stream(pieces) => pieces
                .poll_next_unpin(cx)
                .map(|piece| piece.map(|piece| Ok(Frame::data(piece)))),
            Self::File(pieces) => pieces
                .poll_next_unpin(cx)
                .map(|piece| piece.map(|piece| piece.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.whole().is_some_and(Bytes::is_empty)
    }

    fn size_hint(&self) -> SizeHint {
        self.whole().map_or_else(SizeHint::default, |body| {
            SizeHint::with_exact(body.len() as u64)
        })
    }
}

/// Redirects to `location`.
pub fn redirect(status: StatusCode, location: HeaderValue) -> Response {
    let mut response = Response::default();
    *response.status_mut() = status;
    response.headers_mut().insert(header::LOCATION, location);
    response
}

/// Returns a response with events, until something ends them.
pub fn events(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    // With this field, nginx forwards the response while it arrives.
    headers.insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    response
}

/// The media type of events.
pub const EVENT_STREAM: &str = "text/event-stream";

/// Returns a response with space for the header fields that responses have, because growing the map later costs
/// more.
pub fn with_body(body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Body::Whole(body.into()));
    *response.headers_mut() = HeaderMap::with_capacity(12);
    response
}

/// Returns a response whose body is JSON.
pub fn json(status: StatusCode, body: impl Into<Bytes>) -> Response {
    let mut response = with_body(body);
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    response
}

/// Turns the response to a `GET` into one to a `HEAD`: keeps its `Content-Length` and drops the
/// body. A 304 and a stream get no `Content-Length`.
pub(super) fn without_body(response: &mut Response) {
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
