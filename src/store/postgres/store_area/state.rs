//! Reads what the commands of one transaction are about.

use std::collections::BTreeSet;

use tokio_postgres::Row;

use super::rows::{self, ORDER_WIDTH, PET_WIDTH, order_columns, pet_columns, withdrawn_columns};
use crate::{
    domain::{
        PetId,
        store_area::{Command, OrderId, OrderStatus, Subject},
    },
    store::{
        postgres::errors::Failure,
        state::{NewIds, State},
    },
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
            let holder = rows::order(row, ORDER_WIDTH + PET_WIDTH)?;
            let after = ORDER_WIDTH + PET_WIDTH + ORDER_WIDTH;
            if let Some(mut pet) = rows::pet(row, ORDER_WIDTH)? {
                let open = holder.as_ref().filter(|order| order.status == OrderStatus::Reserved);
                pet.order_id = open.map(|order| order.id);
                if row.try_get(after + 5)? {
                    read.added_by_requests.insert(pet.id);
                }
                read.state.add(pet);
            }
            for order in [rows::order(row, 0)?, holder].into_iter().flatten() {
                read.state.add(order);
            }
            if let Some(category) = rows::category(row, after)? {
                read.state.add(category);
            }
            let pet: Option<i64> = row.try_get(after + 3)?;
            let order: Option<i64> = row.try_get(after + 4)?;
            let (pet, order) = (pet.and_then(PetId::new), order.and_then(OrderId::new));
            read.new.push(NewIds { pet, order });
        }
        Ok(read)
    }
}
