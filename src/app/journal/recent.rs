//! The newest part of the journal, rendered once for all that follow it.

use std::collections::{HashSet, VecDeque};

use bytes::Bytes;

use super::cursor;
use crate::{
    domain::{
        KeyId,
        store_area::{ChangeType, Epoch, JournalEntry, JournalState},
    },
    json,
};

/// How many bytes of events are kept. A follower that is further behind reads the store.
const MAX_SIZE: usize = 4 << 20;

/// How many bytes of events are added at once, rounded up to a batch. So a follower has the time
/// between two readings of the log to read what the next one displaces.
pub(super) const MAX_PART: usize = MAX_SIZE / 2;

/// When a batch of events has so many bytes, the next one begins. A follower that reads slowly keeps
/// one batch in memory.
const BATCH_SIZE: usize = 32 << 10;

/// So many unread changes are not read, because they would not fit.
const MAX_BEHIND: i64 = 10_000;

/// The newest events, and what ends the following of them.
#[derive(Default)]
pub(crate) struct Recent {
    /// Without gaps between them.
    batches: VecDeque<Batch>,
    size: usize,
    /// `None` until the log is read for the first time.
    epoch: Option<Epoch>,
    /// The number up to which the log was read.
    pub(crate) last: i64,
    /// How often the database was replaced by another one.
    replaced: u64,
    is_over: bool,
    invalid_keys: HashSet<KeyId>,
}

/// Some events in a row.
pub(super) struct Batch {
    /// The number of the first one.
    first: i64,
    events: Bytes,
    /// The type of each event, if this release knows it, its animal, and where it ends.
    ends: Vec<(Option<ChangeType>, Option<i64>, usize)>,
}

/// Whom a follower follows, and with which key.
#[derive(Clone, Copy)]
pub(crate) struct Ticket {
    key: KeyId,
    replaced: u64,
}

/// Why the following ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The service shuts down.
    Over,
    /// The key is not valid any more.
    InvalidKey,
    /// The log is another one.
    OtherLog,
}

/// The changes after a position.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// These events, as many as this, and the position after them.
    Events(Bytes, usize, i64),
    /// Nothing that was asked for up to this position.
    Nothing(i64),
    /// Changes that are not here any more.
    Older,
}

impl Recent {
    pub(crate) fn ticket(&self, key: KeyId) -> Ticket {
        Ticket { key, replaced: self.replaced }
    }

    pub(crate) fn end(&self, ticket: Ticket) -> Option<End> {
        if self.is_over {
            Some(End::Over)
        } else if self.replaced != ticket.replaced {
            Some(End::OtherLog)
        } else {
            self.invalid_keys.contains(&ticket.key).then_some(End::InvalidKey)
        }
    }

    pub(super) fn end_all(&mut self) {
        self.is_over = true;
    }

    /// Notes the keys that are not valid any more. Returns whether they are others than before.
    pub(super) fn set_invalid_keys(&mut self, keys: HashSet<KeyId>) -> bool {
        let is_new = self.invalid_keys != keys;
        self.invalid_keys = keys;
        is_new
    }

    /// Prepares for what the log contains now. Returns whether it began again.
    pub(super) fn begin(&mut self, log: &JournalState) -> bool {
        let is_other = self.epoch.is_some_and(|epoch| epoch != log.epoch) || log.last < self.last;
        let continues = self.epoch.is_some()
            && !is_other
            && log.first - 1 <= self.last
            && log.last - self.last <= MAX_BEHIND;
        if !continues {
            let replaced = self.replaced + u64::from(is_other);
            let (is_over, invalid_keys) = (self.is_over, std::mem::take(&mut self.invalid_keys));
            let (epoch, last) = (Some(log.epoch), log.last);
            *self = Self { epoch, last, replaced, is_over, invalid_keys, ..Self::default() };
        }
        !continues
    }

