//! Batches of events: changes in the journal, rendered once and shared by all clients that follow it.

use bytes::Bytes;
use petstore_domain::store_area::{ChangeType, Epoch, JournalEntry};
use petstore_formats::json;

use super::cursor;

/// The number of bytes after which a batch is complete. This bounds the memory of a slow follower, which
/// keeps one batch alive.
const BATCH_SIZE: usize = 32 << 10;

/// Consecutive events, rendered.
pub(super) struct Batch {
    /// The sequence number of the first event.
    pub(super) first: i64,
    /// The text of all events.
    pub(super) text: Bytes,
    pub(super) events: Vec<Event>,
}

/// An event within the text of a batch.
#[derive(Clone, Copy)]
pub(super) struct Event {
    /// The type of its change, if this release knows the type.
    pub(super) kind: Option<ChangeType>,
    /// The animal of its change, if it has one.
    pub(super) pet: Option<i64>,
    /// The offset in the text at which the event ends.
    end: usize,
}

impl Batch {
    /// Renders consecutive changes as batches of about [`BATCH_SIZE`].
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

    /// Returns the sequence number of the event at this index.
    pub(super) fn number(&self, index: usize) -> i64 {
        self.first + i64::try_from(index).unwrap_or(i64::MAX)
    }

    /// Returns the sequence number of the last event.
    pub(super) fn last(&self) -> i64 {
        self.number(self.events.len()) - 1
    }

    /// Returns the index of the event with this sequence number; 0 if the number is below the first event.
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

    /// Returns the offset in the text at which the event at this index starts.
    fn start(&self, index: usize) -> usize {
        match index.checked_sub(1) {
            Some(previous) => self.events[previous].end,
            None => 0,
        }
    }
}

/// Keeps the batches that begin within the first `room` bytes and removes the others. Subtracts the length
/// of the kept batches from `room`. Returns the sequence number of the last kept event; `None` if no batch
/// is kept.
pub(super) fn retain_fitting(batches: &mut Vec<Batch>, room: &mut usize) -> Option<i64> {
    batches.retain(|batch| {
        let fits = *room > 0;
        *room = room.saturating_sub(batch.text.len());
        fits
    });
    batches.last().map(Batch::last)
}

/// Writes a change as a Server-Sent Event: a line `id: CURSOR`, a line `data: JSON` and an empty line.
pub fn write_event(out: &mut Vec<u8>, epoch: Epoch, change: &JournalEntry) {
    out.extend_from_slice(b"id: ");
    out.extend_from_slice(cursor::encode(epoch, change.seq).as_bytes());
    out.extend_from_slice(b"\ndata: ");
    json::write_change(out, change);
    out.extend_from_slice(b"\n\n");
}
