//! The state that a command needs, its changes, and the reasons why it may change nothing.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{collections::BTreeSet, sync::Arc};

use super::{
    Category, FieldProblem, FieldSet, NotRevertible, NoteId, Order, OrderId, PetNote, PhotoId,
    StorePet, UniqueValueOwner,
};
use crate::{PetId, words::words};

/// The state of a store, as far as a command needs it. A store reads it in the transaction that writes the decision.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PresentState {
    /// The animal of the command, or the animal of its order.
    pub pet: Option<StorePet>,
    /// The order that holds this animal. See [`Order::holds`].
    pub holder: Option<Order>,
    pub order: Option<Order>,
    pub category: Option<Category>,
    pub note: Option<PetNote>,
    /// The number of notes on the animal, if the command adds one.
    pub note_count: i64,
    /// Another category with the label that the command gives, in any case.
    pub namesake: Option<Category>,
    /// The fields of the store, if the command or the animal has values.
    pub fields: Arc<FieldSet>,
    /// The animals that have the unique values in the command.
    pub owners: BTreeSet<UniqueValueOwner>,
    /// The identifier for an animal that the command adds; `None` if all are used.
    pub next_pet: Option<PetId>,
    /// The identifier for an order that the command adds; `None` if all are used.
    pub next_order: Option<OrderId>,
    /// The identifier for a note that the command adds; `None` if all are used.
    pub next_note: Option<NoteId>,
}

/// The decision about a command: its changes, and the subject after them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The changes, in this order. Empty if everything is already as the command wants it.
    pub changes: Vec<Change>,
    /// The order that no longer holds its animal, because the animal's status was changed by hand.
    pub releases: Option<OrderId>,
    /// The subject of the command, after the changes; `None` if it was deleted.
    pub result: Option<Resource>,
    /// The photo of the result that the command is about, if it is about one.
    pub photo: Option<PhotoId>,
}

/// One change, with the whole resource before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub kind: ChangeType,
    /// `None` if it is new.
    pub before: Option<Resource>,
    /// `None` if it was deleted.
    pub after: Option<Resource>,
}

/// An animal, an order, a category or a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resource {
    Pet(StorePet),
    Order(Order),
    Category(Category),
    Note(PetNote),
}

impl From<StorePet> for Resource {
    fn from(pet: StorePet) -> Self {
        Self::Pet(pet)
    }
}

impl From<Order> for Resource {
    fn from(order: Order) -> Self {
        Self::Order(order)
    }
}

impl From<Category> for Resource {
    fn from(category: Category) -> Self {
        Self::Category(category)
    }
}

impl From<PetNote> for Resource {
    fn from(note: PetNote) -> Self {
        Self::Note(note)
    }
}

impl Resource {
    /// Removes the contact of an order.
    pub fn drop_contact(&mut self) {
        if let Self::Order(order) = self {
            order.contact = None;
        }
    }

    /// Returns the animal, if it is one.
    pub fn pet(&self) -> Option<&StorePet> {
        if let Self::Pet(pet) = self {
            Some(pet)
        } else {
            None
        }
    }

    /// Returns the order, if it is one.
    pub fn order(&self) -> Option<&Order> {
        if let Self::Order(order) = self {
            Some(order)
        } else {
            None
        }
    }

    /// Returns the category, if it is one.
    pub fn category(&self) -> Option<&Category> {
        if let Self::Category(category) = self {
            Some(category)
        } else {
            None
        }
    }

    /// Returns the note, if it is one.
    pub fn note(&self) -> Option<&PetNote> {
        if let Self::Note(note) = self {
            Some(note)
        } else {
            None
        }
    }

    pub fn id(&self) -> i64 {
        match self {
            Self::Pet(pet) => pet.id.get(),
            Self::Order(order) => order.id.get(),
            Self::Category(category) => category.id,
            Self::Note(note) => note.id.get(),
        }
    }

    /// Returns the animal that it concerns, even if it is an order or a note.
    pub fn pet_id(&self) -> Option<PetId> {
        match self {
            Self::Pet(pet) => Some(pet.id),
            Self::Order(order) => Some(order.pet_id),
            Self::Category(_) => None,
            Self::Note(note) => Some(note.pet_id),
        }
    }

    pub fn version(&self) -> i64 {
        match self {
            Self::Pet(pet) => pet.version,
            Self::Order(order) => order.version,
            Self::Category(category) => category.version,
            Self::Note(note) => note.version,
        }
    }
}

words! {
    pub enum ChangeType {
        PetAdded = "pet.added",
        PetChanged = "pet.changed",
        PetWithdrawn = "pet.withdrawn",
        PetRestored = "pet.restored",
        OrderPlaced = "order.placed",
        OrderChanged = "order.changed",
        OrderCompleted = "order.completed",
        OrderCancelled = "order.cancelled",
        OrderExpired = "order.expired",
        OrderReturned = "order.returned",
        OrderReopened = "order.reopened",
        CategoryChanged = "category.changed",
        CategoryDeleted = "category.deleted",
        NoteAdded = "note.added",
        NoteChanged = "note.changed",
        NoteDeleted = "note.deleted",
        PetsImported = "pets.imported",
    }
}

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
