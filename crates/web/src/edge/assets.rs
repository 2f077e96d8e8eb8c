//! The files that pages use: styles, scripts and icons.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use bytes::Bytes;
use hyper::header::{self, HeaderValue};
use petstore_domain::text;
use sha2::{Digest, Sha256};

use super::Response;

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
        let digest = text::hex_digits(&Sha256::digest(&content)[..6]);
        Self {
            path: path.replace('%', &digest),
            media_type,
            content,
        }
    }

    /// Responds to a request for the file.
    pub fn respond(&self) -> Response {
        respond(&self.path, self.media_type, self.content.clone())
    }
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
