//! `/docs`: a page that shows the contract with Swagger UI, and `/docs/store`, which shows the store
//! area. Its files are in the binary, so the page needs no other host.

use std::{
    collections::HashMap,
    io::Read,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use flate2::bufread::DeflateDecoder;
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};
use rawzip::{CompressionMethod, ZipArchive};
use tokio::task;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;

use super::document::Document;
use crate::edge::{ApiError, Problem, Response, response};

/// Swagger UI uses inline styles and data images. Scripts and requests stay on this host.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; \
     style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// `GET /docs` redirects to `/docs/`, because the page's links are relative.
pub(crate) fn redirect() -> Response {
    response::redirect(StatusCode::PERMANENT_REDIRECT, HeaderValue::from_static("docs/"))
}

/// The files that were requested so far, ready to send.
#[derive(Default)]
pub(crate) struct Docs(Mutex<HashMap<String, Arc<Document>>>);

impl Docs {
    /// `GET /docs/` and the files below it.
    pub(super) async fn file(&self, name: &str, request: &HeaderMap) -> Result<Response, ApiError> {
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
        "swagger-ui.css" => swagger_ui(name, "text/css"),
        "swagger-ui-bundle.js" => swagger_ui(name, "text/javascript"),
        "favicon-32x32.png" => swagger_ui(name, "image/png"),
        _ => Err(ApiError::new(Problem::NotFound, "The documentation has no such page.")),
    }
}

fn swagger_ui(name: &str, media_type: &'static str) -> Result<Document, ApiError> {
    let file = unpack(name).map_err(|error| ApiError::internal(Arc::new(error)))?;
    Ok(Document::new(HeaderValue::from_static(media_type), file.into()))
}

/// Reads a file of the folder `dist` in the archive of Swagger UI's release.
fn unpack(name: &str) -> Result<Vec<u8>, DocsError> {
    let archive = ZipArchive::from_slice(SWAGGER_UI_VENDORED)?;
    let path = format!("/dist/{name}");
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry()? {
        if !entry.file_path().as_bytes().ends_with(path.as_bytes()) {
            continue;
        }
        let method = entry.compression_method();
        let entry = archive.get_entry(entry.wayfinder())?;
        let (data, mut file) = (entry.data(), Vec::new());
        let plain: Box<dyn Read> = match method {
            CompressionMethod::STORE => Box::new(data),
            _ => Box::new(DeflateDecoder::new(data)),
        };
        entry.verifying_reader(plain).read_to_end(&mut file)?;
        return Ok(file);
    }
    Err(DocsError::Missing(path))
}

#[derive(Debug, thiserror::Error)]
enum DocsError {
    #[error("the archive of Swagger UI cannot be read: {0}")]
    Archive(#[from] rawzip::Error),
    #[error("a file of Swagger UI cannot be unpacked: {0}")]
    File(#[from] std::io::Error),
    #[error("the archive of Swagger UI has no file {0}")]
    Missing(String),
}
