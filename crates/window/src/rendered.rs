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
    etag::{self, Tags},
    response,
};

/// The smallest page that is compressed, in bytes.
const MIN_COMPRESSED: usize = 2 << 10;

/// A page before it is sent.
pub(super) struct Made {
    pub(super) status: StatusCode,
    pub(super) media_type: &'static str,
    pub(super) body: Vec<u8>,
    /// The link to the next page, for programs.
    pub(super) link: Option<HeaderValue>,
    /// Whether all of it is of the version that was asked for.
    pub(super) is_current: bool,
}

impl Made {
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

/// A page that is ready to send, compressed once.
pub(super) struct Rendered {
    status: StatusCode,
    media_type: &'static str,
    link: Option<HeaderValue>,
    plain: Bytes,
    gzip: OnceLock<Option<Bytes>>,
    is_current: bool,
    /// Strong tags: each identifies exactly the bytes of its form.
    tag: HeaderValue,
    gzip_tag: HeaderValue,
}

impl Rendered {
    pub(super) fn new(made: Made, tags: Tags) -> Self {
        let Made {
            status,
            media_type,
            body,
            link,
            is_current,
        } = made;
        let hash = match &link {
            Some(link) => tags.tag(&[&body, link.as_bytes()].concat()),
            None => tags.tag(&body),
        };
        let hash = hash
            .to_str()
            .unwrap_or_default()
            .trim_start_matches("W/")
            .trim_matches('"');
        let tag = |suffix: &str| {
            let tag = HeaderValue::try_from(["\"", hash, suffix, "\""].concat());
            tag.unwrap_or(HeaderValue::from_static("\"\""))
        };
        let (tag, gzip_tag) = (tag(""), tag("-gzip"));
        let plain = Bytes::from(body);
        let gzip = OnceLock::new();
        Self {
            status,
            media_type,
            link,
            plain,
            gzip,
            is_current,
            tag,
            gzip_tag,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.plain.is_empty()
    }

    pub(super) fn may_be_cached(&self) -> bool {
        self.is_current && self.plain.len() <= MAX_CACHED
    }

    fn compressed(&self) -> Option<Bytes> {
        let compress = || {
            if !(MIN_COMPRESSED..=MAX_CACHED).contains(&self.plain.len()) {
                return None;
            }
            compression::gzip(Compression::fast(), &self.plain)
                .ok()
                .map(Bytes::from)
        };
        self.gzip.get_or_init(compress).clone()
    }

    /// The response to a request with these header fields: 304 if the client has the page already.
    pub(super) fn respond(&self, request: &HeaderMap) -> Response {
        let wants_gzip = compression::prefers_gzip(request);
        let compressed = if wants_gzip { self.compressed() } else { None };
        let is_compressed = compressed.is_some();
        let mut response = response::with_body(compressed.unwrap_or_else(|| self.plain.clone()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static(self.media_type),
        );
        headers.insert(header::VARY, compression::VARY);
        if let Some(link) = &self.link {
            headers.insert(header::LINK, link.clone());
        }
        if self.status != StatusCode::OK {
            // An animal can come back.
            let control = HeaderValue::from_static("public, max-age=60");
            headers.insert(header::CACHE_CONTROL, control);
            if is_compressed {
                headers.insert(header::CONTENT_ENCODING, GZIP);
            }
            return response;
        }
        let tag = if is_compressed {
            &self.gzip_tag
        } else {
            &self.tag
        };
        let mut response = etag::respond(request, response, tag.clone());
        if is_compressed && response.status() == StatusCode::OK {
            response
                .headers_mut()
                .insert(header::CONTENT_ENCODING, GZIP);
        }
        response
    }
}
