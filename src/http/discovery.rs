//! `/.well-known/api-catalog`: where everything is (RFC 9727), as a set of links
//! (RFC 9264).

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{self, HeaderValue};
use serde_json::json;

use super::{App, Response};
use crate::config::BaseUrl;

/// Where the catalog is.
pub(super) const PATH: &str = "/.well-known/api-catalog";

/// The media type, with the profile of RFC 9727, section 7.3.
const MEDIA_TYPE: HeaderValue = HeaderValue::from_static(
    r#"application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727""#,
);

/// Says of the catalog itself what it is (RFC 9727, section 2).
const SELF_LINK: HeaderValue =
    HeaderValue::from_static(r#"</.well-known/api-catalog>; rel="api-catalog""#);

/// The catalog of the service that clients reach at `base_url`. The documents
/// stand beside `/v1` there; without one, on the same host.
pub(super) fn catalog(base_url: Option<&BaseUrl>) -> Bytes {
    let base = base_url.map_or("/v1", BaseUrl::as_str);
    let root = base.strip_suffix("/v1").unwrap_or_default();
    let catalog = json!({ "linkset": [{
        "anchor": base,
        "service-desc": [
            { "href": format!("{root}/openapi.yaml"), "type": "application/yaml" },
            { "href": format!("{root}/openapi.json"), "type": "application/json" },
        ],
        "service-doc": [{ "href": format!("{root}/docs/"), "type": "text/html" }],
    }] });
    catalog.to_string().into()
}

/// `GET /.well-known/api-catalog`.
pub(super) fn answer(app: &App) -> Response {
    let mut response = Response::new(Full::new(app.catalog.clone()));
    response.headers_mut().insert(header::CONTENT_TYPE, MEDIA_TYPE);
    response.headers_mut().insert(header::LINK, SELF_LINK);
    response
}
