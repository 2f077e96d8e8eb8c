//! The newest part of the journal, rendered once for all that follow it.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::collections::{HashSet, VecDeque};

use bytes::Bytes;
use petstore_domain::{
    KeyId,
    store_area::{ChangeType, Epoch, JournalEntry, JournalState},
};
use petstore_formats::json;

use super::cursor;

/// The number of bytes of events that are kept. A follower that is further behind reads the store.
const MAX_SIZE: usize = 4 << 20;

/// The number of bytes of events that are added at once, rounded up to a batch. So a follower has the time
/// between two readings of the log to read what the next one displaces.
pub(super) const MAX_PART: usize = MAX_SIZE / 2;

/// The number of bytes after which a batch of events ends. A follower that reads slowly keeps
/// one batch in memory.
const BATCH_SIZE: usize = 32 << 10;

/// The largest number of unread changes that are read. More would not fit.
const MAX_BEHIND: i64 = 10_000;

/// The newest events, and what ends the following of them.
#[derive(Default)]
pub struct Recent {
    /// The batches of events, without gaps between them.
    batches: VecDeque<Batch>,
    size: usize,
    /// `None` until the log is read for the first time.
    epoch: Option<Epoch>,
    /// The number up to which the log was read.
    pub last: i64,
    /// The number of times that another database replaced this one.
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

/// The log that a follower reads, and its key.
#[derive(Clone, Copy)]
pub struct Ticket {
    key: KeyId,
    replaced: u64,
}

/// A reason to end the following.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The service shuts down.
    Over,
    /// The key is not valid any more.
    InvalidKey,
    /// The log is another one.
    OtherLog,
}

/// The changes after a position.
#[derive(Debug, PartialEq, Eq)]
pub enum After {
    /// These events, as many as this, and the position after them.
    Events(Bytes, usize, i64),
    /// Nothing that was asked for up to this position.
    Nothing(i64),
    /// Changes that are not here any more.
    Older,
}

impl Recent {
    pub fn ticket(&self, key: KeyId) -> Ticket {
        Ticket {
            key,
            replaced: self.replaced,
        }
    }

