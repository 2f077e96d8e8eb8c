//! The steps of a revert, which is decided as a sequence of other commands.

use jiff::Timestamp;

use super::{Change, Decision, Order, PresentState, Refusal, Resource};

/// A sequence of decisions. Each decision sees the effects of the earlier ones.
pub(super) struct Steps {
    pub(super) now: Timestamp,
    /// The state after the decisions so far.
    pub(super) present: PresentState,
    changes: Vec<Change>,
}

impl Steps {
    /// Creates an empty sequence, which begins with the present state.
    pub(super) fn new(present: &PresentState, now: Timestamp) -> Self {
        Self {
            now,
            present: present.clone(),
            changes: Vec::new(),
        }
    }

    /// Makes the next decision, applies its changes to the present state, and records them.
    pub(super) fn run(
        &mut self,
        decide: impl FnOnce(&PresentState) -> Result<Decision, Refusal>,
    ) -> Result<(), Refusal> {
        let decision = decide(&self.present)?;
        for change in &decision.changes {
            match &change.after {
                Some(Resource::Pet(pet)) => self.present.pet = Some(pet.clone()),
                Some(Resource::Order(order)) => self.set_order(order),
                Some(Resource::Category(_) | Resource::Note(_)) | None => {}
            }
        }
        self.changes.extend(decision.changes);
        Ok(())
    }

    /// Updates the order, and whether it [holds](Order::holds) the animal.
    fn set_order(&mut self, order: &Order) {
        self.present.holding_order = order.holds.then(|| order.clone());
        self.present.order = Some(order.clone());
    }

    /// Combines all changes into one decision, whose result is the order or the animal.
    pub(super) fn into_decision(self, is_about_order: bool) -> Decision {
        let result = if is_about_order {
            self.present.order.map(Resource::Order)
        } else {
            self.present.pet.map(Resource::Pet)
        };
        Decision {
            changes: self.changes,
            // A status that an order determines is restored with the order, not by hand.
            releases: None,
            result,
            photo: None,
        }
    }
}
