//! The headers that protect visitors, and tell browsers what a page may load and who may frame it.

use hyper::{
    HeaderMap,
    header::{self, HeaderName, HeaderValue},
};
use petstore_web::edge::Origin;

/// The `Content-Security-Policy` of all pages but `/embed`: no resources from other hosts, no
/// scripts, and no framing.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// The security headers of every response. `/embed` overrides the content policy. With this
/// referrer policy, other sites learn only the origin of the window, not which page a visitor came
/// from.
const SECURITY_HEADERS: [(HeaderName, &str); 2] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::REFERRER_POLICY, "strict-origin-when-cross-origin"),
];

/// Adds the headers of every response.
pub(super) fn add_security_headers(headers: &mut HeaderMap) {
    for (name, value) in SECURITY_HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// Adds the headers with which scripts on other sites may read a response (CORS).
pub(super) fn allow_other_sites(headers: &mut HeaderMap) {
    let any_origin = HeaderValue::from_static("*");
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, any_origin);
    // Scripts of other sites cannot read the `Link` to the next page unless it is exposed.
    let exposed_header = HeaderValue::from_static("Link");
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed_header);
}

/// Returns the `Content-Security-Policy` of `/embed`: [`POLICY`], but these sites may show the page
/// in a frame.
pub(super) fn embedded_policy(sites: &[Origin]) -> HeaderValue {
    if sites.is_empty() {
        return HeaderValue::from_static(POLICY);
    }
    let origins: Vec<&str> = sites.iter().map(Origin::as_str).collect();
    let ancestors = format!("frame-ancestors {}", origins.join(" "));
    let policy = POLICY.replace("frame-ancestors 'none'", &ancestors);
    // An origin is valid in a header, so the fallback is never used.
    HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}
