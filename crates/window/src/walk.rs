//! Files of all animals. They are made while the client reads them, page by page, so they need the
//! memory of a page and hold up nobody.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};
use petstore_domain::{
    Limit, PetId,
    client::ClientAddress,
    store_area::{PetQuery, StorePet},
};
use petstore_store::{Cause, StoreError};
use petstore_web::edge::{
    ApiError, Body, MemoryAccount, Reader, Reservation, Response, ResponseMemory,
    compression::{self, GZIP, gzip_pieces},
    etag,
};
use tokio::task;

use super::shop::Shop;

/// The memory of a file that is made, in bytes: a page of usual animals, and another one that the connection buffers.
const FILE_ROOM: usize = 128 << 10;

/// The place of a file that is made, and its memory, which counts like the memory of any response.
pub(super) struct FilePermit {
    room: Reservation,
    _place: Reservation,
}

impl FilePermit {
    /// Counts the memory of a longer piece. Fails if there is not enough.
    pub(super) fn make_room(&mut self, length: usize) -> Result<(), StoreError> {
        self.room
            .grow(length.max(FILE_ROOM))
            .map_err(|_| StoreError::Overloaded)
    }
}

/// Reserves the place and the memory of a file. Fails with 503 if too many files are made, in total or for this address,
/// or if there is no memory.
pub(super) fn reserve(
    files: &Arc<MemoryAccount>,
    memory: &ResponseMemory,
    visitor: Option<ClientAddress>,
) -> Result<FilePermit, ApiError> {
    let place = files.reserve(visitor, 1).ok_or(StoreError::Overloaded)?;
    let room = memory.reserve_for(Reader::Stranger(visitor), FILE_ROOM)?;
    Ok(FilePermit {
        room,
        _place: place,
    })
}

/// Reads the animals before `before`, or the newest ones, when it is the visitor's turn. Returns them, newest first, and
/// the position after them if more animals follow.
pub(super) async fn next_animals(
    shop: &Shop,
    visitor: Option<ClientAddress>,
    before: Option<PetId>,
) -> Result<(Vec<StorePet>, Option<PetId>), StoreError> {
    // Otherwise, a client that reads fast would keep a thread.
    task::yield_now().await;
    let turn = shop.pieces.take(visitor.into()).await;
    let _turn = turn.map_err(|_| StoreError::Overloaded)?;

    let query = PetQuery {
        is_on_offer: true,
        newest_first: true,
        limit: Limit::new(Limit::MAX.into()).unwrap_or_default(),
        after: before,
        ..PetQuery::default()
    };
    shop.store().list_offers(&query).await
}

/// Returns the response with a file that begins with the piece `first`. `pieces` makes the other ones.
pub(super) fn file_response(
    media_type: &'static str,
    first: Bytes,
    pieces: impl Stream<Item = Result<Bytes, StoreError>> + Send + 'static,
) -> Response {
    let pieces = pieces.map_err(|error| Arc::new(error) as Cause);
    let file = stream::iter([Ok(first)]).chain(pieces);
    let mut response = Response::new(Body::File(Box::pin(file)));
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// Turns a file into the response to a client that may have it already, or accepts gzip. The tag is of the moment before
/// the file is made, so a client that has a newer part of it gets the file again.
pub(super) fn adapt_to_client(
    request: &HeaderMap,
    mut file: Response,
    tag: HeaderValue,
) -> Response {
    file.headers_mut().insert(header::VARY, compression::VARY);
    let mut response = etag::respond(request, file, tag);
    if response.status() != StatusCode::OK || !compression::prefers_gzip(request) {
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
        let rest = stream::iter([Ok(Bytes::from_static(b"b")), Err(StoreError::Overloaded)]);
        let mut body = file_response("text/csv", Bytes::from_static(b"a"), rest).into_body();
        for expected in ["a", "b"] {
            let piece = body.frame().await.unwrap().unwrap().into_data().unwrap();
            assert_eq!(piece, expected);
        }
        assert!(body.frame().await.unwrap().is_err());
    }
}
