//! The note: a dated remark about one animal, for the people of the store only.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use jiff::Timestamp;

use super::PrivateText;
use crate::{Actor, NamedActor, PetId, pet::id};

id! {
    /// The identifier of a note: from 1 to 2^53 - 1, ascending.
    NoteId
}

/// The text of a note, such as "Afraid of men, fine with children". It is gone when the note is deleted.
pub type NoteText = PrivateText<1_000>;

/// A note on an animal. Times have milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PetNote {
    /// Given by the store, and unique.
    pub id: NoteId,
    /// The animal, which never changes.
    pub pet_id: PetId,
    /// The person or program that wrote it, with the name at that time.
    pub author: NamedActor,
    pub created_at: Timestamp,
    /// The time of the last change of its text, at first the time of its creation.
    pub updated_at: Timestamp,
    /// From 1, one higher with each change.
    pub version: i64,
    pub text: NoteText,
}

impl PetNote {
    /// The maximum number of notes on one animal.
    pub const MAX_COUNT: i64 = 500;

    /// Returns the length of its texts, in bytes.
    pub fn length(&self) -> usize {
        let name_length = self.author.name.as_ref().map_or(0, |name| name.len());
        self.text.as_str().len() + name_length
    }
}

/// The person or program that changes or deletes a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteEditor {
    /// An editor who may change only the notes that they wrote.
    Author(Actor),
    /// A manager, who may change every note.
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
