//! Reverting an act in the journal: what a revert knows of the act.
//!
//! An act is what one request changed in one transaction. Selling a reserved animal is an act of two changes:
//! `order.completed`, and `pet.changed` with the status that follows from it.

use jiff::{SignedDuration, Timestamp};

use super::{
    Category, Change, ChangeType, FieldPatch, Given, Order, Photo, PhotoId, Resource, StorePet,
    Subject,
};
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
    pub pet: Option<PetChange>,
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
    /// The act added animals, or a later release made it in a way that this one does not know.
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
    /// Returns what reverts these changes of one act, which must be in their order: one reversal for each animal, in
    /// the order of their first changes, and then one for each category. `default_end` is the end of a reservation
    /// that is made again after its own end has passed.
    ///
    /// The sale of a reserved animal becomes one reversal with the order and the animal, because the animal has its
    /// status by the order.
    pub fn of_act(
        changes: &[Change],
        acted_at: Timestamp,
        default_end: Timestamp,
    ) -> Result<Vec<Self>, NotRevertible> {
        let mut pets: Vec<PetReversal> = Vec::new();
        let mut categories: Vec<CategoryReversal> = Vec::new();

        for change in changes {
            if matches!(change.kind, ChangeType::PetAdded | ChangeType::PetsImported) {
                return Err(NotRevertible::Kind);
            }

            match change.after.as_ref().or(change.before.as_ref()) {
                Some(Resource::Pet(pet)) => {
                    let reversal = reversal_of_pet(&mut pets, pet.id, acted_at, default_end);
                    reversal.add_pet_change(change)?;
                }
                Some(Resource::Order(order)) => {
                    let reversal = reversal_of_pet(&mut pets, order.pet_id, acted_at, default_end);
                    reversal.add_order_change(order, change)?;
                }
                Some(Resource::Category(category)) => {
                    add_category_change(&mut categories, category.id, change);
                }
                None => return Err(NotRevertible::Kind),
            }
        }

        for reversal in &mut pets {
            reversal.fields = reversal.fields_from_before();
        }
        let pets = pets.into_iter().map(Box::new).map(Self::Pet);
        Ok(pets
            .chain(categories.into_iter().map(Self::Category))
            .collect())
    }

    /// Returns what a store must read before the decision: the order of the act with its animal, or the animal, or the
    /// category.
    pub(super) fn subject(&self) -> Subject {
        match self {
            Self::Pet(reversal) => match &reversal.order {
                Some(order) => Subject::Order(order.after.id),
                None => Subject::Pet(reversal.id),
            },
            Self::Category(category) => Subject::Category(category.id),
            Self::Impossible(_) => Subject::Nothing,
        }
    }

    /// Returns the photos that the animal gets back.
    pub fn lost_photos(&mut self) -> &mut [LostPhoto] {
        match self {
            Self::Pet(reversal) => &mut reversal.lost_photos,
            Self::Category(_) | Self::Impossible(_) => &mut [],
        }
    }
}

/// Returns the reversal for this animal. Adds an empty one if there is none yet.
fn reversal_of_pet(
    pets: &mut Vec<PetReversal>,
    id: PetId,
    acted_at: Timestamp,
    default_end: Timestamp,
) -> &mut PetReversal {
    let position = pets.iter().position(|reversal| reversal.id == id);
    let position = position.unwrap_or(pets.len());
    if position == pets.len() {
        pets.push(PetReversal {
            id,
            acted_at,
            default_end,
            pet: None,
            order: None,
            fields: FieldPatch::new(),
            lost_photos: Vec::new(),
        });
    }
    &mut pets[position]
}

/// Adds the next change of a category.
fn add_category_change(categories: &mut Vec<CategoryReversal>, id: i64, change: &Change) {
    let after = change.after.as_ref().and_then(Resource::category).cloned();
    let known = categories.iter_mut().find(|category| category.id == id);
    if let Some(category) = known {
        category.after = after;
        return;
    }
    let before = change.before.as_ref().and_then(Resource::category).cloned();
    categories.push(CategoryReversal { id, before, after });
}

impl PetReversal {
    /// Adds the next change of the animal.
    fn add_pet_change(&mut self, change: &Change) -> Result<(), NotRevertible> {
        let before = change.before.as_ref().and_then(Resource::pet);
        let after = change.after.as_ref().and_then(Resource::pet);
        let (Some(before), Some(after)) = (before, after) else {
            return Err(NotRevertible::Kind);
        };

        self.lost_photos.extend(lost_photos(before, after));
        match &mut self.pet {
            Some(pet) => pet.after = after.clone(),
            None => {
                self.pet = Some(PetChange {
                    before: before.clone(),
                    after: after.clone(),
                });
            }
        }
        Ok(())
    }

    /// Adds the next change of an order, which led to `after`. Fails if the act has changed another order for the animal.
    fn add_order_change(&mut self, after: &Order, change: &Change) -> Result<(), NotRevertible> {
        match &mut self.order {
            Some(order) if order.after.id != after.id => return Err(NotRevertible::SeveralOrders),
            Some(order) => order.after = after.clone(),
            None => {
                self.order = Some(OrderChange {
                    before: change.before.as_ref().and_then(Resource::order).cloned(),
                    after: after.clone(),
                });
            }
        }
        Ok(())
    }

    /// Returns the values of fields from before the act, as far as the act changed them.
    ///
    /// If the act gave the value "red" to the field `colour`, which had none, this is `colour: Clear`.
    fn fields_from_before(&self) -> FieldPatch {
        let Some(PetChange { before, after }) = &self.pet else {
            return FieldPatch::new();
        };
        let mut patch = FieldPatch::new();
        for (name, value) in before.fields.iter() {
            if after.fields.get(name) != Some(value) {
                patch.insert(name.to_owned(), Given::Set(value.clone()));
            }
        }
        for (name, _) in after.fields.iter() {
            if before.fields.get(name).is_none() {
                patch.insert(name.to_owned(), Given::Clear);
            }
        }
        patch
    }

    /// Whether the animal comes back to the catalogue by the revert, or leaves it.
    pub fn changes_catalogue(&self) -> bool {
        self.pet
            .as_ref()
            .is_some_and(|pet| pet.before.withdrawn.is_some() != pet.after.withdrawn.is_some())
    }

    /// Whether the animal comes back to the catalogue by the revert.
    pub fn restores_pet(&self) -> bool {
        self.pet
            .as_ref()
            .is_some_and(|pet| pet.before.withdrawn.is_none() && pet.after.withdrawn.is_some())
    }
}

/// Returns the photos that a change took from an animal.
///
/// Deleting the second of three photos gives this photo with the position 1. Turning it gives the same, with the photo
/// that replaced it.
fn lost_photos(before: &StorePet, after: &StorePet) -> Vec<LostPhoto> {
    let is_replaced = before.photos.all().len() == after.photos.all().len();
    let mut lost = Vec::new();
    for (position, photo) in before.photos.all().iter().enumerate() {
        if after.photos.position(photo.id).is_some() {
            continue;
        }
        let replaced_by = if is_replaced {
            after.photos.all().get(position).map(|photo| photo.id)
        } else {
            None
        };
        lost.push(LostPhoto {
            photo: photo.clone(),
            position,
            replaced_by,
            has_files: true,
        });
    }
    lost
}
