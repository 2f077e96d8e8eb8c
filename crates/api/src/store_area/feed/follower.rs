//! Sends the changes of the log to one client: as a stream, or as one page after a wait.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use petstore_app::journal::{
    After, EndReason, JournalMetrics, Recent, RenderedEvents, Share, StreamEnd, Ticket, write_event,
};
use petstore_domain::{
    Clock, KeyId,
    store_area::{ChangePage, ChangeType, Epoch, JournalState},
};
use petstore_store::{Store, StoreError};
use petstore_web::edge::{Body, ResponseMemory};
use tokio::{sync::watch, time};

use crate::store_area::shared::StoreArea;

/// The time after which a stream without events gets a comment, which keeps its connection open.
const COMMENT_EVERY: Duration = Duration::from_secs(15);
const COMMENT: Bytes = Bytes::from_static(b": no change\n\n");

/// The most changes that a stream reads from the store at once.
const MAX_CHANGES_PER_READ: u32 = 100;

/// The most bytes of changes in one piece of a stream; one larger change is a piece of its own.
const MAX_PIECE_BYTES: usize = 64 << 10;

/// Sends the changes of the log to one client: as a stream, or as one page after a wait.
pub(super) struct Follower {
    recent: watch::Receiver<Recent>,
    ticket: Ticket,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    memory: ResponseMemory,
    metrics: Arc<JournalMetrics>,
    epoch: Epoch,
    /// The type of the changes that the client asks for; `None` for all changes.
    kind: Option<ChangeType>,
    /// The number up to which the client has all changes.
    pub(super) position: i64,
    /// The most changes of the next read of the store.
    max_changes: u32,
}

/// The next events for a follower.
enum Next {
    Events(RenderedEvents),
    /// Changes that only the store has.
    Older,
}

/// The reason why there is no page after a wait.
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
    /// Joins the log at `position`.
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

    /// Waits for the next change.
    async fn next(&mut self) -> Result<Next, EndReason> {
        loop {
            let ticket = self.ticket;
            let position = self.position;
            let has_news = |recent: &Recent| recent.last > position || recent.end(ticket).is_some();
            let recent = self
                .recent
                .wait_for(has_news)
                .await
                .map_err(|_| EndReason::Over)?;
            if let Some(reason) = recent.end(ticket) {
                return Err(reason);
            }
            match recent.after(position, self.kind) {
                After::Events(events) => return Ok(Next::Events(events)),
                After::Older => return Ok(Next::Older),
                After::Nothing { read_to } => self.position = read_to,
            }
        }
    }

    /// Waits for a change, then reads a page. Skips pages without a change of `kind`. The page is empty only if the store
    /// has read no further than `position`.
    ///
    /// The position advances during the wait, even if the future is dropped.
    pub(super) async fn page(&mut self, limit: u32) -> Result<ChangePage, PageError> {
        loop {
            // The events are for streams; a page is read from the store.
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

    /// Returns the changes as the body of a response, after `beginning`.
    pub(super) fn into_body(self, share: Share, beginning: Bytes) -> Body {
        let first_piece = stream::iter((!beginning.is_empty()).then_some(beginning));
        let pieces = stream::unfold((self, share), async |(mut follower, share)| match follower
            .piece(&share)
            .await
        {
            Ok(piece) => Some((piece, (follower, share))),
            Err(end) => {
                share.end(&end, follower.clock.instant());
                None
            }
        });
        Body::Stream(Box::pin(first_piece.chain(pieces)))
    }

    /// Returns the next part of a stream. A client whose stream ends can continue later.
    async fn piece(&mut self, share: &Share) -> Result<Bytes, StreamEnd> {
        loop {
            match time::timeout(COMMENT_EVERY, self.next()).await {
                Err(_) => return Ok(COMMENT),
                Ok(Ok(Next::Events(events))) => {
                    self.position = events.read_to;
                    self.metrics.sent.add(events.count);
                    return Ok(events.text);
                }
                Ok(Ok(Next::Older)) => {
                    let events = self.catch_up(share).await?;
                    if !events.is_empty() {
                        return Ok(events);
                    }
                }
                Ok(Err(reason)) => return Err(reason.into()),
            }
        }
    }

    /// Reads changes from the store that are no longer in the shared recent changes.
    async fn catch_up(&mut self, share: &Share) -> Result<Bytes, StreamEnd> {
        let turn = share.turn().await;
        let page = self
            .store
            .changes_after(self.position, self.kind, self.max_changes)
            .await
            .map_err(StreamEnd::Unreadable)?;
        drop(turn);
        if page.read_to <= self.position || !self.follows_directly(&page) {
            return Err(StreamEnd::Deleted);
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

        // The next read begins with the first change that did not fit, and is smaller.
        let first_unsent = page.changes.get(count);
        self.position = first_unsent.map_or(page.read_to, |change| change.seq - 1);
        self.max_changes = u32::try_from(2 * count)
            .unwrap_or(MAX_CHANGES_PER_READ)
            .clamp(2, MAX_CHANGES_PER_READ);
        self.metrics.sent.add(count);
        self.memory.hold(events).map_err(|_| StreamEnd::NoMemory)
    }

    /// Whether no change is missing between the position and the page.
    fn follows_directly(&self, page: &ChangePage) -> bool {
        if self.kind.is_some() {
            return true;
        }
        // Without a filter, changes are numbered without gaps. A gap means that the next changes were deleted before the
        // stream read them.
        let first_change = page.changes.first();
        first_change.is_some_and(|change| change.seq == self.position + 1)
    }
}
