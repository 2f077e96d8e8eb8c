//! `/docs`: the contract for people, rendered by Swagger UI from the served
//! document. The files are part of the binary; the page asks no other host.

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    StatusCode,
    header::{self, HeaderValue},
};
use utoipa_swagger_ui::Config;

use super::{
    Response,
    error::{ApiError, Problem},
};

/// Swagger UI writes style attributes and data images; scripts and requests
/// stay on this host.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; \
     style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// `GET /docs` leads to `/docs/`, against which the page's files are found.
pub(super) fn redirect() -> Response {
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_static("docs/"));
    response
}

/// `GET /docs/` and the files below it.
pub(super) fn file(path: &str) -> Result<Response, ApiError> {
    let name = path.strip_prefix("/docs/").unwrap_or_default();
    let config = Config::from("../openapi.json").try_it_out_enabled(true);
    let file = utoipa_swagger_ui::serve(name, Arc::new(config))
        .map_err(|error| ApiError::internal(Arc::new(DocsError(error.to_string()))))?
        .ok_or_else(|| ApiError::new(Problem::NotFound, "The documentation has no such page."))?;
    let content_type = HeaderValue::try_from(&file.content_type)
        .map_err(|error| ApiError::internal(Arc::new(error)))?;
    let bytes = match file.bytes {
        // Part of the binary; to copy a megabyte for each reader would be a
        // gift to those who read slowly on purpose.
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    };
    let mut response = Response::new(Full::new(bytes));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, content_type);
    headers
        .insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CONTENT_SECURITY_POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Ok(response)
}

#[derive(Debug, thiserror::Error)]
#[error("Swagger UI cannot be served: {0}")]
struct DocsError(String);
