//! The rules for reverting an act: everything that one request changed in one transaction.
//!
//! Except for photos, a revert is a sequence of ordinary commands, so it can do only what these
//! commands allow.

use jiff::Timestamp;

use super::{
    CategoryReversal, Conflict, Decision, LostPhoto, NotRevertible, Order, OrderChange, OrderPatch,
    OrderStatus, PHOTO_RESTORE_WINDOW, Patch, PetChange, PetPatch, PetReversal, Photo, Photos,
    Preconditions, PresentState, Reason, Refusal, Resource, Reversal, Withdrawal,
    category_rules::{delete_category, put_category},
    order_rules::{cancel_order, complete_order, patch_order, reopen_order, return_order},
    pet_rules::{patch_pet, refuse_withdrawn, restore_pet, withdraw_pet},
    photo_rules::change_photos,
    revert_steps::Steps,
    shared_rules::{NO_ORDER, NO_PET, require_subject},
};

/// Decides how an act is reverted. The revert is refused if something that the act changed has
/// changed again since.
pub(super) fn revert(
    reversal: &Reversal,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let decision = match reversal {
        Reversal::Impossible(reason) => return Err(reason.clone().into()),
        Reversal::Category(category) => revert_category(category, present)?,
        Reversal::Pet(pet) if pet.lost_photos.is_empty() => revert_pet(pet, present, now)?,
        Reversal::Pet(pet) => restore_photos(pet, present, now)?,
    };
    if decision.changes.is_empty() {
        return Err(NotRevertible::NoDifference.into());
    }
    Ok(decision)
}

/// Restores the label of a category from before the act.
fn revert_category(
    reversal: &CategoryReversal,
    present: &PresentState,
) -> Result<Decision, Refusal> {
    let current = present.category.as_ref();
    let present_version = current.map(|category| category.version);
    let expected_version = reversal.after.as_ref().map(|category| category.version);
    if present_version != expected_version {
        return Err(refuse_later_change(current));
    }

    let preconditions = match present_version {
        Some(version) => Preconditions::version(version),
        None => Preconditions::ABSENT,
    };
    match &reversal.before {
        Some(before) => put_category(before.id, &before.label, &preconditions, present),
        None => delete_category(&preconditions, present),
    }
}

/// Restores the photos that the act removed, each at its former position.
///
/// Nothing else is reverted: other values that the same request changed are assumed to be intended.
/// The animal may have changed since the act, because later changes cannot conflict with a restored
/// photo.
fn restore_photos(
    reversal: &PetReversal,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    let pet = require_subject(present.pet.as_ref(), NO_PET)?;
    if pet.withdrawal.is_some() {
        return Err(refuse_withdrawn(pet, "Restore it first."));
    }

    let is_late = now.duration_since(reversal.acted_at) >= PHOTO_RESTORE_WINDOW;
    let mut photos = pet.photos.all().to_vec();
    for lost in &reversal.lost_photos {
        if photos.iter().any(|photo| photo.id == lost.photo.id) {
            return Err(refuse_later_change(Some(pet)));
        }
        if is_late || !lost.has_files {
            return Err(NotRevertible::PhotosGone.into());
        }
        restore_photo(lost, &mut photos);
    }
    if photos.len() > Photos::MAX {
        return Err(Refusal::TooManyPhotos);
    }
    Ok(change_photos(pet, photos, now))
}

/// Puts a lost photo back to its former position, or in place of the photo that replaced it.
///
/// In place of another photo, the lost photo gets the alternative text of that photo.
fn restore_photo(lost: &LostPhoto, photos: &mut Vec<Photo>) {
    let replacement = lost
        .replaced_by
        .and_then(|id| photos.iter_mut().find(|photo| photo.id == id));
    if let Some(replacement) = replacement {
        let alt = replacement.alt.take();
        *replacement = Photo {
            alt,
            ..lost.photo.clone()
        };
    } else {
        // Photos before it may have been removed since.
        let position = lost.position.min(photos.len());
        photos.insert(position, lost.photo.clone());
    }
}

/// Restores an animal and its order to their state from before the act.
fn revert_pet(
    reversal: &PetReversal,
    present: &PresentState,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    check_no_later_change(reversal, present)?;

    let mut steps = Steps::new(present, now);
    revert_in_steps(reversal, &mut steps)
        .map_err(|refusal| into_revert_refusal(refusal, present))?;
    Ok(steps.into_decision(reversal.order_change.is_some()))
}

