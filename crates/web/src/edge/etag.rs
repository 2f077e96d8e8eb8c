//! Conditional requests with `ETag` and `If-None-Match`: a client that already has the current
//! response gets a 304 without a body (RFC 9110, sections 8.8.3 and 13.1.2).

use highway::{HighwayHash, HighwayHasher, Key};
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};
use petstore_domain::text;

use super::{Body, Response};

/// The `Cache-Control` of a response that a client may store but must revalidate before each use,
/// which its `ETag` makes cheap. A shared cache must not store it (RFC 9111, section 5.2.2).
pub const REVALIDATE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// The secret key of the ETag hash. It belongs to the database, so all processes on one database
/// compute the same ETags.
///
/// Without the key, a client can neither compute ETags nor construct animals whose ETags collide,
/// because `HighwayHash` is a pseudorandom function. 64 bits are enough: only the states of one URL
/// must not collide by chance, and a URL has at most some hundred, because animals never change.
#[derive(Clone, Copy)]
pub struct EtagKey(Key);

impl EtagKey {
    /// Creates a key from 32 random bytes.
    pub fn new(key: [u8; 32]) -> Self {
        let (chunks, _) = key.as_chunks();
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(chunks) {
            *word = u64::from_le_bytes(*bytes);
        }
        Self(Key(words))
    }

    /// Computes the ETag of a response with this body. It is a weak ETag, because the compressed
    /// and the uncompressed body share it.
    ///
    /// Example: `W/"0123456789abcdef"`.
    pub fn compute_etag(&self, body: &[u8]) -> HeaderValue {
        let hash = HighwayHasher::new(self.0).hash64(body);
        let mut etag = *b"W/\"0123456789abcdef\"";
        // Overwrites the 16 digits between the quotes.
        for (digits, byte) in etag[3..19].chunks_exact_mut(2).zip(hash.to_be_bytes()) {
            digits.copy_from_slice(&text::hex(byte));
        }
        // Hexadecimal digits are valid, so the fallback is never used.
        HeaderValue::from_bytes(&etag).unwrap_or(HeaderValue::from_static("W/\"\""))
    }

    /// Computes the ETag of a page of a list.
    ///
    /// When a full last page gets a successor, its body stays the same, but the response gains a
    /// `Link`, so the ETag must change. Therefore the hash of a page with a successor leaves out
    /// the closing `]`. The target of the link need not be hashed, because it follows from the last
    /// animal and the URL.
    pub fn compute_page_etag(&self, body: &[u8], is_last: bool) -> HeaderValue {
        let hashed_part = if is_last {
            body
        } else {
            &body[..body.len() - 1]
        };
        self.compute_etag(hashed_part)
    }
}

/// Whether the client already has the response with this ETag. `*` does not count, because it
/// matches any response.
pub(super) fn has_current(request: &HeaderMap, etag: &HeaderValue) -> bool {
    request
        .get(header::IF_NONE_MATCH)
        .is_some_and(|field| field != "*")
        && is_in_if_none_match(request, etag)
}

/// Adds the ETag to the response. If it matches `If-None-Match`, turns the response into a 304
/// without a body and without `Content-Type`.
pub fn respond(request: &HeaderMap, mut response: Response, etag: HeaderValue) -> Response {
    if is_in_if_none_match(request, &etag) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = Body::default();
        response.headers_mut().remove(header::CONTENT_TYPE);
    }
    response.headers_mut().insert(header::ETAG, etag);
    response
}

/// Whether `If-None-Match` contains the ETag or is `*`. Uses the weak comparison, which ignores
/// `W/` (RFC 9110, section 13.1.2).
fn is_in_if_none_match(request: &HeaderMap, etag: &HeaderValue) -> bool {
    let Some(first_field) = request.get(header::IF_NONE_MATCH) else {
        return false;
    };
    if first_field == "*" {
        return true;
    }
    let Some(opaque_tag) = opaque_tags(etag).next() else {
        return false;
    };
    let fields = request.get_all(header::IF_NONE_MATCH).into_iter();
    fields.flat_map(opaque_tags).any(|tag| tag == opaque_tag)
}

/// Returns the opaque tags in a list of ETags: the text between each pair of quotes. An opaque tag
/// cannot itself contain a quote.
///
/// Example: `W/"a", "b"` contains `a` and `b`.
fn opaque_tags(list: &HeaderValue) -> impl Iterator<Item = &[u8]> {
    list.as_bytes()
        .split(|&byte| byte == b'"')
        .skip(1)
        .step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_key_changes_the_tag() {
        let tag = |key: [u8; 32]| EtagKey::new(key).compute_etag(b"[]");
        for position in [0, 7, 8, 15, 16, 23, 24, 31] {
            let mut other_key = [7; 32];
            other_key[position] = 8;
            assert_ne!(tag(other_key), tag([7; 32]), "{position}");
        }
    }
}
