//! Sends the files of photos, which are the same on every listener.

use std::sync::Arc;

use hyper::{
    HeaderMap,
    header::{self, HeaderValue},
};

use super::{ApiError, Body, Problem, Response, etag, response_memory::ResponseMemory};
use crate::photos::{PhotoError, PhotoFile, Photos};

/// Nobody can guess the name of a file, and its content never changes.
const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// The response to `GET /photos/{name}`.
pub(crate) async fn respond(
    photos: &Photos,
    memory: &ResponseMemory,
    request: &HeaderMap,
    name: &str,
) -> Result<Response, ApiError> {
    let file = PhotoFile::parse(name).ok_or_else(ApiError::no_such_path)?;
    let content = photos.read(file).await.map_err(ApiError::from)?;
    let content = memory.hold(content.ok_or_else(ApiError::no_such_path)?)?;
    let mut response = Response::new(Body::from(content));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("image/jpeg"));
    headers.insert(header::CACHE_CONTROL, FOREVER);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let tag = HeaderValue::try_from(format!("\"{}-{}\"", file.id, file.size));
    let tag = tag.map_err(|error| ApiError::internal(Arc::new(error)))?;
    Ok(etag::respond(request, response, tag))
}

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
            PhotoError::Invalid(reason) => Self::new(Problem::InvalidImage, reason),
            PhotoError::Place(ref cause) if is_full(cause) => {
                Self::new(Problem::StorageFull, later).caused_by(Arc::new(error))
            }
            PhotoError::Place(_) => {
                Self::new(Problem::Unavailable, later).caused_by(Arc::new(error))
            }
            PhotoError::Thread(_) => Self::internal(Arc::new(error)),
        }
    }
}

fn is_full(cause: &std::io::Error) -> bool {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(cause.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}
