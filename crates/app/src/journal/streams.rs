//! The open streams of changes: how many one client may have, how many may read the store at once, and why
//! they end.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use petstore_domain::Actor;
use petstore_observe::{
    log::chain,
    metrics::{Counter, Exposition, Kind},
};
use petstore_store::StoreError;
use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tracing::warn;

use super::recent::{EndReason, RecentEvents};

/// How many streams one API key, or one member of the staff, may have open. The limit keeps a client that
/// opens many streams from using up the memory.
const MAX_STREAMS: usize = 64;

/// The maximum number of streams that read the store at the same time.
const MAX_CONCURRENT_READS: usize = 4;

/// How often the log may mention the ended streams of one client.
const LOG_INTERVAL: Duration = Duration::from_mins(1);

/// The open streams of all clients, and their shared limits.
pub struct Streams {
    /// The number of open streams of each client that has any.
    open: Mutex<HashMap<Actor, usize>>,
    /// The clients for which the end of a stream was logged within [`LOG_INTERVAL`], and when.
    logged: Mutex<HashMap<Actor, Instant>>,
    reads: Semaphore,
    /// The number of ended streams for each of the [`CAUSES`].
    ended: [Counter; CAUSES.len()],
}

/// The error for a client that has the maximum number of open streams.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error(
    "At most {MAX_STREAMS} streams can be open at once with one API key, or for one member of the \
     staff. Close some of them, and retry."
)]
pub struct TooManyStreams;

impl TooManyStreams {
    /// How long the client should wait before a retry, in seconds.
    pub const RETRY_AFTER: u64 = 10;
}

/// Counts as one open stream of the client until it is dropped.
pub struct StreamGuard {
    streams: Arc<Streams>,
    client: Actor,
}

/// Why the service ends a stream.
pub enum StreamEnd {
    /// In regular operation, which needs no log entry.
    Expected(EndReason),
    /// The limit of memory for responses leaves no room for the next changes.
    NoMemory,
    /// The store failed with this error.
    StoreFailed(StoreError),
    /// The changes after the position of the client are no longer kept.
    ChangesDeleted,
}

/// The values of the label `cause` in the metrics.
const CAUSES: [&str; 6] = [
    "shutdown",
    "invalid_key",
    "other_log",
    "no_memory",
    "store",
    "changes_deleted",
];

impl Default for Streams {
    fn default() -> Self {
        Self {
            open: Mutex::default(),
            logged: Mutex::default(),
            reads: Semaphore::new(MAX_CONCURRENT_READS),
            ended: Default::default(),
        }
    }
}

impl Streams {
    /// Counts a new stream of the client. Fails if the client has too many.
    pub fn open(self: &Arc<Self>, client: Actor) -> Result<StreamGuard, TooManyStreams> {
        let mut open = self.open.lock();
        let count = open.entry(client).or_default();
        if *count >= MAX_STREAMS {
            return Err(TooManyStreams);
        }
        *count += 1;
        Ok(StreamGuard {
            streams: Arc::clone(self),
            client,
        })
    }

    pub(super) fn expose(&self, exposition: &mut Exposition) {
        let name = "petstore_feed_streams_ended_total";
        exposition.begin(
            Kind::Counter,
            name,
            "Streams of changes that the service ended, by cause.",
        );
        for (cause, counter) in CAUSES.iter().zip(&self.ended) {
            exposition.sample(name, &[("cause", cause)], counter.get());
        }
    }

    /// Whether to log that a stream of this client ended: at most once per client and [`LOG_INTERVAL`].
    fn should_log(&self, client: Actor, now: Instant) -> bool {
        let mut logged = self.logged.lock();
        logged.retain(|_, logged_at| now.saturating_duration_since(*logged_at) < LOG_INTERVAL);
        let is_first = !logged.contains_key(&client);
        logged.entry(client).or_insert(now);
        is_first
    }
}

impl StreamGuard {
    /// Waits for a permit to read the store.
    pub async fn read_permit(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed, so this never fails.
        self.streams.reads.acquire().await.ok()
    }

