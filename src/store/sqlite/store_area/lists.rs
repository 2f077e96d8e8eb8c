//! Lists in order of identifier, and counts.

use std::{fmt::Write, ops::ControlFlow};

use jiff::Timestamp;
use rusqlite::{Connection, Params, Row, ToSql};

use super::{
    super::rows::of_status,
    rows::{self, order_columns, pet_columns, withdrawn_pet_columns},
};
use crate::domain::{
    Limit, PetId, PetStatus,
    store_area::{
        Category, Inventory, Order, OrderId, OrderQuery, OrderStatus, PetQuery, Reservations,
        Resource, StorePet, Text,
    },
};
use crate::store::columns::Columns;

const WITHDRAWN: &str = concat!(
    "SELECT ",
    withdrawn_pet_columns!(),
    " FROM withdrawn_pets NOT INDEXED WHERE id > ?1 ORDER BY id LIMIT ?2"
);
const WITHDRAWN_OF_STATUS: &str = concat!(
    "SELECT ",
    withdrawn_pet_columns!(),
    " FROM withdrawn_pets INDEXED BY withdrawn_pets_by_status
    WHERE status = ?3 AND id > ?1 ORDER BY id LIMIT ?2"
);
// An end below -62167219200000 (`clock::EARLIEST`) cannot be read, and must not stop the others.
const DUE: &str = "SELECT id, expires_at FROM orders INDEXED BY orders_by_end
    WHERE status = 'reserved' AND expires_at BETWEEN -62167219200000 AND ?1 ORDER BY expires_at LIMIT ?2";
const RESERVATIONS: &str = "SELECT count(*),
    min(expires_at) FILTER (WHERE expires_at >= -62167219200000) FROM orders INDEXED BY orders_by_end
    WHERE status = 'reserved'";
const CATEGORIES: &str =
    "SELECT id, label, version FROM categories WHERE id >= ?1 ORDER BY id LIMIT ?2";
const OF_CATEGORY: &str = "SELECT (SELECT count(*) FROM pets WHERE category_id = ?1)
    + (SELECT count(*) FROM withdrawn_pets WHERE category_id = ?1)";