    /// Adds what follows, up to this number.
    pub(super) fn push(&mut self, batches: Vec<Batch>, read_to: i64) {
        for batch in batches {
            self.size += batch.events.len();
            self.batches.push_back(batch);
        }
        while self.size > MAX_SIZE
            && let Some(oldest) = self.batches.pop_front()
        {
            self.size -= oldest.events.len();
        }
        self.last = read_to;
    }

    /// The changes after `position`, of one type or of all. `position` is below `last`.
    pub(crate) fn after(&self, position: i64, kind: Option<ChangeType>) -> After {
        let next = position + 1;
        let at = self.batches.partition_point(|batch| batch.last() < next);
        let Some(batch) = self.batches.get(at).filter(|batch| batch.first <= next) else {
            return After::Older;
        };
        let mut index = usize::try_from(next - batch.first).unwrap_or_default();
        let Some(kind) = kind else {
            let events = batch.events.slice(batch.start(index)..);
            return After::Events(events, batch.ends.len() - index, batch.last());
        };
        while let Some(&(of_event, _, end)) = batch.ends.get(index) {
            if of_event == Some(kind) {
                let event = batch.events.slice(batch.start(index)..end);
                return After::Events(event, 1, batch.number(index));
            }
            index += 1;
        }
        After::Nothing(batch.last())
    }

    /// The animals of the changes after `position`; `None` if one has no animal, or is not here any
    /// more. `position` is below `last`.
    pub(super) fn pets_after(&self, position: i64) -> Option<Vec<i64>> {
        let next = position + 1;
        let at = self.batches.partition_point(|batch| batch.last() < next);
        self.batches.get(at).filter(|batch| batch.first <= next)?;
        let events = self.batches.range(at..).flat_map(|batch| {
            let before = usize::try_from(next - batch.first).unwrap_or_default();
            batch.ends.iter().skip(before)
        });
        let mut pets = events.map(|&(_, pet, _)| pet).collect::<Option<Vec<_>>>()?;
        pets.sort_unstable();
        pets.dedup();
        Some(pets)
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }
}

impl Batch {
    fn number(&self, index: usize) -> i64 {
        self.first + i64::try_from(index).unwrap_or(i64::MAX)
    }

    fn last(&self) -> i64 {
        self.number(self.ends.len()) - 1
    }

    fn start(&self, index: usize) -> usize {
        index.checked_sub(1).map_or(0, |before| self.ends[before].2)
    }
}

/// Renders changes that follow each other.
pub(super) fn batches(epoch: Epoch, changes: &[JournalEntry]) -> Vec<Batch> {
    let mut batches = Vec::new();
    let mut rest = changes.iter().peekable();
    while let Some(first) = rest.peek().map(|change| change.seq) {
        let (mut events, mut ends) = (Vec::with_capacity(BATCH_SIZE), Vec::new());
        while events.len() < BATCH_SIZE
            && let Some(change) = rest.next()
        {
            write_event(&mut events, epoch, change);
            ends.push((change.kind.known(), change.pet, events.len()));
        }
        events.shrink_to_fit();
        batches.push(Batch { first, events: events.into(), ends });
    }
    batches
}

/// Removes the batches that begin after `room` bytes, and reduces it by the others. Returns the number
/// up to which the others go; `None` without any.
pub(super) fn fit(batches: &mut Vec<Batch>, room: &mut usize) -> Option<i64> {
    batches.retain(|batch| {
        let fits = *room > 0;
        *room = room.saturating_sub(batch.events.len());
        fits
    });
    batches.last().map(Batch::last)
}

/// A change as a Server-Sent Event.
pub(crate) fn write_event(out: &mut Vec<u8>, epoch: Epoch, change: &JournalEntry) {
    out.extend_from_slice(b"id: ");
    out.extend_from_slice(cursor::encode(epoch, change.seq).as_bytes());
    out.extend_from_slice(b"\ndata: ");
    json::write_change(out, change);
    out.extend_from_slice(b"\n\n");
}

#[cfg(test)]
#[path = "../../../tests/inside/app/journal/recent.rs"]
mod tests;
