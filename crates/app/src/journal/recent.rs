//! An in-memory cache of the newest part of the journal, shared by all clients that follow it.

use std::collections::{HashSet, VecDeque};

use bytes::Bytes;
use petstore_domain::{
    KeyId,
    store_area::{ChangeType, Epoch, JournalState},
};

use super::batch::Batch;

/// The maximum number of bytes of cached events. A follower that is further behind reads from the
/// store.
const MAX_SIZE: usize = 4 << 20;

/// The maximum number of bytes that one poll of the journal adds, rounded up to a whole batch. It
/// is half of the cache, so the events of one poll stay cached during the next one, and followers
/// have time to read them.
pub(super) const MAX_BYTES_PER_READ: usize = MAX_SIZE / 2;

/// The maximum number of new changes that are read into the cache. If there are more, they would
/// not fit, so the cache skips them all.
const MAX_UNREAD_CHANGES: i64 = 10_000;

/// The cached events, and the conditions that end the streams of followers.
#[derive(Default)]
pub struct RecentEvents {
    /// The cached batches, in order and without gaps.
    batches: VecDeque<Batch>,
    /// The total length of the batches, in bytes.
    size: usize,
    /// The epoch of the journal. It is `None` until the journal is read for the first time.
    epoch: Option<Epoch>,
    /// The sequence number up to which the journal was read.
    pub last: i64,
    /// How often the journal was replaced by a different one, for example when a backup was
    /// restored.
    replacement_count: u64,
    is_shutting_down: bool,
    /// The keys that are no longer valid.
    invalid_keys: HashSet<KeyId>,
}

/// The key of a follower, and the journal that it started to read. They decide when its stream ends
/// ([`RecentEvents::end_reason`]).
#[derive(Clone, Copy)]
pub struct Ticket {
    key: KeyId,
    /// The value of [`RecentEvents::replacement_count`] when the follower started.
    replacement_count: u64,
}

/// A reason to end the stream of a follower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// The service is shutting down.
    ShuttingDown,
    /// The key is no longer valid.
    InvalidKey,
    /// The journal is no longer the one that the follower reads, for example because a backup was
    /// restored.
    OtherJournal,
}

/// The next events for a follower, as far as they are cached.
#[derive(Debug, PartialEq, Eq)]
pub enum NextEvents {
    /// These are the next events.
    Events(RenderedEvents),
    /// There is no event of the requested type up to this position.
    Nothing {
        /// The position from which the follower continues.
        read_to: i64,
    },
    /// The next changes are no longer cached. They must be read from the store.
    NotCached,
}

/// Events for a follower.
#[derive(Debug, PartialEq, Eq)]
pub struct RenderedEvents {
    /// The text of the events, as Server-Sent Events.
    pub text: Bytes,
    /// The number of events.
    pub count: usize,
    /// The sequence number of the last event.
    pub read_to: i64,
}

impl RecentEvents {
    /// Returns a ticket for a follower with this key that starts to read the present journal.
    pub fn ticket(&self, key: KeyId) -> Ticket {
        Ticket {
            key,
            replacement_count: self.replacement_count,
        }
    }

    /// Returns the reason why the stream with this ticket must end. Returns `None` if it goes on.
    pub fn end_reason(&self, ticket: Ticket) -> Option<EndReason> {
        if self.is_shutting_down {
            Some(EndReason::ShuttingDown)
        } else if self.replacement_count != ticket.replacement_count {
            Some(EndReason::OtherJournal)
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

    /// Moves to the end of the journal if the changes after `last` cannot be read into the cache.
    /// Then drops all cached events, and returns `true`.
    ///
    /// The changes cannot be read at the first call, or if the journal was replaced, has lost the
    /// next change, or is too far ahead.
    pub(super) fn sync_with(&mut self, journal: &JournalState) -> bool {
        let is_first_call = self.epoch.is_none();
        // A journal never becomes shorter, unless the database was restored from a backup.
        let was_replaced =
            self.epoch.is_some_and(|epoch| epoch != journal.epoch) || journal.last < self.last;
        let has_lost_next_change = self.last + 1 < journal.first;
        let is_too_far_ahead = journal.last - self.last > MAX_UNREAD_CHANGES;
        let must_skip = is_first_call || was_replaced || has_lost_next_change || is_too_far_ahead;
        if !must_skip {
            return false;
        }
        *self = Self {
            epoch: Some(journal.epoch),
            last: journal.last,
            replacement_count: self.replacement_count + u64::from(was_replaced),
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

    /// Returns the next events after `position`, which must be below `last`. Callers repeat this
    /// until they reach `last`.
    ///
    /// Without `kind`, these are the remaining events of a batch. With `kind`, it is only the next
    /// event of this type.
    pub fn events_after(&self, position: i64, kind: Option<ChangeType>) -> NextEvents {
        let next_seq = position + 1;
        let Some(batch_index) = self.batch_with(next_seq) else {
            return NextEvents::NotCached;
        };
        let batch = &self.batches[batch_index];
        let first_index = batch.index_of(next_seq);
        if kind.is_none() {
            return NextEvents::Events(RenderedEvents {
                text: batch.text_from(first_index),
                count: batch.events.len() - first_index,
                read_to: batch.last_seq(),
            });
        }

        for index in first_index..batch.events.len() {
            if batch.events[index].kind == kind {
                return NextEvents::Events(RenderedEvents {
                    text: batch.text_at(index),
                    count: 1,
                    read_to: batch.seq_at(index),
                });
            }
        }
        NextEvents::Nothing {
            read_to: batch.last_seq(),
        }
    }

    /// Returns the animals that the changes after `position` concern, each once. `position` must be
    /// below `last`.
    ///
    /// Returns `None` if any animal may be concerned. This is so if a change names no animal, as
    /// after an import, or if a change is no longer cached.
    pub(super) fn pets_after(&self, position: i64) -> Option<Vec<i64>> {
        let next_seq = position + 1;
        let batch_index = self.batch_with(next_seq)?;
        let mut pets = Vec::new();
        for batch in self.batches.range(batch_index..) {
            for event in batch.events.iter().skip(batch.index_of(next_seq)) {
                let pet = event.pet?;
                pets.push(pet);
            }
        }
        pets.sort_unstable();
        pets.dedup();
        Some(pets)
    }

    /// Returns the index of the batch with the event `seq`. Returns `None` if the event is not
    /// cached.
    fn batch_with(&self, seq: i64) -> Option<usize> {
        let index = self.batches.partition_point(|batch| batch.last_seq() < seq);
        let batch = self.batches.get(index)?;
        if batch.first_seq > seq {
            return None;
        }
        Some(index)
    }

    /// Whether the service is shutting down.
    pub(super) fn is_shutting_down(&self) -> bool {
        self.is_shutting_down
    }
}

#[cfg(test)]
mod tests;
