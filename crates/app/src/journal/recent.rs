//! The newest part of the journal in memory, for all clients that follow it.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::collections::{HashSet, VecDeque};

use bytes::Bytes;
use petstore_domain::{
    KeyId,
    store_area::{ChangeType, Epoch, JournalState},
};

use super::batch::Batch;

/// The maximum number of bytes of events in memory. A follower that is further behind reads the store.
const MAX_SIZE: usize = 4 << 20;

/// The number of bytes of events that one reading of the log adds, rounded up to a batch. So a follower has the time
/// between two readings to read the events that the next reading displaces.
pub(super) const MAX_PART: usize = MAX_SIZE / 2;

/// The maximum number of unread changes. More changes would not fit into memory, so the reader skips them.
const MAX_BEHIND: i64 = 10_000;

/// The newest events, and the reasons to end the streams of followers.
#[derive(Default)]
pub struct Recent {
    /// The batches of events, without gaps between them.
    batches: VecDeque<Batch>,
    /// The length of all batches, in bytes.
    size: usize,
    /// The identity of the log; `None` until the log is read for the first time.
    epoch: Option<Epoch>,
    /// The number up to which the log was read.
    pub last: i64,
    /// The number of times that another database replaced this one.
    replacement_count: u64,
    /// Whether the service shuts down.
    is_over: bool,
    invalid_keys: HashSet<KeyId>,
}

/// The log that a follower reads, and its key.
#[derive(Clone, Copy)]
pub struct Ticket {
    key: KeyId,
    replacement_count: u64,
}

/// A reason to end the stream of a follower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// The service shuts down.
    Over,
    /// The key is not valid any more.
    InvalidKey,
    /// Another database has replaced this one.
    OtherLog,
}

/// The changes after a position.
#[derive(Debug, PartialEq, Eq)]
pub enum After {
    Events(RenderedEvents),
    /// No event of the requested type, up to the position `read_to`.
    Nothing {
        read_to: i64,
    },
    /// Changes that are no longer in memory. The store has them.
    Older,
}

/// Events for a follower.
#[derive(Debug, PartialEq, Eq)]
pub struct RenderedEvents {
    /// The text of the events.
    pub text: Bytes,
    pub count: usize,
    /// The number of the last event.
    pub read_to: i64,
}

impl Recent {
    /// Returns the ticket of a follower with this key, which names the present log.
    pub fn ticket(&self, key: KeyId) -> Ticket {
        Ticket {
            key,
            replacement_count: self.replacement_count,
        }
    }

    /// Returns the reason to end the stream of the follower with this ticket, if there is one.
    pub fn end(&self, ticket: Ticket) -> Option<EndReason> {
        if self.is_over {
            Some(EndReason::Over)
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
        self.is_over = true;
    }

    /// Replaces the keys that are no longer valid. Returns whether the set of these keys has changed.
    pub(super) fn set_invalid_keys(&mut self, keys: HashSet<KeyId>) -> bool {
        let is_new = self.invalid_keys != keys;
        self.invalid_keys = keys;
        is_new
    }

    /// Prepares for reading the log in this state. Forgets all events if the log does not continue where the last reading
    /// ended. Returns whether it forgot them.
    pub(super) fn begin(&mut self, log: &JournalState) -> bool {
        let is_other = self.epoch.is_some_and(|epoch| epoch != log.epoch) || log.last < self.last;
        let continues = self.epoch.is_some()
            && !is_other
            && log.first - 1 <= self.last
            && log.last - self.last <= MAX_BEHIND;
        if continues {
            return false;
        }
        *self = Self {
            epoch: Some(log.epoch),
            last: log.last,
            replacement_count: self.replacement_count + u64::from(is_other),
            is_over: self.is_over,
            invalid_keys: std::mem::take(&mut self.invalid_keys),
            ..Self::default()
        };
        true
    }

    /// Adds the batches up to the number `read_to`, and forgets the oldest batches above [`MAX_SIZE`].
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

    /// Returns the events after `position` in one batch: all of them, or the first one of type `kind`. `position` is below
    /// `last`.
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

    /// Returns the animals of the changes after `position`. Returns `None` if a change has no animal, or if a change is no
    /// longer in memory. `position` is below `last`.
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

    /// Returns the index of the batch that has the event with this number, if it is in memory.
    fn batch_with(&self, number: i64) -> Option<usize> {
        let index = self.batches.partition_point(|batch| batch.last() < number);
        let batch = self.batches.get(index)?;
        (batch.first <= number).then_some(index)
    }

    /// Whether the service shuts down.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }
}

#[cfg(test)]
mod tests;
