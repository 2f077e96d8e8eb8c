//! Public documents. Each is compressed once per content coding, and has an `ETag` for each of
//! them.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};
use sha2::{Digest, Sha256};
use tokio::{sync::OnceCell, task};

use crate::http::{
    Response,
    edge::compression::{self, Coding},
    etag,
};

/// Every cache may store a document but must revalidate it, because an upgrade of the service can
/// change it.
const CACHE_CONTROL: HeaderValue = HeaderValue::from_static("no-cache");

/// A document that does not change while the service runs.
pub(crate) struct Document {
    media_type: HeaderValue,
    plain: Coded,
    gzip: OnceCell<Coded>,
    zstd: OnceCell<Coded>,
}

/// A document in one content coding.
#[derive(Clone)]
struct Coded {
    coding: Option<Coding>,
    body: Bytes,
    /// A strong tag: it identifies exactly these bytes.
    tag: HeaderValue,
}

impl Document {
    pub(crate) fn new(media_type: HeaderValue, body: Bytes) -> Self {
        let plain = Coded::new(None, body);
        Self { media_type, plain, gzip: OnceCell::new(), zstd: OnceCell::new() }
    }

    /// Another document with the same media type.
    pub(crate) fn with_body(&self, body: Bytes) -> Self {
        Self::new(self.media_type.clone(), body)
    }

    pub(crate) fn body(&self) -> &Bytes {
        &self.plain.body
    }

    /// The response to a request with these header fields: 304 if the client has the document
    /// already.
    pub(crate) async fn response(&self, request: &HeaderMap) -> Response {
        let coded = self.coded(compression::preferred(request)).await;
        let mut response = Response::new(coded.body.clone().into());
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, self.media_type.clone());
        headers.insert(header::CACHE_CONTROL, CACHE_CONTROL);
        headers.insert(header::VARY, compression::VARY);
        let mut response = etag::respond(request, response, coded.tag.clone());
        if let Some(coding) = coded.coding.filter(|_| response.status() == StatusCode::OK) {
            response.headers_mut().insert(header::CONTENT_ENCODING, coding.name());
        }
        response
    }

    /// The document in this coding, or uncompressed if that is not larger. The first compression
    /// runs on a separate thread, because the file can be large.
    async fn coded(&self, coding: Option<Coding>) -> &Coded {
        let Some(coding) = coding else { return &self.plain };
        let compressed = match coding {
            Coding::Gzip => &self.gzip,
            Coding::Zstd => &self.zstd,
        };
        let compress = async || {
            let body = self.plain.body.clone();
            let copy = task::spawn_blocking(move || {
                let copy = compression::compress(coding, compression::BEST, &body).ok()?;
                (copy.len() < body.len()).then(|| Coded::new(Some(coding), copy.into()))
            });
            copy.await.ok().flatten().unwrap_or_else(|| self.plain.clone())
        };
        compressed.get_or_init(compress).await
    }
}

impl Coded {
    fn new(coding: Option<Coding>, body: Bytes) -> Self {
        let name = URL_SAFE_NO_PAD.encode(&Sha256::digest(&body)[..16]);
        let tag = HeaderValue::try_from(format!("\"{name}\""));
        Self { coding, body, tag: tag.unwrap_or(HeaderValue::from_static("\"\"")) }
    }
}
