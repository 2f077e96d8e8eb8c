//! Distributes the journal of changes to the clients that follow it.
//!
//! A follower is an open stream of changes, or a request that waits for a change. A single
//! background task polls the journal on behalf of all followers of this process, and only while
//! there are any.

mod batch;
mod cursor;
mod recent;
mod streams;
mod watcher;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use petstore_domain::{Actor, Clock, store_area::JournalEntry};
use petstore_observe::metrics::{Counter, Exposition, Histogram};
use petstore_store::{Store, StoreError};
use tokio::{
    sync::{Notify, watch},
    time,
};

use self::{batch::Batch, streams::Streams};
pub use self::{
    batch::write_event,
    cursor::{CursorError, decode, encode},
    recent::{EndReason, NextEvents, RecentEvents, RenderedEvents, Ticket},
    streams::{StreamEnd, StreamGuard, TooManyStreams},
    watcher::{ChangeReport, Watcher},
};

/// How often the journal is polled while there are followers.
const READ_INTERVAL: Duration = Duration::from_millis(100);

/// How often the keys are checked, to end the streams of keys that were revoked or have expired.
const KEY_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The maximum number of changes per read of the journal.
const CHANGES_PER_PAGE: u32 = 100;

/// The state that all followers of the journal share.
pub struct Journal {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    /// The cache of the newest changes, rendered as events. Each follower holds a receiver.
    recent: watch::Sender<RecentEvents>,
    /// Wakes the polling task when a follower joins.
    joined: Notify,
    /// When the keys were last checked, if they have been.
    keys_checked_at: Mutex<Option<Instant>>,
    /// The metrics of all followers.
    pub metrics: Arc<JournalMetrics>,
    /// The open streams of all clients.
    pub streams: Arc<Streams>,
}

/// The metrics of all followers.
#[derive(Default)]
pub struct JournalMetrics {
    /// The number of changes that were sent to clients.
    pub sent: Counter,
    /// The time from each change until this process has read it.
    delay: Histogram,
}

impl Journal {
    pub(super) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            clock,
            recent: watch::Sender::default(),
            joined: Notify::new(),
            keys_checked_at: Mutex::default(),
            metrics: Arc::default(),
            streams: Arc::default(),
        }
    }

    /// Registers a new follower, and returns its view of the newest events.
    pub fn join(&self) -> watch::Receiver<RecentEvents> {
        let recent = self.recent.subscribe();
        self.joined.notify_one();
        recent
    }

    /// Returns the sequence number up to which the journal was read. It falls behind while there is
    /// no follower.
    pub fn position(&self) -> i64 {
        self.recent.borrow().last
    }

    /// Returns a follower that reports which animals have changed after `position`, but not how.
    /// Fails if the client has too many streams.
    pub fn watch(&self, client: Actor, position: i64) -> Result<Watcher, TooManyStreams> {
        let guard = self.streams.open(client)?;
        Ok(Watcher::new(self.join(), position, guard))
    }

    /// Waits until there is a follower, and then until the next poll of the journal is due.
    pub async fn due(&self) {
        while self.recent.receiver_count() == 0 {
            self.joined.notified().await;
        }
        time::sleep(READ_INTERVAL).await;
    }

    /// Reads new changes from the journal into the cache, and checks for keys that became invalid.
    /// A background task calls this each time it is [`due`](Self::due).
    ///
    /// One call reads about `MAX_BYTES_PER_READ` at most, so that followers can keep up. After an
    /// error, the next call continues.
    pub async fn poll(&self) -> Result<(), StoreError> {
        let journal = self.store.journal_state().await?;
        self.recent
            .send_if_modified(|recent| recent.sync_with(&journal));
        let mut read_to = self.position();
        let mut room = recent::MAX_BYTES_PER_READ;
        while read_to < journal.last && room > 0 {
            let page = self
                .store
                .changes_after(read_to, None, CHANGES_PER_PAGE)
                .await?;
            let mut batches = Batch::from_changes(journal.epoch, &page.changes);
            room = batch::truncate_to_room(&mut batches, room);
            // The page is empty if its changes were deleted in the meantime. The next poll skips
            // them.
            let Some(last_batch) = batches.last() else {
                break;
            };
            read_to = last_batch.last_seq();
            // The batches may lack the last changes of the page.
            let newest_change = page.changes.iter().rfind(|change| change.seq == read_to);
            if let Some(newest_change) = newest_change {
                self.observe_delay(newest_change);
            }
            self.recent
                .send_modify(|recent| recent.push(batches, read_to));
        }
        self.refresh_invalid_keys().await
    }

    /// Records in the metrics how long ago a change was made. The change was read just now.
    fn observe_delay(&self, change: &JournalEntry) {
        let delay = self.clock.now().duration_since(change.at);
        // The delay is negative if the clock of another machine is ahead. It then counts as zero.
        let delay = Duration::try_from(delay).unwrap_or_default();
        self.metrics.delay.observe(delay);
    }

    /// Reads from the store which keys are no longer valid, and ends their streams. Does nothing if
    /// the last check was less than [`KEY_CHECK_INTERVAL`] ago.
    async fn refresh_invalid_keys(&self) -> Result<(), StoreError> {
        let started_at = self.clock.instant();
        let keys_checked_at = *self.keys_checked_at.lock();
        if let Some(last_check) = keys_checked_at
            && started_at.saturating_duration_since(last_check) < KEY_CHECK_INTERVAL
        {
            return Ok(());
        }

        let keys = self.store.list_keys().await?;
        let now = self.clock.now();
        let invalid_keys = keys
            .iter()
            .filter(|key| !key.is_valid_at(now))
            .map(|key| key.id)
            .collect();
        // A follower whose key is in this set ends its stream.
        self.recent
            .send_if_modified(|recent| recent.set_invalid_keys(invalid_keys));
        *self.keys_checked_at.lock() = Some(started_at);
        Ok(())
    }

    /// Ends all streams and wakes all waiting requests, because the service is shutting down.
    pub fn end(&self) {
        self.recent.send_modify(RecentEvents::end_all);
    }

    /// Writes the metrics of the followers.
    pub(super) fn expose(&self, exposition: &mut Exposition) {
        let help = "Streams of changes, and requests that wait for a change.";
        exposition.number(
            "petstore_feed_followers",
            help,
            self.recent.receiver_count(),
        );
        let JournalMetrics { sent, delay } = &*self.metrics;
        let help = "Changes that were sent to clients.";
        exposition.counter("petstore_feed_changes_sent_total", help, sent);
        self.streams.expose(exposition);
        let help = "From a change to its arrival at the followers of this process.";
        exposition.histogram("petstore_feed_delay_seconds", help, delay);
    }
}
