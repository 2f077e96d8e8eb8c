//! The API keys that exist, so a key that was never issued needs no query of its own.

use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

use foldhash::fast::RandomState;
use parking_lot::{Mutex, RwLock};
use petstore_domain::{Clock, KeyDigest};
use petstore_store::{Keys, StoreError, cause};
use tokio::{sync::Semaphore, time};

/// The shortest time between two readings of all digests.
const PAUSE: Duration = Duration::from_millis(200);

/// How long a request waits to learn whether its key exists.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// The digests of all keys in the store.
///
/// A key with an unknown digest may be new. Its request waits for the next reading of all digests,
/// which serves all waiting requests. So unknown keys cause at most five queries per second, and a
/// new key waits at most for one interval and one reading.
pub(super) struct IssuedKeys {
    store: Arc<dyn Keys>,
    clock: Arc<dyn Clock>,
    /// Contains only existing keys. Clients do not choose digests, so a fast hash without
    /// protection against collisions is enough.
    digests: RwLock<HashSet<KeyDigest, RandomState>>,
    readings: Mutex<Readings>,
    /// One reading at a time.
    turn: Semaphore,
}

struct Readings {
    /// How many readings have started.
    begun: u64,
    /// The number of the last completed reading, and its result.
    last: Option<(u64, Result<(), StoreError>)>,
    /// The earliest start of the next reading.
    next: Instant,
}

impl IssuedKeys {
    pub(super) fn new(store: Arc<dyn Keys>, clock: Arc<dyn Clock>) -> Self {
        let readings = Readings {
            begun: 0,
            last: None,
            next: clock.instant(),
        };
        Self {
            store,
            clock,
            digests: RwLock::default(),
            readings: Mutex::new(readings),
            turn: Semaphore::new(1),
        }
    }

    /// Whether a key with this digest exists, valid or not.
    pub(super) async fn contains(&self, digest: &KeyDigest) -> Result<bool, StoreError> {
        if self.is_cached(digest) {
            return Ok(true);
        }
        let begun = self.readings.lock().begun;
        let read = time::timeout(LOOKUP_TIMEOUT, self.read_after(begun)).await;
        let too_slow = "reading the keys from the store took longer than 5 seconds";
        read.map_err(|_| StoreError::Unavailable(cause(too_slow)))??;
        Ok(self.is_cached(digest))
    }

    /// Waits for the end of a reading that started after the first `begun` ones.
    async fn read_after(&self, begun: u64) -> Result<(), StoreError> {
        let _turn = self.turn.acquire().await;
        let pause = {
            let readings = self.readings.lock();
            if let Some((number, outcome)) = &readings.last
                && *number > begun
            {
                return outcome.clone();
            }
            readings
                .next
                .saturating_duration_since(self.clock.instant())
        };
        if !pause.is_zero() {
            time::sleep(pause).await;
        }
        let number = {
            let mut readings = self.readings.lock();
            readings.begun += 1;
            readings.next = self.clock.instant() + PAUSE;
            readings.begun
        };
        let outcome = self.store.key_digests().await.map(|digests| {
            let digests = digests.into_iter().collect();
            *self.digests.write() = digests;
        });
        self.readings.lock().last = Some((number, outcome.clone()));
        outcome
    }

    fn is_cached(&self, digest: &KeyDigest) -> bool {
        self.digests.read().contains(digest)
    }

    #[cfg(test)]
    pub(super) fn count_readings(&self) -> u64 {
        self.readings.lock().begun
    }
}
