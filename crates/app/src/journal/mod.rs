//! The journal of changes, and everyone who follows it.
//!
//! One reader follows the journal for all streams and waiting requests of this process, and only while
//! there are any.

#![expect(missing_docs, reason = "a comment says what a name does not")]

mod batch;
mod cursor;
mod recent;
mod streams;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use petstore_domain::{Actor, Clock};
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
    recent::{After, EndReason, Recent, RenderedEvents, Ticket},
    streams::{Share, StreamEnd, TooManyStreams, Watcher},
};

/// The time between two reads of the journal.
const READ_INTERVAL: Duration = Duration::from_millis(100);

/// The time between two looks for keys that became invalid.
const KEY_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The number of changes that are read at once.
const CHANGES_PER_PAGE: u32 = 100;

/// The shared state of all that follow the journal.
pub struct Journal {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    recent: watch::Sender<Recent>,
    joined: Notify,
    keys_read: Mutex<Option<Instant>>,
    pub metrics: Arc<JournalMetrics>,
    pub streams: Arc<Streams>,
}

/// The metrics of all followers.
#[derive(Default)]
pub struct JournalMetrics {
    /// Changes that were sent to clients.
    pub sent: Counter,
    delay: Histogram,
}

impl Journal {
    pub(super) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            clock,
            recent: watch::Sender::default(),
            joined: Notify::new(),
            keys_read: Mutex::default(),
            metrics: Arc::default(),
            streams: Arc::default(),
        }
    }

    /// Returns the state for a new follower of the journal.
    pub fn join(&self) -> watch::Receiver<Recent> {
        let recent = self.recent.subscribe();
        self.joined.notify_one();
        recent
    }

    /// Returns the number up to which the journal was read. It falls behind while no client
    /// follows.
    pub fn position(&self) -> i64 {
        self.recent.borrow().last
    }

    /// Returns a follower that only learns that something changed after `position`. Fails if the client has
    /// too many streams.
    pub fn watch(&self, client: Actor, position: i64) -> Result<Watcher, TooManyStreams> {
        let share = self.streams.open(client)?;
        Ok(Watcher::new(self.join(), position, share))
    }

    /// Waits until somebody follows, and then for the next time to read the journal.
    pub async fn due(&self) {
        while self.recent.receiver_count() == 0 {
            self.joined.notified().await;
        }
        time::sleep(READ_INTERVAL).await;
    }

    /// Reads what is new in the journal, or as much of it as leaves followers time to read, and which
    /// keys became invalid. Called each time it is due, outside of requests. After an error, the next
    /// call reads it.
    pub async fn read(&self) -> Result<(), StoreError> {
        let store = self.store.as_ref();
        let clock = self.clock.as_ref();
        let log = store.journal_state().await?;
        self.recent.send_if_modified(|recent| recent.begin(&log));
        let mut read_to = self.recent.borrow().last;
        let mut room = recent::MAX_PART;
        while read_to < log.last && room > 0 {
            let page = store.changes_after(read_to, None, CHANGES_PER_PAGE).await?;
            let mut batches = Batch::from_changes(log.epoch, &page.changes);
            let Some(last_fitting) = batch::retain_fitting(&mut batches, &mut room) else {
                break;
            };
            read_to = last_fitting;
            if let Some(newest) = page.changes.iter().rfind(|change| change.seq == read_to) {
                let delay = clock.now().duration_since(newest.at);
                self.metrics
                    .delay
                    .observe(delay.try_into().unwrap_or_default());
            }
            self.recent
                .send_modify(|recent| recent.push(batches, read_to));
        }
        self.look_for_invalid_keys().await
    }

    async fn look_for_invalid_keys(&self) -> Result<(), StoreError> {
        let store = self.store.as_ref();
        let clock = self.clock.as_ref();
        let instant = clock.instant();
        let is_due = |last: Instant| instant.saturating_duration_since(last) >= KEY_CHECK_INTERVAL;
        let last = *self.keys_read.lock();
        if last.is_none_or(is_due) {
            let keys = store.list_keys().await?;
            let now = clock.now();
            let invalid = keys
                .iter()
                .filter(|key| !key.is_valid_at(now))
                .map(|key| key.id)
                .collect();
            self.recent
                .send_if_modified(|recent| recent.set_invalid_keys(invalid));
            *self.keys_read.lock() = Some(instant);
        }
        Ok(())
    }

    /// Ends all streams and all waiting for changes, because the service shuts down.
    pub fn end(&self) {
        self.recent.send_modify(Recent::end_all);
    }

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
