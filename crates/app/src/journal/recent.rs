//! An in-memory cache of the newest part of the journal, shared by all clients that follow it.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use std::collections::{HashSet, VecDeque};

use bytes::Bytes;
use petstore_domain::{
    KeyId,
    store_area::{ChangeType, Epoch, JournalState},
};

use super::batch::Batch;

/// The maximum number of bytes of cached events. A follower that is further behind reads from the store.
const MAX_SIZE: usize = 4 << 20;

/// The number of bytes of events that one poll of the log adds, rounded up to a whole batch. At half of the
/// cache, a follower has the time until the next poll to read the events that the next poll evicts.
pub(super) const MAX_BYTES_PER_READ: usize = MAX_SIZE / 2;

/// The maximum number of unread changes. If there are more, the cache skips them all, because they would
/// not fit.
const MAX_UNREAD_CHANGES: i64 = 10_000;

/// The cached events, and the conditions that end the streams of followers.
#[derive(Default)]
pub struct RecentEvents {
    /// The cached batches, in order and without gaps.
    batches: VecDeque<Batch>,
    /// The total length of the batches, in bytes.
    size: usize,
    /// The epoch of the log; `None` until the log is read for the first time.
    epoch: Option<Epoch>,
    /// The sequence number up to which the log was read.
    pub last: i64,
    /// How often the log was found to be a different one, for example after a restore.
    replacement_count: u64,
    is_shutting_down: bool,
    invalid_keys: HashSet<KeyId>,
}

/// Identifies a follower: its key, and the log that it started to read.
#[derive(Clone, Copy)]
pub struct Ticket {
    key: KeyId,
    replacement_count: u64,
}

/// A reason to end the stream of a follower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// The service is shutting down.
    ShuttingDown,
    /// The key is no longer valid.
    InvalidKey,
    /// The log is no longer the one that the follower reads, for example because a backup was restored.
    OtherLog,
}

/// The result of looking for events after a position.
#[derive(Debug, PartialEq, Eq)]
pub enum After {
    Events(RenderedEvents),
    /// No event of the requested type up to the position `read_to`.
    Nothing {
        read_to: i64,
    },
    /// The next changes are no longer cached. They must be read from the store.
    Older,
}

/// Events for a follower.
#[derive(Debug, PartialEq, Eq)]
pub struct RenderedEvents {
    /// The text of the events, as Server-Sent Events.
    pub text: Bytes,
    pub count: usize,
    /// The sequence number of the last event.
    pub read_to: i64,
}

impl RecentEvents {
    /// Returns a ticket for a follower with this key that starts to read the present log.
    pub fn ticket(&self, key: KeyId) -> Ticket {
        Ticket {
            key,
            replacement_count: self.replacement_count,
        }
    }

    /// Returns why the stream of the follower with this ticket must end, if it must.
    pub fn end_reason(&self, ticket: Ticket) -> Option<EndReason> {
        if self.is_shutting_down {
            Some(EndReason::ShuttingDown)
        } else if self.replacement_count != ticket.replacement_count {
            Some(EndReason::OtherLog)
        } else if self.invalid_keys.contains(&ticket.key) {
            Some(EndReason::InvalidKey)
        } else {
            None
        }
    }

    /// Ends the streams of all followers.
    pub(super) fn end_all(&mut self) {
        self.is_shutting_down = true;
    }

    /// Replaces the set of keys that are no longer valid. Returns whether the set has changed.
    pub(super) fn set_invalid_keys(&mut self, keys: HashSet<KeyId>) -> bool {
        let has_changed = self.invalid_keys != keys;
        self.invalid_keys = keys;
        has_changed
    }

    /// Prepares for reading on in a log with this state. Drops all cached events, and continues at the end
    /// of the log, if the log is a different one or too far ahead. Returns whether the events were dropped.
    pub(super) fn sync_with(&mut self, log: &JournalState) -> bool {
        let is_different_log =
            self.epoch.is_some_and(|epoch| epoch != log.epoch) || log.last < self.last;
        let continues = self.epoch.is_some()
            && !is_different_log
            && log.first - 1 <= self.last
            && log.last - self.last <= MAX_UNREAD_CHANGES;
        if continues {
            return false;
        }
        *self = Self {
            epoch: Some(log.epoch),
            last: log.last,
            replacement_count: self.replacement_count + u64::from(is_different_log),
            is_shutting_down: self.is_shutting_down,
            invalid_keys: std::mem::take(&mut self.invalid_keys),
            ..Self::default()
        };
        true
    }

    /// Appends the batches up to the sequence number `read_to`, and evicts the oldest batches above
    /// [`MAX_SIZE`].
    pub(super) fn push(&mut self, batches: Vec<Batch>, read_to: i64) {
        for batch in batches {
            self.size += batch.text.len();
            self.batches.push_back(batch);
        }
        while self.size > MAX_SIZE
            && let Some(oldest_batch) = self.batches.pop_front()
        {
            self.size -= oldest_batch.text.len();
        }
        self.last = read_to;
    }

    /// Returns the events after `position` from the next batch: all that it has, or only the first one of
    /// type `kind`. Callers repeat this until they reach `last`. `position` must be below `last`.
    pub fn after(&self, position: i64, kind: Option<ChangeType>) -> After {
        let next = position + 1;
        let Some(batch_index) = self.batch_with(next) else {
            return After::Older;
        };
        let batch = &self.batches[batch_index];
        let first_index = batch.index_of(next);
        if kind.is_none() {
            return After::Events(RenderedEvents {
                text: batch.text_from(first_index),
                count: batch.events.len() - first_index,
                read_to: batch.last(),
            });
        }

        for index in first_index..batch.events.len() {
            if batch.events[index].kind == kind {
                return After::Events(RenderedEvents {
                    text: batch.text_of(index),
                    count: 1,
                    read_to: batch.number(index),
                });
            }
        }
        After::Nothing {
            read_to: batch.last(),
        }
    }

    /// Returns the animals that the changes after `position` concern, each once. Returns `None` if they are
    /// not known, because a change has no animal or is no longer cached. `position` must be below `last`.
    pub(super) fn pets_after(&self, position: i64) -> Option<Vec<i64>> {
        let next = position + 1;
        let batch_index = self.batch_with(next)?;
        let mut pets = Vec::new();
        for batch in self.batches.range(batch_index..) {
            for event in batch.events.iter().skip(batch.index_of(next)) {
                pets.push(event.pet?);
            }
        }
        pets.sort_unstable();
        pets.dedup();
        Some(pets)
    }

    /// Returns the index of the batch with this event, if it is cached.
    fn batch_with(&self, number: i64) -> Option<usize> {
        let index = self.batches.partition_point(|batch| batch.last() < number);
        let batch = self.batches.get(index)?;
        (batch.first <= number).then_some(index)
    }

    /// Whether the service is shutting down.
    pub(super) fn is_shutting_down(&self) -> bool {
        self.is_shutting_down
    }
}

#[cfg(test)]
mod tests;
