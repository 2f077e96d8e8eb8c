//! CORS: which web pages of other origins may use the service.
//!
//! Only origins that the operator names are allowed. `Access-Control-Allow-Credentials` is not
//! needed, because a page sets the key in a header field itself.

use hyper::{
    HeaderMap, Method, StatusCode,
    header::{self, HeaderValue},
    http::request::Parts,
};

use super::{response::Response, settings::Origin};

/// The methods that an operation can have.
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PATCH, PUT, DELETE");

/// Header fields that a page may send.
const REQUEST_FIELDS: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, \
     X-Request-Id, traceparent",
);

/// Header fields that a page may read, in addition to the fields that browsers let every page read.
const EXPOSED_FIELDS: HeaderValue = HeaderValue::from_static(
    "Accept-Patch, Allow, Deprecation, ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, \
     Sunset, WWW-Authenticate, X-Request-Id",
);

/// How long a browser caches the response to a preflight, in seconds.
const PREFLIGHT_SECONDS: HeaderValue = HeaderValue::from_static("3600");

/// The rights of pages of some origins.
pub(crate) struct Cors {
    origins: Vec<HeaderValue>,
}

impl Cors {
    /// Returns the rights of the pages of `origins`.
    pub(crate) fn new(origins: &[Origin]) -> Self {
        Self {
            origins: origins.iter().map(Origin::header_value).collect(),
        }
    }

    /// Responds to a preflight of an allowed origin: before the request itself, a browser asks whether a page may
    /// send it. A preflight has no key.
    pub(crate) fn preflight(&self, request: &Parts) -> Option<Response> {
        let is_preflight = request.method == Method::OPTIONS
            && request
                .headers
                .contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        if !is_preflight || self.allowed_origin(&request.headers).is_none() {
            return None;
        }
        let mut response = Response::default();
        *response.status_mut() = StatusCode::NO_CONTENT;
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_FIELDS);
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, PREFLIGHT_SECONDS);
        Some(response)
    }

    /// Announces on every response which origin may read it.
    pub(crate) fn announce(&self, request: &HeaderMap, response: &mut HeaderMap) {
        if self.origins.is_empty() {
            return;
        }
        // Also if no origin is allowed, because a cache must not serve this response to other
        // origins.
        response.append(header::VARY, HeaderValue::from_static("Origin"));
        if let Some(origin) = self.allowed_origin(request) {
            response.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            response.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_FIELDS);
        }
    }

    /// Returns the origin of the page that sends the request, if it is allowed.
    fn allowed_origin(&self, request: &HeaderMap) -> Option<&HeaderValue> {
        let page_origin = request.get(header::ORIGIN)?;
        self.origins.iter().find(|origin| *origin == page_origin)
    }
}
