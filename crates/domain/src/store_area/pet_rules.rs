//! The changes of commands about an animal.

use jiff::Timestamp;

use super::{
    ChangeType, Conflict, Decision, FieldPatch, FieldValues, NewPhoto, OrderId, Owner, PetPatch,
    Photos, Preconditions, Present, Refusal, StorePet, Withdrawal,
    rules::{NO_PET, changed, existing, invalid_transition, require},
};
use crate::NewPet;

pub(super) fn add_pet(
    (new, fields, photos): (&NewPet, &FieldPatch, &[NewPhoto]),
    present: &Present,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let fields = present.fields.apply(&FieldValues::NONE, fields, now)?;
    let id = present.next_pet.ok_or(Refusal::NoIdentifierLeft)?;
    if photos.len() > Photos::MAX {
        return Err(Refusal::TooManyPhotos);
    }
    let photos = Photos::new(photos.iter().map(|new| new.clone().added(now)).collect());
    let pet = StorePet {
        fields,
        photos,
        ..StorePet::added(id, new.clone(), now)
    };
    check_unique(None, &pet, present)?;
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
        before => {
            let before = before.unwrap_or(&FieldValues::NONE);
            present.fields.apply(before, &patch.fields, now)?
        }
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
        return Err(open_order(
            pet,
            order,
            "Complete or cancel the order to change the status.",
        ));
    }
    check_unique(Some(pet), &after, present)?;
    let releases = present
        .holder
        .as_ref()
        .filter(|_| status_changes)
        .map(|order| order.id);
    let decision = Decision::of(ChangeType::PetChanged, Some(pet), changed(after, now));
    Ok(Decision {
        releases,
        ..decision
    })
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
    let after = StorePet {
        withdrawn: Some(withdrawal),
        ..pet.clone()
    };
    Ok(Decision::of(
        ChangeType::PetWithdrawn,
        Some(pet),
        changed(after, now),
    ))
}

pub(super) fn restore_pet(
    preconditions: &Preconditions,
    present: &Present,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let pet = existing(present.pet.as_ref(), NO_PET)?;
    require(preconditions, Some(pet))?;
    if pet.withdrawn.is_none() {
        let message = format!(
            "Animal {} is not withdrawn. Only a withdrawn animal can be restored.",
            pet.id
        );
        return Err(invalid_transition(message, pet));
    }
    let after = StorePet {
        withdrawn: None,
        ..pet.clone()
    };
    check_unique(None, &after, present)?;
    Ok(Decision::of(
        ChangeType::PetRestored,
        Some(pet),
        changed(after, now),
    ))
}

/// Rejects a value of a unique field that another animal has, unless this one had it before.
fn check_unique(
    before: Option<&StorePet>,
    after: &StorePet,
    present: &Present,
) -> Result<(), Refusal> {
    let kept = before
        .map(|pet| present.fields.unique_keys(&pet.fields))
        .unwrap_or_default();
    for key in present.fields.unique_keys(&after.fields) {
        let is_other = |owner: &&Owner| owner.0 == key && owner.1 != after.id;
        if !kept.contains(&key)
            && let Some(&(_, other)) = present.owners.iter().find(is_other)
        {
            let message = format!(
                "Animal {other} has the same {}, which must be unique.",
                key.0
            );
            let field = key.0;
            return Err(Refusal::DuplicateValue {
                message,
                field,
                other,
                current: None,
            });
        }
    }
    Ok(())
}

pub(super) fn withdrawn(pet: &StorePet, next: &str) -> Refusal {
    invalid_transition(format!("Animal {} is withdrawn. {next}", pet.id), pet)
}

fn open_order(pet: &StorePet, order: OrderId, next: &str) -> Refusal {
    let message = format!("Animal {} is reserved by order {order}. {next}", pet.id);
    Refusal::OpenOrder(Box::new(Conflict {
        message,
        current: pet.clone().into(),
    }))
}
