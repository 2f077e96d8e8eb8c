//! The in-memory state of one transaction of the store area: the resources that its commands
//! concern, as they were read and as the commands change them.
//!
//! A store first reads all resources, then decides every command against this state, and only then
//! writes the difference.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

mod batch_refusal;
mod versions;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use jiff::Timestamp;
use petstore_domain::{
    PetId,
    store_area::{
        Category, Change, Command, Decision, FieldSet, Label, NewOrder, NoteId, Order, OrderId,
        Patch, PetNote, PresentState, Refusal, Resource, Reversal, StorePet, Subject, UniqueKey,
        UniqueValueOwner, decide,
    },
    text::comparison_key,
};

pub use self::versions::Versions;
use super::journal_rows::{LogEntry, representation};

/// The maximum total size in bytes of the representations that one batch writes to the log: the
/// state before and after each change. If a command leaves its subject unchanged, the
/// representation still counts twice, so this also limits the size of the response. A single
/// command never exceeds the limit.
const MAX_BATCH_BYTES: usize = 2 << 20;

/// The maximum number of categories, in ascending order of id, whose labels are compared with a new
/// label.
pub const MAX_COMPARED_CATEGORIES: i64 = 10_000;

/// The identifiers for the resources that a command may add; `None` if they are exhausted.
#[derive(Debug, Clone, Copy, Default)]
pub struct NewIds {
    pub pet: Option<PetId>,
    pub order: Option<OrderId>,
    pub note: Option<NoteId>,
    /// The present number of notes on the animal that a new note belongs to.
    pub note_count: i64,
}

/// All resources that the commands of a transaction concern, and the decisions so far.
#[derive(Default)]
pub struct State {
    pub pets: BTreeMap<PetId, Versions<StorePet>>,
    pub orders: BTreeMap<OrderId, Versions<Order>>,
    pub categories: BTreeMap<i64, Versions<Category>>,
    pub notes: BTreeMap<NoteId, Versions<PetNote>>,
    /// The field definitions, if a command gives values or an animal has some. Their version is 0
    /// if they were not read.
    pub fields: Arc<FieldSet>,
    /// The animals that own each unique value. One value can have several owners: earlier releases
    /// compared values with their separators, and so accepted values that count as equal now.
    pub owners: BTreeMap<UniqueValueOwner, Versions<()>>,
    pub decisions: Vec<Decision>,
    /// The log entries for the changes of all decisions.
    pub entries: Vec<LogEntry>,
    /// The number of bytes so far that count towards [`MAX_BATCH_BYTES`].
    bytes: usize,
}

impl State {
    /// Adds a resource as it was read from the database, unless the state already contains it.
    pub fn add(&mut self, resource: impl Into<Resource>) {
        match resource.into() {
            Resource::Pet(pet) => {
                let entry = self.pets.entry(pet.id);
                entry.or_insert_with(|| Versions::unchanged(pet));
            }
            Resource::Order(order) => {
                let entry = self.orders.entry(order.id);
                entry.or_insert_with(|| Versions::unchanged(order));
            }
            Resource::Category(category) => {
                let entry = self.categories.entry(category.id);
                entry.or_insert_with(|| Versions::unchanged(category));
            }
            Resource::Note(note) => {
                let entry = self.notes.entry(note.id);
                entry.or_insert_with(|| Versions::unchanged(note));
            }
        }
    }

    /// Returns an animal with the effects of the commands so far.
    fn current_pet(&self, id: PetId) -> Option<&StorePet> {
        self.pets.get(&id)?.now.as_ref()
    }

