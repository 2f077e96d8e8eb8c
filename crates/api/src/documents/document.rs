//! Public documents. Each is compressed only once, and has an `ETag` for each encoding.

use std::{error::Error, sync::Arc};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use flate2::Compression;
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};
use petstore_web::edge::{
    ApiError, Response,
    compression::{self, GZIP},
    etag,
};
use sha2::{Digest, Sha256};
use tokio::{sync::OnceCell, task};

/// The `Cache-Control` of documents. Caches may store a document, but must revalidate it, because an
/// upgrade of the service can change it.
const CACHE_CONTROL: HeaderValue = HeaderValue::from_static("no-cache");

/// How many bytes of the SHA-256 digest an ETag contains: enough to never collide by chance.
const TAG_HASH_BYTES: usize = 16;

/// A document that does not change while the service runs.
pub(crate) struct Document {
    media_type: HeaderValue,
    plain: EncodedDocument,
    /// The document compressed with gzip, or plain if compression does not make it smaller.
    gzip: OnceCell<EncodedDocument>,
}

/// A document in one encoding: plain or gzip.
#[derive(Clone)]
struct EncodedDocument {
    /// The `Content-Encoding`; `None` if the document is not compressed.
    encoding: Option<HeaderValue>,
    body: Bytes,
    /// A strong ETag, which identifies exactly these bytes.
    tag: HeaderValue,
}

impl Document {
    /// Returns a document with this content.
    pub(crate) fn new(media_type: HeaderValue, body: Bytes) -> Self {
        let plain = EncodedDocument::new(None, body);
        Self {
            media_type,
            plain,
            gzip: OnceCell::new(),
        }
    }

    /// Returns the response to a request with these header fields: the document in the preferred
    /// encoding, or 304 if the client already has it.
    pub(crate) async fn response(&self, request: &HeaderMap) -> Response {
        let document = if compression::accepts_gzip(request) {
            self.gzip_document().await
        } else {
            &self.plain
        };
        let mut full_response = Response::new(document.body.clone().into());
        let headers = full_response.headers_mut();
        headers.insert(header::CONTENT_TYPE, self.media_type.clone());
        headers.insert(header::CACHE_CONTROL, CACHE_CONTROL);
        headers.insert(header::VARY, compression::VARY);
        let mut response = etag::respond(request, full_response, document.tag.clone());
        // A 304 response has no body, and so no encoding.
        if let Some(encoding) = &document.encoding
            && response.status() == StatusCode::OK
        {
            response
                .headers_mut()
                .insert(header::CONTENT_ENCODING, encoding.clone());
        }
        response
    }

    /// Returns the document compressed with gzip, or plain if compression does not make it smaller.
    /// Compresses it on first use, on a separate thread, because the file can be large.
    async fn gzip_document(&self) -> &EncodedDocument {
        let compress = async || {
            let body = self.plain.body.clone();
            match task::spawn_blocking(move || gzip_if_smaller(&body)).await {
                Ok(Some(gzip_document)) => gzip_document,
                // Even if the thread has failed, the plain document is right.
                Ok(None) | Err(_) => self.plain.clone(),
            }
        };
        self.gzip.get_or_init(compress).await
    }
}

/// Returns a document compressed with gzip. Returns `None` if compression fails, or does not make it smaller.
fn gzip_if_smaller(body: &Bytes) -> Option<EncodedDocument> {
    let gzip_body = compression::gzip(Compression::best(), body).ok()?;
    if gzip_body.len() >= body.len() {
        return None;
    }
    Some(EncodedDocument::new(Some(GZIP), gzip_body.into()))
}

impl EncodedDocument {
    /// Returns a document with this encoding and the hash of its bytes as the ETag.
    fn new(encoding: Option<HeaderValue>, body: Bytes) -> Self {
        let hash = URL_SAFE_NO_PAD.encode(&Sha256::digest(&body)[..TAG_HASH_BYTES]);
        let tag = HeaderValue::try_from(format!("\"{hash}\""));
        Self {
            encoding,
            body,
            // Base64 is always valid in a header, so the fallback is never used.
            tag: tag.unwrap_or(HeaderValue::from_static("\"\"")),
        }
    }
}

/// Makes a document on a thread for blocking work, because a large document takes a while to render, unpack
/// and hash.
pub(crate) async fn make_on_blocking_thread<E: Error + Send + Sync + 'static>(
    make: impl FnOnce() -> Result<Document, E> + Send + 'static,
) -> Result<Document, ApiError> {
    match task::spawn_blocking(make).await {
        Ok(Ok(document)) => Ok(document),
        Ok(Err(error)) => Err(ApiError::internal(Arc::new(error))),
        // The thread has panicked.
        Err(error) => Err(ApiError::internal(Arc::new(error))),
    }
}
