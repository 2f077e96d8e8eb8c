//! The logo of the store.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use parking_lot::Mutex;
use petstore_domain::{Clock, store_area::Logo};
use petstore_store::{StoreError, StoreReader};

/// How long the file of the logo is used without a look at the database.
const MAX_AGE_OF_LOGO: Duration = Duration::from_mins(1);

/// The files of logos. The file of the present logo is kept in memory for a while.
pub struct LogoFiles {
    store: StoreReader,
    clock: Arc<dyn Clock>,
    known: Mutex<Option<KnownLogo>>,
}

/// The present logo of the store, as it was read.
#[derive(Clone)]
struct KnownLogo {
    logo: Logo,
    png: Bytes,
    read_at: Instant,
}

impl LogoFiles {
    pub(crate) fn new(store: StoreReader, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            clock,
            known: Mutex::default(),
        }
    }

    /// Returns the file of a logo: the logo of the store, or one that was replaced less than a day ago.
    pub async fn read(&self, logo: Logo) -> Result<Option<Bytes>, StoreError> {
        let now = self.clock.instant();
        let known = self.known.lock().clone();
        if let Some(known) = known
            && known.logo == logo
            && now < known.read_at + MAX_AGE_OF_LOGO
        {
            return Ok(Some(known.png));
        }

        let Some((png, is_present)) = self.store.logo(logo, self.clock.now()).await? else {
            return Ok(None);
        };
        let png = Bytes::from(png);
        if is_present {
            *self.known.lock() = Some(KnownLogo {
                logo,
                png: png.clone(),
                read_at: now,
            });
        }
        Ok(Some(png))
    }
}
