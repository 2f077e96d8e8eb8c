//! `/docs`: a page that shows the contract with Swagger UI, and `/docs/store`, which shows the store
//! area. Its files are in the binary, so the page needs no other host.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};
use tokio::task;
use utoipa_swagger_ui::Config;

use super::document::Document;
use crate::http::{
    App, Response,
    error::{ApiError, Problem},
    response,
    routes::Call,
};

/// Swagger UI uses inline styles and data images. Scripts and requests stay on this host.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; \
     style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// `GET /docs` redirects to `/docs/`, because the page's links are relative.
pub(crate) fn redirect() -> Response {
    response::redirect(StatusCode::PERMANENT_REDIRECT, HeaderValue::from_static("docs/"))
}

/// `GET /docs/` and the files below it.
pub(crate) async fn file(app: &App, call: Call<'_>) -> Result<Response, ApiError> {
    app.docs.file(call.parameter, &call.request.headers).await
}

/// The files that were requested so far, ready to send.
#[derive(Default)]
pub(crate) struct Docs(Mutex<HashMap<String, Arc<Document>>>);

impl Docs {
    async fn file(&self, name: &str, request: &HeaderMap) -> Result<Response, ApiError> {
        let cached = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        let document = if let Some(document) = cached {
            document
        } else {
            let name = name.to_owned();
            // Hashing a megabyte takes a while.
            let loading = task::spawn_blocking(move || load(&name).map(|file| (name, file)));
            let loaded = loading.await.map_err(|error| ApiError::internal(Arc::new(error)))?;
            let (name, file) = loaded?;
            let file = Arc::new(file);
            // Bounded by the number of existing files.
            let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            files.insert(name, Arc::clone(&file));
            file
        };
        let mut response = document.response(request).await;
        let policy = HeaderValue::from_static(CONTENT_SECURITY_POLICY);
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
        Ok(response)
    }
}

/// Loads a file of the page: one of ours, or one of Swagger UI's.
fn load(name: &str) -> Result<Document, ApiError> {
    let own = |media_type, text: &'static str| {
        Ok(Document::new(HeaderValue::from_static(media_type), Bytes::from_static(text.as_bytes())))
    };
    match name {
        // The script shows the document of the address.
        "" | "store" => own("text/html", include_str!("docs/index.html")),
        "page.css" => own("text/css; charset=utf-8", include_str!("docs/page.css")),
        "page.js" => own("text/javascript; charset=utf-8", include_str!("docs/page.js")),
        "swagger-ui.css" | "swagger-ui-bundle.js" | "favicon-32x32.png" => swagger_ui(name),
        _ => Err(ApiError::new(Problem::NotFound, "The documentation has no such page.")),
    }
}

fn swagger_ui(name: &str) -> Result<Document, ApiError> {
    let missing = |reason: String| ApiError::internal(Arc::new(DocsError(reason)));
    let file = utoipa_swagger_ui::serve(name, Arc::new(Config::default()))
        .map_err(|error| missing(error.to_string()))?
        .ok_or_else(|| missing(format!("it has no {name}")))?;
    let media_type = HeaderValue::try_from(&file.content_type)
        .map_err(|error| ApiError::internal(Arc::new(error)))?;
    let bytes = match file.bytes {
        // Already in the binary.
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    };
    Ok(Document::new(media_type, bytes))
}

#[derive(Debug, thiserror::Error)]
#[error("Swagger UI cannot be served: {0}")]
struct DocsError(String);
