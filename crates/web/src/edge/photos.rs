//! Sends the files of photos and of the logo, which are the same on every listener.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};
use petstore_app::LogoFiles;
use petstore_domain::{
    Problem,
    store_area::{Logo, PhotoFile, PhotoSize},
};
use petstore_photos::{PIECE_LENGTH, PhotoError, PhotoReader, Piece};
use petstore_store::{Cause, PhotoAudience, StoreReader};

use super::{
    ApiError, Body, Reader, Reservation, Response, ResponseMemory, etag, held_by, response,
};

/// The caching of a file: nobody can guess its name, and its content never changes.
const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// The caching of a file that stands for another one until the other one is made.
const FOR_NOW: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// Returns who may see the photo with a file of this name. Everybody may see a photo of which no animal is known: nobody
/// can guess its name. Fails if the name is of no file.
pub async fn audience(store: &StoreReader, name: &str) -> Result<PhotoAudience, ApiError> {
    let file = PhotoFile::parse(name).ok_or_else(ApiError::no_such_path)?;
    let audience = store.photo_audience(file.id).await?;
    Ok(audience.unwrap_or(PhotoAudience::Everybody))
}

/// Fails for a photo that strangers may not see as for a file that does not exist.
pub async fn refuse_private(store: &StoreReader, name: &str) -> Result<(), ApiError> {
    match audience(store, name).await? {
        PhotoAudience::Everybody => Ok(()),
        PhotoAudience::Staff => Err(ApiError::no_such_path()),
    }
}

/// Keeps a response out of the caches that several people share.
///
/// `public, max-age=300` becomes `private, max-age=300`.
pub fn make_private(response: &mut Response) {
    let headers = response.headers_mut();
    let directives = headers
        .get(header::CACHE_CONTROL)
        .and_then(|value| value.to_str().ok()?.strip_prefix("public"));
    if let Some(directives) = directives
        && let Ok(value) = HeaderValue::try_from(format!("private{directives}"))
    {
        headers.insert(header::CACHE_CONTROL, value);
    }
}

/// Responds to `GET /photos/{name}`. A large file is read while the client reads the response.
pub async fn respond(
    photos: &PhotoReader,
    memory: &ResponseMemory,
    reader: Reader,
    request: &HeaderMap,
    name: &str,
) -> Result<Response, ApiError> {
    let mut file = PhotoFile::parse(name).ok_or_else(ApiError::no_such_path)?;
    if photos.has_storage() && etag::has_current(request, &etag_of(file)?) {
        return Ok(etag::respond(
            request,
            photo_response(FOREVER),
            etag_of(file)?,
        ));
    }

    let mut room = memory.reserve_for(reader, PIECE_LENGTH)?;
    let mut cache_control = FOREVER;
    let mut first_read = photos.read(file, 0).await?;
    if first_read.is_none() && file.size.is_made_later() {
        file.size = PhotoSize::Large;
        cache_control = FOR_NOW;
        first_read = photos.read(file, 0).await?;
    }
    let Piece {
        bytes: first_piece,
        file_length: length,
    } = first_read.ok_or_else(ApiError::no_such_path)?;

    let mut response = photo_response(cache_control);
    if first_piece.len() as u64 == length {
        *response.body_mut() = Body::from(room.fill(first_piece));
        return Ok(etag::respond(request, response, etag_of(file)?));
    }
    // The connection may buffer a second piece.
    room.grow(2 * PIECE_LENGTH)?;
    *response.body_mut() = large_body(photos, file, first_piece, length, room);
    let mut response = etag::respond(request, response, etag_of(file)?);
    if response.status() == StatusCode::OK {
        response
            .headers_mut()
            .insert(header::CONTENT_LENGTH, length.into());
    }
    Ok(response)
}

/// Returns a response without a body, with the header fields of a photo.
fn photo_response(cache_control: HeaderValue) -> Response {
    let mut response = Response::default();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("image/jpeg"));
    headers.insert(header::CACHE_CONTROL, cache_control);
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    response
}

