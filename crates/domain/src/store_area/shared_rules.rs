//! What the rules for animals, orders, categories, notes and photos share: how a [`Decision`] is
//! made, and the checks of a command's subject and preconditions.

use jiff::Timestamp;

use super::{
    Change, ChangeType, Conflict, Decision, OrderId, PhotoId, Preconditions, Refusal, Resource,
    StorePet,
};
use crate::PetStatus;

impl Decision {
    /// Returns the decision to change nothing, because the subject is already in the requested
    /// state.
    pub(super) fn without_change(subject: &(impl Into<Resource> + Clone)) -> Self {
        Self {
            changes: Vec::new(),
            releases: None,
            result: Some(subject.clone().into()),
            photo: None,
        }
    }

    /// Returns the decision to create `after`, or to replace `before` by it.
    pub(super) fn new<T: Into<Resource> + Clone>(
        kind: ChangeType,
        before: Option<&T>,
        after: T,
    ) -> Self {
        let after = after.into();
        let change = Change {
            kind,
            before: before.cloned().map(Into::into),
            after: Some(after.clone()),
        };
        Self {
            changes: vec![change],
            releases: None,
            result: Some(after),
            photo: None,
        }
    }

    /// Returns the decision to delete a subject.
    pub(super) fn deletion(kind: ChangeType, subject: &(impl Into<Resource> + Clone)) -> Self {
        let change = Change {
            kind,
            before: Some(subject.clone().into()),
            after: None,
        };
        Self {
            changes: vec![change],
            releases: None,
            result: None,
            photo: None,
        }
    }

    /// Returns the decision with the photo that the command added, replaced or changed.
    pub(super) fn with_photo(self, id: PhotoId) -> Self {
        Self {
            photo: Some(id),
            ..self
        }
    }

    /// Adds the change of the animal's status that results from the change of its order. `order_id`
    /// is the open order that now reserves the animal, if any.
    pub(super) fn with_pet_status(
        mut self,
        pet: &StorePet,
        status: PetStatus,
        order_id: Option<OrderId>,
        now: Timestamp,
    ) -> Self {
        let after = StorePet {
            status,
            order_id,
            ..pet.clone()
        };
        let pet_decision = Self::new(ChangeType::PetChanged, Some(pet), next_version(after, now));
        self.changes.extend(pet_decision.changes);
        self
    }
}

/// The message about an animal that does not exist.
pub(super) const NO_PET: &str = "No animal has this id.";

/// The message about an order that does not exist.
pub(super) const NO_ORDER: &str = "No order has this id.";

/// Returns the subject of a command, or the refusal `NotFound` with `message` if it does not exist.
pub(super) fn require_subject<'a, T>(
    subject: Option<&'a T>,
    message: &'static str,
) -> Result<&'a T, Refusal> {
    subject.ok_or(Refusal::NotFound(message))
}

/// Checks the preconditions of a command for which preconditions are mandatory.
pub(super) fn require_preconditions<T: Into<Resource> + Clone>(
    preconditions: &Preconditions,
    current: Option<&T>,
) -> Result<(), Refusal> {
    if !preconditions.are_given() {
        return Err(Refusal::PreconditionRequired(
            "This change needs If-Match with the ETag of the version that you want to change, such \
             as \"7\". Read the resource first.",
        ));
    }
    check_preconditions(preconditions, current)
}

/// Checks the preconditions of a command for which preconditions are optional.
pub(super) fn check_preconditions<T: Into<Resource> + Clone>(
    preconditions: &Preconditions,
    current: Option<&T>,
) -> Result<(), Refusal> {
    let current: Option<Resource> = current.cloned().map(Into::into);
    if preconditions.hold_for(current.as_ref().map(Resource::version)) {
        return Ok(());
    }
    Err(Refusal::PreconditionFailed(current.map(Box::new)))
}

/// Returns a changed animal with the next version number and the time of the change.
pub(super) fn next_version(pet: StorePet, now: Timestamp) -> StorePet {
    StorePet {
        version: pet.version + 1,
        updated_at: Some(now),
        ..pet
    }
}

/// Returns the refusal of a command that the present state does not allow. `message` names the
/// state, and what can be done about it.
pub(super) fn invalid_transition(
    message: String,
    current: &(impl Into<Resource> + Clone),
) -> Refusal {
    let current = current.clone().into();
    Refusal::InvalidTransition(Box::new(Conflict { message, current }))
}
