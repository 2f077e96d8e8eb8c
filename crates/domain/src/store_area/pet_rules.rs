//! The rules for adding, changing, withdrawing and restoring animals.

use jiff::Timestamp;

use super::{
    ChangeType, Conflict, Decision, FieldPatch, FieldValues, NewPhoto, OrderId, PetPatch, Photos,
    Preconditions, PresentState, Refusal, StorePet, Withdrawal,
    shared_rules::{
        NO_PET, invalid_transition, next_version, require_preconditions, require_subject,
    },
};
use crate::NewPet;

/// Decides how an animal is added, with its field values and photos.
pub(super) fn add_pet(
    new_pet: &NewPet,
    field_patch: &FieldPatch,
    new_photos: &[NewPhoto],
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let fields = present.fields.apply(&FieldValues::NONE, field_patch, now)?;
    let id = present.next_pet.ok_or(Refusal::NoIdentifierLeft)?;
    if new_photos.len() > Photos::MAX {
        return Err(Refusal::TooManyPhotos);
    }
    let photos = new_photos
        .iter()
        .map(|photo| photo.clone().into_photo(now))
        .collect();

    let mut pet = StorePet::new(id, new_pet.clone(), now);
    pet.fields = fields;
    pet.photos = Photos::new(photos);
    check_unique_values(None, &pet, present)?;

    Ok(Decision::new(ChangeType::PetAdded, None, pet))
}

/// Decides how members and field values of an animal change.
///
/// While an order is open, the status of its animal cannot change. A completed order that still
/// [holds](super::Order::holds) the animal releases it when the status changes.
pub(super) fn patch_pet(
    patch: &PetPatch,
    preconditions: &Preconditions,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let fields = patch_fields(&patch.fields, present, now)?;
    let pet = require_subject(present.pet.as_ref(), NO_PET)?;
    require_preconditions(preconditions, Some(pet))?;
    if pet.withdrawal.is_some() {
        return Err(refuse_withdrawn(pet, "Restore it first."));
    }
    let after = pet.with_patch(patch.clone(), fields);
    if after == *pet {
        return Ok(Decision::without_change(pet));
    }

    let changes_status = after.status != pet.status;
    if changes_status && let Some(order) = pet.order_id {
        return Err(refuse_open_order(
            pet,
            order,
            "Complete or cancel the order to change the status.",
        ));
    }
    check_unique_values(Some(pet), &after, present)?;

    let mut decision = Decision::new(ChangeType::PetChanged, Some(pet), next_version(after, now));
    if changes_status {
        decision.releases = present.holding_order.as_ref().map(|order| order.id);
    }
    Ok(decision)
}

/// Returns the field values after a patch. If the patch is empty, the present values are not
/// validated again.
fn patch_fields(
    field_patch: &FieldPatch,
    present: &PresentState,
    now: Timestamp,
) -> Result<FieldValues, Refusal> {
    let Some(pet) = &present.pet else {
        // An invalid value is reported before a missing animal, so it is looked for here as well.
        return Ok(present.fields.apply(&FieldValues::NONE, field_patch, now)?);
    };
    if field_patch.is_empty() {
        return Ok(pet.fields.clone());
    }
    Ok(present.fields.apply(&pet.fields, field_patch, now)?)
}

/// Decides how an animal is withdrawn from the catalogue.
pub(super) fn withdraw_pet(
    withdrawal: Withdrawal,
    preconditions: &Preconditions,
    present: &PresentState,
) -> Result<Decision, Refusal> {
    let pet = require_subject(present.pet.as_ref(), NO_PET)?;
    require_preconditions(preconditions, Some(pet))?;
    if pet.withdrawal.is_some() {
        return Err(refuse_withdrawn(pet, "It cannot be withdrawn again."));
    }
    if let Some(order) = pet.order_id {
        return Err(refuse_open_order(
            pet,
            order,
            "Complete or cancel the order before you withdraw the animal.",
        ));
    }

    let now = withdrawal.at;
    let after = StorePet {
        withdrawal: Some(withdrawal),
        ..pet.clone()
    };
    Ok(Decision::new(
        ChangeType::PetWithdrawn,
        Some(pet),
        next_version(after, now),
    ))
}

/// Decides how a withdrawn animal is restored to the catalogue.
pub(super) fn restore_pet(
    preconditions: &Preconditions,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let pet = require_subject(present.pet.as_ref(), NO_PET)?;
    require_preconditions(preconditions, Some(pet))?;
    if pet.withdrawal.is_none() {
        let message = format!(
            "Animal {} is not withdrawn. Only a withdrawn animal can be restored.",
            pet.id
        );
        return Err(invalid_transition(message, pet));
    }

    let after = StorePet {
        withdrawal: None,
        ..pet.clone()
    };
    // While the animal was withdrawn, another animal can have taken over one of its unique values.
    check_unique_values(None, &after, present)?;
    Ok(Decision::new(
        ChangeType::PetRestored,
        Some(pet),
        next_version(after, now),
    ))
}

/// Rejects a value of a unique field that another animal has.
///
/// Values that the animal already had in `before` are not checked, because earlier releases
/// compared values less strictly, and left some duplicates.
fn check_unique_values(
    before: Option<&StorePet>,
    after: &StorePet,
    present: &PresentState,
) -> Result<(), Refusal> {
    let former_keys = match before {
        Some(pet) => present.fields.unique_keys(&pet.fields),
        None => Vec::new(),
    };
    for key in present.fields.unique_keys(&after.fields) {
        if former_keys.contains(&key) {
            continue;
        }
        let other_owner = present
            .owners
            .iter()
            .find(|owner| owner.key == key && owner.pet != after.id);
        if let Some(owner) = other_owner {
            return Err(Refusal::DuplicateValue {
                message: format!(
                    "Animal {} has the same {}, which must be unique.",
                    owner.pet, key.field
                ),
                field: key.field,
                other: owner.pet,
                current: None,
            });
        }
    }
    Ok(())
}

/// Returns the refusal of a command because its animal is withdrawn. `advice` is the last sentence
/// of the message.
pub(super) fn refuse_withdrawn(pet: &StorePet, advice: &str) -> Refusal {
    invalid_transition(format!("Animal {} is withdrawn. {advice}", pet.id), pet)
}

/// Returns the refusal of a command because an open order reserves its animal. `advice` is the last
/// sentence of the message.
fn refuse_open_order(pet: &StorePet, order: OrderId, advice: &str) -> Refusal {
    let message = format!("Animal {} is reserved by order {order}. {advice}", pet.id);
    Refusal::OpenOrder(Box::new(Conflict {
        message,
        current: pet.clone().into(),
    }))
}
