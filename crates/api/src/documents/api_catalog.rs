//! The API catalog at `/.well-known/api-catalog` (RFC 9727): links to all documents, as a link set (RFC
//! 9264).
//!
//! `/` serves the catalog to programs too, and redirects browsers to the docs.

use hyper::{
    StatusCode,
    header::{self, HeaderValue},
};
use petstore_web::edge::{ApiError, BaseUrl, Response, response};
use serde_json::json;

use super::document::Document;
use crate::{accept, context::Call};

/// The media type, with the profile of RFC 9727, section 7.3.
const MEDIA_TYPE: HeaderValue = HeaderValue::from_static(
    r#"application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727""#,
);

/// The link by which the response identifies itself as the catalog (RFC 9727, section 2).
const SELF_LINK: HeaderValue =
    HeaderValue::from_static(r#"</.well-known/api-catalog>; rel="api-catalog""#);

/// Renders the catalog of the service at `base_url`, which ends with `/v1`. The documents are siblings of
/// `/v1`. Without a base URL, all links are relative to the host.
pub(crate) fn render(base_url: Option<&BaseUrl>) -> Document {
    let base = base_url.map_or("/v1", BaseUrl::as_str);
    let root = base.strip_suffix("/v1").unwrap_or_default();
    let catalog = json!({ "linkset": [{
        "anchor": base,
        "service-desc": [
            { "href": format!("{root}/openapi.yaml"), "type": "application/yaml" },
            { "href": format!("{root}/openapi.json"), "type": "application/json" },
            { "href": format!("{root}/openapi-store.yaml"), "type": "application/yaml" },
            { "href": format!("{root}/openapi-store.json"), "type": "application/json" },
        ],
        "service-doc": [
            { "href": format!("{root}/docs/"), "type": "text/html" },
            { "href": format!("{root}/docs/store"), "type": "text/html" },
        ],
    }] });
    Document::new(MEDIA_TYPE, catalog.to_string().into())
}

/// Responds with the catalog: `GET /.well-known/api-catalog`.
pub(super) async fn respond(catalog: &Document, call: Call<'_>) -> Result<Response, ApiError> {
    let mut response = catalog.response(&call.request.headers).await;
    response.headers_mut().insert(header::LINK, SELF_LINK);
    Ok(response)
}

/// Responds with the catalog, or redirects to `/docs/` if the client prefers HTML: `GET /`.
pub(super) async fn respond_at_root(
    catalog: &Document,
    call: Call<'_>,
) -> Result<Response, ApiError> {
    let html_types = ["text/html", "application/xhtml+xml"];
    let json_types = ["application/json", "application/linkset+json"];
    let prefers_html = accept::prefers(&call.request.headers, &html_types, &json_types);
    let mut response = if prefers_html {
        response::redirect(
            StatusCode::TEMPORARY_REDIRECT,
            HeaderValue::from_static("docs/"),
        )
    } else {
        respond(catalog, call).await?
    };
    response
        .headers_mut()
        .append(header::VARY, HeaderValue::from_static("Accept"));
    Ok(response)
}
