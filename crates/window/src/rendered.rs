//! Rendered pages, and their encoded form, with ETags and an optional gzip copy. The caches hold the
//! encoded form.

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

/// The minimum length of a page that is compressed, in bytes. For a shorter page, compression saves too
/// little.
const MIN_COMPRESSED_LENGTH: usize = 2 << 10;

/// A page as it was rendered, before it is encoded.
pub(super) struct RenderedPage {
    pub(super) status: StatusCode,
    pub(super) media_type: &'static str,
    pub(super) body: Vec<u8>,
    /// The `Link` header with the URL of the next page, for client programs.
    pub(super) link: Option<HeaderValue>,
    /// Whether all data on the page has the version of the request's snapshot. A page with older parts
    /// is not cached.
    pub(super) is_current: bool,
}

impl RenderedPage {
    /// Returns a page with the status 200, without a `Link` header.
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

/// A page that is ready to send. The first request that accepts gzip compresses it, and later ones reuse
/// the result.
pub(super) struct EncodedPage {
    status: StatusCode,
    media_type: &'static str,
    link: Option<HeaderValue>,
    plain: Bytes,
    /// The gzip copy, which is made on first use. It is `None` if the page is too short or too long to
    /// compress, or if compression fails.
    gzip: OnceLock<Option<Bytes>>,
    is_current: bool,
    /// The strong `ETag` of the uncompressed body.
    etag: HeaderValue,
    /// The strong `ETag` of the compressed body. Strong tags must differ between encodings (RFC 9110,
    /// section 8.8.3).
    gzip_etag: HeaderValue,
}

impl EncodedPage {
    /// Encodes a page: computes its ETags from the body and the `Link` header.
    pub(super) fn new(page: RenderedPage, etag_key: EtagKey) -> Self {
        // The key computes weak tags, such as `W/"0123abcd"`. Their digits become part of strong tags.
        let weak_etag = match &page.link {
            Some(link) => etag_key.compute_etag(&[&page.body, link.as_bytes()].concat()),
            None => etag_key.compute_etag(&page.body),
        };
        // The tag is ASCII, so it is always a text.
        let digits = weak_etag
            .to_str()
            .unwrap_or_default()
            .trim_start_matches("W/")
            .trim_matches('"');
        Self {
            etag: strong_etag(digits, ""),
            gzip_etag: strong_etag(digits, "-gzip"),
            status: page.status,
            media_type: page.media_type,
            link: page.link,
            plain: Bytes::from(page.body),
            gzip: OnceLock::new(),
            is_current: page.is_current,
        }
    }

    /// Whether the body is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.plain.is_empty()
    }

    /// Whether the page may be cached: all of it is current, and it is not too large.
    pub(super) fn may_be_cached(&self) -> bool {
        self.is_current && self.plain.len() <= MAX_CACHED
    }

    /// Returns the gzip copy of the body, which is made on first use. Returns `None` if there is no such
    /// copy: see the field `gzip`.
    fn compressed_body(&self) -> Option<Bytes> {
        let compressed_body = self.gzip.get_or_init(|| {
            if !(MIN_COMPRESSED_LENGTH..=MAX_CACHED).contains(&self.plain.len()) {
                return None;
            }
            // If compression fails, the page is sent uncompressed.
            let gzip = compression::gzip(Compression::fast(), &self.plain).ok()?;
            Some(Bytes::from(gzip))
        });
        compressed_body.clone()
    }

    /// Responds with the page, compressed if the client accepts it, or with 304 if the client
    /// already has this version.
    pub(super) fn respond(&self, request_headers: &HeaderMap) -> Response {
        let compressed_body = if compression::accepts_gzip(request_headers) {
            self.compressed_body()
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
            let etag = if is_compressed {
                &self.gzip_etag
            } else {
                &self.etag
            };
            response = etag::respond(request_headers, response, etag.clone());
        } else {
            // An animal that is gone can come back, so caches must revalidate its page soon.
            let cache_control = HeaderValue::from_static("public, max-age=60, no-transform");
            headers.insert(header::CACHE_CONTROL, cache_control);
        }

        let is_not_modified = response.status() == StatusCode::NOT_MODIFIED;
        if is_compressed && !is_not_modified {
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_ENCODING, GZIP);
        }
        response
    }
}

/// Returns a strong `ETag`.
///
/// Example: the digits `0123abcd` and the suffix `-gzip` give `"0123abcd-gzip"`.
fn strong_etag(digits: &str, suffix: &str) -> HeaderValue {
    // Both parts are ASCII, so the fallback is never used.
    HeaderValue::try_from(format!("\"{digits}{suffix}\""))
        .unwrap_or(HeaderValue::from_static("\"\""))
}
