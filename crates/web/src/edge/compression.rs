//! gzip compression for clients that accept it (RFC 9110, sections 8.4.1.3 and 12.5.3).

use std::{
    io::{self, Write},
    mem,
    sync::Arc,
};

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use futures_util::{Stream, TryStreamExt, stream};
use hyper::{
    HeaderMap, StatusCode,
    body::Body as _,
    header::{self, HeaderValue},
};
use petstore_store::Cause;

use super::{
    response::Response,
    response_memory::{Reader, ResponseMemory},
};

/// The smallest body that is compressed, in bytes. A page shrinks to about a fifth, so from this
/// size on, compression saves at least one packet (about 1,450 bytes).
const MIN_LENGTH: u64 = 2 << 10;

/// The largest body that is compressed, in bytes. This takes a tenth of a millisecond, and less
/// than a millisecond for random text, which is short enough to run on the async thread.
const MAX_LENGTH: u64 = 64 << 10;

/// The `Content-Encoding` of a compressed body.
pub const GZIP: HeaderValue = HeaderValue::from_static("gzip");

/// The `Vary` that tells caches that the body depends on `Accept-Encoding`.
pub const VARY: HeaderValue = HeaderValue::from_static("Accept-Encoding");

/// A stream that is being compressed.
struct GzipStream<S> {
    /// The uncompressed pieces.
    pieces: S,
    /// `None` after the last compressed piece, which contains the trailer.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

/// Compresses the body of a response, if its size makes this worthwhile and the request accepts
/// gzip.
///
/// Otherwise, or if compression fails, the body stays as it is. The compressed body counts towards
/// the memory of `reader`. A response that another client would get compressed always has a `Vary`,
/// even if it stays as it is.
///
/// Some responses are never compressed:
/// - a response that already has `Vary: Accept-Encoding`, because its handler has chosen the
///   encoding;
/// - a response with a strong `ETag`, which names exactly these bytes (RFC 9110, section 8.8.1);
/// - a response with `no-store`: it can contain a secret, which the compressed length could reveal.
pub(crate) fn compress_response(
    memory: &ResponseMemory,
    reader: impl FnOnce() -> Reader,
    request: &HeaderMap,
    response: &mut Response,
) {
    if !depends_on_encoding(response) {
        return;
    }
    response.headers_mut().append(header::VARY, VARY);
    let Some(body) = response.body().whole() else {
        return;
    };
    if body.is_empty() || !accepts_gzip(request) {
        return;
    }

    // The fast level, because this runs for each response: higher levels save little and take twice
    // as long.
    let Ok(gzip_body) = gzip(Compression::fast(), body) else {
        return;
    };
    // Without memory for both bodies, the uncompressed one is sent.
    let Some(gzip_body) = memory.hold_copy(reader(), gzip_body) else {
        return;
    };
    *response.body_mut() = gzip_body.into();
    response
        .headers_mut()
        .insert(header::CONTENT_ENCODING, GZIP);
}

/// Whether the response is compressed for clients that accept gzip, so that it varies by
/// `Accept-Encoding`.
fn depends_on_encoding(response: &Response) -> bool {
    // A streamed body has no known length, so it counts as too short.
    let length = response.body().size_hint().exact().unwrap_or_default();
    // A 304 has the `Vary` of the 200, whose size is unknown here (RFC 9110, section 15.4.5).
    let has_compressible_size = response.status() == StatusCode::NOT_MODIFIED
        || (MIN_LENGTH..=MAX_LENGTH).contains(&length);
    if !has_compressible_size {
        return false;
    }
    let mut vary = response.headers().get_all(header::VARY).iter();
    !vary.any(|value| value == VARY) && !forbids_compression(response.headers())
}

/// Whether the header fields of a response rule out compression: a strong `ETag`, or `no-store`.
fn forbids_compression(response: &HeaderMap) -> bool {
    let tag = response.get(header::ETAG);
    if tag.is_some_and(|tag| !tag.as_bytes().starts_with(b"W/")) {
        return true;
    }
    // Where interfaces set `no-store`, it is the first directive.
    response
        .get(header::CACHE_CONTROL)
        .is_some_and(|control| control.as_bytes().starts_with(b"no-store"))
}

/// Whether the request accepts gzip, with at least the weight of an uncompressed response.
///
/// `*` gives its weight to every coding without a weight of its own (RFC 9110, section 12.5.3).
/// Without `Accept-Encoding`, the result is false.
///
/// Example: `gzip;q=0.5, identity;q=0.8` prefers an uncompressed response, so the result is false.
pub fn accepts_gzip(request: &HeaderMap) -> bool {
    let mut gzip_weight = None;
    let mut identity_weight = None;
    let mut wildcard_weight = None;
    for header_value in request.get_all(header::ACCEPT_ENCODING) {
        let codings = header_value
            .to_str()
            .unwrap_or_default()
            .to_ascii_lowercase();
        for coding in codings.split(',') {
            let (name, parameter) = coding.split_once(';').unwrap_or((coding, "q=1"));
            let coding_weight = match name.trim() {
                // `x-gzip` is an old name of gzip (RFC 9110, section 8.4.1.3).
                "gzip" | "x-gzip" => &mut gzip_weight,
                "identity" => &mut identity_weight,
                "*" => &mut wildcard_weight,
                _ => continue,
            };
            // An invalid weight counts as 0.
            *coding_weight = Some(parse_weight(parameter).unwrap_or_default());
        }
    }

    let wildcard_weight = wildcard_weight.unwrap_or_default();
    let gzip_weight = gzip_weight.unwrap_or(wildcard_weight);
    gzip_weight > 0.0 && gzip_weight >= identity_weight.unwrap_or(wildcard_weight)
}

/// Parses a quality weight such as `q=0.8` (RFC 9110, section 12.4.2). Returns `None` if it is not
/// from 0 to 1.
pub fn parse_weight(parameter: &str) -> Option<f32> {
    let number = parameter.trim().strip_prefix("q=")?;
    let weight = number.parse().ok()?;
    if (0.0..=1.0).contains(&weight) {
        Some(weight)
    } else {
        None
    }
}

/// Compresses a whole body.
pub fn gzip(level: Compression, body: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 2), level);
    encoder.write_all(body)?;
    let mut gzip_body = encoder.finish()?;
    gzip_body.shrink_to_fit();
    Ok(gzip_body)
}

