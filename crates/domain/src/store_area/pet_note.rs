//! Notes: dated remarks about an animal, which only the staff see.

use jiff::Timestamp;

use super::PrivateText;
use crate::{Actor, NamedActor, PetId, pet::id};

id! {
    /// The identifier of a note: from 1 to 2^53 - 1, ascending.
    NoteId
}

/// The text of a note, such as "Afraid of men, fine with children". It is erased when the note is
/// deleted.
pub type NoteText = PrivateText<1_000>;

/// A note on an animal. Times have a resolution of one millisecond.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PetNote {
    /// Assigned by the store, and unique.
    pub id: NoteId,
    /// The animal that the note is about. It never changes.
    pub pet_id: PetId,
    /// The person or program that wrote the note, with the name that the author had at that time.
    pub author: NamedActor,
    /// When the note was added.
    pub created_at: Timestamp,
    /// When the text last changed; initially the time of creation.
    pub updated_at: Timestamp,
    /// Starts at 1 and increases by one with each change.
    pub version: i64,
    /// The text that the staff see.
    pub text: NoteText,
}

impl PetNote {
    /// The maximum number of notes on one animal.
    pub const MAX_COUNT: i64 = 500;

    /// Returns the total length of the text and the author's name, in bytes.
    pub fn length(&self) -> usize {
        let name_length = self.author.name.as_ref().map_or(0, |name| name.len());
        self.text.as_str().len() + name_length
    }
}

/// The permission with which a person or program changes or deletes notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteEditor {
    /// May change only notes that this actor wrote.
    Author(Actor),
    /// May change every note.
    Manager,
}

impl NoteEditor {
    /// Whether the editor may change or delete this note.
    pub fn may_change(&self, note: &PetNote) -> bool {
        match self {
            Self::Author(actor) => note.author.actor == *actor,
            Self::Manager => true,
        }
    }
}
