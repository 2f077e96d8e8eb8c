//! Caches the digests of all issued API keys, so that a flood of requests with made-up keys causes
//! only a few queries.

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

/// The minimum time between the starts of two reads of all digests.
const MIN_READ_INTERVAL: Duration = Duration::from_millis(200);

/// How long a request waits at most to learn whether its key exists.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// The digests of all keys in the store.
///
/// A key with an unknown digest may be new, so its request waits for the next read of all digests.
/// One read serves all waiting requests, so unknown keys cause at most five queries per second. A
/// request with a new key waits for the read in progress, [`MIN_READ_INTERVAL`] and one more read
/// at most.
pub(super) struct IssuedKeys {
    store: Arc<dyn Keys>,
    clock: Arc<dyn Clock>,
    /// Contains only existing keys. Clients do not choose digests, so a fast hash without
    /// protection against collisions is enough.
    digests: RwLock<HashSet<KeyDigest, RandomState>>,
    reads: Mutex<Reads>,
    /// Has one permit, which is held while reading, so that there is only one read at a time.
    read_permit: Semaphore,
}

/// The state of the reads of all digests.
struct Reads {
    /// The number of reads that have started, which is also the number of the newest one.
    started: u64,
    last_completed: Option<CompletedRead>,
    /// The earliest start of the next read.
    next_start: Instant,
}

/// A completed read of all digests.
struct CompletedRead {
    number: u64,
    result: Result<(), StoreError>,
}

impl IssuedKeys {
    /// Returns an empty cache, which the first lookup fills.
    pub(super) fn new(store: Arc<dyn Keys>, clock: Arc<dyn Clock>) -> Self {
        let reads = Reads {
            started: 0,
            last_completed: None,
            next_start: clock.instant(),
        };
        Self {
            store,
            clock,
            digests: RwLock::default(),
            reads: Mutex::new(reads),
            read_permit: Semaphore::new(1),
        }
    }

    /// Whether a key with this digest exists, valid or not.
    pub(super) async fn contains(&self, digest: &KeyDigest) -> Result<bool, StoreError> {
        if self.is_cached(digest) {
            return Ok(true);
        }
        // A read that has already started may have missed the key, so only a later one counts.
        let earlier_reads = self.reads.lock().started;
        let next_read = time::timeout(LOOKUP_TIMEOUT, self.read_after(earlier_reads));
        let Ok(result) = next_read.await else {
            let message = "reading the keys from the store took longer than 5 seconds";
            return Err(StoreError::Unavailable(cause(message)));
        };
        result?;
        Ok(self.is_cached(digest))
    }

    /// Waits for a read with a higher number than `earlier_reads`, and returns its result.
    ///
    /// Uses the result if another request has done such a read in the meantime. Otherwise, this
    /// request does the read.
    async fn read_after(&self, earlier_reads: u64) -> Result<(), StoreError> {
        // Acquiring cannot fail, because the semaphore is never closed.
        let _permit = self.read_permit.acquire().await;
        let pause = {
            let reads = self.reads.lock();
            if let Some(completed) = &reads.last_completed
                && completed.number > earlier_reads
            {
                return completed.result.clone();
            }
            reads
                .next_start
                .saturating_duration_since(self.clock.instant())
        };
        if !pause.is_zero() {
            time::sleep(pause).await;
        }
        self.read_digests().await
    }

    /// Reads all digests into the cache, and stores the result for the waiting requests.
    async fn read_digests(&self) -> Result<(), StoreError> {
        let number = {
            let mut reads = self.reads.lock();
            reads.started += 1;
            reads.next_start = self.clock.instant() + MIN_READ_INTERVAL;
            reads.started
        };
        let result = match self.store.key_digests().await {
            Ok(digests) => {
                // Collect them before taking the lock, which requests wait for.
                let digest_set = digests.into_iter().collect();
                *self.digests.write() = digest_set;
                Ok(())
            }
            Err(error) => Err(error),
        };
        self.reads.lock().last_completed = Some(CompletedRead {
            number,
            result: result.clone(),
        });
        result
    }

    /// Whether the last read found this digest.
    fn is_cached(&self, digest: &KeyDigest) -> bool {
        self.digests.read().contains(digest)
    }

    #[cfg(test)]
    pub(super) fn count_reads(&self) -> u64 {
        self.reads.lock().started
    }
}
