//! One that follows the log: a stream, or a request that waits.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::stream;
use petstore_app::journal::{
    After, End, Ended, JournalMetrics, Recent, RenderedEvents, Share, Ticket, write_event,
};
use petstore_domain::{
    Clock,
    store_area::{ChangePage, ChangeType, Epoch},
};
use petstore_store::{Store, StoreError};
use petstore_web::edge::{Body, ResponseMemory};
use tokio::{sync::watch, time};

/// How often a stream without events gets a comment, which keeps its connection open.
const COMMENT_EVERY: Duration = Duration::from_secs(15);
const COMMENT: Bytes = Bytes::from_static(b": no change\n\n");

/// How many changes a stream reads at once at most, until it has caught up.
pub(super) const STEP: u32 = 100;

/// How many bytes of them it sends at once, unless the first change is larger.
const PIECE: usize = 64 << 10;

/// One that follows the log.
pub(super) struct Follower {
    pub(super) recent: watch::Receiver<Recent>,
    pub(super) ticket: Ticket,
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) memory: ResponseMemory,
    pub(super) metrics: Arc<JournalMetrics>,
    pub(super) epoch: Epoch,
    pub(super) kind: Option<ChangeType>,
    /// The number up to which it has everything.
    pub(super) position: i64,
    /// How many changes it reads from the store at once.
    pub(super) step: u32,
}

/// The next events for a follower.
enum Next {
    Events(RenderedEvents),
    /// Changes that only the store has.
    Older,
}

impl Follower {
    /// Waits for the next change.
    async fn next(&mut self) -> Result<Next, End> {
        loop {
            let ticket = self.ticket;
            let position = self.position;
            let has_news = |recent: &Recent| recent.last > position || recent.end(ticket).is_some();
            let recent = self
                .recent
                .wait_for(has_news)
                .await
                .map_err(|_| End::Over)?;
            if let Some(end) = recent.end(ticket) {
                return Err(end);
            }
            match recent.after(position, self.kind) {
                After::Events(events) => return Ok(Next::Events(events)),
                After::Older => return Ok(Next::Older),
                After::Nothing { read_to } => self.position = read_to,
            }
        }
    }

    /// Waits for a page with at least one change. The position advances during the wait, even if the
    /// future is dropped.
    pub(super) async fn page(&mut self, limit: u32) -> Result<Result<ChangePage, StoreError>, End> {
        loop {
            self.next().await?;
            let page = self
                .store
                .changes_after(self.position, self.kind, limit)
                .await;
            match page {
                Ok(page) if page.changes.is_empty() && page.read_to > self.position => {
                    self.position = page.read_to;
                }
                page => return Ok(page),
            }
        }
    }

    /// Returns its events as the body of a response, after `beginning`.
    pub(super) fn into_body(self, share: Share, beginning: Bytes) -> Body {
        let state = (self, share, beginning);
        let pieces = stream::unfold(state, async |(mut follower, share, beginning)| {
            if !beginning.is_empty() {
                return Some((beginning, (follower, share, Bytes::new())));
            }
            match follower.piece(&share).await {
                Ok(piece) => Some((piece, (follower, share, Bytes::new()))),
                Err(ended) => {
                    share.end(&ended, follower.clock.instant());
                    None
                }
            }
        });
        Body::Stream(Box::pin(pieces))
    }

    /// Returns the next part of a stream. A client whose stream ends can continue later.
    async fn piece(&mut self, share: &Share) -> Result<Bytes, Ended> {
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
                Ok(Err(end)) => return Err(end.into()),
            }
        }
    }

    /// Reads changes that are not in what all followers share, or not any more.
    async fn catch_up(&mut self, share: &Share) -> Result<Bytes, Ended> {
        let turn = share.turn().await;
        let page = self
            .store
            .changes_after(self.position, self.kind, self.step)
            .await;
        let page = page.map_err(Ended::Unreadable)?;
        drop(turn);
        // Otherwise the oldest changes were deleted while the stream came to them.
        let continues = page.read_to > self.position
            && (self.kind.is_some()
                || page
                    .changes
                    .first()
                    .is_some_and(|first| first.seq == self.position + 1));
        if !continues {
            return Err(Ended::Deleted);
        }
        let mut events = Vec::new();
        let mut count = 0;
        for change in &page.changes {
            let end = events.len();
            write_event(&mut events, self.epoch, change);
            if events.len() > PIECE && count > 0 {
                events.truncate(end);
                break;
            }
            count += 1;
        }
        events.shrink_to_fit();
        // What does not fit is read again, and then less at once.
        let first_unsent = page.changes.get(count);
        self.position = first_unsent.map_or(page.read_to, |change| change.seq - 1);
        self.step = u32::try_from(2 * count).unwrap_or(STEP).clamp(2, STEP);
        self.metrics.sent.add(count);
        self.memory.hold(events).map_err(|_| Ended::NoMemory)
    }
}