    /// Whether the decision about a command depends on the field definitions.
    ///
    /// It does if the command gives values, if an animal that has values is withdrawn or restored,
    /// or if an order takes over the price of its animal.
    pub fn needs_fields(&self, command: &Command) -> bool {
        match command {
            Command::WithdrawPet { id, .. } | Command::RestorePet { id, .. } => self
                .current_pet(*id)
                .is_some_and(|pet| !pet.fields.is_empty()),
            Command::PlaceOrder(NewOrder {
                pet_id,
                price: Patch::Keep,
                ..
            }) => self
                .current_pet(*pet_id)
                .is_some_and(|pet| pet.price().is_some()),
            Command::Revert(Reversal::Pet(reversal)) => {
                let pet = self.current_pet(reversal.id);
                let has_values = pet.is_some_and(|pet| !pet.fields.is_empty());
                !reversal.fields.is_empty() || (reversal.changes_catalogue() && has_values)
            }
            _ => command.fields().is_some_and(|fields| !fields.is_empty()),
        }
    }

    /// Returns the unique values that an animal gets through a command. Their present owners must
    /// be read before the decision.
    pub fn keys_to_read(&self, command: &Command) -> Vec<UniqueKey> {
        let given_values = command.field_values();
        let mut keys: Vec<_> = given_values
            .filter_map(|(name, value)| self.fields.unique_key(name, value))
            .collect();
        let restored_pet = match command {
            Command::RestorePet { id, .. } => Some(*id),
            Command::Revert(Reversal::Pet(reversal)) if reversal.restores_pet() => {
                Some(reversal.id)
            }
            _ => None,
        };
        if let Some(id) = restored_pet
            && let Some(pet) = self.current_pet(id)
        {
            keys.extend(self.fields.unique_keys(&pet.fields));
        }
        keys
    }

    /// Adds the categories whose label equals `label`, ignoring case.
    pub fn add_namesakes(&mut self, label: &Label, categories: impl IntoIterator<Item = Category>) {
        let key = comparison_key(label.as_str());
        for category in categories {
            if comparison_key(category.label.as_str()) == key {
                self.add(category);
            }
        }
    }

    /// Returns another category that already has the new label which a command gives to a category,
    /// ignoring case.
    fn namesake(&self, command: &Command) -> Option<Category> {
        let key = comparison_key(command.new_label()?.as_str());
        let categories = self
            .categories
            .values()
            .filter_map(|versions| versions.now.as_ref());
        let mut namesakes = categories.filter(|category| {
            command.subject() != Subject::Category(category.id)
                && comparison_key(category.label.as_str()) == key
        });
        namesakes.next().cloned()
    }

    /// Adds an owner of a unique value as it was read. The caller must also add the animal itself.
    pub fn add_owner(&mut self, key: UniqueKey, owner: PetId) {
        self.owners
            .entry(UniqueValueOwner { key, pet: owner })
            .or_insert(Versions::unchanged(()));
    }

