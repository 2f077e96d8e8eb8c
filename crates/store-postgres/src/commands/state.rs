//! Reads the rows that the commands of a group need, and keeps the changes of the commands.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, LazyLock},
};

use petstore_domain::{
    IdempotentRequest, PetId,
    store_area::{Category, Command, OrderId, OrderStatus, Resource, Subject, UniqueValueOwner},
};
use petstore_store::{
    columns::Value,
    drivers::postgres::Failure,
    state::{NewIds, State, Versions},
    tables::{self, ORDER_WIDTH, PET_WIDTH, Record, Table},
};
use tokio_postgres::Row;

use crate::requests;

/// The statement for the rows that commands need. It returns one row for each command, in the order of the commands:
/// its order, its animal or the animal of its order, the order that holds this animal, its category, new
/// identifiers unless the request is remembered, as in `RECALL_ALL`, and whether a request that may be
/// repeated added the animal. Because it is one statement, it sees the state of one moment.
pub(super) static READ_SUBJECTS: LazyLock<String> = LazyLock::new(|| {
    let [pets, withdrawn_pets, orders, categories] = Table::ALL.map(Table::selected_columns);
    format!(
        "SELECT own.*, pet.*, holder.*, category.*,
            CASE WHEN new_pet AND {IS_NEW} THEN nextval('pets_ids') END,
            CASE WHEN new_order AND {IS_NEW} THEN nextval('orders_ids') END,
            EXISTS (SELECT FROM idempotency_keys WHERE idempotency_keys.pet_id = pet.id)
        FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::boolean[], $5::boolean[],
            $6::bigint[], $7::text[], $8::bigint[]) WITH ORDINALITY AS subject (pet_id, order_id,
            category_id, new_pet, new_order, lineage, key, caller, number)
        LEFT JOIN (SELECT {orders} FROM orders) AS own ON own.id = subject.order_id
        LEFT JOIN LATERAL (
            SELECT {pets} FROM pets WHERE id = coalesce(own.pet_id, subject.pet_id)
            UNION ALL SELECT {withdrawn_pets} FROM withdrawn_pets
                WHERE id = coalesce(own.pet_id, subject.pet_id)
        ) AS pet ON TRUE
        LEFT JOIN (SELECT {orders} FROM orders) AS holder
            ON holder.pet_id = pet.id AND holder.holds
        LEFT JOIN (SELECT {categories} FROM categories) AS category
            ON category.id = subject.category_id
        ORDER BY number"
    )
});
/// The condition that the request of a command is not remembered.
const IS_NEW: &str = "NOT EXISTS (SELECT FROM requests
    WHERE requests.caller IN (subject.lineage, subject.caller) AND requests.key = subject.key)";

/// The first columns of the parts of a row of [`READ_SUBJECTS`].
const OWN_ORDER_COLUMN: usize = 0;
const PET_COLUMN: usize = OWN_ORDER_COLUMN + ORDER_WIDTH;
const HOLDER_COLUMN: usize = PET_COLUMN + PET_WIDTH;
const CATEGORY_COLUMN: usize = HOLDER_COLUMN + ORDER_WIDTH;
const NEW_PET_COLUMN: usize = CATEGORY_COLUMN + Category::COLUMNS.len();
const NEW_ORDER_COLUMN: usize = NEW_PET_COLUMN + 1;
const ADDED_BY_REQUEST_COLUMN: usize = NEW_PET_COLUMN + 2;

/// Returns the parameters of [`READ_SUBJECTS`] for a command of this request.
pub(super) fn parameters<'v>(
    command: &Command,
    request: Option<&'v IdempotentRequest>,
) -> Vec<Value<'v>> {
    let subject = command.subject();
    let [pet, order, category] = match subject {
        Subject::New | Subject::Nothing => [Value::Null; 3],
        Subject::Pet(id) => [Value::Integer(id.get()), Value::Null, Value::Null],
        Subject::Order(id) => [Value::Null, Value::Integer(id.get()), Value::Null],
        Subject::Category(id) => [Value::Null, Value::Null, Value::Integer(id)],
    };
    let new_pet = Value::Boolean(subject == Subject::New);
    let new_order = Value::Boolean(matches!(command, Command::PlaceOrder(_)));
    [pet, order, category, new_pet, new_order]
        .into_iter()
        .chain(requests::identity(request))
        .collect()
}

/// Returns the parameters of [`READ_SUBJECTS`] for an animal.
pub(super) fn parameters_of_pet<'v>(id: PetId) -> Vec<Value<'v>> {
    let new_pet = Value::Boolean(false);
    let new_order = Value::Boolean(false);
    let pet = Value::Integer(id.get());
    [pet, Value::Null, Value::Null, new_pet, new_order]
        .into_iter()
        .chain(requests::identity(None))
        .collect()
}

