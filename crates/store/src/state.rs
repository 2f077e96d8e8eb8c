//! The resources that the commands of one transaction are about, as they were read and as the commands change them. A
//! store reads the resources, decides about every command, and writes only then.

#![expect(missing_docs, reason = "a comment says what a name does not")]

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

/// The maximum number of bytes that the representations before and after the commands may have together, as the log
/// keeps them. The representation of a subject which stays as it is counts twice, as if it had changed, so this
/// also limits the response. One command never has more bytes.
const MAX_BYTES: usize = 2 << 20;

/// The maximum number of categories, the first ones, with whose labels a new label is compared.
pub const MAX_COMPARED_CATEGORIES: i64 = 10_000;

/// The identifiers for what a command adds; `None` if all are used.
#[derive(Debug, Clone, Copy, Default)]
pub struct NewIds {
    pub pet: Option<PetId>,
    pub order: Option<OrderId>,
    pub note: Option<NoteId>,
    /// The number of notes on the animal that gets a new one.
    pub note_count: i64,
}

/// All resources that the commands are about, and what was decided.
#[derive(Default)]
pub struct State {
    pub pets: BTreeMap<PetId, Versions<StorePet>>,
    pub orders: BTreeMap<OrderId, Versions<Order>>,
    pub categories: BTreeMap<i64, Versions<Category>>,
    pub notes: BTreeMap<NoteId, Versions<PetNote>>,
    /// The fields of the store, if a command or an animal has values. Their version is 0 if they
    /// were not read.
    pub fields: Arc<FieldSet>,
    /// The animals that have unique values. From before such values were compared without separators, several
    /// can have the same one.
    pub owners: BTreeMap<UniqueValueOwner, Versions<()>>,
    pub decisions: Vec<Decision>,
    /// The changes of the decisions, for the log.
    pub entries: Vec<LogEntry>,
    /// The number of bytes that count for [`MAX_BYTES`].
    bytes: usize,
}

impl State {
    /// Adds a resource as it was read, unless it is already there.
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

    /// Returns an animal as the commands so far leave it.
    fn current_pet(&self, id: PetId) -> Option<&StorePet> {
        self.pets.get(&id)?.now.as_ref()
    }

    /// Whether the decision about a command needs the fields: it gives values, an animal that has
    /// values leaves the catalogue or comes back, or an order gets the price of its animal.
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

    /// Returns the unique values that an animal has after a command.
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

    /// Adds the categories of a store that have the label of a command, in any case.
    pub fn add_namesakes(&mut self, label: &Label, categories: impl IntoIterator<Item = Category>) {
        let key = comparison_key(label.as_str());
        for category in categories {
            if comparison_key(category.label.as_str()) == key {
                self.add(category);
            }
        }
    }

    /// Returns another category than the subject of a command with the label that the command gives, in any case.
    fn namesake(&self, command: &Command) -> Option<Category> {
        let key = comparison_key(command.new_label()?.as_str());
        let categories = self
            .categories
            .values()
            .filter_map(|category| category.now.as_ref());
        let mut namesakes = categories.filter(|category| {
            command.subject() != Subject::Category(category.id)
                && comparison_key(category.label.as_str()) == key
        });
        namesakes.next().cloned()
    }

    /// Adds an owner of a unique value. The animal must also have been added.
    pub fn add_owner(&mut self, key: UniqueKey, owner: PetId) {
        self.owners
            .entry(UniqueValueOwner { key, pet: owner })
            .or_insert(Versions::unchanged(()));
    }

