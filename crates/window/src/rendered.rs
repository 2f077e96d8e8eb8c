//! Pages that are ready to send.

use std::sync::OnceLock;

use bytes::Bytes;
use flate2::Compression;
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};
use petstore_web::edge::{
    Response,
    cache::MAX_CACHED,
    compression::{self, GZIP},
    etag::{self, EtagKey},
    response,
};

/// The smallest page that is compressed, in bytes.
const MIN_COMPRESSED_LENGTH: usize = 2 << 10;

/// A page before it is encoded.
pub(super) struct RenderedPage {
    pub(super) status: StatusCode,
    pub(super) media_type: &'static str,
    pub(super) body: Vec<u8>,
    /// The link to the next page, for programs.
    pub(super) link: Option<HeaderValue>,
    /// Whether all of the page is of the version of the request.
    pub(super) is_current: bool,
}

impl RenderedPage {
    /// Returns a page with the status 200 and without a link.
    pub(super) fn new(media_type: &'static str, body: Vec<u8>) -> Self {
        Self {
            status: StatusCode::OK,
            media_type,
            body,
            link: None,
            is_current: true,
        }
    }
}

/// A page that is ready to send, and that is compressed at most once.
pub(super) struct EncodedPage {
    status: StatusCode,
    media_type: &'static str,
    link: Option<HeaderValue>,
    plain: Bytes,
    /// The compressed page, once a client has asked for it. `None` if it is not worthwhile.
    gzip: OnceLock<Option<Bytes>>,
    is_current: bool,
    /// The strong tag of the plain bytes. It identifies exactly these bytes.
    tag: HeaderValue,
    /// The strong tag of the compressed bytes.
    gzip_tag: HeaderValue,
}

impl EncodedPage {
    /// Computes the tags of a page.
    pub(super) fn new(page: RenderedPage, etag_key: EtagKey) -> Self {
        let weak_tag = match &page.link {
            Some(link) => etag_key.etag(&[&page.body, link.as_bytes()].concat()),
            None => etag_key.etag(&page.body),
        };
        let digits = weak_tag
            .to_str()
            .unwrap_or_default()
            .trim_start_matches("W/")
            .trim_matches('"');
        Self {
            tag: strong_tag(digits, ""),
            gzip_tag: strong_tag(digits, "-gzip"),
            status: page.status,
            media_type: page.media_type,
            link: page.link,
            plain: Bytes::from(page.body),
            gzip: OnceLock::new(),
            is_current: page.is_current,
        }
    }

    /// Whether the page has no bytes.
    pub(super) fn is_empty(&self) -> bool {
        self.plain.is_empty()
    }

    /// Whether a cache may have the page.
    pub(super) fn may_be_cached(&self) -> bool {
        self.is_current && self.plain.len() <= MAX_CACHED
    }

    /// Returns the compressed page. Returns `None` if compression is not worthwhile.
    fn compressed(&self) -> Option<Bytes> {
        let compressed_body = self.gzip.get_or_init(|| {
            if !(MIN_COMPRESSED_LENGTH..=MAX_CACHED).contains(&self.plain.len()) {
                return None;
            }
            let gzip = compression::gzip(Compression::fast(), &self.plain).ok()?;
            Some(Bytes::from(gzip))
        });
        compressed_body.clone()
    }

    /// Responds to a request with these header fields: with the page, or with 304 if the client has it already.
    pub(super) fn respond(&self, request: &HeaderMap) -> Response {
        let compressed_body = if compression::prefers_gzip(request) {
            self.compressed()
        } else {
            None
        };
        let is_compressed = compressed_body.is_some();

        let mut response =
            response::with_body(compressed_body.unwrap_or_else(|| self.plain.clone()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        let media_type = HeaderValue::from_static(self.media_type);
        headers.insert(header::CONTENT_TYPE, media_type);
        headers.insert(header::VARY, compression::VARY);
        if let Some(link) = &self.link {
            headers.insert(header::LINK, link.clone());
        }

        if self.status == StatusCode::OK {
            let tag = if is_compressed {
                &self.gzip_tag
            } else {
                &self.tag
            };
            response = etag::respond(request, response, tag.clone());
        } else {
            // The page is a 404 or 410 of an animal that can come back, so caches must ask again soon.
            let control = HeaderValue::from_static("public, max-age=60, no-transform");
            headers.insert(header::CACHE_CONTROL, control);
        }

        let is_not_modified = response.status() == StatusCode::NOT_MODIFIED;
        if is_compressed && !is_not_modified {
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_ENCODING, GZIP);
        }
        response
    }
}

/// Returns a strong tag.
///
/// Example: the digits `0123abcd` and the suffix `-gzip` give the tag `"0123abcd-gzip"`.
fn strong_tag(digits: &str, suffix: &str) -> HeaderValue {
    HeaderValue::try_from(format!("\"{digits}{suffix}\""))
        .unwrap_or(HeaderValue::from_static("\"\""))
}
