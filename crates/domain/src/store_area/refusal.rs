//! The reasons why a command is refused.

use super::{Category, FieldProblem, NotRevertible, Resource};
use crate::PetId;

/// The reason why a command is refused. The messages are for clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A member has a value that the present time or state does not allow, such as an end in the
    /// past.
    Invalid(&'static str),
    /// The subject of the command does not exist.
    NotFound(&'static str),
    /// The command must have a precondition.
    PreconditionRequired(&'static str),
    /// The subject has a different version than the command requires. Contains the present state;
    /// `None` if the subject does not exist.
    PreconditionFailed(Option<Box<Resource>>),
    /// The present state of the subject does not allow the command.
    InvalidTransition(Box<Conflict>),
    /// An open order reserves the animal.
    OpenOrder(Box<Conflict>),
    /// A field value in the command is invalid.
    Fields(FieldProblem),
    /// Another animal already has the value of a unique field.
    DuplicateValue {
        /// The message. It names the other animal and the field.
        message: String,
        /// The name of the field.
        field: String,
        /// The animal that has the value.
        other: PetId,
        /// The animal to be changed, if it existed before the batch.
        current: Option<Box<Resource>>,
    },
    /// This other category already has the label, regardless of upper and lower case.
    DuplicateLabel(Box<Category>),
    /// The animal, order or category has changed since the act, so the act can no longer be
    /// reverted. Contains the present state; `None` if the resource does not exist.
    MovedOn(Option<Box<Resource>>),
    /// The act can never be reverted.
    NotRevertible(NotRevertible),
    /// The animal already has the maximum number of photos.
    TooManyPhotos,
    /// The animal already has the maximum number of notes.
    TooManyNotes,
    /// The client may change only notes that it wrote itself.
    NoteOfAnotherAuthor,
    /// The command is part of a batch, and the resources that the batch changes and returns would
    /// be too long in total.
    TooLong,
    /// All identifiers for new animals, orders or notes are used.
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
    /// The message. It names the present state, and what can be done about it.
    pub message: String,
    /// The present state: the animal, or the order that the command is about.
    pub current: Resource,
}