pub(super) type ReadResource = fn(&Row<'_>) -> rusqlite::Result<Resource>;

/// Reads everything, in this order. See [`crate::store::bulk::Snapshot`].
pub(super) const EVERYTHING: [(&str, ReadResource); 4] = [
    (concat!("SELECT ", pet_columns!(), " FROM pets NOT INDEXED ORDER BY id"), |row| {
        rows::pet(row).map(Resource::Pet)
    }),
    (concat!("SELECT ", withdrawn_pet_columns!(), " FROM withdrawn_pets ORDER BY id"), |row| {
        rows::withdrawn_pet(row).map(Resource::Pet)
    }),
    (concat!("SELECT ", order_columns!(), " FROM orders ORDER BY id"), |row| {
        rows::order(row).map(Resource::Order)
    }),
    ("SELECT id, label, version FROM categories ORDER BY id", |row| {
        rows::category(row).map(Resource::Category)
    }),
];

/// Calls `show` with everything, until it breaks.
pub(in super::super) fn each(
    connection: &Connection,
    show: &mut dyn FnMut(Resource) -> ControlFlow<()>,
) -> rusqlite::Result<()> {
    for (sql, read) in EVERYTHING {
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if show(read(row)?).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The animals of a page by identifier, and one more if more follow. `None` if their names have
/// more than about `longest` bytes.
pub(super) fn pets(
    connection: &Connection,
    query: &PetQuery,
    longest: usize,
) -> rusqlite::Result<Option<Vec<StorePet>>> {
    let after = query.after.as_ref().map_or(0, |after| after.id.get());
    let limit = one_more(query.limit);
    let columns = pet_columns!();
    let status = query.status.map(PetStatus::as_str);
    match (query.withdrawn, query.status) {
        (true, None) => short(connection, WITHDRAWN, [after, limit], rows::withdrawn_pet, longest),
        (true, Some(_)) => {
            let values: [&dyn ToSql; 3] = [&after, &limit, &status];
            short(connection, WITHDRAWN_OF_STATUS, values, rows::withdrawn_pet, longest)
        }
        (false, status) => {
            let pets = match status {
                None => "FROM pets NOT INDEXED WHERE".to_owned(),
                Some(status) => of_status(status) + " AND",
            };
            let list = format!("SELECT {columns} {pets} id > ?1 ORDER BY id LIMIT ?2");
            short(connection, &list, [after, limit], rows::pet, longest)
        }
    }
}

/// The animals that a statement selects, unless their names are longer than `longest` together.
fn short(
    connection: &Connection,
    list: &str,
    values: impl Params,
    pet: fn(&Row<'_>) -> rusqlite::Result<StorePet>,
    longest: usize,
) -> rusqlite::Result<Option<Vec<StorePet>>> {
    let mut statement = connection.prepare_cached(list)?;
    let mut rows = statement.query(values)?;
    let (mut pets, mut length) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let pet = pet(row)?;
        let note = pet.withdrawn.as_ref().and_then(|withdrawal| withdrawal.note.as_ref());
        length += pet.name.as_str().len() + note.map_or(0, |note| note.as_str().len());
        if length > longest {
            return Ok(None);
        }
        pets.push(pet);
    }
    Ok(Some(pets))
}

/// The orders of a page, and one more if more follow.
pub(super) fn orders(connection: &Connection, query: &OrderQuery) -> rusqlite::Result<Vec<Order>> {
    let (first, behind, order) =
        if query.newest_first { (i64::MAX, "<", " DESC") } else { (0, ">", "") };
    let (after, limit) = (query.after.map_or(first, OrderId::get), one_more(query.limit));
    let status = query.status.map(OrderStatus::as_str);
    let pet = query.pet_id.map(PetId::get);
    let reference = query.reference.as_ref().map(Text::as_str);
    // The most selective one.
    let index = match query {
        OrderQuery { reference: Some(_), .. } => "INDEXED BY orders_by_reference",
        OrderQuery { pet_id: Some(_), .. } => "INDEXED BY orders_by_pet",
        OrderQuery { status: Some(_), .. } => "INDEXED BY orders_by_status",
        _ => "NOT INDEXED",
    };
    let mut list = format!("SELECT {} FROM orders {index} WHERE id {behind} ?1", order_columns!());
    let mut values: Vec<&dyn ToSql> = vec![&after, &limit];
    for (column, value) in [
        ("status", status.as_ref().map(|value| value as &dyn ToSql)),
        ("pet_id", pet.as_ref().map(|value| value as &dyn ToSql)),
        ("reference", reference.as_ref().map(|value| value as &dyn ToSql)),
    ] {
        if let Some(value) = value {
            values.push(value);
            let _ = write!(list, " AND {column} = ?{}", values.len());
        }
    }
    let _ = write!(list, " ORDER BY id{order} LIMIT ?2");
    connection.prepare_cached(&list)?.query_map(&*values, rows::order)?.collect()
}

/// Whether every row that a page of orders reads belongs to it.
pub(super) fn is_quick(query: &OrderQuery) -> bool {
    let filters = [query.status.is_some(), query.pet_id.is_some(), query.reference.is_some()];
    filters.into_iter().filter(|&is_there| is_there).count() <= 1
}

pub(super) fn due(
    connection: &Connection,
    now: Timestamp,
    limit: u32,
) -> rusqlite::Result<Vec<(OrderId, Timestamp)>> {
    let due = |row: &Row<'_>| Ok((rows::order_id(row.get(0)?)?, row.time(1)?));
    let mut statement = connection.prepare_cached(DUE)?;
    statement.query_map((now.as_millisecond(), limit), due)?.collect()
}

pub(super) fn reservations(connection: &Connection) -> rusqlite::Result<Reservations> {
    connection.query_row(RESERVATIONS, [], |row| {
        let open = row.get(0).map(i64::unsigned_abs)?;
        Ok(Reservations { open, first_end: row.optional_time(1)? })
    })
}

/// The categories of a page, and one more if more follow.
pub(super) fn categories(
    connection: &Connection,
    after: Option<i64>,
    limit: Limit,
) -> rusqlite::Result<Vec<Category>> {
    let Some(first) = after.map_or(Some(i64::MIN), |after| after.checked_add(1)) else {
        return Ok(Vec::new());
    };
    let mut statement = connection.prepare_cached(CATEGORIES)?;
    statement.query_map([first, one_more(limit)], rows::category)?.collect()
}

pub(super) fn inventory(connection: &Connection, now: Timestamp) -> rusqlite::Result<Inventory> {
    let count = |of: &str| {
        let count = format!("SELECT count(*) {of}");
        connection.query_row(&count, [], |row| row.get(0).map(i64::unsigned_abs))
    };
    Ok(Inventory {
        available: count(&of_status(PetStatus::Available))?,
        pending: count(&of_status(PetStatus::Pending))?,
        sold: count(&of_status(PetStatus::Sold))?,
        withdrawn: count("FROM withdrawn_pets")?,
        counted_at: now,
    })
}

pub(super) fn of_category(connection: &Connection, id: i64) -> rusqlite::Result<u64> {
    connection.query_row(OF_CATEGORY, [id], |row| row.get(0).map(i64::unsigned_abs))
}

pub(super) fn one_more(limit: Limit) -> i64 {
    i64::from(limit.get()) + 1
}
