//! Applies decisions to the state, so that later commands of the transaction see their effects.

use petstore_domain::store_area::{Change, Decision, OrderId, Resource, UniqueValueOwner};

use super::{State, Versions};

impl State {
    /// Applies a decision to the state.
    pub(super) fn apply(&mut self, decision: &Decision) {
        for Change { before, after, .. } in &decision.changes {
            if let Some(resource) = before {
                self.release_unique_values(resource);
            }
            if let Some(resource) = after {
                self.take_unique_values(resource);
                self.put(resource);
            } else if let Some(resource) = before {
                self.delete(resource);
            }
        }
        if let Some(id) = decision.releases {
            self.release_pet(id);
        }
    }

    /// Records that an order no longer holds its animal.
    fn release_pet(&mut self, id: OrderId) {
        let Some(versions) = self.orders.get_mut(&id) else {
            return;
        };
        if let Some(order) = &mut versions.now {
            order.holds = false;
        }
    }

    /// Adds a new resource to the state, or replaces one that a command has changed.
    fn put(&mut self, resource: &Resource) {
        match resource {
            Resource::Pet(pet) => {
                let versions = self.pets.entry(pet.id).or_insert_with(Versions::new);
                versions.now = Some(pet.clone());
            }
            Resource::Order(order) => {
                let versions = self.orders.entry(order.id).or_insert_with(Versions::new);
                versions.now = Some(order.clone());
            }
            Resource::Category(category) => {
                let versions = self
                    .categories
                    .entry(category.id)
                    .or_insert_with(Versions::new);
                versions.now = Some(category.clone());
            }
            Resource::Note(note) => {
                let versions = self.notes.entry(note.id).or_insert_with(Versions::new);
                versions.now = Some(note.clone());
            }
        }
    }

    /// Records that a resource no longer exists. No command deletes an animal or an order.
    fn delete(&mut self, resource: &Resource) {
        match resource {
            Resource::Category(category) => {
                let versions = self
                    .categories
                    .entry(category.id)
                    .or_insert_with(Versions::new);
                versions.now = None;
            }
            Resource::Note(note) => {
                let versions = self.notes.entry(note.id).or_insert_with(Versions::new);
                versions.now = None;
            }
            Resource::Pet(_) | Resource::Order(_) => {}
        }
    }

    /// Returns the unique values that a resource owns. Only an animal in the catalogue owns any.
    fn list_unique_values(&self, resource: &Resource) -> Vec<UniqueValueOwner> {
        match resource {
            Resource::Pet(pet) if pet.withdrawal.is_none() => {
                let keys = self.fields.unique_keys(&pet.fields);
                keys.into_iter()
                    .map(|key| UniqueValueOwner { key, pet: pet.id })
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// Records that a resource, in its state before a change, no longer owns its unique values.
    fn release_unique_values(&mut self, resource: &Resource) {
        for owner in self.list_unique_values(resource) {
            let entry = self.owners.entry(owner);
            entry.or_insert(Versions::unchanged(())).now = None;
        }
    }

    /// Records that a resource, in its state after a change, owns its unique values.
    fn take_unique_values(&mut self, resource: &Resource) {
        for owner in self.list_unique_values(resource) {
            let entry = self.owners.entry(owner);
            entry.or_insert(Versions::new()).now = Some(());
        }
    }
}
