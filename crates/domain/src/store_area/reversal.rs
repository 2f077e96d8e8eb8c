//! The input for reverting an act: the effects of the act, reconstructed from the journal.
//!
//! Here, an act consists of all changes that one request made in one transaction. For example,
//! selling a reserved animal is an act of two changes: `order.completed`, and `pet.changed` with
//! the resulting status. The type [`Act`](super::Act) is something else: an act of administration.

use jiff::{SignedDuration, Timestamp};

use super::{Category, FieldPatch, Order, Photo, PhotoId, StorePet};
use crate::PetId;

/// The time after an act in which a revert can restore the photos that the act deleted. It ends an
/// hour before the service deletes their files, so that a restored photo never lacks its files.
pub const PHOTO_RESTORE_WINDOW: SignedDuration = SignedDuration::from_hours(23);

/// The part of an act that one revert command undoes: its effect on one animal and its order, or on
/// one category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reversal {
    /// Undoes the changes of an animal, of an order for it, or of both.
    Pet(Box<PetReversal>),
    /// Undoes the changes of a category.
    Category(CategoryReversal),
    /// The act can never be reverted.
    ///
    /// The command still goes through the store, because the request may be a repetition. If its
    /// idempotency key was used before, the client must get the remembered response, or the error
    /// about another request with this key.
    Impossible(NotRevertible),
}

/// The effect of an act on one animal and on the order for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PetReversal {
    /// The animal that the act changed, or whose order it changed.
    pub id: PetId,
    /// When the act took place.
    pub acted_at: Timestamp,
    /// The new end of a reservation that is reopened after its original end has passed.
    pub default_end: Timestamp,
    /// The change of the animal, if the act changed the animal itself.
    pub pet_change: Option<PetChange>,
    /// The change of an order, if the act placed or changed one.
    pub order_change: Option<OrderChange>,
    /// The field values that the act changed, with their values from before.
    pub fields: FieldPatch,
    /// The photos that the act removed from the animal.
    pub lost_photos: Vec<LostPhoto>,
}

/// The state of an animal before the first change of an act, and after the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PetChange {
    /// The animal before the act.
    pub before: StorePet,
    /// The animal after the act.
    pub after: StorePet,
}

/// The state of an order before the first change of an act, and after the last one.
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
    /// The category after the act; `None` if the act deleted its label.
    pub after: Option<Category>,
}

/// A photo that an act removed from an animal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostPhoto {
    /// The photo as it was just before its removal.
    pub photo: Photo,
    /// The former position of the photo, from 0.
    pub position: usize,
    /// The photo that replaced it, such as a rotated version of the same picture.
    pub replaced_by: Option<PhotoId>,
    /// Whether the files of the photo still exist.
    pub has_files: bool,
}

/// The reason why an act cannot be reverted, whatever the present state is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotRevertible {
    /// The act contains a change of a kind that cannot be reverted: it added animals, or it was
    /// made by a later release in a form that this release does not know.
    Kind,
    /// The act placed or changed several orders for one animal.
    SeveralOrders,
    /// The journal shows no difference to undo. This is the case if only the contact of an order
    /// changed, because the journal contains no contacts.
    NoDifference,
    /// The act extended a reservation whose former end has passed by now.
    EndHasPassed,
    /// The files of a deleted photo are deleted, or soon will be.
    PhotosGone,
    /// A value from before the act is no longer valid. Contains the message about the value.
    Value(String),
}

impl NotRevertible {
    /// Returns the reason as a message for clients.
    pub fn message(&self) -> String {
        let reason = match self {
            Self::Kind => {
                return "Only changes of animals, orders and categories that exist can be reverted."
                    .to_owned();
            }
            Self::SeveralOrders => "it is about several orders for one animal.".to_owned(),
            Self::NoDifference => {
                "the journal has no difference between before and after.".to_owned()
            }
            Self::EndHasPassed => "the reservation would already have ended.".to_owned(),
            Self::PhotosGone => "the files of a photo are not kept any more.".to_owned(),
            Self::Value(problem) => format!("a value from before is not valid now. {problem}"),
        };
        format!("The change cannot be reverted: {reason}")
    }
}

impl Reversal {
    /// Returns the photos that the revert restores, so that the caller can set
    /// [`LostPhoto::has_files`].
    pub fn lost_photos_mut(&mut self) -> &mut [LostPhoto] {
        match self {
            Self::Pet(reversal) => &mut reversal.lost_photos,
            Self::Category(_) | Self::Impossible(_) => &mut [],
        }
    }
}

impl PetReversal {
    /// Whether the revert restores the animal to the catalogue, or withdraws it.
    pub fn changes_catalogue(&self) -> bool {
        let Some(PetChange { before, after }) = &self.pet_change else {
            return false;
        };
        before.withdrawal.is_some() != after.withdrawal.is_some()
    }

    /// Whether the revert restores the animal to the catalogue.
    pub fn restores_pet(&self) -> bool {
        let Some(PetChange { before, after }) = &self.pet_change else {
            return false;
        };
        before.withdrawal.is_none() && after.withdrawal.is_some()
    }
}
