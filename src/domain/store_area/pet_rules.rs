//! The changes of commands about an animal.

use jiff::Timestamp;

use super::{
    ChangeType, Conflict, Decision, FieldPatch, FieldValues, OrderId, PetPatch, Preconditions,
    Present, Refusal, StorePet, Withdrawal,
    rules::{NO_PET, changed, existing, invalid_transition, require},
};
use crate::domain::NewPet;

pub(super) fn add_pet(
    new: &NewPet,
    fields: &FieldPatch,
    present: &Present,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let fields = present.fields.apply(&FieldValues::NONE, fields)?;
    let id = present.next_pet.ok_or(Refusal::NoIdentifierLeft)?;
    let pet = StorePet { fields, ..StorePet::added(id, new.clone(), now) };
    check_unique(&pet, present)?;
    Ok(Decision::of(ChangeType::PetAdded, None, pet))
}

pub(super) fn patch_pet(
    patch: &PetPatch,
    preconditions: &Preconditions,
    present: &Present,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let before = present.pet.as_ref().map(|pet| &pet.fields);
    let fields = match before {
        Some(before) if patch.fields.is_empty() => before.clone(),
        before => present.fields.apply(before.unwrap_or(&FieldValues::NONE), &patch.fields)?,
    };
    let pet = existing(present.pet.as_ref(), NO_PET)?;
    require(preconditions, Some(pet))?;
    if pet.withdrawn.is_some() {
        return Err(withdrawn(pet, "Restore it first."));
    }
    let after = pet.patched(patch.clone(), fields);
    if after == *pet {
        return Ok(Decision::unchanged(pet));
    }
    let status_changes = after.status != pet.status;
    if status_changes && let Some(order) = pet.order_id {
        return Err(open_order(pet, order, "Complete or cancel the order to change the status."));
    }
    check_unique(&after, present)?;
    let releases = present.holder.as_ref().filter(|_| status_changes).map(|order| order.id);
    let decision = Decision::of(ChangeType::PetChanged, Some(pet), changed(after, now));
    Ok(Decision { releases, ..decision })
}

pub(super) fn withdraw_pet(
    withdrawal: Withdrawal,
    preconditions: &Preconditions,
    present: &Present,
) -> Result<Decision, Refusal> {
    let pet = existing(present.pet.as_ref(), NO_PET)?;
    require(preconditions, Some(pet))?;
    if pet.withdrawn.is_some() {
        return Err(withdrawn(pet, "It cannot be withdrawn again."));
    }
    if let Some(order) = pet.order_id {
        return Err(open_order(
            pet,
            order,
            "Complete or cancel the order before you withdraw the animal.",
        ));
    }
    let now = withdrawal.at;
    let after = StorePet { withdrawn: Some(withdrawal), ..pet.clone() };
    Ok(Decision::of(ChangeType::PetWithdrawn, Some(pet), changed(after, now)))
}

pub(super) fn restore_pet(
    preconditions: &Preconditions,
    present: &Present,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let pet = existing(present.pet.as_ref(), NO_PET)?;
    require(preconditions, Some(pet))?;
    if pet.withdrawn.is_none() {
        let message =
            format!("Animal {} is not withdrawn. Only a withdrawn animal can be restored.", pet.id);
        return Err(invalid_transition(message, pet));
    }
    let after = StorePet { withdrawn: None, ..pet.clone() };
    check_unique(&after, present)?;
    Ok(Decision::of(ChangeType::PetRestored, Some(pet), changed(after, now)))
}

/// Rejects a value of a unique field that another animal has.
fn check_unique(after: &StorePet, present: &Present) -> Result<(), Refusal> {
    for key in present.fields.unique_keys(&after.fields) {
        if let Some(&other) = present.owners.get(&key).filter(|&&owner| owner != after.id) {
            let message = format!("Animal {other} has the same {}, which must be unique.", key.0);
            let field = key.0;
            return Err(Refusal::DuplicateValue { message, field, other, current: None });
        }
    }
    Ok(())
}

pub(super) fn withdrawn(pet: &StorePet, next: &str) -> Refusal {
    invalid_transition(format!("Animal {} is withdrawn. {next}", pet.id), pet)
}

fn open_order(pet: &StorePet, order: OrderId, next: &str) -> Refusal {
    let message = format!("Animal {} is reserved by order {order}. {next}", pet.id);
    Refusal::OpenOrder(Box::new(Conflict { message, current: pet.clone().into() }))
}
