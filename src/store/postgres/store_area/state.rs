//! What the commands of one transaction are about, as it was read and as they change it.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::Row;

use super::rows::{self, ORDER_WIDTH, PET_WIDTH, order_columns, pet_columns, withdrawn_columns};
use crate::{
    domain::{
        PetId,
        store_area::{
            Category, Change, Command, Decision, Order, OrderId, OrderStatus, Present, Resource,
            StorePet, Subject,
        },
    },
    store::postgres::errors::Failure,
};

/// One row for each command: its order, its animal or that of its order, the order that holds this
/// animal, its category, new identifiers unless the request is remembered, as in `RECALL`, and
/// whether a request that may be repeated added the animal. One statement, so it is the state of one
/// moment.
macro_rules! read {
    ($subjects:literal) => {
        concat!(
            "SELECT ",
            order_columns!("own"),
            ", pet.*, ",
            order_columns!("holder"),
            ", category.id, category.label, category.version,
                CASE WHEN new_pet AND is_new THEN nextval('pets_ids') END,
                CASE WHEN new_order AND is_new THEN nextval('orders_ids') END,
                EXISTS (SELECT FROM idempotency_keys WHERE idempotency_keys.pet_id = pet.id)
            FROM (SELECT NOT EXISTS (
                SELECT FROM requests WHERE caller IN ($6, $8) AND key = $7) AS is_new) AS request
            CROSS JOIN ",
            $subjects,
            " LEFT JOIN orders AS own ON own.id = subject.order_id
            LEFT JOIN LATERAL (
                SELECT ",
            pet_columns!(),
            " FROM pets WHERE id = coalesce(own.pet_id, subject.pet_id)
                UNION ALL SELECT ",
            withdrawn_columns!(),
            " FROM withdrawn_pets WHERE id = coalesce(own.pet_id, subject.pet_id)
            ) AS pet ON TRUE
            LEFT JOIN orders AS holder ON holder.pet_id = pet.id AND holder.holds
            LEFT JOIN categories AS category ON category.id = subject.category_id"
        )
    };
}

/// For one command. For its single row, no plan reads a whole table.
pub(super) const READ_ONE: &str = read!(
    "(SELECT $1::bigint AS pet_id, $2::bigint AS order_id, $3::bigint AS category_id,
        $4::boolean AS new_pet, $5::boolean AS new_order) AS subject"
);
/// For several commands, in their order.
pub(super) const READ_ALL: &str = concat!(
    read!(
        "unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::boolean[], $5::boolean[])
        WITH ORDINALITY AS subject (pet_id, order_id, category_id, new_pet, new_order, number)"
    ),
    " ORDER BY number"
);

/// The parameters of [`READ_ONE`] for a command.
pub(super) struct Parameters {
    pub(super) pet: Option<i64>,
    pub(super) order: Option<i64>,
    pub(super) category: Option<i64>,
    pub(super) new_pet: bool,
    pub(super) new_order: bool,
}

impl From<&Command> for Parameters {
    fn from(command: &Command) -> Self {
        let subject = command.subject();
        Self {
            pet: if let Subject::Pet(id) = subject { Some(id.get()) } else { None },
            order: if let Subject::Order(id) = subject { Some(id.get()) } else { None },
            category: if let Subject::Category(id) = subject { Some(id) } else { None },
            new_pet: subject == Subject::New,
            new_order: matches!(command, Command::PlaceOrder(_)),
        }
    }
}

/// A resource as it was read, and as the commands so far leave it. `None` if it does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Versions<T> {
    pub(super) read: Option<T>,
    pub(super) now: Option<T>,
}

impl<T: Clone + PartialEq> Versions<T> {
    fn unchanged(read: T) -> Self {
        Self { now: Some(read.clone()), read: Some(read) }
    }

    fn new() -> Self {
        Self { read: None, now: None }
    }

    fn is_changed(&self) -> bool {
        self.read != self.now
    }
}

/// All resources that the commands are about, and the new identifiers for each command.
#[derive(Default)]
pub(super) struct State {
    pub(super) pets: BTreeMap<PetId, Versions<StorePet>>,
    pub(super) orders: BTreeMap<OrderId, Versions<Order>>,
    pub(super) categories: BTreeMap<i64, Versions<Category>>,
    /// The animals that were added by a request that may be repeated.
    pub(super) added_by_requests: BTreeSet<PetId>,
    new_ids: Vec<(Option<PetId>, Option<OrderId>)>,
}

impl State {
    /// The state in the rows of [`READ_ONE`] or [`READ_ALL`].
    pub(super) fn from_rows(rows: &[Row]) -> Result<Self, Failure> {
        let mut state = Self::default();
        for row in rows {
            let holder = rows::order(row, ORDER_WIDTH + PET_WIDTH)?;
            let after = ORDER_WIDTH + PET_WIDTH + ORDER_WIDTH;
            if let Some(mut pet) = rows::pet(row, ORDER_WIDTH)? {
                let open = holder.as_ref().filter(|order| order.status == OrderStatus::Reserved);
                pet.order_id = open.map(|order| order.id);
                if row.try_get(after + 5)? {
                    state.added_by_requests.insert(pet.id);
                }
                state.pets.insert(pet.id, Versions::unchanged(pet));
            }
            for order in [rows::order(row, 0)?, holder].into_iter().flatten() {
                state.orders.insert(order.id, Versions::unchanged(order));
            }
            if let Some(category) = rows::category(row, after)? {
                state.categories.insert(category.id, Versions::unchanged(category));
            }
            let pet: Option<i64> = row.try_get(after + 3)?;
            let order: Option<i64> = row.try_get(after + 4)?;
            state.new_ids.push((pet.and_then(PetId::new), order.and_then(OrderId::new)));
        }
        Ok(state)
    }

    /// What the command with this index needs to know.
    pub(super) fn present(&self, index: usize, command: &Command) -> Present {
        let (next_pet, next_order) = self.new_ids.get(index).copied().unwrap_or_default();
        let mut present = Present { next_pet, next_order, ..Present::default() };
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
            let mut orders = self.orders.values().filter_map(|order| order.now.as_ref());
            present.holder = orders.find(|order| order.holds && order.pet_id == id).cloned();
        }
        present
    }

    /// Whether the commands changed any resource.
    pub(super) fn is_changed(&self) -> bool {
        self.pets.values().any(Versions::is_changed)
            || self.orders.values().any(Versions::is_changed)
            || self.categories.values().any(Versions::is_changed)
    }

    pub(super) fn apply(&mut self, decision: &Decision) {
        for Change { before, after, .. } in &decision.changes {
            match after.as_ref().or(before.as_ref()) {
                Some(Resource::Pet(pet)) => {
                    self.pets.entry(pet.id).or_insert_with(Versions::new).now = Some(pet.clone());
                }
                Some(Resource::Order(order)) => {
                    let versions = self.orders.entry(order.id).or_insert_with(Versions::new);
                    versions.now = Some(order.clone());
                }
                Some(Resource::Category(category)) => {
                    let of = self.categories.entry(category.id).or_insert_with(Versions::new);
                    of.now = after.is_some().then(|| category.clone());
                }
                None => {}
            }
        }
        if let Some(id) = decision.releases
            && let Some(order) = self.orders.get_mut(&id).and_then(|order| order.now.as_mut())
        {
            order.holds = false;
        }
    }
}
