//! What the commands of one transaction are about, as it was read and as they change it. A store
//! reads it, decides about every command, and writes only then.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use jiff::Timestamp;
use petstore_domain::{
    PetId,
    store_area::{
        Category, Change, Command, Conflict, Decision, FieldSet, NewOrder, Order, OrderId, Owner,
        Patch, Present, Refusal, Resource, StorePet, Subject, UniqueKey, decide,
    },
};

use super::journal_rows::{Entry, shown};

/// How many bytes the representations before and after the commands may have together, as the log
/// keeps them. That of a subject which stays as it is counts twice, as if it had changed, so this
/// also limits the response. One command never has so many.
const MAX_BYTES: usize = 2 << 20;

/// A resource as it was read, and as the commands so far leave it. `None` if it does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versions<T> {
    pub read: Option<T>,
    pub now: Option<T>,
}

impl<T: Clone + PartialEq> Versions<T> {
    fn unchanged(read: T) -> Self {
        Self {
            now: Some(read.clone()),
            read: Some(read),
        }
    }

    fn new() -> Self {
        Self {
            read: None,
            now: None,
        }
    }

    fn is_changed(&self) -> bool {
        self.read != self.now
    }
}

/// The identifiers for what a command adds; `None` if all are used.
#[derive(Debug, Clone, Copy, Default)]
pub struct NewIds {
    pub pet: Option<PetId>,
    pub order: Option<OrderId>,
}

/// All resources that the commands are about, and what was decided.
#[derive(Default)]
pub struct State {
    pub pets: BTreeMap<PetId, Versions<StorePet>>,
    pub orders: BTreeMap<OrderId, Versions<Order>>,
    pub categories: BTreeMap<i64, Versions<Category>>,
    /// The fields of the store, if a command or an animal has values. Their version is 0 if they
    /// were not read.
    pub fields: Arc<FieldSet>,
    /// The animals that have unique values. From before such values were compared without separators, several
    /// can have the same one.
    pub owners: BTreeMap<Owner, Versions<()>>,
    pub decisions: Vec<Decision>,
    /// The changes of the decisions, for the log.
    pub entries: Vec<Entry>,
    bytes: usize,
}

impl State {
    /// Adds what was read, unless it is already there.
    pub fn add(&mut self, read: impl Into<Resource>) {
        match read.into() {
            Resource::Pet(pet) => {
                self.pets
                    .entry(pet.id)
                    .or_insert_with(|| Versions::unchanged(pet));
            }
            Resource::Order(order) => {
                self.orders
                    .entry(order.id)
                    .or_insert_with(|| Versions::unchanged(order));
            }
            Resource::Category(category) => {
                let of = self.categories.entry(category.id);
                of.or_insert_with(|| Versions::unchanged(category));
            }
        }
    }

    /// Whether the decision about a command needs the fields: it gives values, an animal that has
    /// values leaves the catalogue or comes back, or an order gets the price of its animal.
    pub fn needs_fields(&self, command: &Command) -> bool {
        let has_values = |id| {
            let pet = self.pets.get(id).and_then(|pet| pet.now.as_ref());
            pet.is_some_and(|pet| !pet.fields.is_empty())
        };
        match command {
            Command::WithdrawPet { id, .. } | Command::RestorePet { id, .. } => has_values(id),
            Command::PlaceOrder(NewOrder {
                pet_id,
                price: Patch::Keep,
                ..
            }) => {
                let pet = self.pets.get(pet_id).and_then(|pet| pet.now.as_ref());
                pet.is_some_and(|pet| pet.price().is_some())
            }
            _ => command.fields().is_some_and(|fields| !fields.is_empty()),
        }
    }

    /// The unique values that an animal has after a command.
    pub fn keys_to_read(&self, command: &Command) -> Vec<UniqueKey> {
        let given = command.field_values();
        let mut keys: Vec<_> = given
            .filter_map(|(name, value)| self.fields.unique_key(name, value))
            .collect();
        if let Command::RestorePet { id, .. } = command
            && let Some(pet) = self.pets.get(id).and_then(|pet| pet.now.as_ref())
        {
            keys.extend(self.fields.unique_keys(&pet.fields));
        }
        keys
    }

    /// Adds an owner of a unique value. The animal must also have been added.
    pub fn add_owner(&mut self, key: UniqueKey, owner: PetId) {
        self.owners
            .entry((key, owner))
            .or_insert(Versions::unchanged(()));
    }

