//! The in-memory state of one transaction of the store area. It has the resources that the commands
//! concern, as they were read and as the commands change them.
//!
//! A store first reads all resources, then decides every command against this state, and only then
//! writes the difference.

mod apply;
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
        Category, Command, Decision, FieldSet, Label, NewOrder, NoteId, Order, OrderId, Patch,
        PetNote, PresentState, Refusal, Resource, Reversal, StorePet, Subject, UniqueKey,
        UniqueValueOwner, decide,
    },
    text::comparison_key,
};

pub use self::versions::Versions;
use super::journal_rows::{LogEntry, render_resource};

/// The maximum total size in bytes of the representations that one batch writes to the log: the
/// state before and after each change.
///
/// The limit also bounds the size of the response. For this, the representation of a resource that
/// a command leaves unchanged counts twice, too. A single command never exceeds the limit.
const MAX_BATCH_BYTES: usize = 2 << 20;

/// The maximum number of categories, in ascending order of id, whose labels are compared with a new
/// label.
pub const MAX_COMPARED_CATEGORIES: i64 = 10_000;

/// The identifiers for the resources that a command may add. `None` means that the identifiers are
/// exhausted, or that the command adds no such resource.
#[derive(Debug, Clone, Copy, Default)]
pub struct NewIds {
    /// The identifier for a new animal.
    pub pet: Option<PetId>,
    /// The identifier for a new order.
    pub order: Option<OrderId>,
    /// The identifier for a new note.
    pub note: Option<NoteId>,
    /// The present number of notes on the animal that a new note belongs to.
    pub note_count: i64,
}

/// All resources that the commands of a transaction concern, and the decisions so far.
#[derive(Default)]
pub struct State {
    /// The animals, withdrawn or not.
    pub pets: BTreeMap<PetId, Versions<StorePet>>,
    /// The orders.
    pub orders: BTreeMap<OrderId, Versions<Order>>,
    /// The categories.
    pub categories: BTreeMap<i64, Versions<Category>>,
    /// The notes on animals.
    pub notes: BTreeMap<NoteId, Versions<PetNote>>,
    /// The field definitions, if a command gives values or an animal has some. Their version is 0
    /// if they were not read.
    pub fields: Arc<FieldSet>,
    /// The animals that own each unique value. One value can have several owners: earlier releases
    /// compared values with their separators, and so accepted values that count as equal now.
    pub owners: BTreeMap<UniqueValueOwner, Versions<()>>,
    /// The decision about each command, in order.
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

    /// Whether an animal has values, with the effects of the commands so far.
    fn has_values(&self, id: PetId) -> bool {
        let pet = self.current_pet(id);
        pet.is_some_and(|pet| !pet.fields.is_empty())
    }

    /// Whether the decision about a command depends on the field definitions.
    ///
    /// The decision does if the command gives values, if an animal that has values is withdrawn or
    /// restored, or if an order takes over the price of its animal.
    pub fn needs_fields(&self, command: &Command) -> bool {
        match command {
            Command::WithdrawPet { id, .. } | Command::RestorePet { id, .. } => {
                self.has_values(*id)
            }
            Command::PlaceOrder(NewOrder {
                pet_id,
                price: Patch::Keep,
                ..
            }) => self
                .current_pet(*pet_id)
                .is_some_and(|pet| pet.price().is_some()),
            Command::Revert(Reversal::Pet(reversal)) => {
                !reversal.fields.is_empty()
                    || (reversal.changes_catalogue() && self.has_values(reversal.id))
            }
            _ => command.fields().is_some_and(|fields| !fields.is_empty()),
        }
    }

    /// Returns the unique values that an animal gets through a command. Their present owners must
    /// be read before the decision.
    pub fn keys_to_read(&self, command: &Command) -> Vec<UniqueKey> {
        let mut keys = Vec::new();
        for (name, value) in command.field_values() {
            keys.extend(self.fields.unique_key(name, value));
        }
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

    /// Adds the namesakes of a label: those of `categories` whose label equals `label`, ignoring
    /// case.
    pub fn add_namesakes(&mut self, label: &Label, categories: impl IntoIterator<Item = Category>) {
        let key = comparison_key(label.as_str());
        for category in categories {
            if comparison_key(category.label.as_str()) == key {
                self.add(category);
            }
        }
    }

    /// Finds a namesake of the category to which a command gives a new label: another category that
    /// already has this label, ignoring case. Returns `None` if the command gives no label.
    fn find_namesake(&self, command: &Command) -> Option<Category> {
        let new_label = command.new_label()?;
        let key = comparison_key(new_label.as_str());
        let mut categories = self
            .categories
            .values()
            .filter_map(|versions| versions.now.as_ref());
        let namesake = categories.find(|category| {
            let is_other_category = command.subject() != Subject::Category(category.id);
            is_other_category && comparison_key(category.label.as_str()) == key
        });
        namesake.cloned()
    }

    /// Adds an owner of a unique value as it was read. The caller must also add the animal itself.
    pub fn add_owner(&mut self, key: UniqueKey, owner: PetId) {
        self.owners
            .entry(UniqueValueOwner { key, pet: owner })
            .or_insert(Versions::unchanged(()));
    }

    /// Returns the names of the examined fields that get values from the commands.
    ///
    /// An examination finds out whether a field is in use: see [`crate::Fields::examine_field`].
    /// The transaction must end these examinations, because the fields are in use now.
    pub fn examined_fields<'c>(
        &self,
        commands: impl Iterator<Item = &'c Command>,
    ) -> BTreeSet<String> {
        let mut examined_names = BTreeSet::new();
        for (name, _) in commands.flat_map(Command::field_values) {
            if self.fields.is_examined(name) {
                examined_names.insert(name.to_owned());
            }
        }
        examined_names
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
        let present_state = self.collect_facts(command, new_ids);
        let decision = match decide(command, &present_state, now) {
            Ok(decision) => decision,
            Err(refusal) => return Err(self.refuse_batch(refusal)),
        };

        for change in &decision.changes {
            let entry = LogEntry::from_change(change);
            self.bytes += entry.length();
            self.entries.push(entry);
        }
        // The response contains the unchanged resource: see `MAX_BATCH_BYTES`.
        if decision.changes.is_empty()
            && let Some(unchanged_resource) = &decision.result
        {
            self.bytes += 2 * render_resource(unchanged_resource).len();
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

    /// Finds the order that currently holds an animal: its open order, or the one that sold it.
    pub fn find_holder(&self, pet: PetId) -> Option<&Order> {
        let mut orders = self
            .orders
            .values()
            .filter_map(|versions| versions.now.as_ref());
        orders.find(|order| order.holds && order.pet_id == pet)
    }

    /// Collects the facts that the decision about a command depends on.
    fn collect_facts(&self, command: &Command, new_ids: NewIds) -> PresentState {
        let mut present_state = PresentState {
            fields: Arc::clone(&self.fields),
            owners: self.current_owners(),
            namesake: self.find_namesake(command),
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
        let mut owners = BTreeSet::new();
        for (owner, versions) in &self.owners {
            if versions.now.is_some() {
                owners.insert(owner.clone());
            }
        }
        owners
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
            present_state.holding_order = self.find_holder(id).cloned();
        }
    }
}
