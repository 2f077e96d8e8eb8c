//! Kinds of responses, and the body of a response.

#![expect(missing_docs, reason = "a comment says what a name does not")]

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

/// A response.
pub type Response = hyper::Response<Body>;

/// The body of a response.
pub enum Body {
    /// The whole body, so a client that reads slowly holds only memory.
    Whole(Bytes),
    /// A body that is made while the client reads it, piece by piece.
    Stream(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
    /// The same for a body that has an end. After an error, the connection breaks off, so that no
    /// client takes a part for the whole.
    File(Pin<Box<dyn Stream<Item = Result<Bytes, Cause>> + Send>>),
}

impl Body {
    /// The body, unless it is a stream.
    pub fn whole(&self) -> Option<&Bytes> {
        match self {
            Self::Whole(body) => Some(body),
            Self::Stream(_) | Self::File(_) => None,
        }
    }
}

impl Default for Body {
    /// No bytes.
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

/// A response that leads to this place.
pub fn redirect(status: StatusCode, to: HeaderValue) -> Response {
    let mut response = Response::default();
    *response.status_mut() = status;
    response.headers_mut().insert(header::LOCATION, to);
    response
}

/// A response with events, until something ends them.
pub fn events(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    // Makes nginx pass it on while it is received.
    headers.insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    response
}

/// The media type of events.
pub const EVENT_STREAM: &str = "text/event-stream";

/// A response with space for the header fields that responses have, because growing the map later costs
/// more.
pub fn with_body(body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Body::Whole(body.into()));
    *response.headers_mut() = HeaderMap::with_capacity(12);
    response
}

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
