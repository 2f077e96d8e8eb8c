//! One that only wants to know that something changed.

use tokio::sync::watch;

use super::{recent::Recent, streams::Share};

/// Learns which animals changed.
pub(crate) struct Watcher {
    recent: watch::Receiver<Recent>,
    /// The number up to which it knows everything.
    position: i64,
    _share: Share,
}

impl Watcher {
    pub(super) fn new(recent: watch::Receiver<Recent>, position: i64, share: Share) -> Self {
        Self { recent, position, _share: share }
    }

    /// Waits until something changes, and returns the animals that it concerned: `Some(None)` if
    /// that is not known. `None` when the service shuts down.
    pub(crate) async fn changed(&mut self) -> Option<Option<Vec<i64>>> {
        let position = self.position;
        let has_news = |recent: &Recent| recent.last != position || recent.is_over();
        let recent = self.recent.wait_for(has_news).await.ok()?;
        if recent.is_over() {
            return None;
        }
        self.position = recent.last;
        Some(if recent.last > position { recent.pets_after(position) } else { None })
    }
}
