//! The facts that the store says about itself, which are read again only when somebody may have written. So pages for clients
//! without an account do not take the connections of a database from others.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use petstore_domain::Clock;
use petstore_store::{StoreError, StoreReader, Version};

use super::{StoreFacts, StoreOptions};

/// The time for which a state counts as the present one if the store cannot tell without a read whether it has changed.
/// Changes of other processes appear as late as this.
const MAX_STATE_AGE: Duration = Duration::from_secs(1);

/// The signs by which a store shows, without a read, that nobody has written.
pub struct Seen {
    /// The version of the whole store, if it has one.
    store: Option<Version>,
    /// Otherwise, how many writes of this process had ended.
    writes: u64,
    at: Instant,
}

impl Seen {
    pub async fn now(store: &StoreReader, clock: &dyn Clock) -> Result<Self, StoreError> {
        let version = store.version().await?;
        Ok(Self {
            store: version,
            writes: store.ended_writes(),
            at: clock.instant(),
        })
    }

    /// Whether nobody can have written between this and `now`, except other processes within `MAX_STATE_AGE`.
    pub fn is_as(&self, now: &Self) -> bool {
        if now.store.is_some() {
            return self.store == now.store;
        }
        self.writes == now.writes && now.at.saturating_duration_since(self.at) < MAX_STATE_AGE
    }
}

/// The facts that were read last.
#[derive(Default)]
pub struct KnownFacts(Mutex<Option<(Seen, StoreFacts)>>);

impl KnownFacts {
    /// Returns what the store says about itself now.
    pub async fn read(
        &self,
        store: &StoreReader,
        clock: &dyn Clock,
        options: &StoreOptions,
    ) -> Result<StoreFacts, StoreError> {
        let now = Seen::now(store, clock).await?;
        if let Some((seen, facts)) = &*self.0.lock()
            && seen.is_as(&now)
        {
            return Ok(facts.clone());
        }
        let facts = StoreFacts::read(store, options).await?;
        *self.0.lock() = Some((now, facts.clone()));
        Ok(facts)
    }
}
