//! Limits the open streams of changes, and records why they end.
//!
//! There is a limit of streams per client, and a limit of streams that read the store at the same
//! time.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use petstore_domain::{Actor, named_enum::named_enum};
use petstore_observe::{
    log::error_chain,
    metrics::{Counter, Exposition, Kind},
};
use petstore_store::StoreError;
use tokio::sync::Semaphore;
use tracing::warn;

use super::recent::EndReason;

/// The maximum number of open streams of one client: of an API key, or of a member of the staff.
/// Without the limit, one client could use up the memory.
const MAX_STREAMS: usize = 64;

/// The maximum number of streams that read the store at the same time.
const MAX_CONCURRENT_READS: usize = 4;

/// The minimum time between two log entries about ended streams of the same client.
const LOG_INTERVAL: Duration = Duration::from_mins(1);

/// The open streams of all clients, and their shared limits.
pub struct Streams {
    /// The number of open streams of each client that has any.
    open: Mutex<HashMap<Actor, usize>>,
    /// The clients for which the end of a stream was logged within [`LOG_INTERVAL`], and when.
    logged: Mutex<HashMap<Actor, Instant>>,
    /// Has [`MAX_CONCURRENT_READS`] permits. It is never closed.
    reads: Semaphore,
    /// The numbers of ended streams, indexed by [`EndCause`].
    ended: [Counter; EndCause::ALL.len()],
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

/// A guard that counts as one open stream of its client until it is dropped.
pub struct StreamGuard {
    streams: Arc<Streams>,
    client: Actor,
}

/// Why the service ends a stream.
pub enum StreamEnd {
    /// An end that belongs to normal operation, such as a shutdown. It is not logged.
    Expected(EndReason),
    /// The memory for responses is in use, so the next changes cannot be sent.
    NoMemory,
    /// The store failed with this error.
    StoreFailed(StoreError),
    /// The changes after the position of the client are no longer kept.
    ChangesDeleted,
}

named_enum! {
    /// The cause of an end, as the label `cause` in the metrics. See [`StreamEnd`] and
    /// [`EndReason`].
    enum EndCause {
        ShuttingDown = "shutdown",
        InvalidKey = "invalid_key",
        OtherJournal = "other_log",
        NoMemory = "no_memory",
        StoreFailed = "store",
        ChangesDeleted = "changes_deleted",
    }
}

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
        let mut open_counts = self.open.lock();
        let count = open_counts.entry(client).or_default();
        if *count >= MAX_STREAMS {
            return Err(TooManyStreams);
        }
        *count += 1;
        Ok(StreamGuard {
            streams: Arc::clone(self),
            client,
        })
    }

    /// Writes the metric of ended streams.
    pub(super) fn expose(&self, exposition: &mut Exposition) {
        let name = "petstore_feed_streams_ended_total";
        exposition.begin(
            Kind::Counter,
            name,
            "Streams of changes that the service ended, by cause.",
        );
        for cause in EndCause::ALL {
            let count = self.ended[cause as usize].get();
            exposition.sample(name, &[("cause", &cause)], count);
        }
    }

    /// Claims the one log entry that ended streams of a client may cause per [`LOG_INTERVAL`].
    /// Returns `false` if the client has had its entry already.
    fn claim_log_entry(&self, client: Actor, now: Instant) -> bool {
        let mut logged = self.logged.lock();
        logged.retain(|_, logged_at| now.saturating_duration_since(*logged_at) < LOG_INTERVAL);
        if logged.contains_key(&client) {
            return false;
        }
        logged.insert(client, now);
        true
    }
}

impl StreamGuard {
    /// Runs `read`, a read of the store, once fewer than `MAX_CONCURRENT_READS` streams are
    /// reading.
    pub async fn limit_read<T>(&self, read: impl Future<Output = T>) -> T {
        // The permit is held until the read has completed. Acquiring it cannot fail, because the
        // semaphore is never closed.
        let _permit = self.streams.reads.acquire().await;
        read.await
    }

    /// Counts the end of the stream by its cause. Logs an unexpected end, but at most one per
    /// client and `LOG_INTERVAL`.
    pub fn record_end(&self, end: &StreamEnd, now: Instant) {
        let cause = end.cause();
        self.streams.ended[cause as usize].count();
        if matches!(end, StreamEnd::Expected(_)) {
            return;
        }
        let may_log = self.streams.claim_log_entry(self.client, now);
        if !may_log {
            return;
        }
        let error = match end {
            StreamEnd::StoreFailed(error) => Some(error_chain(error)),
            _ => None,
        };
        warn!(
            client = self.client.kind(),
            id = self.client.id(),
            cause = cause.as_str(),
            error,
            "a stream of changes ended; more are only counted"
        );
    }
}

impl StreamEnd {
    /// Returns the cause that the metrics and the log show.
    fn cause(&self) -> EndCause {
        match self {
            Self::Expected(EndReason::ShuttingDown) => EndCause::ShuttingDown,
            Self::Expected(EndReason::InvalidKey) => EndCause::InvalidKey,
            Self::Expected(EndReason::OtherJournal) => EndCause::OtherJournal,
            Self::NoMemory => EndCause::NoMemory,
            Self::StoreFailed(_) => EndCause::StoreFailed,
            Self::ChangesDeleted => EndCause::ChangesDeleted,
        }
    }
}

impl From<EndReason> for StreamEnd {
    fn from(reason: EndReason) -> Self {
        Self::Expected(reason)
    }
}

impl Drop for StreamGuard {
    /// Removes the stream from the number of open streams of the client.
    fn drop(&mut self) {
        let mut open_counts = self.streams.open.lock();
        if let Some(count) = open_counts.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                open_counts.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use petstore_domain::{Clock, KeyId, StaffId, SystemClock};

    #[test]
    fn each_key_and_each_member_has_a_limit_of_its_own_and_leaves_nothing_in_memory() {
        let streams = Arc::new(Streams::default());
        for client in [
            Actor::Key(KeyId(1)),
            Actor::Key(KeyId(2)),
            Actor::Staff(StaffId(1)),
        ] {
            let mut open: Vec<_> = (0..MAX_STREAMS)
                .map(|_| streams.open(client).unwrap())
                .collect();
            assert!(streams.open(client).is_err());
            open.pop();
            open.push(streams.open(client).unwrap());
        }
        assert!(streams.open.lock().is_empty());
    }

    #[test]
    fn the_log_has_one_line_for_each_client_and_minute() {
        let streams = Arc::new(Streams::default());
        let start = SystemClock.instant();
        let one = Actor::Key(KeyId(1));
        let other = Actor::Key(KeyId(2));
        assert!(streams.claim_log_entry(one, start) && streams.claim_log_entry(other, start));
        assert!(!streams.claim_log_entry(one, start + Duration::from_secs(59)));
        assert!(streams.claim_log_entry(one, start + LOG_INTERVAL));
        assert_eq!(streams.logged.lock().len(), 1);
        let guard = streams.open(one).unwrap();
        guard.record_end(&StreamEnd::NoMemory, start);
        guard.record_end(&StreamEnd::NoMemory, start);
        guard.record_end(&EndReason::ShuttingDown.into(), start);
        let count = |cause: EndCause| streams.ended[cause as usize].get();
        assert_eq!(count(EndCause::NoMemory), 2);
        assert_eq!(count(EndCause::ShuttingDown), 1);
    }
}
