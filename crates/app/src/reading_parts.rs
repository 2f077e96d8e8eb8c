//! The read-only parts of the service, for interfaces that must never write, such as the public
//! window.

use std::sync::Arc;

use petstore_domain::Clock;
use petstore_photos::{PhotoReader, Photos};
use petstore_store::{Store, StoreReader};

use super::logo::LogoFiles;

/// The read-only parts of the service. Nothing reachable from here can write to the store or to a
/// file.
#[derive(Clone)]
pub struct ReadingParts {
    /// Reads the store.
    pub store: StoreReader,
    /// The clock of the machine.
    pub clock: Arc<dyn Clock>,
    /// Reads the files of photos.
    pub photos: PhotoReader,
    /// Reads the files of logos.
    pub logos: Arc<LogoFiles>,
}

impl ReadingParts {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, photos: Arc<Photos>) -> Self {
        let store = StoreReader::new(store);
        Self {
            logos: Arc::new(LogoFiles::new(store.clone(), Arc::clone(&clock))),
            photos: PhotoReader::new(photos),
            store,
            clock,
        }
    }
}
