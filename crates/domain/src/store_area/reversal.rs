//! Reverting an act in the journal: what a revert knows of the act.
//!
//! An act is what one request changed in one transaction. Selling a reserved animal is an act of two changes:
//! `order.completed`, and `pet.changed` with the status that follows from it.

use jiff::{SignedDuration, Timestamp};

use super::{Category, FieldPatch, Order, Photo, PhotoId, StorePet};
use crate::PetId;

/// How long after an act its photos can come back. The service deletes their files a day after it.
pub const PHOTOS_COME_BACK_WITHIN: SignedDuration = SignedDuration::from_hours(23);

/// The effect of an act on one animal and its order, or on one category, which a revert takes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reversal {
    /// Takes back what the act did with an animal, with an order for it, or with both.
    Pet(Box<PetReversal>),
    /// Takes back what the act did with a category.
    Category(CategoryReversal),
    /// Takes back nothing, because the act can never be reverted. A store is asked nevertheless: if the same request was
    /// carried out before, or another one with its idempotency key, the client must know.
    Impossible(NotRevertible),
}

/// The effect of an act on one animal and on the order for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PetReversal {
    /// The animal that the act changed, or for which it changed an order.
    pub id: PetId,
    /// The time of the act.
    pub acted_at: Timestamp,
    /// The end of a reservation that is made again after its own end has passed.
    pub default_end: Timestamp,
    /// The change of the animal, if the act changed the animal itself.
    pub pet_change: Option<PetChange>,
    /// The change of an order, if the act placed or changed one.
    pub order: Option<OrderChange>,
    /// The values of fields from before the act, as far as the act changed them.
    pub fields: FieldPatch,
    /// The photos that the act took from the animal.
    pub lost_photos: Vec<LostPhoto>,
}

/// An animal before the first change of an act, and after the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PetChange {
    /// The animal before the act.
    pub before: StorePet,
    /// The animal after the act.
    pub after: StorePet,
}

/// An order before the first change of an act, and after the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderChange {
    /// The order before the act; `None` if the act placed it.
    pub before: Option<Order>,
    /// The order after the act.
    pub after: Order,
}

/// The effect of an act on one category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CategoryReversal {
    /// The number of the category.
    pub id: i64,
    /// The category before the act; `None` if it had no label.
    pub before: Option<Category>,
    /// The category after the act; `None` if it has no label any more.
    pub after: Option<Category>,
}

/// A photo that an act took from an animal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostPhoto {
    /// The photo as it was when the animal lost it.
    pub photo: Photo,
    /// The position of the photo, from 0.
    pub position: usize,
    /// The photo that took its place, such as the same picture turned.
    pub replaced_by: Option<PhotoId>,
    /// Whether the files of the photo are still there.
    pub has_files: bool,
}

/// The reason why an act can never be reverted, whatever the present state is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotRevertible {
    /// The act has a change of a kind that cannot be reverted: it added animals, or a later release made it in a way that
    /// this one does not know.
    Kind,
    /// The act placed or changed several orders for one animal.
    SeveralOrders,
    /// The journal has no difference that a revert could take back: only the contact of an order changed, which the
    /// journal does not have.
    NoDifference,
    /// The reservation ended earlier before the act, and that end has passed.
    EndHasPassed,
    /// The files of a deleted photo are gone, or will soon be.
    PhotosGone,
    /// A value from before the act is no longer valid. The text says why.
    Value(String),
}

impl NotRevertible {
    /// Returns the reason as a sentence for clients.
    pub fn message(&self) -> String {
        let reason = match self {
            Self::Kind => {
                "Only changes of animals, orders and categories that exist can be reverted."
            }
            Self::SeveralOrders => {
                "The change cannot be reverted: it is about several orders for one animal."
            }
            Self::NoDifference => {
                "The change cannot be reverted: the journal has no difference between before and after."
            }
            Self::EndHasPassed => {
                "The change cannot be reverted: the reservation would already have ended."
            }
            Self::PhotosGone => {
                "The change cannot be reverted: the files of a photo are not kept any more."
            }
            Self::Value(problem) => {
                return format!(
                    "The change cannot be reverted: a value from before is not valid now. {problem}"
                );
            }
        };
        reason.to_owned()
    }
}

impl Reversal {
    /// Returns the photos that the animal gets back.
    pub fn lost_photos(&mut self) -> &mut [LostPhoto] {
        match self {
            Self::Pet(reversal) => &mut reversal.lost_photos,
            Self::Category(_) | Self::Impossible(_) => &mut [],
        }
    }
}

impl PetReversal {
    /// Whether the animal comes back to the catalogue by the revert, or leaves it.
    pub fn changes_catalogue(&self) -> bool {
        self.pet_change
            .as_ref()
            .is_some_and(|pet| pet.before.withdrawal.is_some() != pet.after.withdrawal.is_some())
    }

    /// Whether the animal comes back to the catalogue by the revert.
    pub fn restores_pet(&self) -> bool {
        self.pet_change
            .as_ref()
            .is_some_and(|pet| pet.before.withdrawal.is_none() && pet.after.withdrawal.is_some())
    }
}
