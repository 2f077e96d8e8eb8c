//! Static assets of the pages: styles, scripts and icons.

use bytes::Bytes;
use hyper::header::{self, HeaderValue};
use petstore_domain::text;
use sha2::{Digest, Sha256};

use super::Response;

/// How many bytes of the SHA-256 digest a path contains (as hexadecimal digits, twice as many).
const DIGEST_BYTES: usize = 6;

/// A static file that pages refer to.
pub struct Asset {
    /// The path at which the file is served. Below `/assets/` it contains a digest of the content,
    /// so a browser can cache the file indefinitely.
    pub path: String,
    /// The `Content-Type` of the file.
    pub media_type: &'static str,
    content: Bytes,
}

/// A path of an asset without its digest.
#[derive(PartialEq, Eq)]
struct PathWithoutDigest<'p> {
    prefix: &'p str,
    suffix: &'p str,
}

impl Asset {
    /// Creates an asset, and replaces `%` in `path` by a digest of the content.
    ///
    /// Example: `/assets/icon-%.svg` becomes `/assets/icon-0123456789ab.svg`.
    pub fn new(path: &str, media_type: &'static str, content: impl Into<Bytes>) -> Self {
        let content = content.into();
        let digest = text::hex_digits(&Sha256::digest(&content)[..DIGEST_BYTES]);
        Self {
            path: path.replace('%', &digest),
            media_type,
            content,
        }
    }

    /// Returns a response with the file.
    fn respond(&self) -> Response {
        respond(&self.path, self.media_type, self.content.clone())
    }

    /// Whether `path` names this file, with any digest. Another release, or the same one with other
    /// settings, gives the file another content and therefore another digest.
    fn matches_apart_from_digest(&self, path: &str) -> bool {
        match (split_around_digest(&self.path), split_around_digest(path)) {
            (Some(own_path), Some(other_path)) => own_path == other_path,
            _ => false,
        }
    }
}

/// Responds to a request for one of `assets`. Returns `None` if none of them matches `path`.
///
/// A page from a cache or from a process of another release can refer to a digest that this process
/// does not have. The response then has the current content, with `no-store`, because this content
/// does not belong to the requested path.
pub fn respond_at<'a>(
    mut assets: impl Iterator<Item = &'a Asset> + Clone,
    path: &str,
) -> Option<Response> {
    if let Some(asset) = assets.clone().find(|asset| asset.path == path) {
        return Some(asset.respond());
    }
    let asset = assets.find(|asset| asset.matches_apart_from_digest(path))?;
    let mut response = asset.respond();
    let no_store = HeaderValue::from_static("no-store");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, no_store);
    Some(response)
}

/// Splits a path around its digest. Returns `None` if it contains no digest.
///
/// Example: `/assets/icon-0123456789ab.svg` becomes `/assets/icon` and `svg`.
fn split_around_digest(path: &str) -> Option<PathWithoutDigest<'_>> {
    let (prefix, digest_and_suffix) = path.rsplit_once('-')?;
    let (digest, suffix) = digest_and_suffix.split_once('.')?;
    let is_digest = digest.len() == DIGEST_BYTES * 2
        && digest
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if is_digest {
        Some(PathWithoutDigest { prefix, suffix })
    } else {
        None
    }
}

/// Returns a response with a static file, cacheable for a year if its path contains a digest.
pub fn respond(path: &str, media_type: &'static str, content: Bytes) -> Response {
    // All paths below `/assets/` contain a digest.
    let cache_control = if path.starts_with("/assets/") {
        HeaderValue::from_static("public, max-age=31536000, immutable")
    } else {
        // Without a digest in the path, another release may change the content at the same path.
        HeaderValue::from_static("public, max-age=86400")
    };

    let mut response = Response::new(content.into());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CACHE_CONTROL, cache_control);
    response
}