    /// Returns the names of the examined fields that get values from the commands. An examination
    /// finds out whether a field is in use: see [`crate::Fields::examine_field`]. The transaction
    /// must end these examinations.
    pub fn examined_fields<'c>(
        &self,
        commands: impl Iterator<Item = &'c Command>,
    ) -> BTreeSet<String> {
        let names = commands
            .flat_map(Command::field_values)
            .map(|(name, _)| name);
        names
            .filter(|name| self.fields.is_examined(name))
            .map(str::to_owned)
            .collect()
    }

    /// Decides the next command against the present state, and applies the decision to the state.
    ///
    /// The caller must first add every resource that the command concerns. After a refusal, the
    /// caller must not write anything.
    pub fn decide(
        &mut self,
        command: &Command,
        new_ids: NewIds,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let present_state = self.present_state(command, new_ids);
        let decision = match decide(command, &present_state, now) {
            Ok(decision) => decision,
            Err(refusal) => return Err(self.refuse_batch(refusal)),
        };

        for change in &decision.changes {
            let entry = LogEntry::from_change(change);
            self.bytes += entry.length();
            self.entries.push(entry);
        }
        // The response contains the unchanged resource, so it counts, too.
        if decision.changes.is_empty()
            && let Some(unchanged_resource) = &decision.result
        {
            self.bytes += 2 * representation(unchanged_resource).len();
        }
        if self.bytes > MAX_BATCH_BYTES {
            return Err(Refusal::TooLong);
        }

        self.apply(&decision);
        self.decisions.push(decision);
        Ok(())
    }

    /// Whether the commands changed any resource.
    pub fn is_changed(&self) -> bool {
        self.pets.values().any(Versions::is_changed)
            || self.orders.values().any(Versions::is_changed)
            || self.categories.values().any(Versions::is_changed)
            || self.notes.values().any(Versions::is_changed)
    }

    /// Returns the order that currently holds an animal: its open order, or the one that sold it.
    pub fn holder(&self, pet: PetId) -> Option<&Order> {
        let mut orders = self
            .orders
            .values()
            .filter_map(|versions| versions.now.as_ref());
        orders.find(|order| order.holds && order.pet_id == pet)
    }

    /// Collects the facts that the decision about a command depends on.
    fn present_state(&self, command: &Command, new_ids: NewIds) -> PresentState {
        let mut present_state = PresentState {
            fields: Arc::clone(&self.fields),
            owners: self.current_owners(),
            namesake: self.namesake(command),
            next_pet: new_ids.pet,
            next_order: new_ids.order,
            next_note: new_ids.note,
            note_count: new_ids.note_count,
            ..PresentState::default()
        };
        self.add_subject(command.subject(), &mut present_state);
        present_state
    }

    /// Returns the animals that own unique values, with the effects of the commands so far.
    fn current_owners(&self) -> BTreeSet<UniqueValueOwner> {
        let mut current_owners = BTreeSet::new();
        for (owner, versions) in &self.owners {
            if versions.now.is_some() {
                current_owners.insert(owner.clone());
            }
        }
        current_owners
    }

    /// Adds the subject of a command to the facts of its decision. For an animal or an order, also
    /// adds the animal, and the order that holds the animal.
    fn add_subject(&self, subject: Subject, present_state: &mut PresentState) {
        let pet_id = match subject {
            Subject::New | Subject::Nothing => None,
            Subject::Pet(id) => Some(id),
            Subject::Order(id) => {
                let versions = self.orders.get(&id);
                present_state.order = versions.and_then(|versions| versions.now.clone());
                present_state.order.as_ref().map(|order| order.pet_id)
            }
            Subject::Category(id) => {
                let versions = self.categories.get(&id);
                present_state.category = versions.and_then(|versions| versions.now.clone());
                None
            }
            Subject::Note(id) => {
                let versions = self.notes.get(&id);
                present_state.note = versions.and_then(|versions| versions.now.clone());
                None
            }
        };
        if let Some(id) = pet_id {
            present_state.pet = self.current_pet(id).cloned();
            present_state.holder = self.holder(id).cloned();
        }
    }

    /// Applies a decision to the state.
    fn apply(&mut self, decision: &Decision) {
        for Change { before, after, .. } in &decision.changes {
            if let Some(resource) = before {
                self.release_unique_values(resource);
            }
            match (before, after) {
                (_, Some(resource)) => {
                    self.take_unique_values(resource);
                    self.put(resource);
                }
                (Some(resource), None) => self.delete(resource),
                // Every change has a state before or after it.
                (None, None) => {}
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
                let entry = self.categories.entry(category.id);
                entry.or_insert_with(Versions::new).now = Some(category.clone());
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
                let entry = self.categories.entry(category.id);
                entry.or_insert_with(Versions::new).now = None;
            }
            Resource::Note(note) => {
                let versions = self.notes.entry(note.id).or_insert_with(Versions::new);
                versions.now = None;
            }
            Resource::Pet(_) | Resource::Order(_) => {}
        }
    }

    /// Returns the unique values of a resource. Only an animal in the catalogue has any.
    fn unique_values(&self, resource: &Resource) -> Vec<UniqueValueOwner> {
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
        for owner in self.unique_values(resource) {
            let entry = self.owners.entry(owner);
            entry.or_insert(Versions::unchanged(())).now = None;
        }
    }

    /// Records that a resource, in its state after a change, owns its unique values.
    fn take_unique_values(&mut self, resource: &Resource) {
        for owner in self.unique_values(resource) {
            let entry = self.owners.entry(owner);
            entry.or_insert(Versions::new()).now = Some(());
        }
    }
}
