//! What reverts the changes of an act.

use jiff::Timestamp;

use super::{
    Change, ChangeType, FieldPatch, Order, RequestedValue, Resource, StorePet,
    reversal::{
        CategoryReversal, LostPhoto, NotRevertible, OrderChange, PetChange, PetReversal, Reversal,
    },
};
use crate::PetId;

impl Reversal {
    /// Returns the reversals of the changes of one act, which must be in the order of the log: one reversal for each animal, in
    /// the order of their first changes, and then one for each category. `default_end` is the end of a reservation
    /// that is made again after its own end has passed.
    ///
    /// The sale of a reserved animal becomes one reversal with the order and the animal, because the animal has its
    /// status by the order.
    pub fn from_act(
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
                Some(Resource::Note(_)) | None => return Err(NotRevertible::Kind),
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
            pet_change: None,
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
        match &mut self.pet_change {
            Some(pet_change) => pet_change.after = after.clone(),
            None => {
                self.pet_change = Some(PetChange {
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
        let Some(PetChange { before, after }) = &self.pet_change else {
            return FieldPatch::new();
        };
        let mut patch = FieldPatch::new();
        for (name, value) in before.fields.iter() {
            if after.fields.get(name) != Some(value) {
                patch.insert(name.to_owned(), RequestedValue::Set(value.clone()));
            }
        }
        for (name, _) in after.fields.iter() {
            if before.fields.get(name).is_none() {
                patch.insert(name.to_owned(), RequestedValue::Clear);
            }
        }
        patch
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
