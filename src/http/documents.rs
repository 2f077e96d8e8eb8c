//! Documents that anybody may read: each is compressed once, and named by an `ETag`
//! of its own in each content coding.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};
use sha2::{Digest, Sha256};
use tokio::{sync::OnceCell, task};

use super::{
    Response,
    compression::{self, Coding},
    etag,
};

/// Every cache may keep a document, and asks whether it is still the same: an
/// upgrade of the service can change each of them, under the same address.
const CACHE_CONTROL: HeaderValue = HeaderValue::from_static("no-cache");

/// A document that stays as it is while the service runs.
pub(super) struct Document {
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
    /// Strong: it names these bytes and no others.
    tag: HeaderValue,
}

impl Document {
    pub(super) fn new(media_type: HeaderValue, body: Bytes) -> Self {
        let plain = Coded::new(None, body);
        Self { media_type, plain, gzip: OnceCell::new(), zstd: OnceCell::new() }
    }

    /// Another document of this media type.
    pub(super) fn with_body(&self, body: Bytes) -> Self {
        Self::new(self.media_type.clone(), body)
    }

    /// As it is.
    pub(super) fn body(&self) -> &Bytes {
        &self.plain.body
    }

    /// The response to a request with this head: 304 if its client has the
    /// document already.
    pub(super) async fn response(&self, request: &HeaderMap) -> Response {
        let coded = self.coded(compression::preferred(request)).await;
        let mut response = Response::new(Full::new(coded.body.clone()));
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

    /// The document in this coding; as it is where that is no larger. What is
    /// compressed for the first time is a large file perhaps, and takes a thread
    /// of its own.
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
