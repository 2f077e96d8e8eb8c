//! The changes that revert an act. They are made by the rules of other commands, one after the other, so a revert can
//! do nothing that these commands cannot do.

use jiff::Timestamp;

use super::{
    CategoryReversal, Conflict, Decision, LostPhoto, NotRevertible, Order, OrderChange, OrderPatch,
    OrderStatus, PHOTOS_COME_BACK_WITHIN, Patch, PetChange, PetPatch, PetReversal, Photo, Photos,
    Preconditions, PresentState, Refusal, Resource, Reversal, Withdrawal,
    category_rules::{delete_category, put_category},
    order_rules::{cancel_order, complete_order, patch_order, reopen_order, return_order},
    pet_rules::{patch_pet, refuse_withdrawn, restore_pet, withdraw_pet},
    photo_rules::change_photos,
    revert_steps::Steps,
    rules::{NO_ORDER, NO_PET, require_subject},
};

/// Decides what reverts an act. Refused if something that the act changed is not as the act left it.
pub(super) fn revert(
    reversal: &Reversal,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let decision = match reversal {
        Reversal::Impossible(reason) => return Err(reason.clone().into()),
        Reversal::Category(category) => revert_category(category, present)?,
        Reversal::Pet(pet) if !pet.lost_photos.is_empty() => bring_photos_back(pet, present, now)?,
        Reversal::Pet(pet) => revert_pet(pet, present, now)?,
    };
    if decision.changes.is_empty() {
        return Err(NotRevertible::NoDifference.into());
    }
    Ok(decision)
}

/// Gives a category its label from before the act.
fn revert_category(
    reversal: &CategoryReversal,
    present: &PresentState,
) -> Result<Decision, Refusal> {
    let current = present.category.as_ref();
    let present_version = current.map(|category| category.version);
    let expected_version = reversal.after.as_ref().map(|category| category.version);
    if present_version != expected_version {
        return Err(moved_on(current));
    }

    let preconditions = present_version.map_or(Preconditions::ABSENT, Preconditions::version);
    match &reversal.before {
        Some(before) => put_category(before.id, &before.label, &preconditions, present),
        None => delete_category(&preconditions, present),
    }
}

/// Gives an animal the photos back that the act took, each at its place. Other changes of the animal stay, also newer
/// ones: nothing else can be in the place of a photo, and a text that was typed with a deletion is right.
fn bring_photos_back(
    reversal: &PetReversal,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let pet = require_subject(present.pet.as_ref(), NO_PET)?;
    if pet.withdrawal.is_some() {
        return Err(refuse_withdrawn(pet, "Restore it first."));
    }

    let is_late = now.duration_since(reversal.acted_at) >= PHOTOS_COME_BACK_WITHIN;
    let mut photos = pet.photos.all().to_vec();
    for lost in &reversal.lost_photos {
        if photos.iter().any(|photo| photo.id == lost.photo.id) {
            return Err(moved_on(Some(pet)));
        }
        if is_late || !lost.has_files {
            return Err(NotRevertible::PhotosGone.into());
        }
        bring_photo_back(lost, &mut photos);
    }
    if photos.len() > Photos::MAX {
        return Err(Refusal::TooManyPhotos);
    }
    Ok(change_photos(pet, photos, None, now))
}

/// Puts a photo in the place of the one that replaced it, whose text it gets, or else at its former position.
fn bring_photo_back(lost: &LostPhoto, photos: &mut Vec<Photo>) {
    let replacement = photos
        .iter_mut()
        .find(|photo| Some(photo.id) == lost.replaced_by);
    if let Some(replacement) = replacement {
        let alt = replacement.alt.take();
        *replacement = Photo {
            alt,
            ..lost.photo.clone()
        };
    } else {
        let position = lost.position.min(photos.len());
        photos.insert(position, lost.photo.clone());
    }
}

/// Makes an animal and its order as they were before the act.
fn revert_pet(
    reversal: &PetReversal,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    check_unmoved(reversal, present)?;

    let mut steps = Steps::new(present, now);
    let reverted = revert_in_steps(reversal, &mut steps);
    reverted.map_err(|refusal| explain(refusal, present))?;
    Ok(steps.into_decision(reversal.order.is_some()))
}

/// Refuses a revert if the animal or the order has another version than the act left.
fn check_unmoved(reversal: &PetReversal, present: &PresentState) -> Result<(), Refusal> {
    if let Some(change) = &reversal.pet_change {
        let pet = require_subject(present.pet.as_ref(), NO_PET)?;
        if pet.version != change.after.version {
            return Err(moved_on(Some(pet)));
        }
    }
    if let Some(change) = &reversal.order {
        let order = require_subject(present.order.as_ref(), NO_ORDER)?;
        if order.version != change.after.version {
            return Err(moved_on(Some(order)));
        }
    }
    Ok(())
}

fn moved_on<T: Into<Resource> + Clone>(current: Option<&T>) -> Refusal {
    let current = current.cloned().map(Into::into);
    Refusal::MovedOn(current.map(Box::new))
}

/// Takes back each part of the act: first what lets the animal change, and last what keeps it from changing.
fn revert_in_steps(reversal: &PetReversal, steps: &mut Steps) -> Result<(), Refusal> {
    let now = steps.now;
    if reversal.restores_pet() {
        steps.take(|present| restore_pet(&Preconditions::PRESENT, present, now))?;
    }
    if let Some(order) = &reversal.order {
        revert_order(order, reversal.default_end, steps)?;
    }
    let Some(change) = &reversal.pet_change else {
        return Ok(());
    };

    revert_values(change, reversal, steps)?;
    if change.before.photos != change.after.photos {
        let photos = change.before.photos.all().to_vec();
        steps.take(|present| {
            let pet = require_subject(present.pet.as_ref(), NO_PET)?;
            Ok(change_photos(pet, photos, None, now))
        })?;
    }
    if let (Some(withdrawal), None) = (&change.before.withdrawal, &change.after.withdrawal) {
        let withdrawal = Withdrawal {
            at: now,
            ..withdrawal.clone()
        };
        steps.take(|present| withdraw_pet(withdrawal, &Preconditions::PRESENT, present))?;
    }
    Ok(())
}

