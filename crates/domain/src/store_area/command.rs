//! Commands, with which a client or the clock changes a store.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use jiff::Timestamp;

use super::{
    AltText, Decimal, FieldPatch, FieldValue, Focus, Label, NewOrder, NewPhoto, Note, NoteEditor,
    NoteId, NoteText, OrderId, OrderPatch, Patch, PetPatch, PhotoId, Preconditions, Reason,
    RequestedValue, Reversal, WithdrawalReason,
};
use crate::{NamedActor, NewPet, PetId};

/// One change of the store. [`super::decide`] has the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
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
    /// Takes a withdrawn animal back into the catalogue, as it was.
    RestorePet {
        id: PetId,
        preconditions: Preconditions,
    },
    /// Adds a photo after the others of an animal.
    AddPhoto {
        id: PetId,
        photo: NewPhoto,
    },
    /// Puts a photo in the place of another one, with its text.
    ReplacePhoto {
        id: PetId,
        photo: PhotoId,
        replacement: NewPhoto,
    },
    PatchPhoto {
        id: PetId,
        photo: PhotoId,
        patch: PhotoPatch,
        /// The preconditions for the version of the animal.
        preconditions: Preconditions,
    },
    /// Sets the order of all photos of an animal.
    OrderPhotos {
        id: PetId,
        order: Vec<PhotoId>,
        preconditions: Preconditions,
    },
    DeletePhoto {
        id: PetId,
        photo: PhotoId,
        /// The preconditions for the version of the animal.
        preconditions: Preconditions,
    },
    /// Reserves or sells an animal.
    PlaceOrder(NewOrder),
    /// Sells the reserved animal.
    CompleteOrder {
        id: OrderId,
        price: Patch<Decimal>,
        preconditions: Preconditions,
    },
    CancelOrder {
        id: OrderId,
        reason: Option<Reason>,
        preconditions: Preconditions,
    },
    ReturnOrder {
        id: OrderId,
        reason: Option<Reason>,
        preconditions: Preconditions,
    },
    /// Corrects that an order was closed by mistake: it reserves its animal again.
    ReopenOrder {
        id: OrderId,
        /// `None` for the end that it had, or `default_end` if that has passed.
        expires_at: Option<Timestamp>,
        default_end: Timestamp,
        preconditions: Preconditions,
    },
    /// Changes members of an order, or extends a reservation.
    PatchOrder {
        id: OrderId,
        patch: OrderPatch,
        preconditions: Preconditions,
    },
    /// Ends a reservation whose time has passed. Only the clock gives this command.
    ExpireOrder {
        id: OrderId,
    },
    /// Erases the contact of an order that closed at this time or before. Only the clock gives this
    /// command.
    EraseContact {
        id: OrderId,
        closed_until: Timestamp,
    },
    /// Creates or changes the label of a category.
    PutCategory {
        id: i64,
        label: Label,
        /// Requires a version, or that there is none.
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
    /// Deletes a note for good.
    DeleteNote(NoteEdit),
    /// Reverts the changes of an act to an animal and its order, or to a category.
    Revert(Reversal),
}

/// The subject of a command: a store reads it before the decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// Something that does not exist yet.
    New,
    /// Nothing: the command is refused, whatever the store has.
    Nothing,
    Pet(PetId),
    /// This order, and its animal.
    Order(OrderId),
    Category(i64),
    Note(NoteId),
}

impl Command {
    /// Returns the command to add an animal without values of fields and without photos.
    pub fn add(pet: NewPet) -> Self {
        Self::AddPet(pet, FieldPatch::default(), Vec::new())
    }

    /// Returns the resource that the command changes, or [`Subject::New`] for a new animal.
    pub fn subject(&self) -> Subject {
        match self {
            Self::AddPet(..) => Subject::New,
            Self::PatchPet { id, .. }
            | Self::WithdrawPet { id, .. }
            | Self::RestorePet { id, .. }
            | Self::AddPhoto { id, .. }
            | Self::ReplacePhoto { id, .. }
            | Self::PatchPhoto { id, .. }
            | Self::OrderPhotos { id, .. }
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
            Self::Revert(Reversal::Pet(reversal)) => match &reversal.order {
                Some(order) => Subject::Order(order.after.id),
                None => Subject::Pet(reversal.id),
            },
            Self::Revert(Reversal::Category(category)) => Subject::Category(category.id),
            Self::Revert(Reversal::Impossible(_)) => Subject::Nothing,
        }
    }

    /// Returns the label that the command gives a category, if it gives one.
    pub fn new_label(&self) -> Option<&Label> {
        match self {
            Self::PutCategory { label, .. } => Some(label),
            Self::Revert(Reversal::Category(reversal)) => {
                reversal.before.as_ref().map(|category| &category.label)
            }
            _ => None,
        }
    }

    /// Returns the values of fields in the command; `None` if it is no command about the values of an animal.
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

    /// Returns the names of fields with the values that the command sets.
    pub fn field_values(&self) -> impl Iterator<Item = (&str, &FieldValue)> {
        let patch = self.fields().into_iter().flatten();
        patch.filter_map(|(name, requested)| match requested {
            RequestedValue::Set(value) => Some((name.as_str(), value)),
            RequestedValue::Clear | RequestedValue::Invalid => None,
        })
    }
}

/// A request to change or delete a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteEdit {
    pub id: NoteId,
    /// The animal in the path of the request, which must be the animal of the note.
    pub pet_id: PetId,
    pub editor: NoteEditor,
    pub preconditions: Preconditions,
}

/// New values of a photo.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PhotoPatch {
    pub alt: Patch<AltText>,
    pub focus: Patch<Focus>,
    /// The new position, from 0. A position after the end means the last one.
    pub position: Option<usize>,
}
