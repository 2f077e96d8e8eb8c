//! The reasons why a command changes nothing.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use super::{Category, FieldProblem, NotRevertible, Resource};
use crate::PetId;

/// The reason why a command changes nothing. The messages are for clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A member has a value that is only valid at another time.
    Invalid(&'static str),
    NotFound(&'static str),
    PreconditionRequired(&'static str),
    /// The subject has another version than the command requires. `None` if it does not exist.
    PreconditionFailed(Option<Box<Resource>>),
    /// The subject is not in a state in which the command is possible.
    InvalidTransition(Box<Conflict>),
    OpenOrder(Box<Conflict>),
    Fields(FieldProblem),
    /// Another animal has the value of a unique field.
    DuplicateValue {
        message: String,
        /// The name of the field.
        field: String,
        other: PetId,
        /// This animal, if it was there before the commands.
        current: Option<Box<Resource>>,
    },
    /// Another category has the label, in any case.
    DuplicateLabel(Box<Category>),
    /// The animal, the order or the category is not as an act left it, so the act cannot be reverted any more. The present
    /// state, or `None` if it does not exist.
    MovedOn(Option<Box<Resource>>),
    NotRevertible(NotRevertible),
    /// The animal has as many photos as it can have.
    TooManyPhotos,
    /// The animal has as many notes as it can have.
    TooManyNotes,
    /// The client may change only its own notes.
    NoteOfAnotherAuthor,
    /// With this command, the representations of a batch are too long together.
    TooLong,
    NoIdentifierLeft,
}

impl From<NotRevertible> for Refusal {
    fn from(reason: NotRevertible) -> Self {
        Self::NotRevertible(reason)
    }
}

impl From<FieldProblem> for Refusal {
    fn from(problem: FieldProblem) -> Self {
        Self::Fields(problem)
    }
}

/// A conflict between a command and the present state of its subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The message, which names the present state, and what is possible.
    pub message: String,
    /// The present state: the animal, or the order that the command is about.
    pub current: Resource,
}
