//! A response as JSON.

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};

use super::Response;

/// A JSON response.
pub(super) fn json(status: StatusCode, body: impl Into<Bytes>) -> Response {
    json_with_room(status, body, 0)
}

/// A JSON response with space for this many header fields. Needed for more than six, because
/// growing the map later costs more.
pub(super) fn json_with_room(
    status: StatusCode,
    body: impl Into<Bytes>,
    fields: usize,
) -> Response {
    let mut response = Response::new(Full::new(body.into()));
    *response.headers_mut() = HeaderMap::with_capacity(fields);
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