/// Refuses the revert if the version of the animal or the order is no longer the one that resulted
/// from the act.
fn check_no_later_change(reversal: &PetReversal, present: &PresentState) -> Result<(), Refusal> {
    if let Some(change) = &reversal.pet_change {
        let pet = require_subject(present.pet.as_ref(), NO_PET)?;
        if pet.version != change.after.version {
            return Err(refuse_later_change(Some(pet)));
        }
    }
    if let Some(change) = &reversal.order_change {
        let order = require_subject(present.order.as_ref(), NO_ORDER)?;
        if order.version != change.after.version {
            return Err(refuse_later_change(Some(order)));
        }
    }
    Ok(())
}

/// Returns the refusal of a revert because a resource has changed since the act.
fn refuse_later_change<T: Into<Resource> + Clone>(current: Option<&T>) -> Refusal {
    let current = current.cloned().map(Into::into);
    Refusal::MovedOn(current.map(Box::new))
}

/// Undoes each part of the act.
///
/// A withdrawn animal cannot change. A withdrawal is therefore undone first, and an animal that the
/// act restored is withdrawn again last.
fn revert_in_steps(reversal: &PetReversal, steps: &mut Steps) -> Result<(), Refusal> {
    let now = steps.now;
    if reversal.restores_pet() {
        steps.run(|present| restore_pet(&Preconditions::PRESENT, present, now))?;
    }
    if let Some(change) = &reversal.order_change {
        revert_order(change, reversal.default_end, steps)?;
    }
    let Some(change) = &reversal.pet_change else {
        return Ok(());
    };

    revert_values(change, reversal, steps)?;
    if change.before.photos != change.after.photos {
        let photos = change.before.photos.all().to_vec();
        steps.run(|present| {
            let pet = require_subject(present.pet.as_ref(), NO_PET)?;
            Ok(change_photos(pet, photos, now))
        })?;
    }
    if let (Some(withdrawal), None) = (&change.before.withdrawal, &change.after.withdrawal) {
        let withdrawal = Withdrawal {
            at: now,
            ..withdrawal.clone()
        };
        steps.run(|present| withdraw_pet(withdrawal, &Preconditions::PRESENT, present))?;
    }
    Ok(())
}

/// Restores the name, category, status, listing and field values of the animal, as far as the act
/// changed them.
fn revert_values(
    change: &PetChange,
    reversal: &PetReversal,
    steps: &mut Steps,
) -> Result<(), Refusal> {
    let PetChange { before, after } = change;
    // Reverting the order may already have restored the status.
    let present_status = steps.present.pet.as_ref().map(|pet| pet.status);
    let is_status_restored = present_status == Some(before.status);
    // All members are listed, so that a new member cannot be forgotten here.
    let patch = PetPatch {
        name: former_value_if_changed(&before.name, &after.name),
        category_id: former_value_if_changed(&before.category_id, &after.category_id),
        status: (!is_status_restored).then_some(before.status),
        is_listed: former_value_if_changed(&before.is_listed, &after.is_listed),
        fields: reversal.fields.clone(),
    };
    if patch == PetPatch::default() {
        return Ok(());
    }
    let now = steps.now;
    steps.run(|present| patch_pet(&patch, &Preconditions::PRESENT, present, now))
}

/// Returns the value from before the act, if the act changed it.
fn former_value_if_changed<T: Clone + PartialEq>(before: &T, after: &T) -> Option<T> {
    if before == after {
        return None;
    }
    Some(before.clone())
}

