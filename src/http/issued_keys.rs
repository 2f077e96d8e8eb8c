//! Which API keys were ever issued, so that one that was not costs the store no
//! look-up of its own.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
    time::{Duration, Instant},
};

use foldhash::fast::RandomState;
use tokio::{sync::Semaphore, time};

use crate::{
    domain::{Clock, KeyDigest},
    store::{Store, StoreError},
};

/// From one reading of all digests to the next at least.
const PAUSE: Duration = Duration::from_millis(200);

/// How long a request waits to learn whether its key was issued.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// The digests of all keys that the store has.
///
/// A key whose digest is not among them may be one that was issued a moment ago.
/// So its request waits for the next reading of all digests; that one reading
/// serves all requests that wait. However many keys come that nobody has issued,
/// the store is asked five times a second at most, and a key that was issued
/// waits no longer than for a pause and a reading.
pub(super) struct IssuedKeys {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    /// As many as the operator has made. Clients send no digests, so none can be
    /// chosen to meet others in the set.
    digests: RwLock<HashSet<KeyDigest, RandomState>>,
    readings: Mutex<Readings>,
    /// One reading at a time.
    turn: Semaphore,
}

struct Readings {
    /// How many were begun.
    begun: u64,
    /// The number of the last one that ended, and what became of it.
    last: Option<(u64, Result<(), StoreError>)>,
    /// When the next one may begin.
    next: Instant,
}

impl IssuedKeys {
    pub(super) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        let readings = Readings { begun: 0, last: None, next: clock.instant() };
        Self {
            store,
            clock,
            digests: RwLock::default(),
            readings: Mutex::new(readings),
            turn: Semaphore::new(1),
        }
    }

    /// Whether there is a key with this digest, valid or not.
    ///
    /// # Errors
    ///
    /// The store's.
    pub(super) async fn contains(&self, digest: &KeyDigest) -> Result<bool, StoreError> {
        if self.is_cached(digest) {
            return Ok(true);
        }
        let begun = self.readings().begun;
        let read = time::timeout(LOOKUP_TIMEOUT, self.read_after(begun)).await;
        read.map_err(|_| StoreError::Unavailable(Arc::new(TooSlow)))??;
        Ok(self.is_cached(digest))
    }

    /// Waits until a reading has ended that began after the first `begun`.
    async fn read_after(&self, begun: u64) -> Result<(), StoreError> {
        let _turn = self.turn.acquire().await;
        let pause = {
            let readings = self.readings();
            if let Some((number, outcome)) = &readings.last
                && *number > begun
            {
                return outcome.clone();
            }
            readings.next.saturating_duration_since(self.clock.instant())
        };
        if !pause.is_zero() {
            time::sleep(pause).await;
        }
        let number = {
            let mut readings = self.readings();
            readings.begun += 1;
            readings.next = self.clock.instant() + PAUSE;
            readings.begun
        };
        let outcome = self.store.key_digests().await.map(|digests| {
            let digests = digests.into_iter().collect();
            *self.digests.write().unwrap_or_else(PoisonError::into_inner) = digests;
        });
        self.readings().last = Some((number, outcome.clone()));
        outcome
    }

    fn is_cached(&self, digest: &KeyDigest) -> bool {
        self.digests.read().unwrap_or_else(PoisonError::into_inner).contains(digest)
    }

    #[cfg(test)]
    pub(super) fn count_readings(&self) -> u64 {
        self.readings().begun
    }

    fn readings(&self) -> MutexGuard<'_, Readings> {
        self.readings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the store did not say within {} seconds which keys there are", LOOKUP_TIMEOUT.as_secs())]
struct TooSlow;
