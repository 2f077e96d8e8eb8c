//! Reads of single resources, of orders and of categories, and the count of all animals.

use jiff::Timestamp;
use tokio_postgres::{Row, types::ToSql};

use super::rows::{self, PET_WIDTH, order_columns, pet_columns, withdrawn_columns};
use crate::{
    domain::{
        Limit, PetId, PetStatus,
        store_area::{
            Category, Inventory, Order, OrderId, OrderQuery, OrderStatus, Reservations, Resource,
            StorePet, Text,
        },
    },
    store::{
        columns::Columns,
        postgres::{errors::Failure, pool::Connection},
    },
};

const GET_PET: &str = concat!(
    "SELECT pet.*, (SELECT id FROM orders
        WHERE pet_id = pet.id AND holds AND orders.status = 'reserved')
    FROM (SELECT ",
    pet_columns!(),
    " FROM pets WHERE id = $1 UNION ALL SELECT ",
    withdrawn_columns!(),
    " FROM withdrawn_pets WHERE id = $1) AS pet"
);
const GET_ORDER: &str = concat!("SELECT ", order_columns!("orders"), " FROM orders WHERE id = $1");
/// The constant limits are for one plan, as in `LIST` of `pets.rs`. $1 is the position, and $2 the
/// length of the page.
macro_rules! list_orders {
    ($where:literal, $order:literal, $newest_first:literal) => {
        [list_orders!(@ ">", $where, $order), list_orders!(@ "<", $where, $newest_first)]
    };
    (@ $behind:literal, $where:literal, $order:literal) => {
        concat!(
            "SELECT * FROM (SELECT ",
            order_columns!("orders"),
            " FROM orders WHERE id ",
            $behind,
            " $1",
            $where,
            " ORDER BY ",
            $order,
            " LIMIT 101) AS page ORDER BY ",
            $order,
            " LIMIT $2"
        )
    };
}
const ORDERS: [&str; 2] = list_orders!("", "id", "id DESC");
/// NULLS FIRST is the order of only the index on the status.
const ORDERS_OF_STATUS: [&str; 2] =
    list_orders!(" AND status = $3", "id NULLS FIRST", "id DESC NULLS LAST");
const ORDERS_OF_PET: [&str; 2] = list_orders!(
    " AND pet_id = $3 AND ($4::text IS NULL OR status = $4)
    AND ($5::text IS NULL OR reference = $5)",
    "id",
    "id DESC"
);
const ORDERS_BY_REFERENCE: [&str; 2] =
    list_orders!(" AND reference = $3 AND ($4::text IS NULL OR status = $4)", "id", "id DESC");
// An end below -62167219200000 (`clock::EARLIEST`) cannot be read, and must not stop the others.
const DUE: &str = "SELECT id, expires_at FROM orders
    WHERE status = 'reserved' AND expires_at BETWEEN -62167219200000 AND $1 ORDER BY expires_at LIMIT $2";
const RESERVATIONS: &str = "SELECT count(*),
    min(expires_at) FILTER (WHERE expires_at >= -62167219200000)
    FROM orders WHERE status = 'reserved'";
const CATEGORIES: &str = "SELECT id, label, version FROM categories
    WHERE ($1::bigint IS NULL OR id > $1) AND id >= coalesce($1, -9223372036854775808)
    ORDER BY id LIMIT $2";
const COUNT: &str = "SELECT status, count(*) FROM pets GROUP BY status
    UNION ALL SELECT 'withdrawn', count(*) FROM withdrawn_pets";
const OF_CATEGORY: &str = "SELECT (SELECT count(*) FROM pets WHERE category_id = $1)
    + (SELECT count(*) FROM withdrawn_pets WHERE category_id = $1)";

/// Reads everything, in this order. See [`crate::store::bulk::Snapshot`].
pub(in crate::store::postgres) const EVERYTHING: [(&str, ReadResource); 4] = [
    (
        concat!(
            "SELECT pet.*, orders.id FROM (SELECT ",
            pet_columns!(),
            " FROM pets) AS pet
            LEFT JOIN orders ON pet_id = pet.id AND holds AND orders.status = 'reserved'
            ORDER BY pet.id"
        ),
        read_pet,
    ),
    (
        concat!("SELECT ", withdrawn_columns!(), ", NULL::bigint FROM withdrawn_pets ORDER BY id"),
        read_pet,
    ),
    (concat!("SELECT ", order_columns!("orders"), " FROM orders ORDER BY id"), |row| {
        rows::order(row, 0)?.map(Resource::Order).ok_or(Failure::Row("id"))
    }),
    ("SELECT id, label, version FROM categories ORDER BY id", |row| {
        rows::category(row, 0)?.map(Resource::Category).ok_or(Failure::Row("id"))
    }),
];

type ReadResource = fn(&Row) -> Result<Resource, Failure>;

fn read_pet(row: &Row) -> Result<Resource, Failure> {
    pet_with_order(row, PET_WIDTH).map(Resource::Pet)
}

/// The animal of a row, with its order in the column `at`.
pub(super) fn pet_with_order(row: &Row, at: usize) -> Result<StorePet, Failure> {
    let mut pet = rows::pet(row, 0)?.ok_or(Failure::Row("id"))?;
    let order: Option<i64> = row.try_get(at)?;
    pet.order_id = order.map(rows::order_id).transpose()?;
    Ok(pet)
}

