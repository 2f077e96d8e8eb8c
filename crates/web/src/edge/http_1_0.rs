//! Responses to HTTP/1.0, where a body of unknown length ends with its connection: a client takes a part of it for the
//! whole. nginx sends requests of this version by default.

use futures_util::StreamExt;
use hyper::{Version, header, http::request::Parts};
use petstore_domain::Problem;
use petstore_store::StoreError;

use super::{
    error::ApiError,
    response::{Body, Response},
    response_memory::{Reader, ResponseMemory},
};

/// The largest file that is made before it is sent, in bytes.
const MAX_FILE_LENGTH: usize = 1 << 20;

/// Whether a client could not see that the end of this response is missing. Events have no end.
pub(super) fn hides_end(request: &Parts, response: &Response) -> bool {
    request.version < Version::HTTP_11
        && matches!(response.body(), Body::File(_))
        && !response.headers().contains_key(header::CONTENT_LENGTH)
}

/// Makes a file before it is sent, so that it has a length. Fails with 505 if it is too long.
pub(super) async fn with_length(
    memory: &ResponseMemory,
    reader: Reader,
    response: Response,
) -> Result<Response, ApiError> {
    let room = memory.reserve_for(reader, MAX_FILE_LENGTH)?;
    let (head, body) = response.into_parts();
    let mut whole = Vec::new();
    if let Body::File(mut pieces) = body {
        while let Some(piece) = pieces.next().await {
            whole.extend_from_slice(&piece.map_err(StoreError::Unavailable)?);
            if whole.len() > MAX_FILE_LENGTH {
                return Err(ApiError::new(
                    Problem::OldVersion,
                    "This file is too long for HTTP/1.0, which cannot show that its end is missing. \
                     Request it with HTTP/1.1; in nginx, set proxy_http_version 1.1.",
                ));
            }
        }
    }
    Ok(Response::from_parts(head, room.fill(whole).into()))
}
