//! Buffers streamed files for HTTP/1.0 clients.
//!
//! HTTP/1.0 has no chunked transfer coding, so the end of the connection marks the end of a body
//! without `Content-Length`, and a client cannot detect that it is truncated. nginx uses HTTP/1.0
//! towards upstream servers by default.

use futures_util::StreamExt;
use hyper::{Version, header, http::request::Parts};
use petstore_domain::Problem;
use petstore_store::StoreError;

use super::{
    error::ApiError,
    response::{Body, Response},
    response_memory::{Reader, ResponseMemory},
};

/// The largest file that is buffered, in bytes.
const MAX_FILE_LENGTH: usize = 1 << 20;

/// Whether a client could not detect a truncated response, so that it must be buffered. A stream of
/// events is exempt, because it has no end anyway.
pub(super) fn hides_truncation(request: &Parts, response: &Response) -> bool {
    request.version < Version::HTTP_11
        && matches!(response.body(), Body::File(_))
        && !response.headers().contains_key(header::CONTENT_LENGTH)
}

/// Buffers a streamed file in memory, so that the response gets a `Content-Length`. Returns a
/// response with another kind of body unchanged.
///
/// Fails with 505 if the file is larger than [`MAX_FILE_LENGTH`], and with 503 if there is not
/// enough memory or the file breaks off.
pub(super) async fn buffer_file(
    memory: &ResponseMemory,
    reader: Reader,
    response: Response,
) -> Result<Response, ApiError> {
    let (parts, body) = response.into_parts();
    let mut pieces = match body {
        Body::File(pieces) => pieces,
        other_body => return Ok(Response::from_parts(parts, other_body)),
    };
    let reservation = memory.reserve_for(reader, MAX_FILE_LENGTH)?;
    let mut content = Vec::new();
    while let Some(piece) = pieces.next().await {
        content.extend_from_slice(&piece.map_err(StoreError::Unavailable)?);
        if content.len() > MAX_FILE_LENGTH {
            return Err(ApiError::new(
                Problem::OldVersion,
                "This file is too long for HTTP/1.0, which cannot show that its end is missing. \
                 Request it with HTTP/1.1; in nginx, set proxy_http_version 1.1.",
            ));
        }
    }
    Ok(Response::from_parts(
        parts,
        reservation.fill(content).into(),
    ))
}
