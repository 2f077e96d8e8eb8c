//! Reads of single resources, of orders and of categories, and the count of all animals.

use std::sync::LazyLock;

use jiff::Timestamp;
use tokio_postgres::{Row, types::ToSql};

use crate::{
    domain::{
        Limit, PetId, PetStatus,
        store_area::{
            Category, FieldName, Inventory, Order, OrderId, OrderQuery, OrderStatus, PetQuery,
            Reservations, StorePet, Text,
        },
    },
    store::{
        admin::search::Reads,
        columns::{Cell, Columns},
        postgres::{errors::Failure, pool::Connection},
        store_area,
        tables::{Record, Table, order, pet, pet_with_order},
    },
};

static GET_PET: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT pet.*, (SELECT id FROM orders
            WHERE pet_id = pet.id AND holds AND orders.status = 'reserved')
        FROM (SELECT {} FROM pets WHERE id = $1
            UNION ALL SELECT {} FROM withdrawn_pets WHERE id = $1) AS pet",
        Table::Pets.selected(),
        Table::WithdrawnPets.selected()
    )
});
/// The open order of an animal. Only a pending animal can have one.
const ORDER: &str = "CASE WHEN page.status = 'pending' THEN (SELECT id FROM orders
    WHERE pet_id = page.id AND holds AND orders.status = 'reserved') END";
/// The search in the animals that are not withdrawn, and in those that are.
pub(super) static READS: LazyLock<[Reads; 2]> = LazyLock::new(|| {
    [Table::Pets, Table::WithdrawnPets].map(|table| {
        let columns = table.selected();
        let page = format!("(SELECT {columns} FROM {table} WHERE {{}}) AS page");
        Reads::of(table, &format!("SELECT page.*, {ORDER} FROM {page}"))
    })
});
/// The pages of animals without a search: of both tables, with all animals, those of one status, and those
/// of two; the oldest first, and the newest first. The limits and orders are as in [`ON_OFFER`].
static PETS: LazyLock<[[[String; 2]; 3]; 2]> = LazyLock::new(|| {
    [Table::Pets, Table::WithdrawnPets].map(|table| {
        [0, 1, 2].map(|statuses| {
            let nulls = if statuses == 0 { ["", ""] } else { [" NULLS FIRST", " NULLS LAST"] };
            [(">", "ASC", nulls[0]), ("<", "DESC", nulls[1])].map(|(behind, order, nulls)| {
                let conditions = match statuses {
                    0 => vec![String::new()],
                    _ => (3..3 + statuses).map(|at| format!(" AND status = ${at}")).collect(),
                };
                let of = |condition| {
                    format!(
                        "(SELECT {} FROM {table} WHERE id {behind} $1{condition}
                        ORDER BY id {order}{nulls} LIMIT 101)",
                        table.selected()
                    )
                };
                let ranges: Vec<_> = conditions.iter().map(of).collect();
                format!(
                    "SELECT page.*, {ORDER} FROM ({}) AS page ORDER BY id {order}{nulls} LIMIT $2",
                    ranges.join(" UNION ALL ")
                )
            })
        })
    })
});
/// The limits and the order are as in `LIST_BY_STATUS` of `pets.rs`, backwards and forwards.
static ON_OFFER: LazyLock<[String; 2]> = LazyLock::new(|| {
    [("<", "DESC NULLS LAST"), (">", "NULLS FIRST")].map(|(behind, order)| {
        let of = |status| {
            format!(
                "(SELECT {} FROM pets WHERE status = '{status}' AND id {behind} $1
                ORDER BY id {order} LIMIT 101)",
                Table::Pets.selected()
            )
        };
        let (available, pending) = (of(PetStatus::Available), of(PetStatus::Pending));
        format!(
            "SELECT * FROM ({available} UNION ALL {pending}) AS page ORDER BY id {order} LIMIT $2"
        )
    })
});
const COUNT_ON_OFFER: &str = "SELECT count(*) FROM (
        SELECT FROM pets WHERE status IN ('available', 'pending') LIMIT $1
    ) AS counted";
static GET_ORDER: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {} FROM orders WHERE id = $1", Table::Orders.selected()));

/// The statements for pages of orders, with the oldest first and with the newest first. The constant
/// limits are for one plan, as in `LIST` of `pets.rs`. $1 is the position, and $2 the length of the
/// page.
fn list_orders(filters: &str, [oldest, newest]: [&str; 2]) -> [String; 2] {
    [(">", oldest), ("<", newest)].map(|(behind, order)| {
        format!(
            "SELECT * FROM (SELECT {} FROM orders WHERE id {behind} $1{filters}
                ORDER BY {order} LIMIT 101) AS page ORDER BY {order} LIMIT $2",
            Table::Orders.selected()
        )
    })
}
const BY_ID: [&str; 2] = ["id", "id DESC"];
static ORDERS: LazyLock<[String; 2]> = LazyLock::new(|| list_orders("", BY_ID));
/// NULLS FIRST is the order of only the index on the status.
static ORDERS_OF_STATUS: LazyLock<[String; 2]> =
    LazyLock::new(|| list_orders(" AND status = $3", ["id NULLS FIRST", "id DESC NULLS LAST"]));
