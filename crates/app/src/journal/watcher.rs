//! Reports which animals have changed, without how they have changed.

use tokio::sync::watch;

use super::{recent::RecentEvents, streams::StreamGuard};

/// A follower of the journal that learns which animals have changed, but not how. Counts as a
/// stream of its client.
pub struct Watcher {
    recent: watch::Receiver<RecentEvents>,
    /// The sequence number of the last change that was reported.
    position: i64,
    _guard: StreamGuard,
}

/// A report of new changes in the journal.
pub struct ChangeReport {
    /// The animals that the changes concern, each once. It is `None` if any animal may have
    /// changed.
    pub pets: Option<Vec<i64>>,
}

impl Watcher {
    pub(super) fn new(
        recent: watch::Receiver<RecentEvents>,
        position: i64,
        guard: StreamGuard,
    ) -> Self {
        Self {
            recent,
            position,
            _guard: guard,
        }
    }

    /// Waits for new changes, and reports them. Returns `None` when the service shuts down.
    pub async fn next_report(&mut self) -> Option<ChangeReport> {
        let reported_to = self.position;
        let has_news =
            |events: &RecentEvents| events.last != reported_to || events.is_shutting_down();
        // An error means that the journal was dropped, which only the shutdown does.
        let events = self.recent.wait_for(has_news).await.ok()?;
        if events.is_shutting_down() {
            return None;
        }
        self.position = events.last;
        let pets = if events.last < reported_to {
            // The database was replaced by one with fewer changes, so all animals may differ.
            None
        } else {
            events.pets_after(reported_to)
        };
        Some(ChangeReport { pets })
    }
}