/// A large file of a photo, which is read while the client reads it.
struct LargeFile {
    photos: PhotoReader,
    file: PhotoFile,
    length: u64,
    /// The number of bytes that were read.
    position: u64,
    room: Arc<Reservation>,
}

/// Returns the body with a large file, after its first piece was read.
fn large_body(
    photos: &PhotoReader,
    file: PhotoFile,
    first_piece: Vec<u8>,
    length: u64,
    room: Reservation,
) -> Body {
    let room = Arc::new(room);
    let file = LargeFile {
        photos: photos.clone(),
        file,
        length,
        position: first_piece.len() as u64,
        room: Arc::clone(&room),
    };
    let first_piece = held_by(room, first_piece);
    let later_pieces = stream::try_unfold(file, async |mut file| {
        let piece = file.next_piece().await?;
        Ok(piece.map(|piece| (piece, file)))
    });
    Body::File(Box::pin(
        stream::iter([Ok(first_piece)]).chain(later_pieces),
    ))
}

impl LargeFile {
    /// Reads the next piece. Returns `None` at the end of the file. Fails if the file has changed.
    async fn next_piece(&mut self) -> Result<Option<Bytes>, Cause> {
        if self.position >= self.length {
            return Ok(None);
        }
        let read = self.photos.read(self.file, self.position).await;
        let Some(piece) = read.map_err(|error| Arc::new(error) as Cause)? else {
            return Err(Arc::new(Gone));
        };
        if piece.file_length != self.length || piece.bytes.is_empty() {
            return Err(Arc::new(Gone));
        }
        let piece = piece.bytes;
        self.position += piece.len() as u64;
        Ok(Some(held_by(Arc::clone(&self.room), piece)))
    }
}

/// Responds to `GET /assets/logo-….png`. Another content has another name.
pub async fn respond_with_logo(
    logos: &LogoFiles,
    memory: &ResponseMemory,
    reader: Reader,
    logo: Logo,
) -> Result<Response, ApiError> {
    let png = logos.read(logo).await?.ok_or_else(ApiError::no_such_path)?;
    let mut response = response::with_body(png);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("image/png"));
    headers.insert(header::CACHE_CONTROL, FOREVER);
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    Ok(memory.hold_for(reader, response)?)
}

/// Returns the ETag of a file.
fn etag_of(file: PhotoFile) -> Result<HeaderValue, ApiError> {
    let etag = HeaderValue::try_from(format!("\"{}-{}\"", file.id, file.size));
    etag.map_err(|error| ApiError::internal(Arc::new(error)))
}

/// The reason for which a file breaks off.
#[derive(Debug, thiserror::Error)]
#[error("the file of a photo changed or was deleted while it was sent")]
struct Gone;

impl From<PhotoError> for ApiError {
    fn from(error: PhotoError) -> Self {
        let retry_later =
            "The files of photos cannot be read or written at the moment. Retry later.";
        match error {
            PhotoError::Off => Self::new(
                Problem::PhotosOff,
                "This service keeps no photos. Ask its operator to set --photos.",
            ),
            PhotoError::Busy => Self::new(
                Problem::Unavailable,
                "Too many pictures wait to be decoded. Retry in a moment.",
            ),
            PhotoError::Invalid(problem) => Self::new(Problem::InvalidImage, problem.to_string()),
            PhotoError::PhotoStorage(ref cause) if is_full(cause) => {
                Self::new(Problem::StorageFull, retry_later).caused_by(Arc::new(error))
            }
            PhotoError::PhotoStorage(_) => {
                Self::new(Problem::Unavailable, retry_later).caused_by(Arc::new(error))
            }
            PhotoError::Thread(_) | PhotoError::Damaged(_) => Self::internal(Arc::new(error)),
        }
    }
}

/// Whether the cause is that the disk is full.
fn is_full(cause: &std::io::Error) -> bool {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(cause.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}
