//! The logo of the store.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use parking_lot::Mutex;
use petstore_domain::{Clock, store_area::Logo};
use petstore_store::{StoreError, StoreReader};

/// How long the cached file of the logo is used before it is read from the store again.
const MAX_LOGO_AGE: Duration = Duration::from_mins(1);

/// Reads the files of logos. Caches the file of the present logo for a minute.
pub struct LogoFiles {
    store: StoreReader,
    clock: Arc<dyn Clock>,
    cached_logo: Mutex<Option<CachedLogo>>,
}

/// The present logo of the store, as it was last read.
struct CachedLogo {
    logo: Logo,
    png: Bytes,
    read_at: Instant,
}

impl LogoFiles {
    pub(crate) fn new(store: StoreReader, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            clock,
            cached_logo: Mutex::default(),
        }
    }

    /// Returns the PNG file of a logo. Returns `None` if the store does not have it.
    ///
    /// The store has the file of its present logo, and of each logo that was replaced less than a
    /// day ago, because cached pages may still refer to it.
    pub async fn read(&self, logo: Logo) -> Result<Option<Bytes>, StoreError> {
        let now = self.clock.instant();
        if let Some(cached_logo) = &*self.cached_logo.lock()
            && cached_logo.logo == logo
            && now < cached_logo.read_at + MAX_LOGO_AGE
        {
            return Ok(Some(cached_logo.png.clone()));
        }

        let Some(stored_logo) = self.store.logo(logo, self.clock.now()).await? else {
            return Ok(None);
        };
        let png = Bytes::from(stored_logo.png);
        if stored_logo.is_present {
            *self.cached_logo.lock() = Some(CachedLogo {
                logo,
                png: png.clone(),
                read_at: now,
            });
        }
        Ok(Some(png))
    }
}
