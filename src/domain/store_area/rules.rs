//! What the rules of animals, orders and categories share.

use jiff::Timestamp;

use super::{
    Change, ChangeType, Conflict, Decision, OrderId, Preconditions, Refusal, Resource, StorePet,
};
use crate::domain::PetStatus;

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
