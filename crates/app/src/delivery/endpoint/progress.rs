//! Reports the state of an endpoint, and the progress that must be saved to the store.

use petstore_domain::store_area::{
    DeliveryProgress, DeliveryUpdate, DisabledReason, Lease, WaitingMessage,
};

use super::{Endpoint, UnsavedProgress};

/// The maximum number of messages that are only in memory, without a row in the store.
const MAX_ROWLESS_MESSAGES: usize = 256;

/// The number of bytes of cached bodies at which the endpoint takes no more messages.
const MAX_CONTENT_BYTES: usize = 1 << 20;

/// The maximum number of undelivered messages. At this limit, reading the journal pauses until some
/// messages are delivered.
const MAX_WAITING_MESSAGES: usize = 10_000;

impl Endpoint {
    /// Whether the endpoint can take more messages from the journal.
    pub(in crate::delivery) fn has_room(&self) -> bool {
        self.rowless_count < MAX_ROWLESS_MESSAGES
            && self.content_bytes < MAX_CONTENT_BYTES
            && self.messages.len() < MAX_WAITING_MESSAGES
    }

    /// Whether a message can be sent now, or as soon as an attempt in flight completes.
    pub(in crate::delivery) fn is_ready(&self) -> bool {
        !self.ready.is_empty() && self.unsaved.disable.is_none()
    }

    /// Returns the number of messages that failed, or that wait behind a failed one.
    pub(in crate::delivery) fn waiting_count(&self) -> usize {
        self.messages.len() - self.rowless_count
    }

    /// Whether there is progress that is not yet saved.
    pub(in crate::delivery) fn is_dirty(&self) -> bool {
        self.unsaved.is_dirty
    }

    /// Returns the reason for which the next save disables the webhook. Returns `None` if the
    /// webhook stays enabled.
    pub(in crate::delivery) fn disabled_reason(&self) -> Option<DisabledReason> {
        let (reason, _) = self.unsaved.disable?;
        Some(reason)
    }

    /// Returns the progress to store.
    ///
    /// The cursor stops before the first message without a row. Such a message is only in memory,
    /// so after a crash, the next holder of the lease must read its change again.
    fn to_progress(&self) -> DeliveryProgress {
        let mut progress = DeliveryProgress {
            cursor: self.read_to,
            last: self.last_seq,
            failing_since: self.failing_since,
        };
        let first_rowless = self.messages.iter().find(|(_, message)| !message.has_row);
        if let Some((seq, message)) = first_rowless {
            progress.cursor = seq - 1;
            progress.last = message.previous_seq;
        }
        progress
    }

    /// Returns all unsaved progress as an update for the store. The update also replaces the lease
    /// with `next_lease`.
    pub(in crate::delivery) fn delivery_update(&self, next_lease: Lease) -> DeliveryUpdate {
        let mut waiting = Vec::with_capacity(self.unsaved.waiting.len());
        for &seq in &self.unsaved.waiting {
            let Some(message) = self.messages.get(&seq) else {
                // Does not occur: a message that is removed also leaves `unsaved.waiting`.
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
            progress: Some(self.to_progress()),
            waiting,
            done: self.unsaved.done.clone(),
            attempts: self.unsaved.attempts.clone(),
            forget_before: None,
            disable: self.unsaved.disable,
        }
    }

    /// Marks the progress as saved, and adopts the lease that the save stored.
    pub(in crate::delivery) fn mark_saved(&mut self, lease: Lease) {
        self.lease = lease;
        self.unsaved = UnsavedProgress::default();
    }
}
