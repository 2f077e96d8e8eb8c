//! The note: a dated remark about one animal, for the people of the store only.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::fmt;

use jiff::Timestamp;

use super::Text;
use crate::{Actor, NamedActor, PetId, pet::id};

id! {
    /// The identifier of a note: from 1 to 2^53 - 1, ascending.
    NoteId
}

/// The text of a note: 1 to 1,000 characters without U+0000, such as "Afraid of men, fine with children".
///
/// It can be about people, and it is gone when the note is deleted. So nothing that stays longer may have it: not the log
/// of changes, a remembered response or a line of the log.
#[derive(Clone, PartialEq, Eq)]
pub struct NoteText(Text<{ NoteText::MAX_LENGTH }, 1>);

impl NoteText {
    /// The maximum length, in characters.
    pub const MAX_LENGTH: usize = 1_000;

    /// Returns the text; `None` if it is empty or too long, or contains U+0000.
    pub fn new(text: String) -> Option<Self> {
        Text::new(text).map(Self)
    }

    /// Returns the rule for the text, which completes "a string of …".
    pub fn rule() -> String {
        Text::<{ Self::MAX_LENGTH }, 1>::rule()
    }

    /// Returns the text as it was written.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Debug for NoteText {
    /// Hides the text, so that no line of the log gets it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("NoteText(..)")
    }
}

/// A note on an animal. Times have milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PetNote {
    /// Given by the store, and unique.
    pub id: NoteId,
    /// The animal, which never changes.
    pub pet_id: PetId,
    /// Who wrote it, with the name at that time.
    pub author: NamedActor,
    pub created_at: Timestamp,
    /// When its text was changed last; the time of its creation before.
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
