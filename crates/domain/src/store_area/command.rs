//! Commands: what a client, or the clock, wants to change.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use jiff::Timestamp;

use super::{
    AltText, Decimal, FieldPatch, FieldValue, Focus, Given, Label, NewOrder, NewPhoto, Note,
    OrderId, OrderPatch, Patch, PetPatch, PhotoId, Reason, Reversal, WithdrawalReason,
};
use crate::{NewPet, PetId};

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
    /// Adds a photo behind the others of an animal.
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
        /// Of the animal.
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
        /// Of the animal.
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
    /// Puts right that an order was closed by mistake: it reserves its animal again.
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
    /// Takes back what an act did with an animal and its order, or with a category.
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
}

impl Command {
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
}

impl Command {
    /// Adds an animal without values.
    pub fn add(pet: NewPet) -> Self {
        Self::AddPet(pet, FieldPatch::default(), Vec::new())
    }

    /// Returns the change of the fields of an animal.
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

    /// Returns the values that it gives to fields.
    pub fn field_values(&self) -> impl Iterator<Item = (&str, &FieldValue)> {
        self.fields()
            .into_iter()
            .flatten()
            .filter_map(|(name, given)| match given {
                RequestedValue::Set(value) => Some((name.as_str(), value)),
                RequestedValue::Clear | RequestedValue::Invalid => None,
            })
    }
}

/// New values of a photo.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PhotoPatch {
    pub alt: Patch<AltText>,
    pub focus: Patch<Focus>,
    /// From 0. Beyond the end is the last.
    pub position: Option<usize>,
}

/// The conditions for the change (RFC 9110, section 13.1).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Preconditions {
    /// `If-Match`.
    pub if_match: Option<IfMatch>,
    /// `If-None-Match: *`: nothing is there.
    pub if_absent: bool,
}

/// The value of `If-Match`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IfMatch {
    Any,
    /// One of these versions. Empty if no tag of the list is the tag of a version.
    Versions(Vec<i64>),
}

impl IfMatch {
    /// Returns the versions that it names; `None` if it allows any.
    pub fn versions(&self) -> Option<&[i64]> {
        match self {
            Self::Any => None,
            Self::Versions(versions) => Some(versions),
        }
    }
}

impl Preconditions {
    /// Requires that nothing is there.
    pub const ABSENT: Self = Self {
        if_match: None,
        if_absent: true,
    };

    /// Requires that something is there, in any version.
    pub const PRESENT: Self = Self {
        if_match: Some(IfMatch::Any),
        if_absent: false,
    };

    /// Requires exactly this version.
    pub fn version(version: i64) -> Self {
        Self {
            if_match: Some(IfMatch::Versions(vec![version])),
            if_absent: false,
        }
    }

    pub(super) fn are_given(&self) -> bool {
        self.if_match.is_some() || self.if_absent
    }

    /// Whether they hold for what has this version, or for nothing.
    pub(super) fn hold_for(&self, version: Option<i64>) -> bool {
        let matches = match (&self.if_match, version) {
            (None, _) | (Some(IfMatch::Any), Some(_)) => true,
            (Some(IfMatch::Versions(versions)), Some(version)) => versions.contains(&version),
            (Some(_), None) => false,
        };
        matches && !(self.if_absent && version.is_some())
    }
}
