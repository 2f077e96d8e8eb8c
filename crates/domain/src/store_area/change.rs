//! The input and output of [`decide`](fn@super::decide): the state that a command needs, and the
//! changes that it makes.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use std::{collections::BTreeSet, sync::Arc};

use super::{
    Category, FieldSet, NoteId, Order, OrderId, PetNote, PhotoId, Resource, StorePet,
    UniqueValueOwner,
};
use crate::{PetId, named_enum::named_enum};

/// The part of a store's state that a command needs. It is read in the same transaction that writes
/// the decision.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PresentState {
    /// The animal that the command is about, or the animal of the order that it is about.
    pub pet: Option<StorePet>,
    /// The order that currently determines the status of the animal: see [`Order::holds`].
    pub holding_order: Option<Order>,
    /// The order that the command is about.
    pub order: Option<Order>,
    /// The category that the command is about, if it has a label.
    pub category: Option<Category>,
    /// The note that the command is about.
    pub note: Option<PetNote>,
    /// The number of notes on the animal, if the command adds a note.
    pub note_count: i64,
    /// Another category that already has the label that the command sets, regardless of upper and
    /// lower case.
    pub namesake: Option<Category>,
    /// The fields of the store, if the command or the animal has field values.
    pub fields: Arc<FieldSet>,
    /// The current owners of the unique values that the command sets.
    pub owners: BTreeSet<UniqueValueOwner>,
    /// The identifier for an animal that the command adds; `None` if the identifiers are exhausted.
    pub next_pet: Option<PetId>,
    /// The identifier for an order that the command adds; `None` if the identifiers are exhausted.
    pub next_order: Option<OrderId>,
    /// The identifier for a note that the command adds; `None` if the identifiers are exhausted.
    pub next_note: Option<NoteId>,
}

/// The outcome of a command that the rules allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The changes, in the order in which they are recorded. There are none if the subject already
    /// is in the requested state.
    pub changes: Vec<Change>,
    /// The order that no longer holds its animal, because the status of the animal was changed by
    /// hand. See [`Order::holds`].
    pub releases: Option<OrderId>,
    /// The subject of the command after the changes; `None` if it was deleted.
    pub result: Option<Resource>,
    /// The photo that the command added, replaced or changed, if any.
    pub photo: Option<PhotoId>,
}

/// One change of a resource, with its full state before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub kind: ChangeType,
    /// The resource before the change; `None` if the change created it.
    pub before: Option<Resource>,
    /// The resource after the change; `None` if the change deleted it.
    pub after: Option<Resource>,
}

named_enum! {
    /// The type of a change, as the journal and the messages to webhooks name it.
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
