//! A second sequential catalogue, which shares nothing with that of the checker. Its
//! orders obey the rules of the service.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use jiff::Timestamp;
use petstore_databases as databases;
use petstore_domain::{
    NewPet, PetId, PetName,
    store_area::{
        Category, Command as Asked, FieldSet, Label, Order, OrderId, Preconditions, PresentState,
        Refusal, Resource, StorePet, decide,
    },
};

use super::{
    history::{Animal, Operation},
    second_commands::asked,
    store_area::{self, BatchOutcome, Command, Filter, Outcome, Shown},
};

static FIELDS: LazyLock<Arc<FieldSet>> =
    LazyLock::new(|| Arc::new(databases::fields_of_new_database().unwrap()));

#[derive(Debug, Clone, Default)]
pub(super) struct World {
    /// Each animal as it was added, and as it is now.
    pets: Vec<(Animal, StorePet)>,
    orders: Vec<Order>,
    remembered: BTreeMap<String, Outcome>,
    batches: BTreeMap<String, Vec<Shown>>,
    categories: BTreeMap<i64, Category>,
}

/// The page, and whether another one follows.
fn page_of<T>(due: impl Iterator<Item = T>, limit: usize) -> (Vec<T>, bool) {
    let mut due: Vec<T> = due.collect();
    let more = due.len() > limit;
    due.truncate(limit);
    (due, more)
}

impl World {
    /// The ids of everything that is like what the operation adds.
    pub(super) fn ids_like(&self, operation: &Operation) -> Vec<i64> {
        match operation {
            Operation::Store { .. } | Operation::Batch { .. } => {
                self.orders.iter().map(|order| order.id.get()).collect()
            }
            _ => self.pets.iter().map(|(added, _)| added.id).collect(),
        }
    }

    /// Whether the operation can add something.
    pub(super) fn can_add(&self, operation: &Operation) -> bool {
        match operation {
            Operation::Create { name, .. } => {
                self.pets.iter().all(|(added, _)| added.name != *name)
            }
            Operation::Store { key, .. } => {
                let is_known = key
                    .as_ref()
                    .is_some_and(|key| self.remembered.contains_key(key));
                operation.placed().is_some() && !is_known
            }
            Operation::Batch { key, .. } => {
                operation.placed().is_some() && !self.batches.contains_key(key)
            }
            _ => false,
        }
    }

    /// Does the operation, with `id` for what it adds, and returns it with the response.
    pub(super) fn execute(&mut self, operation: &Operation, id: i64) -> Operation {
        let mut executed = operation.clone();
        match &mut executed {
            Operation::Create {
                name,
                category_id,
                status,
                response,
            } => {
                let known = self.pets.iter().find(|(added, _)| added.name == *name);
                let known = known.map(|(added, _)| added.clone());
                *response = Some(known.unwrap_or_else(|| self.add(id, name, *category_id, status)));
            }
            Operation::Get { id, found } => {
                let mut shown = self.pets_by_id().filter(|pet| pet.withdrawal.is_none());
                *found = shown.find(|pet| pet.id.get() == *id).map(animal);
            }
            Operation::List {
                status,
                limit,
                after,
                page,
                more,
            } => {
                let due = self.pets_by_id().filter(|pet| {
                    pet.withdrawal.is_none()
                        && pet.id.get() > *after
                        && status.is_none_or(|status| status == pet.status.as_str())
                });
                (*page, *more) = page_of(due.map(animal), *limit);
            }
            Operation::StorePets {
                filter: Filter { withdrawn, .. },
                limit,
                page,
                more,
                ..
            } => {
                let due = self
                    .pets_by_id()
                    .filter(|pet| pet.withdrawal.is_some() == *withdrawn);
                (*page, *more) = page_of(due.map(shown_pet), *limit);
            }
            Operation::Orders {
                pet_id,
                limit,
                after,
                page,
                more,
                ..
            } => {
                let mut due: Vec<&Order> = self.orders.iter().collect();
                due.sort_by_key(|order| order.id);
                let due = due.into_iter().filter(|order| {
                    order.id.get() > *after && pet_id.is_none_or(|id| id == order.pet_id.get())
                });
                (*page, *more) = page_of(due.map(shown_order), *limit);
            }
            Operation::Batch {
                commands,
                key,
                outcome,
            } => {
                let known = self.batches.get(key).cloned().map(Ok);
                *outcome = Some(known.unwrap_or_else(|| self.run_batch(commands, key, id)));
            }
            Operation::Label {
                id,
                version,
                label,
                outcome,
            } => {
                *outcome = Some(self.label(*id, *version, label.as_ref()));
            }
            Operation::Categories { page } => {
                *page = self.categories.values().map(shown_category).collect();
            }
            Operation::Store {
                command,
                key,
                outcome,
            } => {
                let known = key
                    .as_ref()
                    .and_then(|key| self.remembered.get(key))
                    .cloned();
                *outcome = Some(known.unwrap_or_else(|| {
                    let outcome = self.carry_out(command, id);
                    let key = key.clone().filter(|_| outcome.status < 300);
                    self.remembered
                        .extend(key.map(|key| (key, outcome.clone())));
                    outcome
                }));
            }
        }
        executed
    }

