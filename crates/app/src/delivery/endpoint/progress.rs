//! The state of an endpoint, and its progress as the store gets it.

use petstore_domain::store_area::{
    DeliveryProgress, DeliveryUpdate, DisabledReason, Lease, WaitingMessage,
};

use super::{Endpoint, UnsavedProgress};

impl Endpoint {
    /// Whether a message may be sent, at the latest when one in flight has ended.
    pub(in crate::delivery) fn is_ready(&self) -> bool {
        !self.ready.is_empty() && self.unsaved.disable.is_none()
    }

    /// Returns the number of messages that failed, or that wait for a failed one.
    pub(in crate::delivery) fn waiting_count(&self) -> usize {
        self.messages.len() - self.unsaved_count
    }

    /// Whether the store lacks some progress.
    pub(in crate::delivery) fn is_dirty(&self) -> bool {
        self.unsaved.is_dirty
    }

    /// Returns the reason for which the next save disables the webhook.
    pub(in crate::delivery) fn disabled_reason(&self) -> Option<DisabledReason> {
        let (reason, _) = self.unsaved.disable?;
        Some(reason)
    }

    /// Returns the progress, once the messages that wait have their rows: up to the first message without a row.
    fn progress(&self) -> DeliveryProgress {
        let first_unsaved = self.messages.iter().find(|(_, message)| !message.has_row);
        let (cursor, last) = match first_unsaved {
            Some((seq, message)) => (seq - 1, message.previous_seq),
            None => (self.read_to, self.last_seq),
        };
        DeliveryProgress {
            cursor,
            last,
            failing_since: self.failing_since,
        }
    }

    /// Returns what the store must save. `next_lease` is the lease from then on.
    pub(in crate::delivery) fn delivery_update(&self, next_lease: Lease) -> DeliveryUpdate {
        let mut waiting = Vec::with_capacity(self.unsaved.waiting.len());
        for &seq in &self.unsaved.waiting {
            let Some(message) = self.messages.get(&seq) else {
                continue;
            };
            waiting.push(WaitingMessage {
                seq,
                previous: message.previous_seq,
                lane: message.lane.clone(),
                failures: message.failures,
                due_at: message.due_at,
            });
        }
        DeliveryUpdate {
            webhook: self.webhook.id,
            seen_lease: self.lease,
            lease: next_lease,
            progress: Some(self.progress()),
            waiting,
            done: self.unsaved.done.clone(),
            attempts: self.unsaved.attempts.clone(),
            forget_before: None,
            disable: self.unsaved.disable,
        }
    }

    /// Notes that the store has saved the last update, with this lease.
    pub(in crate::delivery) fn note_saved(&mut self, lease: Lease) {
        self.lease = lease;
        self.unsaved = UnsavedProgress::default();
    }
}
