//! The input and the output of the rules: the state that a command needs, and the changes that it makes.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{collections::BTreeSet, sync::Arc};

use super::{
    Category, FieldSet, NoteId, Order, OrderId, PetNote, PhotoId, Resource, StorePet,
    UniqueValueOwner,
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
