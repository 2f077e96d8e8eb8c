//! The common parts of the rules of animals, orders and categories.

use jiff::Timestamp;

use super::{
    Change, ChangeType, Conflict, Decision, OrderId, Preconditions, Refusal, Resource, StorePet,
};
use crate::PetStatus;

impl Decision {
    pub(super) fn without_change(result: &(impl Into<Resource> + Clone)) -> Self {
        Self {
            changes: Vec::new(),
            releases: None,
            result: Some(result.clone().into()),
            photo: None,
        }
    }

    /// Adds or changes something.
    pub(super) fn new<T: Into<Resource> + Clone>(
        kind: ChangeType,
        before: Option<&T>,
        after: T,
    ) -> Self {
        let before = before.cloned().map(Into::into);
        let after = Some(after.into());
        let change = Change {
            kind,
            before,
            after: after.clone(),
        };
        Self {
            changes: vec![change],
            releases: None,
            result: after,
            photo: None,
        }
    }

    /// Adds the change of the animal's status that follows from the change of its order.
    pub(super) fn with_pet_status(
        mut self,
        pet: &StorePet,
        status: PetStatus,
        order_id: Option<OrderId>,
        now: Timestamp,
    ) -> Self {
        let after = next_version(
            StorePet {
                status,
                order_id,
                ..pet.clone()
            },
            now,
        );
        self.changes
            .extend(Self::new(ChangeType::PetChanged, Some(pet), after).changes);
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
pub(super) fn require<T: Into<Resource> + Clone>(
    preconditions: &Preconditions,
    current: Option<&T>,
) -> Result<(), Refusal> {
    if !preconditions.are_given() {
        return Err(Refusal::PreconditionRequired(
            "This change needs If-Match with the ETag of the version that you want to change, such \
             as \"7\". Read the resource first.",
        ));
    }
    check(preconditions, current)
}

/// The same of a command that works without.
pub(super) fn check<T: Into<Resource> + Clone>(
    preconditions: &Preconditions,
    current: Option<&T>,
) -> Result<(), Refusal> {
    let current: Option<Resource> = current.cloned().map(Into::into);
    if preconditions.hold_for(current.as_ref().map(Resource::version)) {
        Ok(())
    } else {
        Err(Refusal::PreconditionFailed(current.map(Box::new)))
    }
}

/// Returns the next version of a changed animal.
pub(super) fn next_version(pet: StorePet, now: Timestamp) -> StorePet {
    StorePet {
        version: pet.version + 1,
        updated_at: Some(now),
        ..pet
    }
}

pub(super) fn invalid_transition(
    message: String,
    current: &(impl Into<Resource> + Clone),
) -> Refusal {
    let current = current.clone().into();
    Refusal::InvalidTransition(Box::new(Conflict { message, current }))
}