/// Gives the animal its name, category, status, place in the window and values from before the act, as far as the act changed them.
fn revert_values(
    change: &PetChange,
    reversal: &PetReversal,
    steps: &mut Steps,
) -> Result<(), Refusal> {
    let PetChange { before, after } = change;
    // All members by name, so that the compiler asks for a new one.
    let mut patch = PetPatch {
        name: changed_value(&before.name, &after.name),
        category_id: changed_value(&before.category_id, &after.category_id),
        status: None,
        is_listed: changed_value(&before.is_listed, &after.is_listed),
        fields: reversal.fields.clone(),
    };
    // The order may have given the animal this status already.
    let present_status = steps.present.pet.as_ref().map(|pet| pet.status);
    if present_status != Some(before.status) {
        patch.status = Some(before.status);
    }

    if patch == PetPatch::default() {
        return Ok(());
    }
    let now = steps.now;
    steps.take(|present| patch_pet(&patch, &Preconditions::PRESENT, present, now))
}

/// Returns the value from before the act if the act changed it.
fn changed_value<T: Clone + PartialEq>(before: &T, after: &T) -> Option<T> {
    if before == after {
        return None;
    }
    Some(before.clone())
}

/// Gives an order its status and its values from before the act. The customer's contact stays, because the journal does
/// not have it.
///
/// An order that was placed by the act becomes cancelled, and a returned one is sold again: it is reserved again for a
/// moment, and completed.
fn revert_order(
    change: &OrderChange,
    default_end: Timestamp,
    steps: &mut Steps,
) -> Result<(), Refusal> {
    let now = steps.now;
    let any = Preconditions::PRESENT;
    let former_status = change.before.as_ref().map(|order| order.status);
    let target = match former_status {
        None | Some(OrderStatus::Expired) => OrderStatus::Cancelled,
        Some(status) => status,
    };
    let is_moved = former_status != Some(change.after.status);

    if is_moved && change.after.status != OrderStatus::Reserved && target != change.after.status {
        steps.take(|present| reopen_order(None, default_end, &any, present, now))?;
    }
    if let Some(before) = &change.before {
        revert_order_values(before, &change.after, is_moved, steps)?;
    }
    if !is_moved {
        return Ok(());
    }

    let reason = change
        .before
        .as_ref()
        .and_then(|order| order.reason.as_ref());
    if matches!(target, OrderStatus::Completed | OrderStatus::Returned) {
        steps.take(|present| complete_order(&Patch::Keep, &any, present, now))?;
    }
    if target == OrderStatus::Returned {
        steps.take(|present| return_order(reason, &any, present, now))?;
    }
    if target == OrderStatus::Cancelled {
        steps.take(|present| cancel_order(reason, &any, present, now))?;
    }
    Ok(())
}

/// Gives an order its reference, note, price and end from before the act, as far as the act changed them.
fn revert_order_values(
    before: &Order,
    after: &Order,
    is_moved: bool,
    steps: &mut Steps,
) -> Result<(), Refusal> {
    let now = steps.now;
    let mut patch = OrderPatch {
        reference: former_value(before.reference.as_ref(), after.reference.as_ref()),
        note: former_value(before.note.as_ref(), after.note.as_ref()),
        price: former_value(before.price.as_ref(), after.price.as_ref()),
        ..OrderPatch::default()
    };
    if before.expires_at != after.expires_at {
        let former_end = before.expires_at.filter(|end| *end > now);
        if former_end.is_none() && !is_moved {
            return Err(NotRevertible::EndHasPassed.into());
        }
        patch.expires_at = former_end;
    }

    if patch == OrderPatch::default() {
        return Ok(());
    }
    steps.take(|present| patch_order(&patch, &Preconditions::PRESENT, present, now))
}

/// Returns the change that gives a member its value from before the act.
fn former_value<T: Clone + PartialEq>(before: Option<&T>, after: Option<&T>) -> Patch<T> {
    if before == after {
        return Patch::Keep;
    }
    before.map_or(Patch::Clear, |value| Patch::Set(value.clone()))
}

/// Turns the refusal of a step into a refusal of the revert: it shows the state before all steps, and an invalid value is
/// one from before the act, not one of the request.
fn explain(refusal: Refusal, present: &PresentState) -> Refusal {
    match refusal {
        Refusal::Invalid(problem) => NotRevertible::Value(problem.to_owned()).into(),
        Refusal::Fields(problem) => NotRevertible::Value(problem.into_message()).into(),
        Refusal::InvalidTransition(conflict) => {
            Refusal::InvalidTransition(Box::new(before_steps(*conflict, present)))
        }
        Refusal::OpenOrder(conflict) => {
            Refusal::OpenOrder(Box::new(before_steps(*conflict, present)))
        }
        other => other,
    }
}

/// Shows the animal or the order as it was before the steps.
fn before_steps(conflict: Conflict, present: &PresentState) -> Conflict {
    let current = match &conflict.current {
        Resource::Pet(_) => present.pet.clone().map(Resource::Pet),
        Resource::Order(_) => present.order.clone().map(Resource::Order),
        Resource::Category(_) | Resource::Note(_) => None,
    };
    Conflict {
        current: current.unwrap_or(conflict.current),
        message: conflict.message,
    }
}
