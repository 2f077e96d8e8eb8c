//! One that follows the log: a stream, or a request that waits.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::stream;
use tokio::{sync::watch, time};
use tracing::warn;

use super::{
    FeedMetrics,
    recent::{After, End, Recent, Ticket, write_event},
};
use crate::{
    domain::store_area::{ChangePage, ChangeType, Epoch},
    http::{Body, ResponseMemory},
    observe::log::chain,
    store::{Store, StoreError},
};

/// How often a stream without events gets a comment, which keeps its connection open.
const COMMENT_EVERY: Duration = Duration::from_secs(15);
const COMMENT: Bytes = Bytes::from_static(b": no change\n\n");

/// How many changes a stream reads at once, until it has caught up.
const STEP: u32 = 100;

/// One that follows the log.
pub(super) struct Follower {
    pub(super) recent: watch::Receiver<Recent>,
    pub(super) ticket: Ticket,
    pub(super) store: Arc<dyn Store>,
    pub(super) memory: ResponseMemory,
    pub(super) metrics: Arc<FeedMetrics>,
    pub(super) epoch: Epoch,
    pub(super) kind: Option<ChangeType>,
    /// The number up to which it has everything.
    pub(super) position: i64,
    /// Whether it has caught up with what all followers share.
    pub(super) is_live: bool,
}

/// What a follower finds next.
enum Next {
    Events(Bytes, usize, i64),
    /// Changes that only the store has.
    Older,
}

impl Follower {
    /// Waits for the next change.
    async fn next(&mut self) -> Result<Next, End> {
        loop {
            let (ticket, position) = (self.ticket, self.position);
            let has_news = |recent: &Recent| recent.last > position || recent.end(ticket).is_some();
            let recent = self.recent.wait_for(has_news).await.map_err(|_| End::Over)?;
            if let Some(end) = recent.end(ticket) {
                return Err(end);
            }
            match recent.after(position, self.kind) {
                After::Events(events, count, to) => return Ok(Next::Events(events, count, to)),
                After::Older => return Ok(Next::Older),
                After::Nothing(to) => self.position = to,
            }
        }
    }

    /// Waits for a page with at least one change. Its position advances meanwhile, also if the
    /// future is dropped.
    pub(super) async fn page(&mut self, limit: u32) -> Result<Result<ChangePage, StoreError>, End> {
        loop {
            self.next().await?;
            let page = self.store.changes_after(self.position, self.kind, limit).await;
            match page {
                Ok(page) if page.changes.is_empty() && page.read_to > self.position => {
                    self.position = page.read_to;
                }
                page => return Ok(page),
            }
        }
    }

    /// Its events as the body of a response, after `beginning`.
    pub(super) fn into_body(self, beginning: Bytes) -> Body {
        let pieces = stream::unfold((self, beginning), async |(mut follower, beginning)| {
            let piece = if beginning.is_empty() { follower.piece().await? } else { beginning };
            Some((piece, (follower, Bytes::new())))
        });
        Body::Stream(Box::pin(pieces))
    }

    /// The next part of a stream; `None` at its end.
    async fn piece(&mut self) -> Option<Bytes> {
        loop {
            match time::timeout(COMMENT_EVERY, self.next()).await {
                Err(_) => return Some(COMMENT),
                Ok(Err(_)) => return None,
                Ok(Ok(Next::Events(events, count, to))) => {
                    (self.position, self.is_live) = (to, true);
                    self.metrics.sent.add(count);
                    return Some(events);
                }
                Ok(Ok(Next::Older)) if self.is_live => {
                    self.metrics.cut.count();
                    return None;
                }
                Ok(Ok(Next::Older)) => {
                    let events = self.catch_up().await?;
                    if !events.is_empty() {
                        return Some(events);
                    }
                }
            }
        }
    }

    /// Reads older changes. The stream ends if that fails, and its client can continue later.
    async fn catch_up(&mut self) -> Option<Bytes> {
        let page = match self.store.changes_after(self.position, self.kind, STEP).await {
            Ok(page) => page,
            Err(error) => {
                warn!(
                    error = chain(&error),
                    "a stream of changes ended, because the log cannot be read"
                );
                return None;
            }
        };
        // Otherwise the oldest changes were deleted while the stream came to them.
        let continues = page.read_to > self.position
            && (self.kind.is_some()
                || page.changes.first().is_some_and(|first| first.seq == self.position + 1));
        if !continues {
            return None;
        }
        self.position = page.read_to;
        self.metrics.sent.add(page.changes.len());
        let mut events = Vec::new();
        for change in &page.changes {
            write_event(&mut events, self.epoch, change);
        }
        self.memory.hold(events).ok()
    }
}
