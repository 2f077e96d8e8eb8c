//! Refusals of batches. A refusal rolls back the whole batch, so it must not show the client a
//! state that only earlier commands of the same batch produced.

use petstore_domain::{
    PetId,
    store_area::{Conflict, Refusal, Resource},
};

use super::State;

impl State {
    /// Converts the refusal of one command to the refusal of its whole batch. The batch is rolled
    /// back, so the refusal shows each resource in its state before the batch.
    pub(super) fn refuse_batch(&self, refusal: Refusal) -> Refusal {
        match refusal {
            Refusal::PreconditionFailed(Some(current)) => {
                Refusal::PreconditionFailed(self.as_read(&current).map(Box::new))
            }
            Refusal::MovedOn(Some(current)) => {
                Refusal::MovedOn(self.as_read(&current).map(Box::new))
            }
            Refusal::InvalidTransition(conflict) => {
                self.refuse_conflict(conflict, Refusal::InvalidTransition)
            }
            Refusal::DuplicateValue {
                message,
                field,
                other,
                ..
            } => self.refuse_duplicate(message, field, other),
            Refusal::OpenOrder(conflict) => self.refuse_conflict(conflict, Refusal::OpenOrder),
            refusal => refusal,
        }
    }

    /// Refuses a value that the animal `other` also has. Shows that animal in its state before the
    /// batch.
    fn refuse_duplicate(&self, message: String, field: String, other: PetId) -> Refusal {
        let versions = self.pets.get(&other);
        let Some(pet_as_read) = versions.and_then(|versions| versions.read.clone()) else {
            // The animal is new in this batch. After the rollback, its identifier will belong to
            // another animal, so the message must not name it.
            let message = format!(
                "An earlier command of the batch adds an animal with the same {field}, \
                 which must be unique."
            );
            return Refusal::DuplicateValue {
                message,
                field,
                other,
                current: None,
            };
        };
        Refusal::DuplicateValue {
            message,
            field,
            other,
            current: Some(Box::new(Resource::Pet(pet_as_read))),
        }
    }

    /// Makes the refusal of a conflict, which shows the resource in its state before the batch. If
    /// earlier commands of the batch changed the resource, the message says that it describes the
    /// state after these commands.
    fn refuse_conflict(
        &self,
        mut conflict: Box<Conflict>,
        make_refusal: fn(Box<Conflict>) -> Refusal,
    ) -> Refusal {
        let Some(before_batch) = self.as_read(&conflict.current) else {
            return Refusal::NotFound(
                "The subject of this command does not exist before the batch.",
            );
        };
        if before_batch != conflict.current {
            conflict.message = format!(
                "After the earlier commands of the batch: {}",
                conflict.message
            );
            conflict.current = before_batch;
        }
        make_refusal(conflict)
    }

    /// Returns a resource as it was read before the commands. Returns `None` if the resource did
    /// not exist.
    fn as_read(&self, current: &Resource) -> Option<Resource> {
        match current {
            Resource::Pet(pet) => {
                let versions = self.pets.get(&pet.id)?;
                versions.read.clone().map(Resource::Pet)
            }
            Resource::Order(order) => {
                let versions = self.orders.get(&order.id)?;
                versions.read.clone().map(Resource::Order)
            }
            Resource::Category(category) => {
                let versions = self.categories.get(&category.id)?;
                versions.read.clone().map(Resource::Category)
            }
            Resource::Note(note) => {
                let versions = self.notes.get(&note.id)?;
                versions.read.clone().map(Resource::Note)
            }
        }
    }
}
