//! `/docs`: a page that shows the contract with Swagger UI, and `/docs/store`, which shows the store
//! area. Its files are in the binary, so the page needs no other host.

use std::{
    future::{Ready, ready},
    io::Read,
    sync::Arc,
};

use bytes::Bytes;
use flate2::bufread::DeflateDecoder;
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};
use petstore_domain::Problem;
use petstore_web::edge::{ApiError, Response, response};
use rawzip::{CompressionMethod, ZipArchive};
use tokio::{sync::OnceCell, task};
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;

use super::document::Document;

/// Swagger UI uses inline styles and data images. Scripts and requests stay on this host.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; \
     style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// `GET /docs` redirects to `/docs/`, because the page's links are relative.
pub(crate) fn redirect() -> Ready<Result<Response, ApiError>> {
    let to = HeaderValue::from_static("docs/");
    ready(Ok(response::redirect(StatusCode::PERMANENT_REDIRECT, to)))
}

/// The files of the page, each with its media type, and its text if it is ours; the others are Swagger
/// UI's. The script shows the document of the address.
const FILES: [(&str, &str, Option<&str>); 7] = [
    ("", "text/html", Some(include_str!("docs/index.html"))),
    ("store", "text/html", Some(include_str!("docs/index.html"))),
    (
        "page.css",
        "text/css; charset=utf-8",
        Some(include_str!("docs/page.css")),
    ),
    (
        "page.js",
        "text/javascript; charset=utf-8",
        Some(include_str!("docs/page.js")),
    ),
    ("swagger-ui.css", "text/css", None),
    ("swagger-ui-bundle.js", "text/javascript", None),
    ("favicon-32x32.png", "image/png", None),
];

/// The files that were requested so far, ready to send.
#[derive(Default)]
pub(crate) struct Docs([OnceCell<Document>; FILES.len()]);

impl Docs {
    /// `GET /docs/` and the files below it.
    pub(super) async fn file(&self, name: &str, request: &HeaderMap) -> Result<Response, ApiError> {
        let found = FILES
            .iter()
            .zip(&self.0)
            .find(|((file, ..), _)| *file == name);
        let no_page = || ApiError::new(Problem::NotFound, "The documentation has no such page.");
        let (&(name, media_type, own), document) = found.ok_or_else(no_page)?;
        let load = move || {
            let content = own.map_or_else(
                || unpack(name).map(Bytes::from),
                |own| Ok(own.as_bytes().into()),
            )?;
            Ok::<_, DocsError>(Document::new(HeaderValue::from_static(media_type), content))
        };
        // Hashing a megabyte takes a while.
        let loading = async || match task::spawn_blocking(load).await {
            Ok(loaded) => loaded.map_err(|error| ApiError::internal(Arc::new(error))),
            Err(error) => Err(ApiError::internal(Arc::new(error))),
        };
        let mut response = document
            .get_or_try_init(loading)
            .await?
            .response(request)
            .await;
        let policy = HeaderValue::from_static(CONTENT_SECURITY_POLICY);
        response
            .headers_mut()
            .insert(header::CONTENT_SECURITY_POLICY, policy);
        Ok(response)
    }
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
        let data = entry.data();
        let plain: Box<dyn Read> = match method {
            CompressionMethod::STORE => Box::new(data),
            _ => Box::new(DeflateDecoder::new(data)),
        };
        let mut file = Vec::new();
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
