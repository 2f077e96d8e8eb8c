//! Builds the reversals of an act from its changes in the journal. An act is everything that one
//! request changed in one transaction.

use jiff::Timestamp;

use super::{
    Change, ChangeType, FieldPatch, Order, RequestedValue, Resource, StorePet,
    reversal::{
        CategoryReversal, LostPhoto, NotRevertible, OrderChange, PetChange, PetReversal, Reversal,
    },
};
use crate::PetId;

impl Reversal {
    /// Builds the reversals of an act: one for each animal, in the order of their first changes,
    /// and then one for each category. The changes of the act must be in the order of the journal.
    ///
    /// An animal and its order share a reversal, because the status of the animal follows from the
    /// order. For example, the sale of a reserved animal is undone as a whole.
    ///
    /// `default_end` is the new end of a reservation that is reopened after its original end has
    /// passed.
    pub fn from_act(
        changes: &[Change],
        acted_at: Timestamp,
        default_end: Timestamp,
    ) -> Result<Vec<Self>, NotRevertible> {
        let mut pet_reversals: Vec<PetReversal> = Vec::new();
        let mut category_reversals: Vec<CategoryReversal> = Vec::new();

        for change in changes {
            if matches!(change.kind, ChangeType::PetAdded | ChangeType::PetsImported) {
                return Err(NotRevertible::Kind);
            }

            match change.after.as_ref().or(change.before.as_ref()) {
                Some(Resource::Pet(pet)) => {
                    let reversal =
                        find_or_add_reversal(&mut pet_reversals, pet.id, acted_at, default_end);
                    reversal.add_pet_change(change)?;
                }
                Some(Resource::Order(order)) => {
                    let reversal = find_or_add_reversal(
                        &mut pet_reversals,
                        order.pet_id,
                        acted_at,
                        default_end,
                    );
                    reversal.add_order_change(order, change)?;
                }
                Some(Resource::Category(category)) => {
                    add_category_change(&mut category_reversals, category.id, change);
                }
                Some(Resource::Note(_)) | None => return Err(NotRevertible::Kind),
            }
        }

        // The differing field values are known only after all changes of an animal have been
        // merged.
        for reversal in &mut pet_reversals {
            reversal.fields = reversal.former_field_values();
        }
        let pets = pet_reversals.into_iter().map(Box::new).map(Self::Pet);
        let categories = category_reversals.into_iter().map(Self::Category);
        Ok(pets.chain(categories).collect())
    }
}

/// Returns the reversal for the animal `id`. If there is none yet, adds an empty one.
fn find_or_add_reversal(
    reversals: &mut Vec<PetReversal>,
    id: PetId,
    acted_at: Timestamp,
    default_end: Timestamp,
) -> &mut PetReversal {
    let known_position = reversals.iter().position(|reversal| reversal.id == id);
    let position = known_position.unwrap_or_else(|| {
        reversals.push(PetReversal {
            id,
            acted_at,
            default_end,
            pet_change: None,
            order_change: None,
            fields: FieldPatch::new(),
            lost_photos: Vec::new(),
        });
        reversals.len() - 1
    });
    &mut reversals[position]
}

/// Merges the next change of a category into its reversal.
fn add_category_change(reversals: &mut Vec<CategoryReversal>, id: i64, change: &Change) {
    let after = change.after.as_ref().and_then(Resource::category).cloned();
    let known_reversal = reversals.iter_mut().find(|reversal| reversal.id == id);
    if let Some(reversal) = known_reversal {
        reversal.after = after;
        return;
    }
    let before = change.before.as_ref().and_then(Resource::category).cloned();
    reversals.push(CategoryReversal { id, before, after });
}

impl PetReversal {
    /// Merges the next change of the animal into the reversal.
    fn add_pet_change(&mut self, change: &Change) -> Result<(), NotRevertible> {
        let before = change.before.as_ref().and_then(Resource::pet);
        let after = change.after.as_ref().and_then(Resource::pet);
        let (Some(before), Some(after)) = (before, after) else {
            return Err(NotRevertible::Kind);
        };

        self.lost_photos.extend(find_lost_photos(before, after));
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

    /// Merges the next change of an order into the reversal. `after` is the resulting order. Fails
    /// if the act changed several orders for the animal.
    fn add_order_change(&mut self, after: &Order, change: &Change) -> Result<(), NotRevertible> {
        match &mut self.order_change {
            Some(earlier) if earlier.after.id != after.id => {
                return Err(NotRevertible::SeveralOrders);
            }
            Some(earlier) => earlier.after = after.clone(),
            None => {
                self.order_change = Some(OrderChange {
                    before: change.before.as_ref().and_then(Resource::order).cloned(),
                    after: after.clone(),
                });
            }
        }
        Ok(())
    }

    /// Returns the patch that restores the field values that the act changed.
    ///
    /// For example, if the act set the field `colour`, which had no value before, the patch
    /// contains `colour: Clear`.
    fn former_field_values(&self) -> FieldPatch {
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

/// Returns the photos that a change removed from an animal. `has_files` is true for all of them:
/// the caller of the reversal checks whether their files still exist.
///
/// If the second of three photos was deleted, the result is this photo with the position 1 (counted
/// from 0). If it was rotated, `replaced_by` also names the new photo in its place.
fn find_lost_photos(before: &StorePet, after: &StorePet) -> Vec<LostPhoto> {
    // Replacing a photo keeps the number of photos, and deleting one does not.
    let is_replacement = before.photos.all().len() == after.photos.all().len();
    let mut lost_photos = Vec::new();
    for (position, photo) in before.photos.all().iter().enumerate() {
        if after.photos.position(photo.id).is_some() {
            continue;
        }
        let replaced_by = if is_replacement {
            after.photos.all().get(position).map(|photo| photo.id)
        } else {
            None
        };
        lost_photos.push(LostPhoto {
            photo: photo.clone(),
            position,
            replaced_by,
            has_files: true,
        });
    }
    lost_photos
}
