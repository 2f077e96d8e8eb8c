//! The files that pages use: styles, scripts and icons.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use bytes::Bytes;
use hyper::header::{self, HeaderValue};
use petstore_domain::text;
use sha2::{Digest, Sha256};

use super::Response;

/// A file that every page uses.
pub struct Asset {
    /// Changes with its content, so a browser can keep the file for ever, except outside `/assets/`.
    pub path: String,
    pub media_type: &'static str,
    content: Bytes,
}

impl Asset {
    /// The file with this content. Its digest takes the place of `%` in the path.
    pub fn new(path: &str, media_type: &'static str, content: impl Into<Bytes>) -> Self {
        let content = content.into();
        let digits = text::hex_digits(&Sha256::digest(&content)[..6]);
        Self {
            path: path.replace('%', &digits),
            media_type,
            content,
        }
    }

    /// The response to a request for it.
    pub fn respond(&self) -> Response {
        respond(&self.path, self.media_type, self.content.clone())
    }
}

/// The response to a request for a file at this path.
pub fn respond(path: &str, media_type: &'static str, content: Bytes) -> Response {
    let mut response = Response::new(content.into());
    let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
    let for_a_day = HeaderValue::from_static("public, max-age=86400");
    let kept = if path.starts_with("/assets/") {
        forever
    } else {
        for_a_day
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CACHE_CONTROL, kept);
    response
}
