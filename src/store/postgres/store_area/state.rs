//! Reads what the commands of one transaction are about.

use std::{collections::BTreeSet, sync::LazyLock};

use tokio_postgres::Row;

use crate::{
    domain::{
        PetId,
        store_area::{Category, Command, Order, OrderId, OrderStatus, Subject},
    },
    store::{
        postgres::errors::Failure,
        state::{NewIds, State},
        tables::{self, PET_WIDTH, Record, Table},
    },
};

/// One row for each command: its order, its animal or that of its order, the order that holds this
/// animal, its category, new identifiers unless the request is remembered, as in `RECALL`, and
/// whether a request that may be repeated added the animal. One statement, so it is the state of one
/// moment.
fn read(subjects: &str) -> String {
    let [pets, withdrawn_pets, orders, categories] = Table::ALL.map(Table::selected);
    format!(
        "SELECT own.*, pet.*, holder.*, category.*,
            CASE WHEN new_pet AND is_new THEN nextval('pets_ids') END,
            CASE WHEN new_order AND is_new THEN nextval('orders_ids') END,
            EXISTS (SELECT FROM idempotency_keys WHERE idempotency_keys.pet_id = pet.id)
        FROM (SELECT NOT EXISTS (
            SELECT FROM requests WHERE caller IN ($6, $8) AND key = $7) AS is_new) AS request
        CROSS JOIN {subjects}
        LEFT JOIN (SELECT {orders} FROM orders) AS own ON own.id = subject.order_id
        LEFT JOIN LATERAL (
            SELECT {pets} FROM pets WHERE id = coalesce(own.pet_id, subject.pet_id)
            UNION ALL SELECT {withdrawn_pets} FROM withdrawn_pets
                WHERE id = coalesce(own.pet_id, subject.pet_id)
        ) AS pet ON TRUE
        LEFT JOIN (SELECT {orders} FROM orders) AS holder
            ON holder.pet_id = pet.id AND holder.holds
        LEFT JOIN (SELECT {categories} FROM categories) AS category
            ON category.id = subject.category_id"
    )
}

/// Where a row of this has what it reads.
const OWN: usize = 0;
const PET: usize = OWN + Order::COLUMNS.len();
const HOLDER: usize = PET + PET_WIDTH;
const CATEGORY: usize = HOLDER + Order::COLUMNS.len();
const NEW_PET: usize = CATEGORY + Category::COLUMNS.len();
const NEW_ORDER: usize = NEW_PET + 1;
const WAS_ADDED_BY_REQUEST: usize = NEW_PET + 2;

/// For one command. For its single row, no plan reads a whole table.
pub(super) static READ_ONE: LazyLock<String> = LazyLock::new(|| {
    read(
        "(SELECT $1::bigint AS pet_id, $2::bigint AS order_id, $3::bigint AS category_id,
            $4::boolean AS new_pet, $5::boolean AS new_order) AS subject",
    )
});
/// For several commands, in their order.
pub(super) static READ_ALL: LazyLock<String> = LazyLock::new(|| {
    let read = read(
        "unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::boolean[], $5::boolean[])
        WITH ORDINALITY AS subject (pet_id, order_id, category_id, new_pet, new_order, number)",
    );
    read + " ORDER BY number"
});

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

/// What was read for the commands.
#[derive(Default)]
pub(super) struct Read {
    pub(super) state: State,
    /// For each command.
    pub(super) new: Vec<NewIds>,
    /// The animals that were added by a request that may be repeated.
    pub(super) added_by_requests: BTreeSet<PetId>,
}

impl Read {
    /// What is in the rows of [`READ_ONE`] or [`READ_ALL`].
    pub(super) fn from_rows(rows: &[Row]) -> Result<Self, Failure> {
        let mut read = Self::default();
        for row in rows {
            let holder = Order::find(row, HOLDER)?;
            if let Some(mut pet) = tables::pet(row, PET)? {
                let open = holder.as_ref().filter(|order| order.status == OrderStatus::Reserved);
                pet.order_id = open.map(|order| order.id);
                if row.try_get(WAS_ADDED_BY_REQUEST)? {
                    read.added_by_requests.insert(pet.id);
                }
                read.state.add(pet);
            }
            for order in [Order::find(row, OWN)?, holder].into_iter().flatten() {
                read.state.add(order);
            }
            if let Some(category) = Category::find(row, CATEGORY)? {
                read.state.add(category);
            }
            let pet: Option<i64> = row.try_get(NEW_PET)?;
            let order: Option<i64> = row.try_get(NEW_ORDER)?;
            let (pet, order) = (pet.and_then(PetId::new), order.and_then(OrderId::new));
            read.new.push(NewIds { pet, order });
        }
        Ok(read)
    }
}
