//! Batches of events: changes in the journal, rendered once and shared by all clients that follow
//! it.

use bytes::Bytes;
use petstore_domain::store_area::{ChangeType, Epoch, JournalEntry};
use petstore_formats::json;

use super::cursor;

/// The number of bytes after which a batch is complete. This bounds the memory of a slow follower,
/// which keeps one batch alive.
const BATCH_SIZE: usize = 32 << 10;

/// Rendered events with consecutive sequence numbers. A batch has at least one event.
pub(super) struct Batch {
    /// The sequence number of the first event.
    pub(super) first_seq: i64,
    /// The text of all events.
    pub(super) text: Bytes,
    pub(super) events: Vec<Event>,
}

/// An event in a batch.
#[derive(Clone, Copy)]
pub(super) struct Event {
    /// The type of its change, if this release knows the type.
    pub(super) kind: Option<ChangeType>,
    /// The animal of its change, if it has one.
    pub(super) pet: Option<i64>,
    /// The offset in the text of the batch at which the event ends.
    end_offset: usize,
}

impl Batch {
    /// Renders consecutive changes as batches of about [`BATCH_SIZE`].
    pub(super) fn from_changes(epoch: Epoch, changes: &[JournalEntry]) -> Vec<Self> {
        let mut batches = Vec::new();
        let mut unrendered = changes.iter().peekable();
        while let Some(first_change) = unrendered.peek() {
            let first_seq = first_change.seq;
            let mut text = Vec::with_capacity(BATCH_SIZE);
            let mut events = Vec::new();
            while text.len() < BATCH_SIZE
                && let Some(change) = unrendered.next()
            {
                write_event(&mut text, epoch, change);
                events.push(Event {
                    kind: change.kind.value(),
                    pet: change.pet,
                    end_offset: text.len(),
                });
            }
            text.shrink_to_fit();
            batches.push(Self {
                first_seq,
                text: text.into(),
                events,
            });
        }
        batches
    }

    /// Returns the sequence number of the event at this index.
    pub(super) fn seq_at(&self, index: usize) -> i64 {
        self.first_seq + i64::try_from(index).unwrap_or(i64::MAX)
    }

    /// Returns the sequence number of the last event.
    pub(super) fn last_seq(&self) -> i64 {
        self.seq_at(self.events.len()) - 1
    }

    /// Returns the index of the event with this sequence number. Returns 0 if the batch starts
    /// after this number.
    pub(super) fn index_of(&self, seq: i64) -> usize {
        usize::try_from(seq - self.first_seq).unwrap_or_default()
    }

    /// Returns the text of the event at this index and of all later ones.
    pub(super) fn text_from(&self, index: usize) -> Bytes {
        self.text.slice(self.start_offset(index)..)
    }

    /// Returns the text of the event at this index.
    pub(super) fn text_at(&self, index: usize) -> Bytes {
        let end_offset = self.events[index].end_offset;
        self.text.slice(self.start_offset(index)..end_offset)
    }

    /// Returns the offset in the text at which the event at this index starts.
    fn start_offset(&self, index: usize) -> usize {
        match index.checked_sub(1) {
            Some(previous_index) => self.events[previous_index].end_offset,
            None => 0,
        }
    }
}

/// Removes the batches at the end that do not fit into `room` bytes, and returns the number of
/// bytes that are left.
///
/// A batch fits if any room is left at its start, so the last one may exceed the room.
pub(super) fn truncate_to_room(batches: &mut Vec<Batch>, room: usize) -> usize {
    let mut remaining_room = room;
    let mut fitting_count = 0;
    for batch in &*batches {
        if remaining_room == 0 {
            break;
        }
        remaining_room = remaining_room.saturating_sub(batch.text.len());
        fitting_count += 1;
    }
    batches.truncate(fitting_count);
    remaining_room
}

/// Writes a change as a Server-Sent Event: a line `id: CURSOR`, a line `data: JSON` and an empty
/// line.
pub fn write_event(out: &mut Vec<u8>, epoch: Epoch, change: &JournalEntry) {
    out.extend_from_slice(b"id: ");
    out.extend_from_slice(cursor::encode(epoch, change.seq).as_bytes());
    out.extend_from_slice(b"\ndata: ");
    json::write_change(out, change);
    out.extend_from_slice(b"\n\n");
}
