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
mod tests {
    use jiff::Timestamp;

    use super::{super::batch::retain_fitting, *};
    use petstore_domain::{
        Actor,
        store_area::{JournalEntry, JournalSubject, SubjectKind},
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
        recent.push(
            Batch::from_changes(EPOCH, changes),
            changes.last().unwrap().seq,
        );
    }

    /// Returns the numbers that follow a position, and the new position.
    fn after(recent: &Recent, position: i64, kind: Option<ChangeType>) -> Option<(Vec<i64>, i64)> {
        match recent.after(position, kind) {
            After::Older => None,
            After::Nothing { read_to: to } => Some((Vec::new(), to)),
            After::Events(RenderedEvents {
                text: events,
                count,
                read_to: to,
            }) => {
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
        assert_eq!(Batch::from_changes(EPOCH, &long).len(), 5);
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
            let mut part = Batch::from_changes(EPOCH, &changes[usize::try_from(to).unwrap()..]);
            let before = to;
            to = retain_fitting(&mut part, &mut room).unwrap();
            let size: usize = part.iter().map(|batch| batch.text.len()).sum();
            assert!(
                size < MAX_PART + 100_000 && part[0].first == before + 1,
                "{size}"
            );
            assert!(
                to == 100
                    || retain_fitting(&mut Batch::from_changes(EPOCH, &changes), &mut room)
                        .is_none()
            );
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
            assert_eq!(recent.end(ticket), Some(EndReason::OtherLog));
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
        assert_eq!(recent.end(ticket), Some(EndReason::InvalidKey));
        recent.begin(&log(EPOCH, 5));
        assert_eq!(recent.end(ticket), Some(EndReason::InvalidKey));
        recent.end_all();
        assert_eq!(recent.end(ticket), Some(EndReason::Over));
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
            recent.push(Batch::from_changes(EPOCH, &[of(seq, pet)]), seq);
            if seq == 3 {
                assert_eq!(recent.pets_after(0), Some(vec![4, 9]));
                assert_eq!(recent.pets_after(2), Some(vec![9]));
            }
        }
        assert_eq!(recent.pets_after(4), Some(vec![2]));
        // An import has no animal of its own.
        assert_eq!(recent.pets_after(3), None);
        for seq in 6..200 {
            recent.push(Batch::from_changes(EPOCH, &[of(seq, Some(1))]), seq);
        }
        assert_eq!(recent.pets_after(5), None);
        assert_eq!(recent.pets_after(198), Some(vec![1]));
    }
}
