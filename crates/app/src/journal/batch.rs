//! Batches of events: changes in the journal, rendered once for all clients that follow it.

use bytes::Bytes;
use petstore_domain::store_area::{ChangeType, Epoch, JournalEntry};
use petstore_formats::json;

use super::cursor;

/// The number of bytes after which a batch of events ends. A follower that reads slowly keeps
/// one batch in memory.
const BATCH_SIZE: usize = 32 << 10;

/// Consecutive events, rendered.
pub(super) struct Batch {
    /// The number of the first event.
    pub(super) first: i64,
    /// The text of all events.
    pub(super) text: Bytes,
    pub(super) events: Vec<Event>,
}

/// An event in the text of a batch.
#[derive(Clone, Copy)]
pub(super) struct Event {
    /// The type of its change, if this release knows the type.
    pub(super) kind: Option<ChangeType>,
    /// The animal of its change, if it has one.
    pub(super) pet: Option<i64>,
    /// The end of the event in the text.
    end: usize,
}

impl Batch {
    /// Renders consecutive changes as batches.
    pub(super) fn from_changes(epoch: Epoch, changes: &[JournalEntry]) -> Vec<Self> {
        let mut batches = Vec::new();
        let mut unrendered = changes.iter().peekable();
        while let Some(first_change) = unrendered.peek() {
            let first = first_change.seq;
            let mut text = Vec::with_capacity(BATCH_SIZE);
            let mut events = Vec::new();
            while text.len() < BATCH_SIZE
                && let Some(change) = unrendered.next()
            {
                write_event(&mut text, epoch, change);
                events.push(Event {
                    kind: change.kind.value(),
                    pet: change.pet,
                    end: text.len(),
                });
            }
            text.shrink_to_fit();
            batches.push(Self {
                first,
                text: text.into(),
                events,
            });
        }
        batches
    }

    /// Returns the number of the event at this index.
    pub(super) fn number(&self, index: usize) -> i64 {
        self.first + i64::try_from(index).unwrap_or(i64::MAX)
    }

    /// Returns the number of the last event.
    pub(super) fn last(&self) -> i64 {
        self.number(self.events.len()) - 1
    }

    /// Returns the index of the event with this number, or of the first event if that has a higher number.
    pub(super) fn index_of(&self, number: i64) -> usize {
        usize::try_from(number - self.first).unwrap_or_default()
    }

    /// Returns the text from the event at this index on.
    pub(super) fn text_from(&self, index: usize) -> Bytes {
        self.text.slice(self.start(index)..)
    }

    /// Returns the text of the event at this index.
    pub(super) fn text_of(&self, index: usize) -> Bytes {
        self.text.slice(self.start(index)..self.events[index].end)
    }

    /// Returns the start of the event at this index in the text.
    fn start(&self, index: usize) -> usize {
        match index.checked_sub(1) {
            Some(previous) => self.events[previous].end,
            None => 0,
        }
    }
}

/// Removes the batches that begin after `room` bytes, and subtracts the length of the other batches from `room`. Returns
/// the number of the last event of these; `None` if no batch fits.
pub(super) fn retain_fitting(batches: &mut Vec<Batch>, room: &mut usize) -> Option<i64> {
    batches.retain(|batch| {
        let fits = *room > 0;
        *room = room.saturating_sub(batch.text.len());
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
