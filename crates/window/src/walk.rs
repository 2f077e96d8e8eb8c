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
    Account, ApiError, Body, Reader, Reservation, Response, ResponseMemory,
    compression::{self, GZIP, gzip_pieces},
    etag,
};
use tokio::task;

use super::shop::Shop;

/// The memory of a file that is made, in bytes: a page of usual animals, and another one that the connection buffers.
const FILE_ROOM: usize = 128 << 10;

/// The place of a file that is made, and its memory, which counts like that of any response.
pub(super) struct FilePermit {
    room: Reservation,
    _place: Reservation,
}

impl FilePermit {
    /// Counts the memory of a longer piece.
    pub(super) fn make_room(&mut self, length: usize) -> Result<(), StoreError> {
        self.room
            .grow(length.max(FILE_ROOM))
            .map_err(|_| StoreError::Overloaded)
    }
}

/// Lets one more file be made. Fails with 503 if too many are, in total or for this address, or if there is no memory.
pub(super) fn permit(
    files: &Arc<Account>,
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

/// The next animals, newest first, and the position after them if more follow.
pub(super) async fn step(
    shop: &Shop,
    visitor: Option<ClientAddress>,
    before: Option<PetId>,
) -> Result<(Vec<StorePet>, Option<PetId>), StoreError> {
    // Otherwise, a client that reads fast would keep a thread.
    task::yield_now().await;
    let turn = shop.pieces.take(visitor.into()).await;
    let _turn = turn.map_err(|_| StoreError::Overloaded)?;
    let limit = Limit::new(Limit::MAX.into()).unwrap_or_default();
    let query = PetQuery {
        on_offer: true,
        newest_first: true,
        limit,
        after: before,
        ..PetQuery::default()
    };
    shop.store().list_offers(&query).await
}

/// The response with such a file.
pub(super) fn response(
    media_type: &'static str,
    first: Bytes,
    rest: impl Stream<Item = Result<Bytes, StoreError>> + Send + 'static,
) -> Response {
    let rest = rest.map_err(|error| Arc::new(error) as Cause);
    let all = stream::iter([Ok(first)]).chain(rest);
    let mut response = Response::new(Body::File(Box::pin(all)));
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// The same for a client that may have this file already, or accepts gzip. The tag is that of the moment before the file
/// is made, so a client that has a newer part of it gets the file again.
pub(super) fn for_client(
    request: &HeaderMap,
    mut file: Response,
    tag: Option<HeaderValue>,
) -> Response {
    file.headers_mut().insert(header::VARY, compression::VARY);
    let mut file = match tag {
        Some(tag) => etag::respond(request, file, tag),
        None => file,
    };
    if file.status() == StatusCode::OK && compression::prefers_gzip(request) {
        file.headers_mut().insert(header::CONTENT_ENCODING, GZIP);
        return file.map(|body| match body {
            Body::File(pieces) => Body::File(Box::pin(gzip_pieces(pieces))),
            other => other,
        });
    }
    file
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn a_file_that_cannot_be_made_to_its_end_breaks_off() {
        let rest = stream::iter([Ok(Bytes::from_static(b"b")), Err(StoreError::Overloaded)]);
        let mut body = response("text/csv", Bytes::from_static(b"a"), rest).into_body();
        for expected in ["a", "b"] {
            let piece = body.frame().await.unwrap().unwrap().into_data().unwrap();
            assert_eq!(piece, expected);
        }
        assert!(body.frame().await.unwrap().is_err());
    }
}
