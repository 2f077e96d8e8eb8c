//! Read-only access to photos, for callers that must not store any.

use std::sync::Arc;

use petstore_domain::store_area::PhotoFile;

use super::{PhotoError, Photos, Piece};

/// A read-only handle to the files of photos.
#[derive(Clone)]
pub struct PhotoReader(Arc<Photos>);

impl PhotoReader {
    /// Creates a reader for the files of photos.
    pub fn new(photos: Arc<Photos>) -> Self {
        Self(photos)
    }

    /// Whether the service keeps photos.
    pub fn has_storage(&self) -> bool {
        self.0.storage().is_some()
    }

    /// Reads a piece of a file, like [`Photos::read`].
    pub async fn read(&self, file: PhotoFile, offset: u64) -> Result<Option<Piece>, PhotoError> {
        self.0.read(file, offset).await
    }
}
