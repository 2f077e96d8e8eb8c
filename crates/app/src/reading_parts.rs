//! The parts of the service that only read, for an interface that must not write.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::sync::Arc;

use petstore_domain::Clock;
use petstore_photos::{PhotoReader, Photos};
use petstore_store::{Store, StoreReader};

use super::logo::LogoFiles;

/// The parts that only read. Nothing that can be reached from them writes to the store or to a file.
#[derive(Clone)]
pub struct ReadingParts {
    pub store: StoreReader,
    pub clock: Arc<dyn Clock>,
    pub photos: PhotoReader,
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