    /// Returns the fields to which the commands gave values, and which may be examined now.
    pub fn examined<'c>(&self, commands: impl Iterator<Item = &'c Command>) -> BTreeSet<String> {
        let names = commands
            .flat_map(Command::field_values)
            .map(|(name, _)| name);
        names
            .filter(|name| self.fields.is_examined(name))
            .map(str::to_owned)
            .collect()
    }

    /// Decides about the next command, which sees the effect of the commands before it. Everything that it
    /// is about must have been added. After a refusal, nothing may be written.
    pub fn decide(
        &mut self,
        command: &Command,
        new: NewIds,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let present_state = self.present(command, new);
        let decision = match decide(command, &present_state, now) {
            Ok(decision) => decision,
            Err(refusal) => return Err(self.refuse_batch(refusal)),
        };

        for change in &decision.changes {
            let entry = LogEntry::from_change(change);
            self.bytes += entry.length();
            self.entries.push(entry);
        }
        if decision.changes.is_empty()
            && let Some(unchanged_resource) = &decision.result
        {
            self.bytes += 2 * representation(unchanged_resource).len();
        }
        if self.bytes > MAX_BYTES {
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

    /// Returns the order that holds an animal.
    pub fn holder(&self, pet: PetId) -> Option<&Order> {
        let mut orders = self.orders.values().filter_map(|order| order.now.as_ref());
        orders.find(|order| order.holds && order.pet_id == pet)
    }

    /// Returns what the decision about a command needs to know.
    fn present(&self, command: &Command, new: NewIds) -> PresentState {
        let owners = self
            .owners
            .iter()
            .filter(|(_, versions)| versions.now.is_some())
            .map(|(owner, _)| owner.clone());
        let mut present = PresentState {
            fields: Arc::clone(&self.fields),
            owners: owners.collect(),
            namesake: self.namesake(command),
            next_pet: new.pet,
            next_order: new.order,
            next_note: new.note,
            note_count: new.note_count,
            ..PresentState::default()
        };

        let pet = match command.subject() {
            Subject::New | Subject::Nothing => None,
            Subject::Pet(id) => Some(id),
            Subject::Order(id) => {
                present.order = self.orders.get(&id).and_then(|order| order.now.clone());
                present.order.as_ref().map(|order| order.pet_id)
            }
            Subject::Category(id) => {
                let versions = self.categories.get(&id);
                present.category = versions.and_then(|category| category.now.clone());
                None
            }
            Subject::Note(id) => {
                present.note = self.notes.get(&id).and_then(|note| note.now.clone());
                None
            }
        };
        if let Some(id) = pet {
            present.pet = self.current_pet(id).cloned();
            present.holder = self.holder(id).cloned();
        }
        present
    }

    /// Makes the changes of a decision.
    fn apply(&mut self, decision: &Decision) {
        for Change { before, after, .. } in &decision.changes {
            if let Some(resource) = before {
                self.release_unique_values(resource);
            }
            if let Some(resource) = after {
                self.take_unique_values(resource);
            }
            match after.as_ref().or(before.as_ref()) {
                Some(Resource::Pet(pet)) => {
                    let versions = self.pets.entry(pet.id).or_insert_with(Versions::new);
                    versions.now = Some(pet.clone());
                }
                Some(Resource::Order(order)) => {
                    let versions = self.orders.entry(order.id).or_insert_with(Versions::new);
                    versions.now = Some(order.clone());
                }
                Some(Resource::Category(category)) => {
                    let entry = self.categories.entry(category.id);
                    let versions = entry.or_insert_with(Versions::new);
                    // A change can delete only a category or a note.
                    versions.now = after.is_some().then(|| category.clone());
                }
                Some(Resource::Note(note)) => {
                    let versions = self.notes.entry(note.id).or_insert_with(Versions::new);
                    versions.now = after.is_some().then(|| note.clone());
                }
                None => {}
            }
        }
        if let Some(id) = decision.releases
            && let Some(versions) = self.orders.get_mut(&id)
            && let Some(order) = &mut versions.now
        {
            order.holds = false;
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

    /// Takes the unique values from a resource.
    fn release_unique_values(&mut self, resource: &Resource) {
        for owner in self.unique_values(resource) {
            let entry = self.owners.entry(owner);
            entry.or_insert(Versions::unchanged(())).now = None;
        }
    }

    /// Gives the unique values to a resource.
    fn take_unique_values(&mut self, resource: &Resource) {
        for owner in self.unique_values(resource) {
            let entry = self.owners.entry(owner);
            entry.or_insert(Versions::new()).now = Some(());
        }
    }
}
