//! The rules of the store area: one function that decides what a command changes.

use jiff::Timestamp;

use super::{
    Category, Change, ChangeType, Command, Conflict, Decision, Label, OrderId, Preconditions,
    Present, Refusal, Resource, StorePet, Withdrawal,
    order_rules::{
        cancel_order, complete_order, expire_order, patch_order, place_order, return_order,
    },
    pet_rules::{add_pet, patch_pet, restore_pet, withdraw_pet},
};
use crate::domain::PetStatus;

/// Decides what `command` changes at `now`. This is the only place with these rules; every store,
/// every batch and the clock use it. The reason why it changes nothing is looked for in the order:
/// invalid, not found, precondition, state.
pub fn decide(command: &Command, present: &Present, now: Timestamp) -> Result<Decision, Refusal> {
    match command {
        Command::AddPet(new) => add_pet(new, present, now),
        Command::PatchPet { patch, preconditions, .. } => {
            patch_pet(patch, preconditions, present, now)
        }
        Command::WithdrawPet { reason, note, preconditions, .. } => {
            let withdrawal = Withdrawal { at: now, reason: *reason, note: note.clone() };
            withdraw_pet(withdrawal, preconditions, present)
        }
        Command::RestorePet { preconditions, .. } => restore_pet(preconditions, present, now),
        Command::PlaceOrder(new) => place_order(new, present, now),
        Command::CompleteOrder { .. } => complete_order(present, now),
        Command::CancelOrder { reason, .. } => cancel_order(reason.as_ref(), present, now),
        Command::ReturnOrder { reason, .. } => return_order(reason.as_ref(), present, now),
        Command::PatchOrder { patch, preconditions, .. } => {
            patch_order(patch, preconditions, present, now)
        }
        Command::ExpireOrder { .. } => expire_order(present, now),
        Command::PutCategory { id, label, preconditions } => {
            put_category(*id, label, preconditions, present)
        }
        Command::DeleteCategory { preconditions, .. } => delete_category(preconditions, present),
    }
}

fn put_category(
    id: i64,
    label: &Label,
    preconditions: &Preconditions,
    present: &Present,
) -> Result<Decision, Refusal> {
    let before = present.category.clone();
    let version = before.as_ref().map_or(1, |category| category.version + 1);
    let is_same = before.as_ref().is_some_and(|category| category.label == *label);
    let before = before.map(Resource::Category);
    if !preconditions.are_given() {
        return Err(Refusal::PreconditionRequired(
            "A category is put with If-None-Match: * to create it, or with If-Match and its ETag \
             to change it.",
        ));
    }
    require(preconditions, before.as_ref())?;
    match before {
        Some(before) if is_same => Ok(Decision::unchanged(before)),
        before => {
            let after = Resource::Category(Category { id, label: label.clone(), version });
            Ok(Decision::of(ChangeType::CategoryChanged, before, after))
        }
    }
}

fn delete_category(preconditions: &Preconditions, present: &Present) -> Result<Decision, Refusal> {
    let category = existing(present.category.as_ref(), NO_CATEGORY)?;
    let before = Resource::Category(category.clone());
    require(preconditions, Some(&before))?;
    let change = Change { kind: ChangeType::CategoryDeleted, before: Some(before), after: None };
    Ok(Decision { changes: vec![change], releases: None, result: None })
}

impl Decision {
    pub(super) fn unchanged(result: Resource) -> Self {
        Self { changes: Vec::new(), releases: None, result: Some(result) }
    }

    pub(super) fn of(kind: ChangeType, before: Option<Resource>, after: Resource) -> Self {
        let change = Change { kind, before, after: Some(after.clone()) };
        Self { changes: vec![change], releases: None, result: Some(after) }
    }

    /// Adds the change of the animal's status that follows from the change of its order.
    pub(super) fn and_pet(
        mut self,
        pet: &StorePet,
        status: PetStatus,
        order_id: Option<OrderId>,
        now: Timestamp,
    ) -> Self {
        let after = changed(StorePet { status, order_id, ..pet.clone() }, now);
        self.changes.push(Change {
            kind: ChangeType::PetChanged,
            before: Some(Resource::Pet(pet.clone())),
            after: Some(Resource::Pet(after)),
        });
        self
    }
}

pub(super) const NO_PET: &str = "No animal has this id.";
pub(super) const NO_ORDER: &str = "No order has this id.";
const NO_CATEGORY: &str = "No category has this id.";

pub(super) fn existing<'a, T>(
    subject: Option<&'a T>,
    message: &'static str,
) -> Result<&'a T, Refusal> {
    subject.ok_or(Refusal::NotFound(message))
}

/// Checks the preconditions of a command that needs some.
pub(super) fn require(
    preconditions: &Preconditions,
    current: Option<&Resource>,
) -> Result<(), Refusal> {
    if !preconditions.are_given() {
        return Err(Refusal::PreconditionRequired(
            "This change needs If-Match with the ETag of the version that it is for.",
        ));
    }
    if preconditions.hold_for(current.map(Resource::version)) {
        Ok(())
    } else {
        Err(Refusal::PreconditionFailed(current.cloned().map(Box::new)))
    }
}

/// The next version of a changed animal.
pub(super) fn changed(pet: StorePet, now: Timestamp) -> StorePet {
    StorePet { version: pet.version + 1, updated_at: Some(now), ..pet }
}

pub(super) fn invalid_transition(message: String, current: Resource) -> Refusal {
    Refusal::InvalidTransition(Box::new(Conflict { message, current }))
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