    pub fn end(&self, ticket: Ticket) -> Option<End> {
        if self.is_over {
            Some(End::Over)
        } else if self.replaced != ticket.replaced {
            Some(End::OtherLog)
        } else {
            self.invalid_keys
                .contains(&ticket.key)
                .then_some(End::InvalidKey)
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
            let is_over = self.is_over;
            let invalid_keys = std::mem::take(&mut self.invalid_keys);
            let epoch = Some(log.epoch);
            let last = log.last;
            *self = Self {
                epoch,
                last,
                replaced,
                is_over,
                invalid_keys,
                ..Self::default()
            };
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

    /// Returns the changes after `position`, of one type or of all. `position` is below `last`.
    pub fn after(&self, position: i64, kind: Option<ChangeType>) -> After {
        let next = position + 1;
        let batch_index = self.batches.partition_point(|batch| batch.last() < next);
        let batch = self.batches.get(batch_index);
        let Some(batch) = batch.filter(|batch| batch.first <= next) else {
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

    /// Returns the animals of the changes after `position`; `None` if one has no animal, or is not
    /// here any more. `position` is below `last`.
    pub(super) fn pets_after(&self, position: i64) -> Option<Vec<i64>> {
        let next = position + 1;
        let batch_index = self.batches.partition_point(|batch| batch.last() < next);
        let batch = self.batches.get(batch_index)?;
        if batch.first > next {
            return None;
        }

        let events = self.batches.range(batch_index..).flat_map(|batch| {
            let read_events = usize::try_from(next - batch.first).unwrap_or_default();
            batch.ends.iter().skip(read_events)
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
        let mut events = Vec::with_capacity(BATCH_SIZE);
        let mut ends = Vec::new();
        while events.len() < BATCH_SIZE
            && let Some(change) = rest.next()
        {
            write_event(&mut events, epoch, change);
            ends.push((change.kind.value(), change.pet, events.len()));
        }
        events.shrink_to_fit();
        batches.push(Batch {
            first,
            events: events.into(),
            ends,
        });
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

/// Writes a change as a Server-Sent Event: `id: CURSOR`, `data: JSON` and an empty line.
pub fn write_event(out: &mut Vec<u8>, epoch: Epoch, change: &JournalEntry) {
    out.extend_from_slice(b"id: ");
    out.extend_from_slice(cursor::encode(epoch, change.seq).as_bytes());
    out.extend_from_slice(b"\ndata: ");
    json::write_change(out, change);
    out.extend_from_slice(b"\n\n");
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use petstore_domain::{
        Actor,
        store_area::{JournalSubject, SubjectKind},
    };

    const EPOCH: Epoch = Epoch([1; 16]);
    const KEY: KeyId = KeyId(7);

    /// Returns a change with a representation of this length.
    fn change(seq: i64, kind: ChangeType, length: usize) -> JournalEntry {
        JournalEntry {
            seq,
            at: Timestamp::UNIX_EPOCH,
            kind: kind.into(),
            subject: JournalSubject {
                kind: SubjectKind::Pet.into(),
                id: Some(1),
            },
            version: Some(seq),
            pet: Some(1),
            before: None,
            after: Some(format!("\"{}\"", "a".repeat(length)).into()),
            actor: Actor::Clock.into(),
            request_id: None,
        }
    }

    fn log(epoch: Epoch, last: i64) -> JournalState {
        JournalState {
            epoch,
            first: 1,
            last,
        }
    }

    fn push(recent: &mut Recent, changes: &[JournalEntry]) {
        recent.push(batches(EPOCH, changes), changes.last().unwrap().seq);
    }

    /// Returns the numbers that follow a position, and the new position.
    fn after(recent: &Recent, position: i64, kind: Option<ChangeType>) -> Option<(Vec<i64>, i64)> {
        match recent.after(position, kind) {
            After::Older => None,
            After::Nothing(to) => Some((Vec::new(), to)),
            After::Events(events, count, to) => {
                let events = str::from_utf8(&events).unwrap();
                let numbers: Vec<i64> = events
                    .split("{\"seq\":")
                    .skip(1)
                    .map(|event| event.split(',').next().unwrap().parse().unwrap())
                    .collect();
                assert_eq!(numbers.len(), count);
                Some((numbers, to))
            }
        }
    }

    #[test]
    fn a_follower_gets_everything_after_its_position_or_what_it_asks_for() {
        use ChangeType::{OrderPlaced, PetAdded, PetChanged};
        let mut recent = Recent::default();
        assert!(recent.begin(&log(EPOCH, 4)));
        let kinds = [PetAdded, OrderPlaced, PetChanged, PetChanged];
        let numbered = (5..).zip(kinds).map(|(seq, kind)| change(seq, kind, 9));
        push(&mut recent, &numbered.collect::<Vec<_>>());
        push(&mut recent, &[change(9, PetAdded, 9)]);
        assert_eq!(after(&recent, 4, None), Some((vec![5, 6, 7, 8], 8)));
        assert_eq!(after(&recent, 6, None), Some((vec![7, 8], 8)));
        assert_eq!(after(&recent, 8, None), Some((vec![9], 9)));
        assert_eq!(after(&recent, 4, Some(PetChanged)), Some((vec![7], 7)));
        assert_eq!(after(&recent, 7, Some(PetChanged)), Some((vec![8], 8)));
        assert_eq!(after(&recent, 5, Some(PetAdded)), Some((vec![], 8)));
        assert_eq!(after(&recent, 3, None), None, "only the store has change 4");
    }

    #[test]
    fn only_the_newest_events_are_kept_in_batches_of_limited_size() {
        let mut recent = Recent::default();
        recent.begin(&log(EPOCH, 0));
        for seq in 1..=300 {
            push(&mut recent, &[change(seq, ChangeType::PetAdded, 20_000)]);
        }
        assert!(
            recent.size <= MAX_SIZE && recent.size > MAX_SIZE - 30_000,
            "{}",
            recent.size
        );
        assert_eq!(after(&recent, 0, None), None);
        assert_eq!(after(&recent, 299, None), Some((vec![300], 300)));
        let long: Vec<_> = (1..=9)
            .map(|seq| change(seq, ChangeType::PetAdded, 20_000))
            .collect();
        assert_eq!(batches(EPOCH, &long).len(), 5);
    }

    #[test]
    fn one_reading_adds_half_of_what_is_kept_and_the_next_one_goes_on_there() {
        let changes: Vec<_> = (1..=100)
            .map(|seq| change(seq, ChangeType::PetAdded, 99_000))
            .collect();
        let mut to = 0_i64;
        let mut readings = 0;
        while to < 100 {
            let mut room = MAX_PART;
            let mut part = batches(EPOCH, &changes[usize::try_from(to).unwrap()..]);
            let before = to;
            to = fit(&mut part, &mut room).unwrap();
            let size: usize = part.iter().map(|batch| batch.events.len()).sum();
            assert!(
                size < MAX_PART + 100_000 && part[0].first == before + 1,
                "{size}"
            );
            assert!(to == 100 || fit(&mut batches(EPOCH, &changes), &mut room).is_none());
            readings += 1;
        }
        assert_eq!(readings, 5);
    }

    #[test]
    fn a_database_that_was_replaced_ends_the_following_and_a_long_pause_does_not() {
        let mut recent = Recent::default();
        recent.begin(&log(EPOCH, 5));
        let ticket = recent.ticket(KEY);
        assert!(!recent.begin(&log(EPOCH, 6)));
        assert!(recent.begin(&log(EPOCH, 5 + MAX_BEHIND + 1)));
        assert_eq!(
            (recent.end(ticket), recent.last),
            (None, 5 + MAX_BEHIND + 1)
        );
        for other in [log(EPOCH, 3), log(Epoch([2; 16]), 9)] {
            let ticket = recent.ticket(KEY);
            recent.begin(&other);
            assert_eq!(recent.end(ticket), Some(End::OtherLog));
        }
    }

    #[test]
    fn an_invalid_key_and_the_shutdown_end_the_following() {
        let mut recent = Recent::default();
        let ticket = recent.ticket(KEY);
        assert!(recent.set_invalid_keys(HashSet::from([KeyId(8)])));
        assert_eq!(recent.end(ticket), None);
        assert!(recent.set_invalid_keys(HashSet::from([KEY])));
        assert!(!recent.set_invalid_keys(HashSet::from([KEY])));
        assert_eq!(recent.end(ticket), Some(End::InvalidKey));
        recent.begin(&log(EPOCH, 5));
        assert_eq!(recent.end(ticket), Some(End::InvalidKey));
        recent.end_all();
        assert_eq!(recent.end(ticket), Some(End::Over));
    }

    #[test]
    fn the_animals_of_what_follows_are_known_while_it_is_here() {
        let mut recent = Recent::default();
        recent.begin(&log(EPOCH, 0));
        let of = |seq, pet| JournalEntry {
            pet,
            ..change(seq, ChangeType::PetChanged, 40_000)
        };
        for (seq, pet) in [
            (1, Some(9)),
            (2, Some(4)),
            (3, Some(9)),
            (4, None),
            (5, Some(2)),
        ] {
            recent.push(batches(EPOCH, &[of(seq, pet)]), seq);
            if seq == 3 {
                assert_eq!(recent.pets_after(0), Some(vec![4, 9]));
                assert_eq!(recent.pets_after(2), Some(vec![9]));
            }
        }
        assert_eq!(recent.pets_after(4), Some(vec![2]));
        // An import has no animal of its own.
        assert_eq!(recent.pets_after(3), None);
        for seq in 6..200 {
            recent.push(batches(EPOCH, &[of(seq, Some(1))]), seq);
        }
        assert_eq!(recent.pets_after(5), None);
        assert_eq!(recent.pets_after(198), Some(vec![1]));
    }
}
