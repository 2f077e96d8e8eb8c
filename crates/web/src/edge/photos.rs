//! Serves the files of photos and of the logo, in the same way on every listener.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};
use petstore_app::LogoFiles;
use petstore_domain::store_area::{Logo, PhotoFile, PhotoSize};
use petstore_photos::{PIECE_LENGTH, PhotoReader};
use petstore_store::{Cause, PhotoAudience, StoreReader};

use super::{
    ApiError, Body, Reader, Reservation, Response, ResponseMemory, attach_reservation, etag,
    response,
};

/// The `Cache-Control` of a file. It may be public, because nobody can guess the name, and
/// immutable, because its content never changes.
const CACHE_FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// The `Cache-Control` of a file that is served in place of another size until that size is
/// generated.
const CACHE_BRIEFLY: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// The media type of photos.
const JPEG: &str = "image/jpeg";

/// The media type of logos.
const PNG: &str = "image/png";

/// The first piece of a photo file, and what is known about the file after it was read.
struct FirstRead {
    /// The file that is sent. Its size may be another one than requested.
    file: PhotoFile,
    is_requested_size: bool,
    file_length: u64,
    piece: Vec<u8>,
}

/// A photo file that is streamed in pieces.
struct StreamedFile {
    photos: PhotoReader,
    file: PhotoFile,
    length: u64,
    /// How many bytes have been read.
    position: u64,
    reservation: Arc<Reservation>,
}

/// The error if a file cannot be sent to its end.
#[derive(Debug, thiserror::Error)]
#[error("the file of a photo changed or was deleted while it was sent")]
struct FileChanged;

/// Finds out who may see the photo to which a file belongs. Fails with 404 if `name` is not the
/// name of a photo file.
///
/// Everybody may see a photo that the store does not know, because nobody can guess its name.
pub async fn find_audience(store: &StoreReader, name: &str) -> Result<PhotoAudience, ApiError> {
    let file = PhotoFile::parse(name).ok_or_else(ApiError::no_such_path)?;
    let audience = store.photo_audience(file.id).await?;
    Ok(audience.unwrap_or(PhotoAudience::Everybody))
}

/// Fails with 404 if the public may not see the photo, as if it did not exist.
pub async fn reject_private(store: &StoreReader, name: &str) -> Result<(), ApiError> {
    match find_audience(store, name).await? {
        PhotoAudience::Everybody => Ok(()),
        PhotoAudience::Staff => Err(ApiError::no_such_path()),
    }
}

/// Makes a response private, so that shared caches do not store it.
///
/// Example: `public, max-age=300` becomes `private, max-age=300`.
pub fn make_private(response: &mut Response) {
    let headers = response.headers_mut();
    let Some(cache_control) = headers.get(header::CACHE_CONTROL) else {
        return;
    };
    // The values of this service are ASCII, so neither conversion fails.
    if let Ok(directives) = cache_control.to_str()
        && let Some(other_directives) = directives.strip_prefix("public")
        && let Ok(value) = HeaderValue::try_from(format!("private{other_directives}"))
    {
        headers.insert(header::CACHE_CONTROL, value);
    }
}

/// Responds to `GET /photos/{name}`.
///
/// A large file is streamed, so that only two pieces of it are in memory while a slow client reads
/// it. If the requested size is not generated yet, the large size is sent in its place. Fails with
/// 404 if there is no such file.
pub async fn respond(
    photos: &PhotoReader,
    memory: &ResponseMemory,
    reader: Reader,
    request: &HeaderMap,
    name: &str,
) -> Result<Response, ApiError> {
    let file = PhotoFile::parse(name).ok_or_else(ApiError::no_such_path)?;
    // The client may already have the file, which then need not be read. Without storage, there are
    // no files, and reading fails below with 404.
    let requested_etag = photo_etag(file)?;
    if photos.has_storage() && etag::has_current(request, &requested_etag) {
        let mut response = Response::default();
        add_file_headers(&mut response, JPEG, CACHE_FOREVER);
        return Ok(etag::respond(request, response, requested_etag));
    }

    let mut reservation = memory.reserve_for(reader, PIECE_LENGTH)?;
    let first_read = read_first_piece(photos, file).await?;
    let etag = photo_etag(first_read.file)?;
    let length = first_read.file_length;
    let mut response = Response::default();
    add_file_headers(&mut response, JPEG, first_read.cache_control());
    if first_read.piece.len() as u64 == length {
        *response.body_mut() = Body::from(reservation.fill(first_read.piece));
        return Ok(etag::respond(request, response, etag));
    }
    // While one piece is read, the connection may still buffer the previous one.
    reservation.grow(2 * PIECE_LENGTH)?;
    *response.body_mut() = streamed_body(photos, first_read, reservation);
    let mut response = etag::respond(request, response, etag);
    // A 304 has no body.
    if response.status() == StatusCode::OK {
        response
            .headers_mut()
            .insert(header::CONTENT_LENGTH, length.into());
    }
    Ok(response)
}