    fn run_batch(&mut self, commands: &[Command], key: &str, id: i64) -> BatchOutcome {
        let before = self.clone();
        let mut shown = Vec::new();
        for (index, command) in commands.iter().enumerate() {
            let mut outcome = self.carry_out(command, id);
            if outcome.status >= 300 {
                *self = before;
                outcome.shown = if index == 0 {
                    outcome.shown
                } else {
                    Shown::Nothing
                };
                return Err((index, outcome));
            }
            shown.push(outcome.shown);
        }
        self.batches.insert(key.to_owned(), shown.clone());
        Ok(shown)
    }

    fn label(
        &mut self,
        id: i64,
        version: i64,
        label: Option<&String>,
    ) -> (u16, Option<store_area::Category>) {
        let preconditions = match version {
            0 => Preconditions {
                if_match: None,
                if_absent: true,
            },
            version => Preconditions::version(version),
        };
        let asked = match label {
            Some(label) => {
                let label = Label::new(label.clone()).unwrap();
                Asked::PutCategory {
                    id,
                    label,
                    preconditions,
                }
            }
            None => Asked::DeleteCategory { id, preconditions },
        };
        let category = self.categories.get(&id).cloned();
        let present = PresentState {
            category,
            ..PresentState::default()
        };
        match decide(&asked, &present, Timestamp::UNIX_EPOCH) {
            Ok(decision) => {
                let is_new = self.categories.remove(&id).is_none();
                let Some(Resource::Category(category)) = decision.result else {
                    return (204, None);
                };
                let shown = shown_category(&category);
                self.categories.insert(id, category);
                (if is_new { 201 } else { 200 }, Some(shown))
            }
            Err(Refusal::NotFound(_)) => (404, None),
            Err(Refusal::PreconditionFailed(current)) => {
                let current = current.map(|current| match *current {
                    Resource::Category(category) => shown_category(&category),
                    other => unreachable!("{other:?}"),
                });
                (412, current)
            }
            Err(other) => unreachable!("{other:?}"),
        }
    }

    fn pets_by_id(&self) -> impl Iterator<Item = &StorePet> {
        let mut pets: Vec<&StorePet> = self.pets.iter().map(|(_, pet)| pet).collect();
        pets.sort_by_key(|pet| pet.id);
        pets.into_iter()
    }

    fn add(&mut self, id: i64, name: &str, category_id: i64, status: &str) -> Animal {
        let name = PetName::new(name.to_owned()).unwrap();
        let new = NewPet {
            name,
            category_id,
            status: status.parse().unwrap(),
            is_listed: true,
        };
        let present = PresentState {
            next_pet: PetId::new(id),
            ..PresentState::default()
        };
        let decision = decide(&Asked::add(new), &present, Timestamp::UNIX_EPOCH).unwrap();
        let Some(Resource::Pet(pet)) = decision.result else {
            unreachable!()
        };
        let added = animal(&pet);
        self.pets.push((added.clone(), pet));
        added
    }

    fn present(&self, command: &Command, new: i64) -> PresentState {
        let find = |id: i64| {
            self.orders
                .iter()
                .find(|order| order.id.get() == id)
                .cloned()
        };
        let order = command.order().and_then(find);
        let pet_id = command
            .pet()
            .or(order.as_ref().map(|order| order.pet_id.get()));
        let pet = self
            .pets
            .iter()
            .map(|(_, pet)| pet)
            .find(|pet| Some(pet.id.get()) == pet_id);
        let mut holders = self.orders.iter();
        PresentState {
            pet: pet.cloned(),
            holding_order: holders
                .find(|one| Some(one.pet_id.get()) == pet_id && one.holds)
                .cloned(),
            order,
            next_order: OrderId::new(new),
            fields: Arc::clone(&FIELDS),
            ..PresentState::default()
        }
    }

