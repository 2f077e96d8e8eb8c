//! `/docs`: the contract for people, rendered by Swagger UI from the served
//! document. The files are part of the binary; the page asks no other host.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};
use tokio::task;
use utoipa_swagger_ui::Config;

use super::{
    Response,
    documents::Document,
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

/// The most files that are kept: more than there are.
const MAX_FILES: usize = 32;

/// The files that somebody has asked for, ready to be sent.
#[derive(Default)]
pub(super) struct Docs(Mutex<HashMap<String, Arc<Document>>>);

impl Docs {
    /// `GET /docs/` and the files below it.
    pub(super) async fn file(&self, path: &str, request: &HeaderMap) -> Result<Response, ApiError> {
        let name = path.strip_prefix("/docs/").unwrap_or_default().to_owned();
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&name).cloned();
        let document = if let Some(document) = kept {
            document
        } else {
            // To name a megabyte by its hash takes a while.
            let loading = task::spawn_blocking(move || load(&name).map(|file| (name, file)));
            let loaded = loading.await.map_err(|error| ApiError::internal(Arc::new(error)))?;
            let (name, file) = loaded?;
            let file = Arc::new(file);
            let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if files.len() < MAX_FILES {
                files.insert(name, Arc::clone(&file));
            }
            file
        };
        let mut response = document.response(request).await;
        let policy = HeaderValue::from_static(CONTENT_SECURITY_POLICY);
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
        Ok(response)
    }
}

fn load(name: &str) -> Result<Document, ApiError> {
    let config = Config::from("../openapi.json").try_it_out_enabled(true);
    let file = utoipa_swagger_ui::serve(name, Arc::new(config))
        .map_err(|error| ApiError::internal(Arc::new(DocsError(error.to_string()))))?
        .ok_or_else(|| ApiError::new(Problem::NotFound, "The documentation has no such page."))?;
    let media_type = HeaderValue::try_from(&file.content_type)
        .map_err(|error| ApiError::internal(Arc::new(error)))?;
    let bytes = match file.bytes {
        // Part of the binary already.
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    };
    Ok(Document::new(media_type, bytes))
}

#[derive(Debug, thiserror::Error)]
#[error("Swagger UI cannot be served: {0}")]
struct DocsError(String);