impl FirstRead {
    /// Returns the `Cache-Control` of the response.
    fn cache_control(&self) -> HeaderValue {
        if self.is_requested_size {
            CACHE_FOREVER
        } else {
            CACHE_BRIEFLY
        }
    }
}

/// Reads the first piece of a file, or of the large size if the requested one is not generated yet.
/// Fails with 404 if the photo has neither.
async fn read_first_piece(
    photos: &PhotoReader,
    requested_file: PhotoFile,
) -> Result<FirstRead, ApiError> {
    if let Some(piece) = photos.read(requested_file, 0).await? {
        return Ok(FirstRead {
            file: requested_file,
            is_requested_size: true,
            file_length: piece.file_length,
            piece: piece.bytes,
        });
    }
    if !requested_file.size.may_be_missing() {
        return Err(ApiError::no_such_path());
    }
    let large_file = PhotoFile {
        size: PhotoSize::Large,
        ..requested_file
    };
    let piece = photos.read(large_file, 0).await?;
    let piece = piece.ok_or_else(ApiError::no_such_path)?;
    Ok(FirstRead {
        file: large_file,
        is_requested_size: false,
        file_length: piece.file_length,
        piece: piece.bytes,
    })
}

/// Adds the header fields of a file to its response.
fn add_file_headers(response: &mut Response, media_type: &'static str, cache_control: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CACHE_CONTROL, cache_control);
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
}

/// Returns a body that streams a file whose first piece has already been read. All pieces count
/// towards `reservation`.
fn streamed_body(photos: &PhotoReader, first_read: FirstRead, reservation: Reservation) -> Body {
    let reservation = Arc::new(reservation);
    let streamed_file = StreamedFile {
        photos: photos.clone(),
        file: first_read.file,
        length: first_read.file_length,
        position: first_read.piece.len() as u64,
        reservation: Arc::clone(&reservation),
    };
    let first_piece = attach_reservation(reservation, first_read.piece);
    let later_pieces = stream::try_unfold(streamed_file, async |mut file| {
        let piece = file.next_piece().await?;
        Ok(piece.map(|piece| (piece, file)))
    });
    Body::File(Box::pin(
        stream::iter([Ok(first_piece)]).chain(later_pieces),
    ))
}

impl StreamedFile {
    /// Reads the next piece, or returns `None` at the end of the file. Fails if the file was
    /// deleted or its length has changed.
    async fn next_piece(&mut self) -> Result<Option<Bytes>, Cause> {
        if self.position >= self.length {
            return Ok(None);
        }
        let result = self.photos.read(self.file, self.position).await;
        let Some(piece) = result.map_err(|error| Arc::new(error) as Cause)? else {
            return Err(Arc::new(FileChanged));
        };
        if piece.file_length != self.length || piece.bytes.is_empty() {
            return Err(Arc::new(FileChanged));
        }
        let piece = piece.bytes;
        self.position += piece.len() as u64;
        let reservation = Arc::clone(&self.reservation);
        Ok(Some(attach_reservation(reservation, piece)))
    }
}

/// Responds to `GET /assets/logo-….png`. The name depends on the content, so it can be cached
/// forever.
pub async fn respond_with_logo(
    logos: &LogoFiles,
    memory: &ResponseMemory,
    reader: Reader,
    logo: Logo,
) -> Result<Response, ApiError> {
    let png = logos.read(logo).await?.ok_or_else(ApiError::no_such_path)?;
    let mut response = response::with_body(png);
    add_file_headers(&mut response, PNG, CACHE_FOREVER);
    Ok(memory.hold_for(reader, response)?)
}

/// Returns the strong ETag of a file. The name of a file determines its content, so the file need
/// not be read.
fn photo_etag(file: PhotoFile) -> Result<HeaderValue, ApiError> {
    let etag = HeaderValue::try_from(format!("\"{}-{}\"", file.id, file.size));
    etag.map_err(|error| ApiError::internal(Arc::new(error)))
}
