//! The commands by which a client, or the service itself at a set time, changes a store.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use jiff::Timestamp;

use super::{
    AltText, Decimal, FieldPatch, FieldValue, Focus, Label, NewOrder, NewPhoto, Note, NoteEditor,
    NoteId, NoteText, OrderId, OrderPatch, Patch, PetPatch, PhotoId, Preconditions, Reason,
    RequestedValue, Reversal, WithdrawalReason,
};
use crate::{NamedActor, NewPet, PetId};

/// A request to change the store. [`decide`](fn@super::decide) contains the rules for each command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Adds an animal, with its field values and photos.
    AddPet(NewPet, FieldPatch, Vec<NewPhoto>),
    PatchPet {
        id: PetId,
        patch: PetPatch,
        preconditions: Preconditions,
    },
    /// Takes an animal out of the catalogue.
    WithdrawPet {
        id: PetId,
        reason: WithdrawalReason,
        note: Option<Note>,
        preconditions: Preconditions,
    },
    /// Returns a withdrawn animal to the catalogue, unchanged.
    RestorePet {
        id: PetId,
        preconditions: Preconditions,
    },
    /// Appends a photo to the photos of an animal.
    AddPhoto { id: PetId, photo: NewPhoto },
    /// Replaces the picture of a photo, such as by a rotated one. The alternative text stays.
    ReplacePhoto {
        id: PetId,
        photo: PhotoId,
        replacement: NewPhoto,
    },
    PatchPhoto {
        id: PetId,
        photo: PhotoId,
        patch: PhotoPatch,
        /// The preconditions on the version of the animal.
        preconditions: Preconditions,
    },
    /// Rearranges the photos of an animal. `order` has the identifiers of all its photos.
    RearrangePhotos {
        id: PetId,
        order: Vec<PhotoId>,
        preconditions: Preconditions,
    },
    DeletePhoto {
        id: PetId,
        photo: PhotoId,
        /// The preconditions on the version of the animal.
        preconditions: Preconditions,
    },
    /// Reserves or sells an animal.
    PlaceOrder(NewOrder),
    /// Sells the reserved animal, and completes the order.
    CompleteOrder {
        id: OrderId,
        price: Patch<Decimal>,
        preconditions: Preconditions,
    },
    /// Ends a reservation without a sale.
    CancelOrder {
        id: OrderId,
        reason: Option<Reason>,
        preconditions: Preconditions,
    },
    /// Takes a sold animal back.
    ReturnOrder {
        id: OrderId,
        reason: Option<Reason>,
        preconditions: Preconditions,
    },
    /// Reopens an order that was closed by mistake: it reserves its animal again.
    ReopenOrder {
        id: OrderId,
        /// The new end of the reservation; `None` keeps the former end.
        expires_at: Option<Timestamp>,
        /// The end that replaces a former end that has passed or does not exist.
        default_end: Timestamp,
        preconditions: Preconditions,
    },
    /// Changes members of an order, including the end of a reservation.
    PatchOrder {
        id: OrderId,
        patch: OrderPatch,
        preconditions: Preconditions,
    },
    /// Expires a reservation whose end has passed. Only the service itself issues this command.
    ExpireOrder { id: OrderId },
    /// Erases the contact of an order that was closed at `closed_until` or earlier. Only the
    /// service itself issues this command.
    EraseContact {
        id: OrderId,
        closed_until: Timestamp,
    },
    /// Creates or changes the label of a category.
    PutCategory {
        id: i64,
        label: Label,
        /// Requires a version to change a label, or its absence to create one.
        preconditions: Preconditions,
    },
    /// Deletes the label of a category.
    DeleteCategory {
        id: i64,
        preconditions: Preconditions,
    },
    /// Adds a note on an animal.
    AddNote {
        pet_id: PetId,
        text: NoteText,
        author: NamedActor,
    },
    PatchNote {
        edit: NoteEdit,
        /// The new text; `None` keeps it.
        text: Option<NoteText>,
    },
    /// Deletes a note permanently.
    DeleteNote(NoteEdit),
    /// Undoes what an act changed on one animal and its order, or on one category.
    Revert(Reversal),
}