/// Compresses a stream while the client reads it, with only one piece and the state of the encoder
/// in memory. If `pieces` fails, the gzip stream ends without its trailer, so the client can tell
/// that it is truncated.
pub fn gzip_pieces(
    pieces: impl Stream<Item = Result<Bytes, Cause>> + Send + Unpin,
) -> impl Stream<Item = Result<Bytes, Cause>> + Send {
    let gzip_stream = GzipStream {
        pieces,
        encoder: Some(GzEncoder::new(Vec::new(), Compression::fast())),
    };
    stream::try_unfold(gzip_stream, async |mut gzip_stream| {
        let gzip_piece = gzip_stream.next_piece().await?;
        Ok(gzip_piece.map(|gzip_piece| (gzip_piece, gzip_stream)))
    })
}

impl<S: Stream<Item = Result<Bytes, Cause>> + Unpin> GzipStream<S> {
    /// Returns the next compressed piece, or `None` after the last one.
    async fn next_piece(&mut self) -> Result<Option<Bytes>, Cause> {
        let Some(mut encoder) = self.encoder.take() else {
            return Ok(None);
        };
        let Some(piece) = self.pieces.try_next().await? else {
            let last_piece = encoder.finish().map_err(encoder_error)?;
            return Ok(Some(last_piece.into()));
        };
        encoder.write_all(&piece).map_err(encoder_error)?;
        let gzip_piece = mem::take(encoder.get_mut());
        self.encoder = Some(encoder);
        Ok(Some(gzip_piece.into()))
    }
}

/// Converts an error of the encoder into the error type of streams.
fn encoder_error(error: io::Error) -> Cause {
    Arc::new(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::Body;

    #[test]
    fn a_response_with_a_strong_tag_or_that_must_not_be_stored_stays_as_it_is() {
        let memory = ResponseMemory::new(1 << 20);
        let request = HeaderMap::from_iter([(header::ACCEPT_ENCODING, "gzip".parse().unwrap())]);
        for (tag, control, is_compressed) in [
            ("W/\"7\"", "private, no-cache", true),
            ("\"7\"", "private, no-cache", false),
            ("W/\"7\"", "no-store", false),
            ("W/\"7\"", "no-store, no-transform", false),
        ] {
            let mut response = Response::new(Body::Whole(vec![b' '; 4 << 10].into()));
            response
                .headers_mut()
                .insert(header::ETAG, tag.parse().unwrap());
            response
                .headers_mut()
                .insert(header::CACHE_CONTROL, control.parse().unwrap());
            compress_response(&memory, || Reader::Known, &request, &mut response);
            let is_shorter = response.body().size_hint().exact().unwrap() < 4 << 10;
            assert_eq!(is_shorter, is_compressed, "{tag} {control}");
            for field in [header::CONTENT_ENCODING, header::VARY] {
                assert_eq!(
                    response.headers().contains_key(&field),
                    is_compressed,
                    "{field}"
                );
            }
        }
    }
}
