//! The API documentation: `/docs/` shows the contract with Swagger UI, and `/docs/store` shows the store
//! area.
//!
//! All files are embedded in the binary, so the pages load nothing from other hosts.

use std::{
    future::{Ready, ready},
    io::{self, Read},
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
use tokio::sync::OnceCell;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;

use super::document::{Document, make_on_blocking_thread};

/// The `Content-Security-Policy` of the pages. Swagger UI needs inline styles and `data:` images. Scripts
/// come only from this host, and requests go only to it.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; \
     style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A file of the pages.
struct File {
    name: &'static str,
    media_type: &'static str,
    content: Content,
}

/// The source of a file.
enum Content {
    /// A text from this repository.
    Own(&'static str),
    /// The file with the same name in the bundled release of Swagger UI.
    SwaggerUi,
}

/// The files of the pages. Both pages have the same HTML: `page.js` chooses the document by the path.
const FILES: &[File; 7] = &[
    File {
        name: "",
        media_type: "text/html",
        content: Content::Own(include_str!("docs/index.html")),
    },
    File {
        name: "store",
        media_type: "text/html",
        content: Content::Own(include_str!("docs/index.html")),
    },
    File {
        name: "page.css",
        media_type: "text/css; charset=utf-8",
        content: Content::Own(include_str!("docs/page.css")),
    },
    File {
        name: "page.js",
        media_type: "text/javascript; charset=utf-8",
        content: Content::Own(include_str!("docs/page.js")),
    },
    File {
        name: "swagger-ui.css",
        media_type: "text/css",
        content: Content::SwaggerUi,
    },
    File {
        name: "swagger-ui-bundle.js",
        media_type: "text/javascript",
        content: Content::SwaggerUi,
    },
    File {
        name: "favicon-32x32.png",
        media_type: "image/png",
        content: Content::SwaggerUi,
    },
];

/// The error of a file that cannot be extracted from the archive.
#[derive(Debug, thiserror::Error)]
enum DocsError {
    #[error("the archive of Swagger UI cannot be read: {0}")]
    Archive(#[from] rawzip::Error),
    #[error("a file of Swagger UI cannot be unpacked: {0}")]
    File(#[from] io::Error),
    #[error("the archive of Swagger UI has no file {0}")]
    Missing(String),
}

/// The files, each prepared when it is first requested.
#[derive(Default)]
pub(crate) struct Docs([OnceCell<Document>; FILES.len()]);

/// Redirects `GET /docs` to `/docs/`, because the links of the page are relative.
pub(crate) fn redirect() -> Ready<Result<Response, ApiError>> {
    let location = HeaderValue::from_static("docs/");
    let response = response::redirect(StatusCode::PERMANENT_REDIRECT, location);
    ready(Ok(response))
}

impl Docs {
    /// Responds to `GET /docs/` and to the paths below it.
    pub(super) async fn file(&self, name: &str, request: &HeaderMap) -> Result<Response, ApiError> {
        let mut files = FILES.iter().zip(&self.0);
        let Some((file, document)) = files.find(|(file, _)| file.name == name) else {
            let message = "The documentation has no such page.";
            return Err(ApiError::new(Problem::NotFound, message));
        };
        let mut response = document
            .get_or_try_init(|| make_on_blocking_thread(move || make_document(file)))
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

/// Makes the document of a file. Unpacks the file first if it is from the archive.
fn make_document(file: &File) -> Result<Document, DocsError> {
    let content = match file.content {
        Content::Own(text) => Bytes::from_static(text.as_bytes()),
        Content::SwaggerUi => Bytes::from(extract_from_archive(file.name)?),
    };
    let media_type = HeaderValue::from_static(file.media_type);
    Ok(Document::new(media_type, content))
}

/// Extracts a file from the folder `dist` in the bundled archive of Swagger UI. Fails if there is none.
///
/// Compares only the end of the path, because the first folder in the path depends on the release.
fn extract_from_archive(name: &str) -> Result<Vec<u8>, DocsError> {
    let archive = ZipArchive::from_slice(SWAGGER_UI_VENDORED)?;
    let path = format!("/dist/{name}");
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry()? {
        if !entry.file_path().as_bytes().ends_with(path.as_bytes()) {
            continue;
        }
        let method = entry.compression_method();
        let file = archive.get_entry(entry.wayfinder())?;
        let reader: Box<dyn Read> = match method {
            CompressionMethod::STORE => Box::new(file.data()),
            _ => Box::new(DeflateDecoder::new(file.data())),
        };
        let mut content = Vec::new();
        file.verifying_reader(reader).read_to_end(&mut content)?;
        return Ok(content);
    }
    Err(DocsError::Missing(path))
}
