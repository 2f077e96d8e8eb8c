//! Sends the files of photos and of the logo, which are the same on every listener.

use std::sync::Arc;

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
use petstore_photos::{PIECE, PhotoError, PhotoReader};
use petstore_store::Cause;

use super::{ApiError, Body, Reader, Response, ResponseMemory, etag, held_by, response};

/// Nobody can guess the name of a file, and its content never changes.
const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// For a file that stands for another one until that is made.
const FOR_NOW: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// The response to `GET /photos/{name}`. A large file is read while the client reads the response.
pub async fn respond(
    photos: &PhotoReader,
    memory: &ResponseMemory,
    reader: Reader,
    request: &HeaderMap,
    name: &str,
) -> Result<Response, ApiError> {
    let mut file = PhotoFile::parse(name).ok_or_else(ApiError::no_such_path)?;
    let mut tag = tag_of(file)?;
    let mut response = Response::default();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("image/jpeg"));
    headers.insert(header::CACHE_CONTROL, FOREVER);
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    if photos.has_place() && etag::has_current(request, &tag) {
        return Ok(etag::respond(request, response, tag));
    }
    let mut room = memory.reserve_for(reader, PIECE)?;
    let mut found = photos.read(file, 0).await?;
    if found.is_none() && file.size.is_made_later() {
        file.size = PhotoSize::Large;
        tag = tag_of(file)?;
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, FOR_NOW);
        found = photos.read(file, 0).await?;
    }
    let (first, length) = found.ok_or_else(ApiError::no_such_path)?;
    let sent = first.len() as u64;
    if sent == length {
        *response.body_mut() = Body::from(room.fill(first));
        return Ok(etag::respond(request, response, tag));
    }
    // The connection may buffer a second piece.
    room.grow(2 * PIECE)?;
    let room = Arc::new(room);
    let first = held_by(Arc::clone(&room), first);
    let start = (photos.clone(), sent, room);
    let rest = stream::try_unfold(start, move |(photos, at, room)| async move {
        if at >= length {
            return Ok(None);
        }
        let piece = photos
            .read(file, at)
            .await
            .map_err(|error| Arc::new(error) as Cause)?;
        let piece = piece.filter(|(piece, of)| *of == length && !piece.is_empty());
        let (piece, _) = piece.ok_or_else(|| Arc::new(Gone) as Cause)?;
        let at = at + piece.len() as u64;
        Ok(Some((
            held_by(Arc::clone(&room), piece),
            (photos, at, room),
        )))
    });
    *response.body_mut() = Body::File(Box::pin(stream::iter([Ok(first)]).chain(rest)));
    let mut response = etag::respond(request, response, tag);
    if response.status() == StatusCode::OK {
        response
            .headers_mut()
            .insert(header::CONTENT_LENGTH, length.into());
    }
    Ok(response)
}

/// The response to `GET /assets/logo-….png`. Another content has another name.
pub async fn respond_with_logo(
    logos: &LogoFiles,
    memory: &ResponseMemory,
    reader: Reader,
    logo: Logo,
) -> Result<Response, ApiError> {
    let png = logos.read(logo).await?.ok_or_else(ApiError::no_such_path)?;
    let mut response = response::with_body(png);
    for (name, value) in [
        (header::CONTENT_TYPE, HeaderValue::from_static("image/png")),
        (header::CACHE_CONTROL, FOREVER),
        (
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        ),
    ] {
        response.headers_mut().insert(name, value);
    }
    Ok(memory.hold_for(reader, response)?)
}

fn tag_of(file: PhotoFile) -> Result<HeaderValue, ApiError> {
    let tag = HeaderValue::try_from(format!("\"{}-{}\"", file.id, file.size));
    tag.map_err(|error| ApiError::internal(Arc::new(error)))
}

#[derive(Debug, thiserror::Error)]
#[error("the file of a photo changed or was deleted while it was sent")]
struct Gone;

impl From<PhotoError> for ApiError {
    fn from(error: PhotoError) -> Self {
        let later = "The files of photos cannot be read or written at the moment. Retry later.";
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
            PhotoError::Place(ref cause) if is_full(cause) => {
                Self::new(Problem::StorageFull, later).caused_by(Arc::new(error))
            }
            PhotoError::Place(_) => {
                Self::new(Problem::Unavailable, later).caused_by(Arc::new(error))
            }
            PhotoError::Thread(_) | PhotoError::Damaged(_) => Self::internal(Arc::new(error)),
        }
    }
}

fn is_full(cause: &std::io::Error) -> bool {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(cause.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}