pub(super) async fn get_pet(
    connection: &mut Connection,
    id: PetId,
) -> Result<Option<StorePet>, Failure> {
    let statement = connection.prepared(GET_PET).await?;
    // Between the two tables, the statement sees one moment.
    let Some(row) = connection.query_opt(&statement, &[&id.get()]).await? else {
        return Ok(None);
    };
    pet_with_order(&row, PET_WIDTH).map(Some)
}

pub(super) async fn get_order(
    connection: &mut Connection,
    id: OrderId,
) -> Result<Option<Order>, Failure> {
    let statement = connection.prepared(GET_ORDER).await?;
    let row = connection.query_opt(&statement, &[&id.get()]).await?;
    Ok(row.map(|row| rows::order(&row, 0)).transpose()?.flatten())
}

pub(super) async fn orders(
    connection: &mut Connection,
    query: &OrderQuery,
) -> Result<(Vec<Order>, Option<OrderId>), Failure> {
    let first = if query.newest_first { i64::MAX } else { 0 };
    let (after, fetched) =
        (query.after.map_or(first, OrderId::get), i64::from(query.limit.get()) + 1);
    let status = query.status.map(OrderStatus::as_str);
    let pet = query.pet_id.map(PetId::get);
    let reference = query.reference.as_ref().map(Text::as_str);
    let mut values: Vec<&(dyn ToSql + Sync)> = vec![&after, &fetched];
    // By the most selective filter.
    let sql = if pet.is_some() {
        values.extend([&pet as &(dyn ToSql + Sync), &status, &reference]);
        ORDERS_OF_PET
    } else if reference.is_some() {
        values.extend([&reference as &(dyn ToSql + Sync), &status]);
        ORDERS_BY_REFERENCE
    } else if status.is_some() {
        values.push(&status);
        ORDERS_OF_STATUS
    } else {
        ORDERS
    };
    let statement = connection.prepared(sql[usize::from(query.newest_first)]).await?;
    let rows = connection.query(&statement, &values).await?;
    let orders: Result<Vec<_>, _> =
        rows.iter().filter_map(|row| rows::order(row, 0).transpose()).collect();
    Ok(query.limit.page(orders?, |order| order.id))
}

pub(super) async fn due(
    connection: &mut Connection,
    now: Timestamp,
    limit: u32,
) -> Result<Vec<(OrderId, Timestamp)>, Failure> {
    let rows = connection.query(DUE, &[&now.as_millisecond(), &i64::from(limit)]).await?;
    rows.iter().map(|row| Ok((rows::order_id(row.try_get(0)?)?, row.time(1)?))).collect()
}

pub(super) async fn categories(
    connection: &mut Connection,
    after: Option<i64>,
    limit: Limit,
) -> Result<(Vec<Category>, Option<i64>), Failure> {
    let statement = connection.prepared(CATEGORIES).await?;
    let rows = connection.query(&statement, &[&after, &(i64::from(limit.get()) + 1)]).await?;
    let categories: Result<Vec<_>, _> =
        rows.iter().filter_map(|row| rows::category(row, 0).transpose()).collect();
    Ok(limit.page(categories?, |category| category.id))
}

pub(super) async fn reservations(connection: &mut Connection) -> Result<Reservations, Failure> {
    let rows = count(connection, RESERVATIONS, &[]).await?;
    let row = rows.first().ok_or(Failure::Row("count"))?;
    let open = row.try_get::<_, i64>(0)?.unsigned_abs();
    Ok(Reservations { open, first_end: row.optional_time(1)? })
}

pub(super) async fn of_category(connection: &mut Connection, id: i64) -> Result<u64, Failure> {
    let rows = count(connection, OF_CATEGORY, &[&id]).await?;
    Ok(rows.first().ok_or(Failure::Row("count"))?.try_get::<_, i64>(0)?.unsigned_abs())
}

/// Runs a statement that may take longer than others.
async fn count(
    connection: &mut Connection,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<Vec<Row>, Failure> {
    let transaction = connection.build_transaction().read_only(true).start().await?;
    let settings = "SET LOCAL statement_timeout = '60s'; SET LOCAL enable_seqscan = on";
    transaction.batch_execute(settings).await?;
    let rows = transaction.query(sql, values).await?;
    transaction.commit().await?;
    Ok(rows)
}

pub(super) async fn inventory(
    connection: &mut Connection,
    now: Timestamp,
) -> Result<Inventory, Failure> {
    let rows = count(connection, COUNT, &[]).await?;
    let mut inventory =
        Inventory { available: 0, pending: 0, sold: 0, withdrawn: 0, counted_at: now };
    for row in &rows {
        let count = row.try_get::<_, i64>(1)?.unsigned_abs();
        match row.try_get::<_, &str>(0)? {
            "withdrawn" => inventory.withdrawn = count,
            status => match status.parse().map_err(|_| Failure::Row("status"))? {
                PetStatus::Available => inventory.available = count,
                PetStatus::Pending => inventory.pending = count,
                PetStatus::Sold => inventory.sold = count,
            },
        }
    }
    Ok(inventory)
}
