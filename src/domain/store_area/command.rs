//! Commands: what a client, or the clock, wants to change.

use jiff::Timestamp;

use super::{Label, Note, OrderId, Reason, Reference, WithdrawalReason};
use crate::domain::{NewPet, PetId, PetName, PetStatus};

/// One change of the store. [`super::decide`] has the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Adds an animal.
    AddPet(NewPet),
    /// Changes members of an animal.
    PatchPet {
        /// The animal.
        id: PetId,
        /// The new values.
        patch: PetPatch,
        /// Requires a version.
        preconditions: Preconditions,
    },
    /// Takes an animal out of the catalogue.
    WithdrawPet {
        /// The animal.
        id: PetId,
        /// Why.
        reason: WithdrawalReason,
        /// A remark.
        note: Option<Note>,
        /// Requires a version.
        preconditions: Preconditions,
    },
    /// Takes a withdrawn animal back into the catalogue, as it was.
    RestorePet {
        /// The animal.
        id: PetId,
        /// Requires a version.
        preconditions: Preconditions,
    },
    /// Reserves or sells an animal.
    PlaceOrder(NewOrder),
    /// Sells the reserved animal.
    CompleteOrder {
        /// The order.
        id: OrderId,
    },
    /// Ends a reservation.
    CancelOrder {
        /// The order.
        id: OrderId,
        /// Why.
        reason: Option<Reason>,
    },
    /// Undoes a sale.
    ReturnOrder {
        /// The order.
        id: OrderId,
        /// Why.
        reason: Option<Reason>,
    },
    /// Changes members of an order, or extends a reservation.
    PatchOrder {
        /// The order.
        id: OrderId,
        /// The new values.
        patch: OrderPatch,
        /// Requires a version.
        preconditions: Preconditions,
    },
    /// Ends a reservation whose time has passed. Only the clock gives this command.
    ExpireOrder {
        /// The order.
        id: OrderId,
    },
    /// Creates or changes the label of a category.
    PutCategory {
        /// The category.
        id: i64,
        /// Its new label.
        label: Label,
        /// Requires a version, or that there is none.
        preconditions: Preconditions,
    },
    /// Deletes the label of a category.
    DeleteCategory {
        /// The category.
        id: i64,
        /// Requires a version.
        preconditions: Preconditions,
    },
}

/// What a command is about: a store reads it before the decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// Something that does not exist yet.
    New,
    /// This animal.
    Pet(PetId),
    /// This order, and its animal.
    Order(OrderId),
    /// This category.
    Category(i64),
}

impl Command {
    /// What the command is about.
    #[must_use]
    pub fn subject(&self) -> Subject {
        match self {
            Self::AddPet(_) => Subject::New,
            Self::PatchPet { id, .. }
            | Self::WithdrawPet { id, .. }
            | Self::RestorePet { id, .. } => Subject::Pet(*id),
            Self::PlaceOrder(new) => Subject::Pet(new.pet_id),
            Self::CompleteOrder { id }
            | Self::CancelOrder { id, .. }
            | Self::ReturnOrder { id, .. }
            | Self::PatchOrder { id, .. }
            | Self::ExpireOrder { id } => Subject::Order(*id),
            Self::PutCategory { id, .. } | Self::DeleteCategory { id, .. } => {
                Subject::Category(*id)
            }
        }
    }
}

/// New values of an animal. `None` keeps the present value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PetPatch {
    /// Its name.
    pub name: Option<PetName>,
    /// Its category.
    pub category_id: Option<i64>,
    /// Its status. Only while no order is open.
    pub status: Option<PetStatus>,
}

/// An order that is about to be placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOrder {
    /// The animal.
    pub pet_id: PetId,
    /// Whether it is reserved or sold.
    pub terms: OrderTerms,
    /// The store's own number for it.
    pub reference: Option<Reference>,
    /// A remark.
    pub note: Option<Note>,
}

/// Whether an order reserves or sells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderTerms {
    /// Reserves until this time.
    ReservedUntil(Timestamp),
    /// Sells at once.
    Completed,
}

/// New values of an order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OrderPatch {
    /// Its reference.
    pub reference: Field<Reference>,
    /// Its note.
    pub note: Field<Note>,
    /// The end of a reservation; `None` keeps it. A reservation always has an end.
    pub expires_at: Option<Timestamp>,
}

/// The new value of a member that may be null (RFC 7396).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Field<T> {
    /// The present value stays.
    #[default]
    Keep,
    /// The member becomes null.
    Clear,
    /// The member gets this value.
    Set(T),
}

impl<T: Clone> Field<T> {
    /// The value after the change.
    pub(super) fn apply(&self, present: &mut Option<T>) {
        match self {
            Self::Keep => {}
            Self::Clear => *present = None,
            Self::Set(value) => *present = Some(value.clone()),
        }
    }
}

/// What must hold for the change to be made (RFC 9110, section 13.1).
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
    /// `*`: any version.
    Any,
    /// One of these versions. Empty if no tag of the list is the tag of a version.
    Versions(Vec<i64>),
}

impl Preconditions {
    /// Requires exactly this version.
    #[must_use]
    pub fn version(version: i64) -> Self {
        Self { if_match: Some(IfMatch::Versions(vec![version])), if_absent: false }
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