/// The rows that were read for the commands of a group, with the changes of the commands that were
/// carried out.
#[derive(Default)]
pub(super) struct GroupState {
    pub(super) state: State,
    /// The animals that were added by a request that may be repeated.
    pub(super) added_by_requests: BTreeSet<PetId>,
}

/// The subjects of a command, and identifiers for new ones.
#[derive(Default)]
pub(super) struct CommandSubjects {
    pet: Option<PetId>,
    order: Option<OrderId>,
    category: Option<i64>,
    pub(super) new_ids: NewIds,
}

impl GroupState {
    /// Adds the content of a row of [`READ_SUBJECTS`], which is for this command.
    pub(super) fn add(&mut self, row: &Row, command: &Command) -> Result<CommandSubjects, Failure> {
        let mut subjects = CommandSubjects {
            pet: self.add_pet(row)?,
            ..CommandSubjects::default()
        };
        if let Some(order) = tables::read_order(row, OWN_ORDER_COLUMN)? {
            subjects.order = Some(order.id);
            self.state.add(order);
        }
        if let Some(category) = Category::find(row, CATEGORY_COLUMN)? {
            self.state.add(category);
        }
        if let Subject::Category(id) = command.subject() {
            subjects.category = Some(id);
        }

        let new_pet: Option<i64> = row.try_get(NEW_PET_COLUMN)?;
        let new_order: Option<i64> = row.try_get(NEW_ORDER_COLUMN)?;
        subjects.new_ids = NewIds {
            pet: new_pet.and_then(PetId::new),
            order: new_order.and_then(OrderId::new),
        };
        Ok(subjects)
    }

    /// Adds the animal in a row of [`READ_SUBJECTS`], and the order that holds it.
    pub(super) fn add_pet(&mut self, row: &Row) -> Result<Option<PetId>, Failure> {
        let holder = tables::read_order(row, HOLDER_COLUMN)?;
        let Some(mut pet) = tables::read_pet(row, PET_COLUMN)? else {
            return Ok(None);
        };
        pet.order_id = match &holder {
            Some(order) if order.status == OrderStatus::Reserved => Some(order.id),
            _ => None,
        };
        let id = pet.id;
        if row.try_get(ADDED_BY_REQUEST_COLUMN)? {
            self.added_by_requests.insert(id);
        }
        self.state.add(pet);
        if let Some(holder) = holder {
            self.state.add(holder);
        }
        Ok(Some(id))
    }

    /// Returns the subjects of the commands of the next request, as the requests before it leave them.
    pub(super) fn present(&self, subjects: &[CommandSubjects]) -> State {
        let mut present = State::default();
        present.fields = Arc::clone(&self.state.fields);
        for (UniqueValueOwner { key, pet }, versions) in &self.state.owners {
            if versions.now.is_none() {
                continue;
            }
            present.add_owner(key.clone(), *pet);
            add_present(&mut present, self.state.pets.get(pet));
        }
        for command in subjects {
            if let Some(id) = command.pet {
                add_present(&mut present, self.state.pets.get(&id));
                if let Some(holder) = self.state.holder(id) {
                    present.add(holder.clone());
                }
            }
            if let Some(id) = command.order {
                add_present(&mut present, self.state.orders.get(&id));
            }
            if command.category.is_some() {
                // Categories with the same label are there, too.
                for category in self.state.categories.values() {
                    add_present(&mut present, Some(category));
                }
            }
        }
        present
    }

    /// Keeps the changes of the commands of a request.
    pub(super) fn keep(&mut self, changed: State) {
        keep_versions(&mut self.state.pets, changed.pets);
        keep_versions(&mut self.state.orders, changed.orders);
        keep_versions(&mut self.state.categories, changed.categories);
        keep_versions(&mut self.state.owners, changed.owners);
    }
}

/// Adds a resource as the commands so far leave it, unless it does not exist.
fn add_present<T: Clone + Into<Resource>>(present: &mut State, versions: Option<&Versions<T>>) {
    if let Some(Versions { now: Some(now), .. }) = versions {
        present.add(now.clone());
    }
}

/// Replaces the present version of each changed resource. The version that was read first stays.
fn keep_versions<K: Ord, T>(
    versions: &mut BTreeMap<K, Versions<T>>,
    changed: BTreeMap<K, Versions<T>>,
) {
    for (id, Versions { read, now }) in changed {
        let entry = versions.entry(id).or_insert(Versions { read, now: None });
        entry.now = now;
    }
}
