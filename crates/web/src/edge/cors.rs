//! CORS: lets web pages of other origins call the service.
//!
//! Only origins that the operator configures are allowed. `Access-Control-Allow-Credentials` is not
//! needed, because pages send the API key in a header field themselves, not in a cookie.

use hyper::{
    HeaderMap, Method, StatusCode,
    header::{self, HeaderValue},
    http::request::Parts,
};

use super::{response::Response, settings::Origin};

/// The methods that pages may use: all that operations have.
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PATCH, PUT, DELETE");

/// The request header fields that a page may set.
const REQUEST_FIELDS: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, \
     X-Request-Id, traceparent",
);

/// The response header fields that a page may read, besides the fields that browsers always expose.
const EXPOSED_FIELDS: HeaderValue = HeaderValue::from_static(
    "Accept-Patch, Allow, Deprecation, ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, \
     Sunset, WWW-Authenticate, X-Request-Id",
);

/// How long a browser caches the response to a preflight, in seconds.
const PREFLIGHT_SECONDS: HeaderValue = HeaderValue::from_static("3600");

/// The CORS policy: the origins whose pages may call the service.
pub(crate) struct Cors {
    origins: Vec<HeaderValue>,
}

impl Cors {
    /// Creates the policy that allows `origins`.
    pub(crate) fn new(origins: &[Origin]) -> Self {
        Self {
            origins: origins.iter().map(Origin::header_value).collect(),
        }
    }

    /// Responds to a CORS preflight from an allowed origin; returns `None` for any other request.
    ///
    /// A browser sends a preflight before the actual request to ask whether the page may send it. A
    /// preflight carries no key, so it must be handled before authentication.
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

    /// Adds the header fields that tell a browser whether the page may read the response.
    pub(crate) fn add_headers(&self, request: &HeaderMap, response: &mut HeaderMap) {
        if self.origins.is_empty() {
            return;
        }
        // `Vary` is also needed if this origin is not allowed, so that a cache does not serve the
        // response to an allowed one.
        response.append(header::VARY, HeaderValue::from_static("Origin"));
        if let Some(origin) = self.allowed_origin(request) {
            response.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            response.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_FIELDS);
        }
    }

    /// Returns the `Origin` of the request, if it is allowed.
    fn allowed_origin(&self, request: &HeaderMap) -> Option<&HeaderValue> {
        let page_origin = request.get(header::ORIGIN)?;
        self.origins.iter().find(|origin| *origin == page_origin)
    }
}
