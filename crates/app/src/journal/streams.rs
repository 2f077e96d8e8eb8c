//! The shared limits of open streams: how many one client may have, turns to read the store, and the
//! reasons why they end.

#![expect(missing_docs, reason = "a comment says what a name does not")]

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

use super::recent::{EndReason, Recent};

/// How many streams one API key, or one member of the staff, may have open. So clients that do not
/// read leave memory and turns to the others.
const MAX_STREAMS: usize = 64;

/// The number of streams that read the store at the same time.
const MAX_CONCURRENT_READS: usize = 4;

/// How often the log says that streams of one client ended.
const LOG_EVERY: Duration = Duration::from_mins(1);

/// The open streams of all clients, and their shared limits.
pub struct Streams {
    open: Mutex<HashMap<Actor, usize>>,
    /// Clients whose streams ended in the last minute, and when the log said so.
    logged: Mutex<HashMap<Actor, Instant>>,
    reads: Semaphore,
    ended: [Counter; CAUSES.len()],
}

/// A client has as many open streams as it may have.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error(
    "At most {MAX_STREAMS} streams can be open at once with one API key, or for one member of the \
     staff. Close some of them, and retry."
)]
pub struct TooManyStreams;

impl TooManyStreams {
    /// When the client should retry, in seconds.
    pub const RETRY_AFTER: u64 = 10;
}

/// One open stream, until it is dropped.
pub struct Share {
    streams: Arc<Streams>,
    client: Actor,
}

/// A reason for which the service ends a stream.
pub enum StreamEnd {
    For(EndReason),
    /// There is no memory for the next changes.
    NoMemory,
    /// The store failed with this error.
    Unreadable(StoreError),
    /// The changes after the position of the client are no longer kept.
    Deleted,
}

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
    /// Opens a stream. Fails if the client has too many.
    pub fn open(self: &Arc<Self>, client: Actor) -> Result<Share, TooManyStreams> {
        let mut open = self.open.lock();
        let count = open.entry(client).or_default();
        if *count >= MAX_STREAMS {
            return Err(TooManyStreams);
        }
        *count += 1;
        Ok(Share {
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

    /// Whether the log is to say at `now` that a stream of this client ended.
    fn is_logged(&self, client: Actor, now: Instant) -> bool {
        let mut logged = self.logged.lock();
        logged.retain(|_, logged_at| now.saturating_duration_since(*logged_at) < LOG_EVERY);
        let is_first = !logged.contains_key(&client);
        logged.entry(client).or_insert(now);
        is_first
    }
}

impl Share {
    /// Waits for a turn to read the store.
    pub async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed, so this never fails.
        self.streams.reads.acquire().await.ok()
    }

    /// Counts the end of the stream, and logs it if something is wrong.
    pub fn end(&self, end: &StreamEnd, now: Instant) {
        let cause_index = match end {
            StreamEnd::For(EndReason::Over) => 0,
            StreamEnd::For(EndReason::InvalidKey) => 1,
            StreamEnd::For(EndReason::OtherLog) => 2,
            StreamEnd::NoMemory => 3,
            StreamEnd::Unreadable(_) => 4,
            StreamEnd::Deleted => 5,
        };
        let error = match end {
            StreamEnd::Unreadable(error) => Some(chain(error)),
            _ => None,
        };
        self.streams.ended[cause_index].count();
        if !matches!(end, StreamEnd::For(_)) && self.streams.is_logged(self.client, now) {
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
        Self::For(reason)
    }
}

impl Drop for Share {
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

/// A follower that only learns which animals changed.
pub struct Watcher {
    recent: watch::Receiver<Recent>,
    /// The number up to which it knows everything.
    position: i64,
    _share: Share,
}

impl Watcher {
    pub(super) fn new(recent: watch::Receiver<Recent>, position: i64, share: Share) -> Self {
        Self {
            recent,
            position,
            _share: share,
        }
    }

    /// Waits until something changes, and returns the animals that it concerned: `Some(None)` if
    /// that is not known. `None` when the service shuts down.
    pub async fn changed(&mut self) -> Option<Option<Vec<i64>>> {
        let position = self.position;
        let has_news = |recent: &Recent| recent.last != position || recent.is_over();
        let recent = self.recent.wait_for(has_news).await.ok()?;
        if recent.is_over() {
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
        assert!(streams.is_logged(one, start) && streams.is_logged(other, start));
        assert!(!streams.is_logged(one, start + Duration::from_secs(59)));
        assert!(streams.is_logged(one, start + LOG_EVERY));
        assert_eq!(streams.logged.lock().len(), 1);
        let share = streams.open(one).unwrap();
        share.end(&StreamEnd::NoMemory, start);
        share.end(&StreamEnd::NoMemory, start);
        share.end(&EndReason::Over.into(), start);
        assert_eq!((streams.ended[3].get(), streams.ended[0].get()), (2, 1));
    }
}