/// A request to change or delete a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteEdit {
    pub id: NoteId,
    /// The animal in the path of the request. The note must belong to this animal.
    pub pet_id: PetId,
    pub editor: NoteEditor,
    pub preconditions: Preconditions,
}

/// A change of a photo's text, focus and position.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PhotoPatch {
    pub alt: Patch<AltText>,
    pub focus: Patch<Focus>,
    /// The new position, from 0. A position past the end moves the photo to the end.
    pub position: Option<usize>,
}

/// The resource that a command is about. A store reads it before the decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A new animal, which has no identifier yet.
    New,
    /// No resource: the command is refused in any state of the store.
    Nothing,
    Pet(PetId),
    /// An order, together with its animal.
    Order(OrderId),
    Category(i64),
    Note(NoteId),
}

impl Command {
    /// Returns the command to add an animal without field values and photos.
    pub fn add(pet: NewPet) -> Self {
        Self::AddPet(pet, FieldPatch::default(), Vec::new())
    }

    /// Returns the resource that the store must read before the decision.
    pub fn subject(&self) -> Subject {
        match self {
            Self::AddPet(..) => Subject::New,
            Self::PatchPet { id, .. }
            | Self::WithdrawPet { id, .. }
            | Self::RestorePet { id, .. }
            | Self::AddPhoto { id, .. }
            | Self::ReplacePhoto { id, .. }
            | Self::PatchPhoto { id, .. }
            | Self::RearrangePhotos { id, .. }
            | Self::DeletePhoto { id, .. } => Subject::Pet(*id),
            Self::PlaceOrder(new) => Subject::Pet(new.pet_id),
            Self::AddNote { pet_id, .. } => Subject::Pet(*pet_id),
            Self::PatchNote { edit, .. } | Self::DeleteNote(edit) => Subject::Note(edit.id),
            Self::CompleteOrder { id, .. }
            | Self::CancelOrder { id, .. }
            | Self::ReturnOrder { id, .. }
            | Self::ReopenOrder { id, .. }
            | Self::PatchOrder { id, .. }
            | Self::ExpireOrder { id }
            | Self::EraseContact { id, .. } => Subject::Order(*id),
            Self::PutCategory { id, .. } | Self::DeleteCategory { id, .. } => {
                Subject::Category(*id)
            }
            Self::Revert(Reversal::Pet(reversal)) => match &reversal.order_change {
                Some(change) => Subject::Order(change.after.id),
                None => Subject::Pet(reversal.id),
            },
            Self::Revert(Reversal::Category(category)) => Subject::Category(category.id),
            Self::Revert(Reversal::Impossible(_)) => Subject::Nothing,
        }
    }

    /// Returns the label that the command sets for a category, if any.
    pub fn new_label(&self) -> Option<&Label> {
        match self {
            Self::PutCategory { label, .. } => Some(label),
            Self::Revert(Reversal::Category(reversal)) => {
                reversal.before.as_ref().map(|category| &category.label)
            }
            _ => None,
        }
    }

    /// Returns the field values in the command; `None` for a command that cannot change field
    /// values.
    pub fn fields(&self) -> Option<&FieldPatch> {
        match self {
            Self::AddPet(_, fields, _)
            | Self::PatchPet {
                patch: PetPatch { fields, .. },
                ..
            } => Some(fields),
            Self::Revert(Reversal::Pet(reversal)) => Some(&reversal.fields),
            _ => None,
        }
    }

    /// Returns the field values that the command sets, with the names of their fields. Cleared
    /// values are left out.
    pub fn field_values(&self) -> impl Iterator<Item = (&str, &FieldValue)> {
        let patch = self.fields().into_iter().flatten();
        patch.filter_map(|(name, requested)| match requested {
            RequestedValue::Set(value) => Some((name.as_str(), value)),
            RequestedValue::Clear | RequestedValue::Invalid => None,
        })
    }
}
