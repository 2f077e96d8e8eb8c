//! `/.well-known/api-catalog` (RFC 9727): links to all documents, as a link set (RFC 9264). And
//! `/`, which serves this catalog to programs and redirects browsers to the docs.

use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};
use serde_json::json;

use super::document::Document;
use crate::http::{
    App, BaseUrl, Response, edge::compression::weight, error::ApiError, routes::Call,
};

/// The media type, with the profile of RFC 9727, section 7.3.
const MEDIA_TYPE: HeaderValue = HeaderValue::from_static(
    r#"application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727""#,
);

/// Identifies the catalog (RFC 9727, section 2).
const SELF_LINK: HeaderValue =
    HeaderValue::from_static(r#"</.well-known/api-catalog>; rel="api-catalog""#);

/// The catalog of the service at `base_url`. The documents are next to `/v1` there. Without a base
/// URL, all links are relative to the host.
pub(in crate::http) fn catalog(base_url: Option<&BaseUrl>) -> Document {
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

/// `GET /.well-known/api-catalog`.
pub(in crate::http) async fn get(app: &App, call: Call<'_>) -> Result<Response, ApiError> {
    let mut response = app.catalog.response(&call.request.headers).await;
    response.headers_mut().insert(header::LINK, SELF_LINK);
    Ok(response)
}

/// `GET /`: the catalog, or a redirect to `/docs/` if the request prefers HTML.
pub(in crate::http) async fn root(app: &App, call: Call<'_>) -> Result<Response, ApiError> {
    let mut response = if prefers_html(&call.request.headers) {
        let mut redirect = Response::default();
        *redirect.status_mut() = StatusCode::TEMPORARY_REDIRECT;
        redirect.headers_mut().insert(header::LOCATION, HeaderValue::from_static("docs/"));
        redirect
    } else {
        get(app, call).await?
    };
    response.headers_mut().append(header::VARY, HeaderValue::from_static("Accept"));
    Ok(response)
}

/// Whether `Accept` names HTML with a higher weight than any JSON type (RFC 9110, section 12.5.1).
/// A range such as `*/*` names neither.
fn prefers_html(request: &HeaderMap) -> bool {
    let (mut html, mut json) = (0.0_f32, 0.0_f32);
    for field in request.get_all(header::ACCEPT) {
        for element in field.to_str().unwrap_or_default().to_ascii_lowercase().split(',') {
            let mut parts = element.split(';');
            let named = match parts.next().unwrap_or_default().trim() {
                "text/html" | "application/xhtml+xml" => &mut html,
                "application/json" | "application/linkset+json" => &mut json,
                _ => continue,
            };
            *named = named.max(parts.find_map(weight).unwrap_or(1.0));
        }
    }
    html > json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_request_that_names_html_above_json_prefers_html() {
        let prefers = |fields: &[&str]| {
            let mut request = HeaderMap::new();
            for field in fields {
                request.append(header::ACCEPT, field.parse().unwrap());
            }
            prefers_html(&request)
        };
        for fields in [
            &["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"][..],
            &["Text/HTML; charset=utf-8; Q=0.5"],
            &["application/json;q=0.4", "text/html;q=0.5"],
        ] {
            assert!(prefers(fields), "{fields:?}");
        }
        for fields in [
            &[][..],
            &[""],
            &["*/*"],
            &["text/*"],
            &["text/html;q=0"],
            &["application/json"],
            &["application/json, text/html, */*"],
            &["application/linkset+json, text/html;q=0.9"],
        ] {
            assert!(!prefers(fields), "{fields:?}");
        }
    }
}
