//! The files that pages use: styles, scripts and icons.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use bytes::Bytes;
use hyper::header::{self, HeaderValue};
use petstore_domain::text;
use sha2::{Digest, Sha256};

use super::Response;

/// The length of a digest in a path, in bytes.
const DIGEST_BYTES: usize = 6;

/// A file that every page uses.
pub struct Asset {
    /// The path. Below `/assets/`, it changes with the content, so a browser can keep the file for ever.
    pub path: String,
    pub media_type: &'static str,
    content: Bytes,
}

impl Asset {
    /// Returns the file with this content. Its digest takes the place of `%` in the path.
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

    /// Responds to a request for the file.
    fn respond(&self) -> Response {
        respond(&self.path, self.media_type, self.content.clone())
    }

    /// Whether a path names the file with another content, in another release or with another setting.
    fn is_file_of(&self, path: &str) -> bool {
        let own_frame = frame(&self.path);
        own_frame.is_some() && own_frame == frame(path)
    }
}

/// Responds to a request for one of `assets`. A cache or another process can have a page that names the file with
/// another content. It gets the present content, which no cache may keep at that path. Returns `None` if there is no such
/// file.
pub fn respond_at<'a>(
    assets: impl Iterator<Item = &'a Asset> + Clone,
    path: &str,
) -> Option<Response> {
    if let Some(asset) = assets.clone().find(|asset| asset.path == path) {
        return Some(asset.respond());
    }
    let mut other_assets = assets;
    let asset = other_assets.find(|asset| asset.is_file_of(path))?;
    let mut response = asset.respond();
    let no_store = HeaderValue::from_static("no-store");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, no_store);
    Some(response)
}

/// The parts of a path before and after the digest of the content.
#[derive(PartialEq, Eq)]
struct Frame<'p> {
    start: &'p str,
    end: &'p str,
}

/// Returns the parts around the digest in a path.
///
/// Example: `/assets/icon-0123456789ab.svg` has `/assets/icon` and `svg`.
fn frame(path: &str) -> Option<Frame<'_>> {
    let (start, digest_and_end) = path.rsplit_once('-')?;
    let (digest, end) = digest_and_end.split_once('.')?;
    let is_digest = digest.len() == DIGEST_BYTES * 2
        && digest
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_digest.then_some(Frame { start, end })
}

/// Responds to a request for a file at this path.
pub fn respond(path: &str, media_type: &'static str, content: Bytes) -> Response {
    let cache_control = if path.starts_with("/assets/") {
        HeaderValue::from_static("public, max-age=31536000, immutable")
    } else {
        // The path does not depend on the content, which another release may change.
        HeaderValue::from_static("public, max-age=86400")
    };

    let mut response = Response::new(content.into());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CACHE_CONTROL, cache_control);
    response
}
