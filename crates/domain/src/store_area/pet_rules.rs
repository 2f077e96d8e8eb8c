//! The changes of commands about an animal.

use jiff::Timestamp;

use super::{
    ChangeType, Conflict, Decision, FieldPatch, FieldValues, NewPhoto, OrderId, PetPatch, Photos,
    Preconditions, PresentState, Refusal, StorePet, UniqueValueOwner, Withdrawal,
    rules::{NO_PET, existing, invalid_transition, next_version, require},
};
use crate::NewPet;

pub(super) fn add_pet(
    (new, fields, photos): (&NewPet, &FieldPatch, &[NewPhoto]),
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let fields = present.fields.apply(&FieldValues::NONE, fields, now)?;
    let id = present.next_pet.ok_or(Refusal::NoIdentifierLeft)?;
    if photos.len() > Photos::MAX {
        return Err(Refusal::TooManyPhotos);
    }
    let photos = Photos::new(
        photos
            .iter()
            .map(|new| new.clone().into_photo(now))
            .collect(),
    );
    let pet = StorePet {
        fields,
        photos,
        ..StorePet::new(id, new.clone(), now)
    };
    check_unique(None, &pet, present)?;
    Ok(Decision::new(ChangeType::PetAdded, None, pet))
}

pub(super) fn patch_pet(
    patch: &PetPatch,
    preconditions: &Preconditions,
    present: &PresentState,
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
    if pet.withdrawal.is_some() {
        return Err(withdrawn(pet, "Restore it first."));
    }
    let after = pet.with_patch(patch.clone(), fields);
    if after == *pet {
        return Ok(Decision::without_change(pet));
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
    let decision = Decision::new(ChangeType::PetChanged, Some(pet), next_version(after, now));
    Ok(Decision {
        releases,
        ..decision
    })
}

pub(super) fn withdraw_pet(
    withdrawal: Withdrawal,
    preconditions: &Preconditions,
    present: &PresentState,
) -> Result<Decision, Refusal> {
    let pet = existing(present.pet.as_ref(), NO_PET)?;
    require(preconditions, Some(pet))?;
    if pet.withdrawal.is_some() {
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
        withdrawal: Some(withdrawal),
        ..pet.clone()
    };
    Ok(Decision::new(
        ChangeType::PetWithdrawn,
        Some(pet),
        next_version(after, now),
    ))
}

pub(super) fn restore_pet(
    preconditions: &Preconditions,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let pet = existing(present.pet.as_ref(), NO_PET)?;
    require(preconditions, Some(pet))?;
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
    check_unique(None, &after, present)?;
    Ok(Decision::new(
        ChangeType::PetRestored,
        Some(pet),
        next_version(after, now),
    ))
}

/// Rejects a value of a unique field that another animal has, unless this one had it before.
fn check_unique(
    before: Option<&StorePet>,
    after: &StorePet,
    present: &PresentState,
) -> Result<(), Refusal> {
    let kept = before
        .map(|pet| present.fields.unique_keys(&pet.fields))
        .unwrap_or_default();
    for key in present.fields.unique_keys(&after.fields) {
        let is_other = |owner: &&UniqueValueOwner| owner.0 == key && owner.1 != after.id;
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
