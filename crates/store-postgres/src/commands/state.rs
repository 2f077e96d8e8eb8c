//! Reads what the commands of a group are about, and keeps what they change of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, LazyLock},
};

use petstore_domain::{
    IdempotentRequest, PetId,
    store_area::{Category, Command, OrderId, OrderStatus, Resource, Subject},
};
use petstore_store::{
    columns::Value,
    drivers::postgres::Failure,
    state::{NewIds, State, Versions},
    tables::{self, ORDER_WIDTH, PET_WIDTH, Record, Table},
};
use tokio_postgres::Row;

use crate::requests;

/// One row for each command, in their order: its order, its animal or that of its order, the order
/// that holds this animal, its category, new identifiers unless the request is remembered, as in
/// `RECALL_ALL`, and whether a request that may be repeated added the animal. One statement, so it is
/// the state of one moment.
pub(super) static READ: LazyLock<String> = LazyLock::new(|| {
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
/// Whether the request of a command is not remembered.
const IS_NEW: &str = "NOT EXISTS (SELECT FROM requests
    WHERE requests.caller IN (subject.lineage, subject.caller) AND requests.key = subject.key)";

/// Where a row of this has what it reads.
const OWN: usize = 0;
const PET: usize = OWN + ORDER_WIDTH;
const HOLDER: usize = PET + PET_WIDTH;
const CATEGORY: usize = HOLDER + ORDER_WIDTH;
const NEW_PET: usize = CATEGORY + Category::COLUMNS.len();
const NEW_ORDER: usize = NEW_PET + 1;
const WAS_ADDED_BY_REQUEST: usize = NEW_PET + 2;

/// Returns the parameters of [`READ`] for a command of this request.
pub(super) fn parameters<'v>(
    command: &Command,
    request: Option<&'v IdempotentRequest>,
) -> Vec<Value<'v>> {
    let subject = command.subject();
    let [pet, order, category] = match subject {
        Subject::New => [Value::Null; 3],
        Subject::Pet(id) => [Value::Integer(id.get()), Value::Null, Value::Null],
        Subject::Order(id) => [Value::Null, Value::Integer(id.get()), Value::Null],
        Subject::Category(id) => [Value::Null, Value::Null, Value::Integer(id)],
    };
    let new_pet = Value::Boolean(subject == Subject::New);
    let new_order = Value::Boolean(matches!(command, Command::PlaceOrder(_)));
    [pet, order, category, new_pet, new_order]
        .into_iter()
        .chain(requests::name(request))
        .collect()
}

/// Returns the parameters of [`READ`] for an animal.
pub(super) fn parameters_of_pet<'v>(id: PetId) -> Vec<Value<'v>> {
    let no = Value::Boolean(false);
    let subject = [Value::Integer(id.get()), Value::Null, Value::Null, no, no];
    subject.into_iter().chain(requests::name(None)).collect()
}

/// The rows that were read for the commands of a group, with the changes of those that were carried out.
#[derive(Default)]
pub(super) struct Read {
    pub(super) state: State,
    /// The animals that were added by a request that may be repeated.
    pub(super) added_by_requests: BTreeSet<PetId>,
}

/// The subjects of a command, and identifiers for new ones.
#[derive(Default)]
pub(super) struct About {
    pet: Option<PetId>,
    order: Option<OrderId>,
    category: Option<i64>,
    pub(super) new: NewIds,
}

impl Read {
    /// Adds what is in a row of [`READ`], which is for this command.
    pub(super) fn add(&mut self, row: &Row, command: &Command) -> Result<About, Failure> {
        let mut about = About {
            pet: self.add_pet(row)?,
            ..About::default()
        };
        if let Some(own) = tables::read_order(row, OWN)? {
            about.order = Some(own.id);
            self.state.add(own);
        }
        if let Some(category) = Category::find(row, CATEGORY)? {
            self.state.add(category);
        }
        if let Subject::Category(id) = command.subject() {
            about.category = Some(id);
        }
        let pet: Option<i64> = row.try_get(NEW_PET)?;
        let order: Option<i64> = row.try_get(NEW_ORDER)?;
        about.new = NewIds {
            pet: pet.and_then(PetId::new),
            order: order.and_then(OrderId::new),
        };
        Ok(about)
    }

    /// Adds the animal in a row of [`READ`], and the order that holds it.
    pub(super) fn add_pet(&mut self, row: &Row) -> Result<Option<PetId>, Failure> {
        let holder = tables::read_order(row, HOLDER)?;
        let Some(mut pet) = tables::read_pet(row, PET)? else {
            return Ok(None);
        };
        let open = holder
            .as_ref()
            .filter(|order| order.status == OrderStatus::Reserved);
        pet.order_id = open.map(|order| order.id);
        let id = pet.id;
        if row.try_get(WAS_ADDED_BY_REQUEST)? {
            self.added_by_requests.insert(id);
        }
        self.state.add(pet);
        if let Some(holder) = holder {
            self.state.add(holder);
        }
        Ok(Some(id))
    }

    /// Returns the subjects of the next request's commands, as the requests before it leave them.
    pub(super) fn present(&self, commands: &[About]) -> State {
        let mut present = State::default();
        present.fields = Arc::clone(&self.state.fields);
        for ((key, id), _) in self
            .state
            .owners
            .iter()
            .filter(|(_, owner)| owner.now.is_some())
        {
            present.add_owner(key.clone(), *id);
            if let Some(pet) = self.state.pets.get(id).and_then(|pet| pet.now.clone()) {
                present.add(pet);
            }
        }
        for &About {
            pet,
            order,
            category,
            ..
        } in commands
        {
            let resources = [
                pet.and_then(|id| self.state.pets.get(&id)?.now.clone())
                    .map(Resource::Pet),
                pet.and_then(|id| self.state.holder(id))
                    .cloned()
                    .map(Resource::Order),
                order
                    .and_then(|id| self.state.orders.get(&id)?.now.clone())
                    .map(Resource::Order),
                category
                    .and_then(|id| self.state.categories.get(&id)?.now.clone())
                    .map(Resource::Category),
            ];
            for resource in resources.into_iter().flatten() {
                present.add(resource);
            }
        }
        present
    }

    /// Keeps what the commands of a request have changed.
    pub(super) fn keep(&mut self, changed: State) {
        fn keep<K: Ord, T>(all: &mut BTreeMap<K, Versions<T>>, changed: BTreeMap<K, Versions<T>>) {
            for (id, Versions { read, now }) in changed {
                all.entry(id).or_insert(Versions { read, now: None }).now = now;
            }
        }
        keep(&mut self.state.pets, changed.pets);
        keep(&mut self.state.orders, changed.orders);
        keep(&mut self.state.categories, changed.categories);
        keep(&mut self.state.owners, changed.owners);
    }
}
