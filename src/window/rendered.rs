//! Pages that are ready to send, and the cache of them. A page is valid until the next write.

use std::{
    collections::HashMap,
    mem,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use bytes::Bytes;
use flate2::Compression;
use foldhash::fast::RandomState;
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};

use crate::{
    edge::{
        Response,
        compression::{self, GZIP},
        etag::{self, Tags},
        response,
    },
    store::Version,
};

/// The largest page that is cached or compressed, in bytes, and the number of pages: at most 16 MiB,
/// and a fifth of that again for the compressed ones.
const MAX_PAGE: usize = 64 << 10;
const MAX_PAGES: usize = 256;

/// The smallest page that is compressed, in bytes.
const MIN_COMPRESSED: usize = 2 << 10;

/// A page before it is sent.
pub(super) struct Made {
    pub(super) status: StatusCode,
    pub(super) media_type: &'static str,
    pub(super) body: Vec<u8>,
    /// The link to the next page, for programs.
    pub(super) link: Option<HeaderValue>,
}

impl Made {
    pub(super) fn new(media_type: &'static str, body: Vec<u8>) -> Self {
        Self { status: StatusCode::OK, media_type, body, link: None }
    }
}

/// A page that is ready to send, compressed once.
pub(super) struct Rendered {
    status: StatusCode,
    media_type: &'static str,
    link: Option<HeaderValue>,
    plain: Bytes,
    gzip: OnceLock<Option<Bytes>>,
    /// Strong tags: each identifies exactly the bytes of its form.
    tag: HeaderValue,
    gzip_tag: HeaderValue,
}

impl Rendered {
    pub(super) fn new(made: Made, tags: Tags) -> Self {
        let Made { status, media_type, body, link } = made;
        let hash = match &link {
            Some(link) => tags.of(&[&body, link.as_bytes()].concat()),
            None => tags.of(&body),
        };
        let hash = hash.to_str().unwrap_or_default().trim_start_matches("W/").trim_matches('"');
        let tag = |suffix: &str| {
            let tag = HeaderValue::try_from(format!("\"{hash}{suffix}\""));
            tag.unwrap_or(HeaderValue::from_static("\"\""))
        };
        let (tag, gzip_tag) = (tag(""), tag("-gzip"));
        let plain = Bytes::from(body);
        Self { status, media_type, link, plain, gzip: OnceLock::new(), tag, gzip_tag }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.plain.is_empty()
    }

    fn compressed(&self) -> Option<Bytes> {
        let compress = || {
            if !(MIN_COMPRESSED..=MAX_PAGE).contains(&self.plain.len()) {
                return None;
            }
            compression::gzip(Compression::fast(), &self.plain).ok().map(Bytes::from)
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
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.media_type));
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
        let tag = if is_compressed { &self.gzip_tag } else { &self.tag };
        let mut response = etag::respond(request, response, tag.clone());
        if is_compressed && response.status() == StatusCode::OK {
            response.headers_mut().insert(header::CONTENT_ENCODING, GZIP);
        }
        response
    }
}

type Pages = HashMap<String, (Version, Arc<Rendered>), RandomState>;

/// The cached pages, by what was asked for, each with the version of the store at which it was read:
/// those that were used since the last time that the first half was full, and those before.
#[derive(Default)]
pub(super) struct Cache(RwLock<[Pages; 2]>);

impl Cache {
    /// The page, if it was rendered at this version.
    pub(super) fn find(&self, key: &str, version: Version) -> Option<Arc<Rendered>> {
        let (page, is_recent) = {
            let [recent, older] = &*self.0.read().unwrap_or_else(PoisonError::into_inner);
            let (found, is_recent) = match recent.get(key) {
                Some(found) => (found, true),
                None => (older.get(key)?, false),
            };
            if found.0 != version {
                return None;
            }
            (Arc::clone(&found.1), is_recent)
        };
        if !is_recent {
            self.insert(key.to_owned(), version, &page);
        }
        Some(page)
    }

    /// Caches a page that was read after `version`.
    pub(super) fn insert(&self, key: String, version: Version, page: &Arc<Rendered>) {
        if page.plain.len() > MAX_PAGE {
            return;
        }
        let [recent, older] = &mut *self.0.write().unwrap_or_else(PoisonError::into_inner);
        if recent.len() >= MAX_PAGES / 2 {
            *older = mem::take(recent);
        }
        recent.insert(key, (version, Arc::clone(page)));
    }
}
