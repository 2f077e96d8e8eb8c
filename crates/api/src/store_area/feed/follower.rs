//! Delivers the changes of the log to one client, as a stream or as one page after a wait.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use petstore_app::journal::{
    EndReason, JournalMetrics, NextEvents, RecentEvents, RenderedEvents, StreamEnd, StreamGuard,
    Ticket, write_event,
};
use petstore_domain::{
    Clock, KeyId,
    store_area::{ChangePage, ChangeType, Epoch, JournalState},
};
use petstore_store::{Store, StoreError};
use petstore_web::edge::{Body, ResponseMemory};
use tokio::{sync::watch, time};

use crate::store_area::shared::StoreArea;

/// How often a stream without events sends a comment, which keeps the connection open.
const COMMENT_INTERVAL: Duration = Duration::from_secs(15);
const COMMENT: Bytes = Bytes::from_static(b": no change\n\n");

/// The maximum number of changes that a stream reads from the store at once.
const MAX_CHANGES_PER_READ: u32 = 100;

/// The maximum size of one piece of a stream, in bytes. A single change that is larger is a piece of its own.
const MAX_PIECE_BYTES: usize = 64 << 10;

/// Delivers the changes of the log to one client, as a stream or as one page after a wait.
pub(super) struct Follower {
    recent: watch::Receiver<RecentEvents>,
    ticket: Ticket,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    memory: ResponseMemory,
    metrics: Arc<JournalMetrics>,
    epoch: Epoch,
    /// The type of the changes that the client asks for; `None` for all changes.
    kind: Option<ChangeType>,
    /// The sequence number up to which the client has all changes.
    pub(super) position: i64,
    /// The maximum number of changes in the next read of the store, adapted to their size.
    max_changes: u32,
}

/// Where a follower gets the next changes.
enum Next {
    /// From the cache: these events.
    Cached(RenderedEvents),
    /// From the store, because they are no longer cached.
    NotCached,
}

/// Why there is no page after a wait.
pub(super) enum PageError {
    Ended(EndReason),
    Store(StoreError),
}

impl From<EndReason> for PageError {
    fn from(reason: EndReason) -> Self {
        Self::Ended(reason)
    }
}

impl Follower {
    /// Returns a follower that starts at `position`.
    pub(super) fn new(
        area: &StoreArea,
        key: KeyId,
        log: &JournalState,
        kind: Option<ChangeType>,
        position: i64,
    ) -> Self {
        let app = &area.app;
        let recent = app.journal.join();
        let ticket = recent.borrow().ticket(key);
        Self {
            recent,
            ticket,
            store: Arc::clone(&app.store),
            clock: Arc::clone(&app.clock),
            memory: area.http.memory.clone(),
            metrics: Arc::clone(&app.journal.metrics),
            epoch: log.epoch,
            kind,
            position,
            max_changes: MAX_CHANGES_PER_READ,
        }
    }

    /// Waits for the next change of the requested type. Skips changes of other types.
    async fn next(&mut self) -> Result<Next, EndReason> {
        loop {
            let ticket = self.ticket;
            let position = self.position;
            let has_news = |recent: &RecentEvents| {
                recent.last > position || recent.end_reason(ticket).is_some()
            };
            let recent = self
                .recent
                .wait_for(has_news)
                .await
                .map_err(|_| EndReason::ShuttingDown)?;
            if let Some(reason) = recent.end_reason(ticket) {
                return Err(reason);
            }
            match recent.events_after(position, self.kind) {
                NextEvents::Events(events) => return Ok(Next::Cached(events)),
                NextEvents::NotCached => return Ok(Next::NotCached),
                NextEvents::Nothing { read_to } => self.position = read_to,
            }
        }
    }

    /// Waits for a change of the requested type, then reads a page from the store. The page is empty only if
    /// the store has nothing after `position`.
    ///
    /// The position advances past changes of other types during the wait. A caller that drops the future at
    /// a timeout can read the progress there.
    pub(super) async fn page(&mut self, limit: u32) -> Result<ChangePage, PageError> {
        loop {
            // Ignore the cached events, which are rendered for streams. They only signal that there is
            // something to read.
            self.next().await?;
            let page = self
                .store
                .changes_after(self.position, self.kind, limit)
                .await
                .map_err(PageError::Store)?;
            if !page.changes.is_empty() || page.read_to <= self.position {
                return Ok(page);
            }
            self.position = page.read_to;
        }
    }

    /// Returns the changes as an endless response body that starts with `preamble`.
    pub(super) fn into_body(self, guard: StreamGuard, preamble: Bytes) -> Body {
        let first_piece = stream::iter((!preamble.is_empty()).then_some(preamble));
        let pieces = stream::unfold((self, guard), async |(mut follower, guard)| match follower
            .piece(&guard)
            .await
        {
            Ok(piece) => Some((piece, (follower, guard))),
            Err(end) => {
                guard.record_end(&end, follower.clock.instant());
                None
            }
        });
        Body::Stream(Box::pin(first_piece.chain(pieces)))
    }

    /// Waits for the next piece of a stream. An error ends the stream; its client can reconnect and resume.
    async fn piece(&mut self, guard: &StreamGuard) -> Result<Bytes, StreamEnd> {
        loop {
            match time::timeout(COMMENT_INTERVAL, self.next()).await {
                Err(_) => return Ok(COMMENT),
                Ok(Ok(Next::Cached(events))) => {
                    self.position = events.read_to;
                    self.metrics.sent.add(events.count);
                    return Ok(events.text);
                }
                Ok(Ok(Next::NotCached)) => {
                    let events = self.catch_up(guard).await?;
                    if !events.is_empty() {
                        return Ok(events);
                    }
                }
                Ok(Err(reason)) => return Err(reason.into()),
            }
        }
    }

    /// Reads the next changes, which are no longer cached, from the store, and renders as many as fit into
    /// one piece. Returns an empty piece if the store has only changes of other types.
    async fn catch_up(&mut self, guard: &StreamGuard) -> Result<Bytes, StreamEnd> {
        let read = self
            .store
            .changes_after(self.position, self.kind, self.max_changes);
        let page = guard
            .limit_read(read)
            .await
            .map_err(StreamEnd::StoreFailed)?;
        if page.read_to <= self.position || !self.follows_directly(&page) {
            return Err(StreamEnd::ChangesDeleted);
        }

        let mut events = Vec::new();
        let mut count = 0;
        for change in &page.changes {
            let length_before = events.len();
            write_event(&mut events, self.epoch, change);
            if events.len() > MAX_PIECE_BYTES && count > 0 {
                events.truncate(length_before);
                break;
            }
            count += 1;
        }
        events.shrink_to_fit();

        // The next read starts with the first change that did not fit. It asks for twice as many changes as
        // fit this time, so that it reads few changes that it cannot send.
        let first_unsent = page.changes.get(count);
        self.position = first_unsent.map_or(page.read_to, |change| change.seq - 1);
        self.max_changes = u32::try_from(2 * count)
            .unwrap_or(MAX_CHANGES_PER_READ)
            .clamp(2, MAX_CHANGES_PER_READ);
        self.metrics.sent.add(count);
        self.memory.hold(events).map_err(|_| StreamEnd::NoMemory)
    }

    /// Whether the page continues directly at the position, without a missing change.
    fn follows_directly(&self, page: &ChangePage) -> bool {
        if self.kind.is_some() {
            return true;
        }
        // Without a filter, the sequence numbers have no gaps. A gap means that the next changes were
        // deleted before the stream could read them.
        let first_change = page.changes.first();
        first_change.is_some_and(|change| change.seq == self.position + 1)
    }
}
