//! Delivers the changes of the journal to one client, as a stream or as one page after a wait.
//!
//! The service renders new changes once for all streams and caches them for a moment ([`RecentEvents`]). A
//! stream that falls behind this cache reads from the store until it has caught up.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use petstore_app::journal::{
    EndReason, JournalMetrics, NextEvents, RecentEvents, RenderedEvents, StreamEnd, StreamGuard,
    Ticket, write_event,
};
use petstore_domain::{
    Clock, KeyId,
    store_area::{ChangePage, ChangeType, Epoch, JournalEntry, JournalState},
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

/// A client that follows the changes of the journal.
pub(super) struct Follower {
    recent: watch::Receiver<RecentEvents>,
    ticket: Ticket,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    memory: ResponseMemory,
    metrics: Arc<JournalMetrics>,
    epoch: Epoch,
    /// The type of the changes that the client asks for. It is `None` for changes of all types.
    kind: Option<ChangeType>,
    /// The sequence number up to which the client has all changes.
    pub(super) position: i64,
    /// The maximum number of changes in the next read of the store, adapted to their size.
    max_changes: u32,
}

/// The next changes for a follower.
enum NextChanges {
    /// They are cached, rendered as events.
    Cached(RenderedEvents),
    /// They are no longer cached, so the follower must read them from the store.
    NotCached,
}

/// A piece of a stream, rendered from changes that were read from the store.
struct RenderedPiece {
    events: Vec<u8>,
    /// The number of changes in the piece.
    count: usize,
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
    /// Creates a follower of the changes after `position`. With a `kind`, it gets only the changes
    /// of this type.
    pub(super) fn new(
        area: &StoreArea,
        key: KeyId,
        state: &JournalState,
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
            epoch: state.epoch,
            kind,
            position,
            max_changes: MAX_CHANGES_PER_READ,
        }
    }

    /// Waits for the next changes of the requested type. Skips changes of other types.
    async fn wait_for_changes(&mut self) -> Result<NextChanges, EndReason> {
        loop {
            let ticket = self.ticket;
            let position = self.position;
            let has_news = |recent: &RecentEvents| {
                recent.last > position || recent.end_reason(ticket).is_some()
            };
            // The sender is dropped only at shutdown.
            let recent = self
                .recent
                .wait_for(has_news)
                .await
                .map_err(|_| EndReason::ShuttingDown)?;
            if let Some(reason) = recent.end_reason(ticket) {
                return Err(reason);
            }
            match recent.events_after(position, self.kind) {
                NextEvents::Events(events) => return Ok(NextChanges::Cached(events)),
                NextEvents::NotCached => return Ok(NextChanges::NotCached),
                NextEvents::Nothing { read_to } => self.position = read_to,
            }
        }
    }

    /// Waits for a change of the requested type, and returns a page of changes from the store. The page is
    /// empty only if the store has nothing after `position`.
    ///
    /// During the wait, `position` advances past changes of other types. It keeps this progress if the caller
    /// drops the future at a timeout.
    pub(super) async fn wait_for_page(&mut self, limit: u32) -> Result<ChangePage, PageError> {
        loop {
            // The cached events are rendered for streams. Here they only signal that there is something to
            // read.
            self.wait_for_changes().await?;
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

    /// Returns the changes as an endless response body. The body starts with `preamble`, if there is one.
    pub(super) fn into_body(self, guard: StreamGuard, preamble: Option<Bytes>) -> Body {
        let first_piece = stream::iter(preamble);
        let later_pieces = stream::unfold((self, guard), async |(mut follower, guard)| {
            let piece = follower.next_piece(&guard).await?;
            Some((piece, (follower, guard)))
        });
        Body::Stream(Box::pin(first_piece.chain(later_pieces)))
    }

    /// Waits for the next piece of a stream. Returns `None` at its end, and records the reason.
    async fn next_piece(&mut self, guard: &StreamGuard) -> Option<Bytes> {
        match self.try_next_piece(guard).await {
            Ok(piece) => Some(piece),
            Err(end) => {
                guard.record_end(&end, self.clock.instant());
                None
            }
        }
    }

    /// Waits for the next piece of a stream. An error ends the stream; its client can reconnect and resume.
    async fn try_next_piece(&mut self, guard: &StreamGuard) -> Result<Bytes, StreamEnd> {
        loop {
            let waiting = time::timeout(COMMENT_INTERVAL, self.wait_for_changes());
            let Ok(result) = waiting.await else {
                return Ok(COMMENT);
            };
            match result? {
                NextChanges::Cached(events) => {
                    self.position = events.read_to;
                    self.metrics.sent.add(events.count);
                    return Ok(events.text);
                }
                NextChanges::NotCached => {
                    let piece = self.read_piece(guard).await?;
                    if !piece.is_empty() {
                        return Ok(piece);
                    }
                }
            }
        }
    }

    /// Reads the next changes from the store, renders as many as fit into one piece, and advances the
    /// position. Fails if the changes after the position were deleted.
    ///
    /// The piece is empty if the store has only changes of other types.
    async fn read_piece(&mut self, guard: &StreamGuard) -> Result<Bytes, StreamEnd> {
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

        let RenderedPiece { events, count } = self.render_piece(&page.changes);
        // The next read starts with the first change that did not fit. It asks for twice as many
        // changes as fit this time, so that it reads few changes that it cannot send. After a read
        // without changes of the requested type, it asks for 2.
        let first_unsent = page.changes.get(count);
        self.position = first_unsent.map_or(page.read_to, |change| change.seq - 1);
        self.max_changes = u32::try_from(2 * count)
            .unwrap_or(MAX_CHANGES_PER_READ)
            .clamp(2, MAX_CHANGES_PER_READ);
        self.metrics.sent.add(count);
        self.memory.hold(events).map_err(|_| StreamEnd::NoMemory)
    }

    /// Renders as many changes as fit into one piece, and at least one, if there is one.
    fn render_piece(&self, changes: &[JournalEntry]) -> RenderedPiece {
        let mut events = Vec::new();
        let mut count = 0;
        for change in changes {
            let length_before = events.len();
            write_event(&mut events, self.epoch, change);
            if events.len() > MAX_PIECE_BYTES && count > 0 {
                events.truncate(length_before);
                break;
            }
            count += 1;
        }
        events.shrink_to_fit();
        RenderedPiece { events, count }
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