static ORDERS_OF_PET: LazyLock<[String; 2]> = LazyLock::new(|| {
    let filters = " AND pet_id = $3 AND ($4::text IS NULL OR status = $4)
        AND ($5::text IS NULL OR reference = $5)";
    list_orders(filters, BY_ID)
});
static ORDERS_BY_REFERENCE: LazyLock<[String; 2]> = LazyLock::new(|| {
    list_orders(" AND reference = $3 AND ($4::text IS NULL OR status = $4)", BY_ID)
});
// An end below -62167219200000 (`clock::EARLIEST`) cannot be read, and must not stop the others.
const DUE: &str = "SELECT id, expires_at FROM orders
    WHERE status = 'reserved' AND expires_at <= $1 AND (expires_at, id) > ($2, $3)
    ORDER BY expires_at, id LIMIT $4";
const RESERVATIONS: &str = "SELECT count(*),
    min(expires_at) FILTER (WHERE expires_at >= -62167219200000)
    FROM orders WHERE status = 'reserved'";
static CATEGORIES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {} FROM categories
        WHERE ($1::bigint IS NULL OR id > $1) AND id >= coalesce($1, -9223372036854775808)
        ORDER BY id LIMIT $2",
        Table::Categories.selected()
    )
});
const COUNT: &str = "SELECT status, count(*) FROM pets GROUP BY status
    UNION ALL SELECT 'withdrawn', count(*) FROM withdrawn_pets";
const CONTACTS_UNTIL: &str =
    "SELECT order_id FROM order_contacts JOIN orders ON orders.id = order_id
    WHERE order_id > $1 AND closed_at <= $2 ORDER BY order_id LIMIT $3";
const OF_CATEGORY: &str = "SELECT (SELECT count(*) FROM pets WHERE category_id = $1)
    + (SELECT count(*) FROM withdrawn_pets WHERE category_id = $1)";
const HAS_VALUES: &str = "SELECT EXISTS (SELECT FROM pets WHERE strpos(fields, $1) > 0)
    OR EXISTS (SELECT FROM withdrawn_pets WHERE strpos(fields, $1) > 0)";

/// Reads everything in a table, for [`Table::read`].
pub(in crate::store::postgres) fn everything(table: Table) -> String {
    let columns = table.selected();
    match table {
        Table::Pets => format!(
            "SELECT pet.*, orders.id FROM (SELECT {columns} FROM pets) AS pet
            LEFT JOIN orders ON pet_id = pet.id AND holds AND orders.status = 'reserved'
            ORDER BY pet.id"
        ),
        Table::WithdrawnPets => {
            format!("SELECT {columns}, NULL::bigint FROM withdrawn_pets ORDER BY id")
        }
        Table::Orders | Table::Categories => format!("SELECT {columns} FROM {table} ORDER BY id"),
    }
}

pub(super) async fn get_pet(
    connection: &mut Connection,
    id: PetId,
) -> Result<Option<StorePet>, Failure> {
    let statement = connection.prepared(&GET_PET).await?;
    // Between the two tables, the statement sees one moment.
    let row = connection.query_opt(&statement, &[&id.get()]).await?;
    row.as_ref().map(pet_with_order).transpose()
}

/// The animals of a page without a search.
pub(super) async fn pets(
    connection: &mut Connection,
    query: &PetQuery,
) -> Result<(Vec<StorePet>, Option<PetId>), Failure> {
    let statuses = match query.status {
        Some(status) => vec![status.as_str()],
        None if query.on_offer => vec![PetStatus::Available.as_str(), PetStatus::Pending.as_str()],
        None => Vec::new(),
    };
    let after = query.after.map_or(if query.newest_first { i64::MAX } else { 0 }, PetId::get);
    // One more than requested shows whether a page follows.
    let fetched = i64::from(query.limit.get()) + 1;
    let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&after, &fetched];
    parameters.extend(statuses.iter().map(|status| status as &(dyn ToSql + Sync)));
    let statements = &PETS[usize::from(query.withdrawn)][statuses.len()];
    let statement = connection.prepared(&statements[usize::from(query.newest_first)]).await?;
    let rows = connection.query(&statement, &parameters).await?;
    let pets: Result<Vec<_>, _> = rows.iter().map(pet_with_order).collect();
    Ok(query.limit.page(pets?, |pet| pet.id))
}

