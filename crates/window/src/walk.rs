//! Files with all animals: the CSV export and the sitemaps.
//!
//! A file is generated while the client downloads it, by a walk over the list: each piece of the
//! file has one page of animals. So a file needs only the memory of one page. Each piece waits for
//! a turn of its visitor in a queue, so that other visitors get their turns between the pieces.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};
use petstore_domain::{PetId, client::ClientAddress, store_area::PetQuery};
use petstore_store::{Cause, StoreError};
use petstore_web::edge::{
    ApiError, Body, MemoryAccount, Reader, Reservation, Response, ResponseMemory,
    compression::{self, GZIP, gzip_pieces},
    etag,
};
use tokio::task;

use super::{
    offers::{PetPage, max_limit, read_pet_page},
    shop::Shop,
};

/// The minimum memory that is reserved for a file that is being streamed, in bytes. It is enough
/// for a typical piece, and for another one that the connection buffers.
const MIN_FILE_MEMORY: usize = 128 << 10;

/// The slot and the memory of a file that is being streamed. Both are released when it is dropped.
/// The memory counts towards the limit for all responses.
pub(super) struct FilePermit {
    memory: Reservation,
    _slot: Reservation,
}

impl FilePermit {
    /// Reserves a slot and memory for a file. Fails with 503 if too many files are being streamed,
    /// in total or to this address, or if there is not enough memory.
    pub(super) fn reserve(
        file_slots: &Arc<MemoryAccount>,
        response_memory: &ResponseMemory,
        visitor: Option<ClientAddress>,
    ) -> Result<Self, ApiError> {
        let slot = file_slots
            .reserve(visitor, 1)
            .ok_or(StoreError::Overloaded)?;
        let memory = response_memory.reserve_for(Reader::Stranger(visitor), MIN_FILE_MEMORY)?;
        Ok(Self {
            memory,
            _slot: slot,
        })
    }

    /// Reserves memory for a piece of this length, in bytes, in place of the memory for the previous
    /// piece. Fails if there is not enough memory.
    pub(super) fn reserve_piece(&mut self, length: usize) -> Result<(), StoreError> {
        self.memory
            .grow(length.max(MIN_FILE_MEMORY))
            .map_err(|_| StoreError::Overloaded)
    }
}

/// Waits for the visitor's turn, then reads the next page of animals on offer, newest first.
///
/// The page begins below the id `before`, or with the newest animal if there is no `before`.
/// Fails if the queue is full, or if the wait takes too long.
pub(super) async fn read_page_in_turn(
    shop: &Shop,
    visitor: Option<ClientAddress>,
    before: Option<PetId>,
) -> Result<PetPage, StoreError> {
    // Yield, so that a client with a fast connection does not monopolize a thread of the runtime.
    task::yield_now().await;
    let turn = shop.piece_turns.take(visitor.into()).await;
    let _turn = turn.map_err(|_| StoreError::Overloaded)?;

    let query = PetQuery {
        is_on_offer: true,
        newest_first: true,
        limit: max_limit(),
        after: before,
        ..PetQuery::default()
    };
    read_pet_page(shop.store(), &query).await
}

/// Returns a response that streams a file: first `first_piece`, then `further_pieces`, which are
/// generated on demand. If a piece fails, the download is aborted, so that the client does not mistake
/// the part that it has for the whole file.
pub(super) fn file_response(
    media_type: &'static str,
    first_piece: Bytes,
    further_pieces: impl Stream<Item = Result<Bytes, StoreError>> + Send + 'static,
) -> Response {
    let further_pieces = further_pieces.map_err(|error| Arc::new(error) as Cause);
    let file = stream::iter([Ok(first_piece)]).chain(further_pieces);
    let mut response = Response::new(Body::File(Box::pin(file)));
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// Adapts the response with a file to the request: adds the `ETag`, responds with 304 if the client
/// already has the file, and compresses the file if the client accepts gzip.
///
/// The tag is computed before the file is generated. If the data changes in between, the tag is older
/// than the file, and the client's next request downloads the file again. So a client never mistakes an
/// old file for the current one.
pub(super) fn adapt_to_client(
    request_headers: &HeaderMap,
    mut file: Response,
    etag: HeaderValue,
) -> Response {
    file.headers_mut().insert(header::VARY, compression::VARY);
    let mut response = etag::respond(request_headers, file, etag);
    if response.status() != StatusCode::OK || !compression::accepts_gzip(request_headers) {
        return response;
    }

    let headers = response.headers_mut();
    headers.insert(header::CONTENT_ENCODING, GZIP);
    response.map(|body| match body {
        Body::File(pieces) => Body::File(Box::pin(gzip_pieces(pieces))),
        Body::Whole(_) | Body::Stream(_) => body,
    })
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn a_file_that_cannot_be_made_to_its_end_breaks_off() {
        let further_pieces =
            stream::iter([Ok(Bytes::from_static(b"b")), Err(StoreError::Overloaded)]);
        let first_piece = Bytes::from_static(b"a");
        let mut body = file_response("text/csv", first_piece, further_pieces).into_body();
        for expected in ["a", "b"] {
            let piece = body.frame().await.unwrap().unwrap().into_data().unwrap();
            assert_eq!(piece, expected);
        }
        assert!(body.frame().await.unwrap().is_err());
    }
}