    /// Counts the end of the stream by its cause. Logs it if it was not expected.
    pub fn record_end(&self, end: &StreamEnd, now: Instant) {
        let cause_index = match end {
            StreamEnd::Expected(EndReason::ShuttingDown) => 0,
            StreamEnd::Expected(EndReason::InvalidKey) => 1,
            StreamEnd::Expected(EndReason::OtherLog) => 2,
            StreamEnd::NoMemory => 3,
            StreamEnd::StoreFailed(_) => 4,
            StreamEnd::ChangesDeleted => 5,
        };
        let error = match end {
            StreamEnd::StoreFailed(error) => Some(chain(error)),
            _ => None,
        };
        self.streams.ended[cause_index].count();
        if !matches!(end, StreamEnd::Expected(_)) && self.streams.should_log(self.client, now) {
            let client = self.client.kind();
            let id = self.client.id();
            let cause = CAUSES[cause_index];
            warn!(
                client,
                id, cause, error, "a stream of changes ended; more are only counted"
            );
        }
    }
}

impl From<EndReason> for StreamEnd {
    fn from(reason: EndReason) -> Self {
        Self::Expected(reason)
    }
}

impl Drop for StreamGuard {
    fn drop(&mut self) {
        let mut open = self.streams.open.lock();
        if let Some(count) = open.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.client);
            }
        }
    }
}

/// A follower that learns only which animals changed.
pub struct Watcher {
    recent: watch::Receiver<RecentEvents>,
    /// The sequence number up to which it has learned of all changes.
    position: i64,
    _guard: StreamGuard,
}

impl Watcher {
    pub(super) fn new(
        recent: watch::Receiver<RecentEvents>,
        position: i64,
        guard: StreamGuard,
    ) -> Self {
        Self {
            recent,
            position,
            _guard: guard,
        }
    }

    /// Waits for changes, and returns the animals that they concern. Returns `Some(None)` if these are not
    /// known, so that anything may have changed, and `None` when the service shuts down.
    pub async fn changed(&mut self) -> Option<Option<Vec<i64>>> {
        let position = self.position;
        let has_news = |recent: &RecentEvents| recent.last != position || recent.is_shutting_down();
        let recent = self.recent.wait_for(has_news).await.ok()?;
        if recent.is_shutting_down() {
            return None;
        }
        self.position = recent.last;
        Some(if recent.last > position {
            recent.pets_after(position)
        } else {
            None
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use petstore_domain::{Clock, KeyId, StaffId, SystemClock};

    #[test]
    fn each_key_and_each_member_has_a_limit_of_its_own_and_leaves_nothing_in_memory() {
        let streams = Arc::new(Streams::default());
        for of in [
            Actor::Key(KeyId(1)),
            Actor::Key(KeyId(2)),
            Actor::Staff(StaffId(1)),
        ] {
            let mut open: Vec<_> = (0..MAX_STREAMS)
                .map(|_| streams.open(of).unwrap())
                .collect();
            assert!(streams.open(of).is_err());
            open.pop();
            open.push(streams.open(of).unwrap());
        }
        assert!(streams.open.lock().is_empty());
    }

    #[test]
    fn the_log_has_one_line_for_each_client_and_minute() {
        let streams = Arc::new(Streams::default());
        let start = SystemClock.instant();
        let one = Actor::Key(KeyId(1));
        let other = Actor::Key(KeyId(2));
        assert!(streams.should_log(one, start) && streams.should_log(other, start));
        assert!(!streams.should_log(one, start + Duration::from_secs(59)));
        assert!(streams.should_log(one, start + LOG_INTERVAL));
        assert_eq!(streams.logged.lock().len(), 1);
        let guard = streams.open(one).unwrap();
        guard.record_end(&StreamEnd::NoMemory, start);
        guard.record_end(&StreamEnd::NoMemory, start);
        guard.record_end(&EndReason::ShuttingDown.into(), start);
        assert_eq!((streams.ended[3].get(), streams.ended[0].get()), (2, 1));
    }
}