    /// The fields to which the commands gave values, and which may be examined now.
    pub fn examined<'c>(&self, commands: impl Iterator<Item = &'c Command>) -> BTreeSet<String> {
        let names = commands
            .flat_map(Command::field_values)
            .map(|(name, _)| name);
        names
            .filter(|name| self.fields.is_examined(name))
            .map(str::to_owned)
            .collect()
    }

    /// Decides about the next command, which sees the effect of those before it. Everything that it
    /// is about must have been added. After a refusal, nothing may be written.
    pub fn decide(
        &mut self,
        command: &Command,
        new: NewIds,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let decision = decide(command, &self.present(command, new), now)
            .map_err(|refusal| self.before_all(refusal))?;
        let first = self.entries.len();
        self.entries.extend(decision.changes.iter().map(Entry::of));
        self.bytes += match &decision.result {
            Some(same) if decision.changes.is_empty() => 2 * shown(same).len(),
            _ => self.entries[first..].iter().map(Entry::length).sum(),
        };
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
    }

    /// The order that holds this animal.
    pub fn holder(&self, pet: PetId) -> Option<&Order> {
        let mut orders = self.orders.values().filter_map(|order| order.now.as_ref());
        orders.find(|order| order.holds && order.pet_id == pet)
    }

    fn present(&self, command: &Command, new: NewIds) -> Present {
        let owners = self.owners.iter().filter(|(_, owner)| owner.now.is_some());
        let mut present = Present {
            fields: Arc::clone(&self.fields),
            owners: owners.map(|(owner, _)| owner.clone()).collect(),
            next_pet: new.pet,
            next_order: new.order,
            ..Present::default()
        };
        let pet = match command.subject() {
            Subject::New => None,
            Subject::Pet(id) => Some(id),
            Subject::Order(id) => {
                present.order = self.orders.get(&id).and_then(|order| order.now.clone());
                present.order.as_ref().map(|order| order.pet_id)
            }
            Subject::Category(id) => {
                present.category = self.categories.get(&id).and_then(|of| of.now.clone());
                None
            }
        };
        if let Some(id) = pet {
            present.pet = self.pets.get(&id).and_then(|pet| pet.now.clone());
            present.holder = self.holder(id).cloned();
        }
        present
    }

    fn apply(&mut self, decision: &Decision) {
        for Change { before, after, .. } in &decision.changes {
            self.apply_owners(before.as_ref(), after.as_ref());
            match after.as_ref().or(before.as_ref()) {
                Some(Resource::Pet(pet)) => {
                    self.pets.entry(pet.id).or_insert_with(Versions::new).now = Some(pet.clone());
                }
                Some(Resource::Order(order)) => {
                    let versions = self.orders.entry(order.id).or_insert_with(Versions::new);
                    versions.now = Some(order.clone());
                }
                Some(Resource::Category(category)) => {
                    let of = self
                        .categories
                        .entry(category.id)
                        .or_insert_with(Versions::new);
                    of.now = after.is_some().then(|| category.clone());
                }
                None => {}
            }
        }
        if let Some(id) = decision.releases
            && let Some(order) = self
                .orders
                .get_mut(&id)
                .and_then(|order| order.now.as_mut())
        {
            order.holds = false;
        }
    }

    /// Takes the unique values of an animal before, and gives it those after.
    fn apply_owners(&mut self, before: Option<&Resource>, after: Option<&Resource>) {
        for (resource, is_after) in [(before, false), (after, true)] {
            let Some(Resource::Pet(
                pet @ StorePet {
                    withdrawn: None, ..
                },
            )) = resource
            else {
                continue;
            };
            for key in self.fields.unique_keys(&pet.fields) {
                let read = (!is_after).then_some(());
                let owner = self
                    .owners
                    .entry((key, pet.id))
                    .or_insert(Versions { read, now: None });
                owner.now = is_after.then_some(());
            }
        }
    }

    /// A refusal undoes the commands before it, so the state that it shows is the one before all.
    fn before_all(&self, refusal: Refusal) -> Refusal {
        let undo = |mut conflict: Box<Conflict>, refusal: fn(Box<Conflict>) -> Refusal| {
            let Some(read) = self.as_read(&conflict.current) else {
                return Refusal::NotFound(
                    "The subject of this command does not exist before the batch.",
                );
            };
            if read != conflict.current {
                conflict.message = format!(
                    "After the earlier commands of the batch: {}",
                    conflict.message
                );
                conflict.current = read;
            }
            refusal(conflict)
        };
        match refusal {
            Refusal::PreconditionFailed(Some(current)) => {
                Refusal::PreconditionFailed(self.as_read(&current).map(Box::new))
            }
            Refusal::InvalidTransition(conflict) => undo(conflict, Refusal::InvalidTransition),
            Refusal::DuplicateValue {
                mut message,
                field,
                other,
                ..
            } => {
                let current = self.pets.get(&other).and_then(|pet| pet.read.clone());
                let current = current.map(|pet| Box::new(Resource::Pet(pet)));
                if current.is_none() {
                    // Its identifier will be that of another animal.
                    message = format!(
                        "An earlier command of the batch adds an animal with the same {field}, \
                         which must be unique."
                    );
                }
                Refusal::DuplicateValue {
                    message,
                    field,
                    other,
                    current,
                }
            }
            Refusal::OpenOrder(conflict) => undo(conflict, Refusal::OpenOrder),
            other => other,
        }
    }

    fn as_read(&self, now: &Resource) -> Option<Resource> {
        match now {
            Resource::Pet(pet) => self.pets.get(&pet.id)?.read.clone().map(Resource::Pet),
            Resource::Order(order) => self
                .orders
                .get(&order.id)?
                .read
                .clone()
                .map(Resource::Order),
            Resource::Category(category) => self
                .categories
                .get(&category.id)?
                .read
                .clone()
                .map(Resource::Category),
        }
    }
}