    fn carry_out(&mut self, command: &Command, new: i64) -> Outcome {
        let present = self.present(command, new);
        let told = |status, code: &str, shown| Outcome {
            status,
            code: code.to_owned(),
            shown,
        };
        let Some((asked, now)) = asked(command) else {
            let shown = match command {
                Command::ReadPet { .. } => present.pet.map(Resource::Pet),
                _ => present.order.map(Resource::Order),
            };
            return match shown {
                Some(resource) => told(200, "", shown_resource(&resource)),
                None => told(404, "not_found", Shown::Nothing),
            };
        };
        let decided = decide(&asked, &present, now);
        if let Ok(decision) = &decided {
            for change in &decision.changes {
                match change.after.clone() {
                    Some(Resource::Pet(after)) => {
                        let id = after.id;
                        let mut pets = self.pets.iter_mut().map(|(_, pet)| pet);
                        *pets.find(|pet| pet.id == id).unwrap() = after;
                    }
                    Some(Resource::Order(after)) => {
                        self.orders.retain(|order| order.id != after.id);
                        self.orders.push(after);
                    }
                    _ => unreachable!(),
                }
            }
            let released = |order: &&mut Order| Some(order.id) == decision.releases;
            self.orders
                .iter_mut()
                .filter(released)
                .for_each(|order| order.holds = false);
        }
        match decided {
            result if matches!(command, Command::Expire { .. }) => {
                let is_done = result.is_ok_and(|decision| !decision.changes.is_empty());
                told(if is_done { 200 } else { 409 }, "", Shown::Nothing)
            }
            Ok(decision) => {
                let status = if matches!(command, Command::Place { .. }) {
                    201
                } else {
                    200
                };
                told(status, "", shown_resource(&decision.result.unwrap()))
            }
            Err(Refusal::NotFound(_)) => told(404, "not_found", Shown::Nothing),
            Err(Refusal::PreconditionFailed(Some(current))) => {
                told(412, "precondition_failed", shown_resource(&current))
            }
            Err(Refusal::MovedOn(Some(current))) => {
                told(409, "invalid_transition", shown_resource(&current))
            }
            Err(Refusal::InvalidTransition(conflict)) => {
                told(409, "invalid_transition", shown_resource(&conflict.current))
            }
            Err(Refusal::OpenOrder(conflict)) => {
                told(409, "open_order", shown_resource(&conflict.current))
            }
            Err(other) => unreachable!("{other:?}"),
        }
    }
}

fn animal(pet: &StorePet) -> Animal {
    let (name, status) = (pet.name.as_str().to_owned(), pet.status.to_string());
    Animal {
        id: pet.id.get(),
        name,
        category_id: pet.category_id,
        status,
    }
}

fn shown_resource(resource: &Resource) -> Shown {
    match resource {
        Resource::Pet(pet) => Shown::Pet(Box::new(shown_pet(pet))),
        Resource::Order(order) => Shown::Order(Box::new(shown_order(order))),
        Resource::Category(_) | Resource::Note(_) => unreachable!(),
    }
}

fn shown_category(category: &Category) -> store_area::Category {
    let Category { id, label, version } = category;
    store_area::Category {
        id: *id,
        label: label.as_str().to_owned(),
        version: *version,
    }
}

/// Without times.
fn shown_pet(pet: &StorePet) -> store_area::StorePet {
    let Animal {
        id,
        name,
        category_id,
        status,
    } = animal(pet);
    store_area::StorePet {
        id,
        name,
        category_id,
        status,
        version: pet.version,
        created_at: None,
        updated_at: None,
        order_id: pet.order_id.map(OrderId::get),
        withdrawn: pet
            .withdrawal
            .as_ref()
            .map(|withdrawal| store_area::Withdrawal {
                at: String::new(),
                reason: withdrawal.reason.to_string(),
                note: None,
            }),
        fields: serde_json::from_str(pet.fields.as_json()).unwrap(),
        photos: Vec::new(),
        listed: true,
    }
}

/// Without the times that a client does not give.
fn shown_order(order: &Order) -> store_area::Order {
    store_area::Order {
        id: order.id.get(),
        pet_id: order.pet_id.get(),
        status: order.status.to_string(),
        reference: order
            .reference
            .as_ref()
            .map(|text| text.as_str().to_owned()),
        note: order.note.as_ref().map(|text| text.as_str().to_owned()),
        reason: None,
        expires_at: order.expires_at.map(|time| format!("{time:.3}")),
        created_at: String::new(),
        closed_at: order.closed_at.map(|_| String::new()),
        version: order.version,
        price: None,
        contact: None,
    }
}