pub(super) async fn on_offer(
    connection: &mut Connection,
    after: Option<PetId>,
    limit: Limit,
    oldest_first: bool,
) -> Result<(Vec<StorePet>, Option<PetId>), Failure> {
    let after = after.map_or(if oldest_first { 0 } else { i64::MAX }, PetId::get);
    let statement = connection.prepared(&ON_OFFER[usize::from(oldest_first)]).await?;
    let rows = connection.query(&statement, &[&after, &(i64::from(limit.get()) + 1)]).await?;
    let read = |row: &Row| pet(row, 0)?.ok_or_else(|| row.invalid(0));
    let pets: Result<Vec<_>, _> = rows.iter().map(read).collect();
    Ok(limit.page(pets?, |pet| pet.id))
}

pub(super) async fn count_on_offer(
    connection: &mut Connection,
    most: usize,
) -> Result<usize, Failure> {
    let statement = connection.prepared(COUNT_ON_OFFER).await?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let count: i64 = connection.query_one(&statement, &[&most]).await?.try_get(0)?;
    Ok(usize::try_from(count).unwrap_or_default())
}

pub(super) async fn get_order(
    connection: &mut Connection,
    id: OrderId,
) -> Result<Option<Order>, Failure> {
    let statement = connection.prepared(&GET_ORDER).await?;
    let row = connection.query_opt(&statement, &[&id.get()]).await?;
    Ok(row.map(|row| order(&row, 0)).transpose()?.flatten())
}

pub(super) async fn orders(
    connection: &mut Connection,
    query: &OrderQuery,
) -> Result<(Vec<Order>, Option<OrderId>), Failure> {
    // All members, so that the compiler asks what a new one does here.
    let &OrderQuery { status, pet_id, ref reference, limit, newest_first, after } = query;
    let first = if newest_first { i64::MAX } else { 0 };
    let (after, fetched) = (after.map_or(first, OrderId::get), i64::from(limit.get()) + 1);
    let status = status.map(OrderStatus::as_str);
    let pet = pet_id.map(PetId::get);
    let reference = reference.as_ref().map(Text::as_str);
    let mut values: Vec<&(dyn ToSql + Sync)> = vec![&after, &fetched];
    // By the most selective filter.
    let sql = if pet.is_some() {
        values.extend([&pet as &(dyn ToSql + Sync), &status, &reference]);
        &ORDERS_OF_PET
    } else if reference.is_some() {
        values.extend([&reference as &(dyn ToSql + Sync), &status]);
        &ORDERS_BY_REFERENCE
    } else if status.is_some() {
        values.push(&status);
        &ORDERS_OF_STATUS
    } else {
        &ORDERS
    };
    let statement = connection.prepared(&sql[usize::from(newest_first)]).await?;
    let rows = connection.query(&statement, &values).await?;
    let orders: Result<Vec<_>, _> =
        rows.iter().filter_map(|row| order(row, 0).transpose()).collect();
    Ok(limit.page(orders?, |order| order.id))
}

pub(super) async fn due(
    connection: &mut Connection,
    after: Option<(OrderId, Timestamp)>,
    now: Timestamp,
    limit: u32,
) -> Result<Vec<(OrderId, Timestamp)>, Failure> {
    let (id, end) = store_area::behind(after);
    let limit = i64::from(limit);
    let rows = connection.query(DUE, &[&now.as_millisecond(), &end, &id, &limit]).await?;
    rows.iter().map(|row| Ok((Cell::read(row, 0)?, Cell::read(row, 1)?))).collect()
}

pub(super) async fn categories(
    connection: &mut Connection,
    after: Option<i64>,
    limit: Limit,
) -> Result<(Vec<Category>, Option<i64>), Failure> {
    let statement = connection.prepared(&CATEGORIES).await?;
    let rows = connection.query(&statement, &[&after, &(i64::from(limit.get()) + 1)]).await?;
    let categories: Result<Vec<_>, _> = rows.iter().map(|row| Category::read(row, 0)).collect();
    Ok(limit.page(categories?, |category| category.id))
}

pub(super) async fn reservations(connection: &mut Connection) -> Result<Reservations, Failure> {
    let rows = count(connection, RESERVATIONS, &[]).await?;
    let row = rows.first().ok_or(Failure::Row("count"))?;
    let open = row.try_get::<_, i64>(0)?.unsigned_abs();
    Ok(Reservations { open, first_end: row.optional_time(1)? })
}

pub(super) async fn contacts_until(
    connection: &mut Connection,
    closed_until: Timestamp,
    after: Option<OrderId>,
    limit: u32,
) -> Result<Vec<OrderId>, Failure> {
    let after = after.map_or(0, OrderId::get);
    let values: [&(dyn ToSql + Sync); 3] =
        [&after, &closed_until.as_millisecond(), &i64::from(limit)];
    let rows = count(connection, CONTACTS_UNTIL, &values).await?;
    rows.iter().map(|row| Cell::read(row, 0)).collect()
}

pub(super) async fn has_values(
    connection: &mut Connection,
    name: &FieldName,
) -> Result<bool, Failure> {
    let member = format!("\"{}\":", name.as_str());
    let rows = count(connection, HAS_VALUES, &[&member]).await?;
    Ok(rows.first().ok_or(Failure::Row("exists"))?.try_get(0)?)
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
