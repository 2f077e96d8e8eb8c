//! Caches the facts about the store, which public pages need often.
//!
//! The facts are read again only if somebody may have written, so that the pages do not compete for
//! database connections. A [`WriteStamp`] tells whether this is so.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use petstore_domain::Clock;
use petstore_store::{StoreError, StoreReader, Version};

use super::{StoreFacts, StoreOptions};

/// How long a cached state is used if the store has no version.
///
/// Such a store cannot tell without a read whether another process has changed it. The change
/// becomes visible with at most this delay.
const MAX_STATE_AGE: Duration = Duration::from_secs(1);

/// A stamp of the state of the store. By comparing two stamps, a cache can tell without reading the
/// database that nobody has written in between.
pub struct WriteStamp {
    /// The version of the whole store, if the store has one.
    version: Option<Version>,
    /// The number of completed writes of this process, for a store without a version.
    writes: u64,
    taken_at: Instant,
}

impl WriteStamp {
    /// Takes the stamp of the present state.
    pub async fn now(store: &StoreReader, clock: &dyn Clock) -> Result<Self, StoreError> {
        let version = store.version().await?;
        Ok(Self {
            version,
            writes: store.ended_writes(),
            taken_at: clock.instant(),
        })
    }

    /// Whether nothing was written between this stamp and the stamp `later`.
    ///
    /// If the store has no version, this misses what other processes wrote, so it is only true for
    /// less than `MAX_STATE_AGE`.
    pub fn is_unchanged_at(&self, later: &Self) -> bool {
        let has_version = later.version.is_some();
        if has_version {
            return self.version == later.version;
        }
        let age = later.taken_at.saturating_duration_since(self.taken_at);
        self.writes == later.writes && age < MAX_STATE_AGE
    }
}

/// A cache of the facts that were last read.
#[derive(Default)]
pub struct KnownFacts {
    last_read: Mutex<Option<StampedFacts>>,
}

/// Facts, with the stamp of the state from which they were read.
struct StampedFacts {
    stamp: WriteStamp,
    facts: StoreFacts,
}

impl KnownFacts {
    /// Returns the present facts. Reads them from the store only if somebody may have written since
    /// the last read.
    pub async fn read(
        &self,
        store: &StoreReader,
        clock: &dyn Clock,
        options: &StoreOptions,
    ) -> Result<StoreFacts, StoreError> {
        let stamp = WriteStamp::now(store, clock).await?;
        if let Some(last_read) = &*self.last_read.lock()
            && last_read.stamp.is_unchanged_at(&stamp)
        {
            return Ok(last_read.facts.clone());
        }
        let facts = StoreFacts::read(store, options).await?;
        *self.last_read.lock() = Some(StampedFacts {
            stamp,
            facts: facts.clone(),
        });
        Ok(facts)
    }
}
