//! Reads changes from the journal, and queues messages about them at the endpoints.

use std::{
    collections::{HashMap, hash_map::Entry},
    time::Instant,
};

use petstore_domain::store_area::{ChangePage, Epoch};
use petstore_store::StoreError;

use super::{ACTIVE_POLL_INTERVAL, Dispatcher, is_due};
use crate::delivery::{endpoint::Endpoint, message};

/// The maximum number of changes per read of the journal.
const PAGE_LENGTH: u32 = 200;

impl Dispatcher {
    /// Reads the epoch of the journal and the sequence number of its last change.
    pub(super) async fn poll_journal_state(&mut self, now: Instant) -> Result<(), StoreError> {
        let state = self.store.journal_state().await?;
        self.epoch = Some(state.epoch);
        self.last_seq = state.last;
        self.journal_polled_at = Some(now);
        Ok(())
    }

    /// Reads the next page of the journal for each endpoint that has room in its queue, and queues
    /// messages about the changes. Endpoints at the same position share one page, so the store is
    /// usually queried only once.
    pub(super) async fn queue_new_messages(&mut self, now: Instant) -> Result<(), StoreError> {
        if self.leased_endpoints.is_empty() {
            return Ok(());
        }
        if is_due(self.journal_polled_at, now, ACTIVE_POLL_INTERVAL) {
            self.poll_journal_state(now).await?;
        }
        let Some(epoch) = self.epoch else {
            // Does not occur: the first poll is always due, and reads the epoch.
            return Ok(());
        };

        let mut pages: HashMap<i64, ChangePage> = HashMap::new();
        for leased_endpoint in self.leased_endpoints.values_mut() {
            let endpoint = &mut leased_endpoint.endpoint;
            let has_read_all = endpoint.read_to >= self.last_seq;
            if has_read_all || !endpoint.has_room() {
                continue;
            }
            let start = endpoint.read_to;
            let page = match pages.entry(start) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    let page = self.store.changes_after(start, None, PAGE_LENGTH).await?;
                    entry.insert(page)
                }
            };
            queue_messages(endpoint, page, epoch);
        }
        Ok(())
    }
}

/// Queues a message about each change of the page that the webhook wants, until the endpoint has no
/// more room.
fn queue_messages(endpoint: &mut Endpoint, page: &ChangePage, epoch: Epoch) {
    // The journal numbers its changes without gaps, so changes that are missing were deleted.
    if let Some(oldest) = page.changes.first()
        && oldest.seq > endpoint.read_to + 1
    {
        endpoint.record_gap(oldest.seq - 1);
    }
    let webhook = endpoint.webhook.id;
    for change in &page.changes {
        if !endpoint.has_room() {
            return;
        }
        if endpoint.webhook.wants(&change.kind) {
            let previous_id = endpoint
                .last_seq()
                .map(|seq| message::compute_id(epoch, webhook, seq));
            let content = message::render_change(change, previous_id.as_deref());
            endpoint.queue(change.seq, message::find_lane(change), content);
        }
        endpoint.advance_read_to(change.seq);
    }
    endpoint.advance_read_to(page.read_to);
}
