//! CORS: which pages of other sites may use the service from a browser.
//!
//! Nothing is allowed unless the operator names the site. Credentials are no
//! matter of CORS here: the key is a header field that a page sets itself.

use http_body_util::Full;
use hyper::{
    HeaderMap, Method, StatusCode,
    header::{self, HeaderValue},
    http::request::Parts,
};

use super::Response;
use crate::config::Origin;

const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST");

/// What a page may send.
const REQUEST_FIELDS: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id, traceparent",
);

/// What a page may read of an answer, beside what every page may.
const EXPOSED_FIELDS: HeaderValue = HeaderValue::from_static(
    "Allow, Deprecation, ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, Sunset, \
     WWW-Authenticate, X-Request-Id",
);

/// For how many seconds a browser remembers the answer to a preflight.
const REMEMBERED_FOR: HeaderValue = HeaderValue::from_static("3600");

/// The origins that are allowed.
pub(super) struct Cors(Vec<HeaderValue>);

impl Cors {
    pub(super) fn new(origins: &[Origin]) -> Self {
        Self(origins.iter().map(Origin::header_value).collect())
    }

    /// The answer to a browser that asks, before the request itself, whether a
    /// page may send it. It has no key, and asks for no animal.
    pub(super) fn preflight(&self, request: &Parts) -> Option<Response> {
        let asks = request.method == Method::OPTIONS
            && request.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        if !asks || self.allowed(&request.headers).is_none() {
            return None;
        }
        let mut response = Response::new(Full::default());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_FIELDS);
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, REMEMBERED_FOR);
        Some(response)
    }

    /// Says on an answer, whatever it is, who may read it.
    pub(super) fn announce(&self, request: &HeaderMap, answer: &mut HeaderMap) {
        if self.0.is_empty() {
            return;
        }
        // Also where none is allowed: a cache must not give this answer to others.
        answer.append(header::VARY, HeaderValue::from_static("Origin"));
        if let Some(origin) = self.allowed(request) {
            answer.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            answer.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_FIELDS);
        }
    }

    fn allowed(&self, request: &HeaderMap) -> Option<&HeaderValue> {
        let origin = request.get(header::ORIGIN)?;
        self.0.iter().find(|allowed| *allowed == origin)
    }
}
