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

/// The time that a request waits at most to learn whether its key exists.
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
    /// The turn to read: there is one reading at a time.
    turn: Semaphore,
}

/// The readings of all digests.
struct Readings {
    /// The number of readings that have started. It is the number of the newest one.
    started: u64,
    last_completed: Option<CompletedReading>,
    /// The earliest start of the next reading.
    next_start: Instant,
}

/// A reading that has ended.
struct CompletedReading {
    number: u64,
    result: Result<(), StoreError>,
}

impl IssuedKeys {
    /// Returns an empty set, which the first lookup fills.
    pub(super) fn new(store: Arc<dyn Keys>, clock: Arc<dyn Clock>) -> Self {
        let readings = Readings {
            started: 0,
            last_completed: None,
            next_start: clock.instant(),
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
        let earlier_readings = self.readings.lock().started;
        let reading = time::timeout(LOOKUP_TIMEOUT, self.read_after(earlier_readings));
        let Ok(result) = reading.await else {
            let message = "reading the keys from the store took longer than 5 seconds";
            return Err(StoreError::Unavailable(cause(message)));
        };
        result?;
        Ok(self.is_cached(digest))
    }

    /// Waits for the result of a reading with a higher number than `earlier_readings`, and reads if nobody else does.
    async fn read_after(&self, earlier_readings: u64) -> Result<(), StoreError> {
        let _turn = self.turn.acquire().await;
        let pause = {
            let readings = self.readings.lock();
            if let Some(completed) = &readings.last_completed
                && completed.number > earlier_readings
            {
                return completed.result.clone();
            }
            readings
                .next_start
                .saturating_duration_since(self.clock.instant())
        };
        if !pause.is_zero() {
            time::sleep(pause).await;
        }
        self.read().await
    }

    /// Reads all digests, and notes the result for the requests that wait.
    async fn read(&self) -> Result<(), StoreError> {
        let number = {
            let mut readings = self.readings.lock();
            readings.started += 1;
            readings.next_start = self.clock.instant() + PAUSE;
            readings.started
        };
        let result = match self.store.key_digests().await {
            Ok(digests) => {
                let digests = digests.into_iter().collect();
                *self.digests.write() = digests;
                Ok(())
            }
            Err(error) => Err(error),
        };
        self.readings.lock().last_completed = Some(CompletedReading {
            number,
            result: result.clone(),
        });
        result
    }

    /// Whether the digest was among the digests of the last reading.
    fn is_cached(&self, digest: &KeyDigest) -> bool {
        self.digests.read().contains(digest)
    }

    #[cfg(test)]
    pub(super) fn count_readings(&self) -> u64 {
        self.readings.lock().started
    }
}