/// Restores the status and the values of an order by the commands that lead there. For example, an
/// order that the act returned is reopened, and then completed.
///
/// An order that the act placed is cancelled. The customer's contact stays as it is, because the
/// journal does not contain it.
fn revert_order(
    change: &OrderChange,
    default_end: Timestamp,
    steps: &mut Steps,
) -> Result<(), Refusal> {
    let now = steps.now;
    let status_after_act = change.after.status;
    let former_status = change.before.as_ref().map(|order| order.status);
    // An order that did not exist before is cancelled. An order that had expired is cancelled as
    // well, because only the service itself can expire an order.
    let target_status = match former_status {
        None | Some(OrderStatus::Expired) => OrderStatus::Cancelled,
        Some(status) => status,
    };
    let status_changed = former_status != Some(status_after_act);

    // Only an open order can be completed or cancelled. A closed order is therefore reopened first,
    // unless it already has the target status.
    let needs_reopening = status_changed
        && status_after_act != OrderStatus::Reserved
        && status_after_act != target_status;
    if needs_reopening {
        steps.run(|present| {
            reopen_order(None, default_end, &Preconditions::PRESENT, present, now)
        })?;
    }
    if let Some(before) = &change.before {
        revert_order_values(before, &change.after, status_changed, steps)?;
    }
    if !status_changed {
        return Ok(());
    }

    let reason = change
        .before
        .as_ref()
        .and_then(|order| order.reason.as_ref());
    restore_order_status(target_status, reason, steps)
}

/// Changes an order from `reserved` to its status from before the act. `reason` is the reason that
/// the order had.
fn restore_order_status(
    target_status: OrderStatus,
    reason: Option<&Reason>,
    steps: &mut Steps,
) -> Result<(), Refusal> {
    let now = steps.now;
    let any_version = Preconditions::PRESENT;
    match target_status {
        // The order is already reserved, and an expired order is never the target.
        OrderStatus::Reserved | OrderStatus::Expired => Ok(()),
        OrderStatus::Completed => {
            steps.run(|present| complete_order(&Patch::Keep, &any_version, present, now))
        }
        OrderStatus::Returned => {
            // Only a completed order can be returned.
            steps.run(|present| complete_order(&Patch::Keep, &any_version, present, now))?;
            steps.run(|present| return_order(reason, &any_version, present, now))
        }
        OrderStatus::Cancelled => {
            steps.run(|present| cancel_order(reason, &any_version, present, now))
        }
    }
}

/// Restores the reference, note, price and end of an order, as far as the act changed them.
fn revert_order_values(
    before: &Order,
    after: &Order,
    status_changed: bool,
    steps: &mut Steps,
) -> Result<(), Refusal> {
    let now = steps.now;
    let end_changed = before.expires_at != after.expires_at;
    let former_end = before.expires_at.filter(|end| *end > now);
    // If the status changes as well, the order is closed, or reopening has set the default end.
    if end_changed && former_end.is_none() && !status_changed {
        return Err(NotRevertible::EndHasPassed.into());
    }
    let patch = OrderPatch {
        reference: restoring_patch(before.reference.as_ref(), after.reference.as_ref()),
        note: restoring_patch(before.note.as_ref(), after.note.as_ref()),
        expires_at: if end_changed { former_end } else { None },
        price: restoring_patch(before.price.as_ref(), after.price.as_ref()),
        // The journal contains no contacts.
        contact: Patch::Keep,
    };
    if patch == OrderPatch::default() {
        return Ok(());
    }
    steps.run(|present| patch_order(&patch, &Preconditions::PRESENT, present, now))
}

/// Returns the patch that restores a member to its value from before the act.
fn restoring_patch<T: Clone + PartialEq>(before: Option<&T>, after: Option<&T>) -> Patch<T> {
    if before == after {
        return Patch::Keep;
    }
    match before {
        Some(value) => Patch::Set(value.clone()),
        None => Patch::Clear,
    }
}

/// Converts the refusal of a step to a refusal of the whole revert.
///
/// A conflict shows the state before all steps. An invalid value is reported as a value from before
/// the act, because the request to revert contains no values.
fn into_revert_refusal(refusal: Refusal, present: &PresentState) -> Refusal {
    match refusal {
        Refusal::Invalid(problem) => NotRevertible::Value(problem.to_owned()).into(),
        Refusal::Fields(problem) => NotRevertible::Value(problem.into_message()).into(),
        Refusal::InvalidTransition(conflict) => {
            Refusal::InvalidTransition(Box::new(with_state_before_steps(*conflict, present)))
        }
        Refusal::OpenOrder(conflict) => {
            Refusal::OpenOrder(Box::new(with_state_before_steps(*conflict, present)))
        }
        other => other,
    }
}

/// Replaces the resource in a conflict by its state before all steps.
fn with_state_before_steps(conflict: Conflict, present: &PresentState) -> Conflict {
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
