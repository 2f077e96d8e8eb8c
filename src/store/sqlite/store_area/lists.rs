//! Lists in order of identifier, and counts.

use std::{fmt::Write, ops::ControlFlow, sync::LazyLock};

use jiff::Timestamp;
use rusqlite::{Connection, Row, Rows, ToSql};

use super::{super::rows::of_status, rows::SELECT};
use crate::domain::{
    Limit, PetId, PetStatus,
    store_area::{
        Category, Inventory, Order, OrderId, OrderQuery, OrderStatus, PetQuery, Reservations,
        Resource, StorePet, Text,
    },
};
use crate::store::{
    columns::{Cell, Columns},
    store_area,
    tables::{Record, Table, order, pet, pet_with_order},
};

/// Walks along the indexes of both statuses backwards or forwards, and reads only the rows of the page.
static ON_OFFER: LazyLock<[String; 2]> = LazyLock::new(|| {
    [("<", "DESC"), (">", "ASC")].map(|(behind, order)| {
        let condition = format!(" AND id {behind} ?1");
        let both = both_on_offer(&Table::Pets.selected(), &condition);
        format!("{both} ORDER BY id {order} LIMIT ?2")
    })
});
static COUNT_ON_OFFER: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT count(*) FROM (SELECT * FROM ({}) LIMIT ?1)", both_on_offer("id", ""))
});

fn both_on_offer(columns: &str, condition: &str) -> String {
    let of = |status| format!("SELECT {columns} FROM pets {}{condition}", of_status(status));
    [of(PetStatus::Available), of(PetStatus::Pending)].join(" UNION ALL ")
}
// An end below -62167219200000 (`clock::EARLIEST`) cannot be read, and must not stop the others.
const DUE: &str = "SELECT id, expires_at FROM orders INDEXED BY orders_by_end
    WHERE status = 'reserved' AND expires_at <= ?1 AND (expires_at, id) > (?2, ?3)
    ORDER BY expires_at, id LIMIT ?4";
const RESERVATIONS: &str = "SELECT count(*),
    min(expires_at) FILTER (WHERE expires_at >= -62167219200000) FROM orders INDEXED BY orders_by_end
    WHERE status = 'reserved'";
/// Most contacts belong to orders that are open or closed a short time ago.
const CONTACTS_UNTIL: &str =
    "SELECT order_id FROM order_contacts CROSS JOIN orders ON orders.id = order_id
    WHERE order_id > ?1 AND closed_at <= ?2 ORDER BY order_id LIMIT ?3";
const OF_CATEGORY: &str = "SELECT (SELECT count(*) FROM pets WHERE category_id = ?1)
    + (SELECT count(*) FROM withdrawn_pets WHERE category_id = ?1)";

/// Reads everything in a table.
pub(super) fn everything(table: Table) -> String {
    let by_id = if table == Table::Pets { "NOT INDEXED ORDER BY id" } else { "ORDER BY id" };
    format!("{} {by_id}", SELECT[table as usize])
}

/// Calls `show` with everything, until it breaks.
pub(in super::super) fn each(
    connection: &Connection,
    show: &mut dyn FnMut(Resource) -> ControlFlow<()>,
) -> rusqlite::Result<()> {
    for table in Table::ALL {
        let mut statement = connection.prepare(&everything(table))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if show(table.read(row)?).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The animals of a page without a search, and one more if more follow. `None` if their names have more
/// than about `longest` bytes.
pub(super) fn pets(
    connection: &Connection,
    query: &PetQuery,
    longest: usize,
) -> rusqlite::Result<Option<Vec<StorePet>>> {
    let table = if query.withdrawn { Table::WithdrawnPets } else { Table::Pets };
    let (start, behind, order) =
        if query.newest_first { (i64::MAX, "<", "DESC") } else { (0, ">", "ASC") };
    let of = |of_status: &str| format!("{} {of_status} id {behind} ?1", SELECT[table as usize]);
    let list = match query.status {
        None if query.on_offer => [PetStatus::Available, PetStatus::Pending]
            .map(|of_one| of(&(of_status(of_one) + " AND")))
            .join(" UNION ALL "),
        None => of("NOT INDEXED WHERE"),
        Some(status) if query.withdrawn => {
            of(&format!("INDEXED BY withdrawn_pets_by_status WHERE status = '{status}' AND"))
        }
        Some(status) => of(&(of_status(status) + " AND")),
    };
    let list = format!("{list} ORDER BY id {order} LIMIT ?2");
    let mut statement = connection.prepare_cached(&list)?;
    let rows = statement.query([query.after.map_or(start, PetId::get), one_more(query.limit)])?;
    read_up_to(longest, rows, |row| pet_with_order(row), StorePet::length)
}

/// The same for the animals of [`crate::store::StoreArea::list_on_offer`].
pub(super) fn on_offer(
    connection: &Connection,
    after: Option<PetId>,
    limit: Limit,
    oldest_first: bool,
    longest: usize,
) -> rusqlite::Result<Option<Vec<StorePet>>> {
    let mut statement = connection.prepare_cached(&ON_OFFER[usize::from(oldest_first)])?;
    let start = if oldest_first { 0 } else { i64::MAX };
    let rows = statement.query([after.map_or(start, PetId::get), one_more(limit)])?;
    read_up_to(longest, rows, |row| pet(row, 0)?.ok_or_else(|| row.invalid(0)), StorePet::length)
}

/// What is in the rows. `None` if the texts have more than about `longest` bytes.
fn read_up_to<T>(
    longest: usize,
    mut rows: Rows<'_>,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    length_of: fn(&T) -> usize,
) -> rusqlite::Result<Option<Vec<T>>> {
    let (mut found, mut length) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let one = read(row)?;
        length += length_of(&one);
        if length > longest {
            return Ok(None);
        }
        found.push(one);
    }
    Ok(Some(found))
}

/// The orders of a page, and one more if more follow. `None` as for [`pets`].
pub(super) fn orders(
    connection: &Connection,
    query: &OrderQuery,
    longest: usize,
) -> rusqlite::Result<Option<Vec<Order>>> {
    // All members, so that the compiler asks what a new one does here.
    let &OrderQuery { status, pet_id, ref reference, limit, newest_first, after } = query;
    let (first, behind, direction) =
        if newest_first { (i64::MAX, "<", " DESC") } else { (0, ">", "") };
    let (after, limit) = (after.map_or(first, OrderId::get), one_more(limit));
    let status = status.map(OrderStatus::as_str);
    let pet = pet_id.map(PetId::get);
    let reference = reference.as_ref().map(Text::as_str);
    // The most selective one.
    let index = match query {
        OrderQuery { reference: Some(_), .. } => "INDEXED BY orders_by_reference",
        OrderQuery { pet_id: Some(_), .. } => "INDEXED BY orders_by_pet",
        OrderQuery { status: Some(_), .. } => "INDEXED BY orders_by_status",
        _ => "NOT INDEXED",
    };
    // A join opens the table of contacts once, and a subquery would open it for each order.
    let columns = Order::COLUMNS.join(", ");
    let mut list = format!(
        "SELECT {columns}, contact FROM orders {index}
        LEFT JOIN order_contacts ON order_id = id WHERE id {behind} ?1"
    );
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
    let _ = write!(list, " ORDER BY id{direction} LIMIT ?2");
    let mut statement = connection.prepare_cached(&list)?;
    let read = |row: &Row<'_>| order(row, 0)?.ok_or_else(|| row.invalid(0));
    read_up_to(longest, statement.query(&*values)?, read, Order::length)
}

/// Whether every row that a page of orders reads belongs to it.
pub(super) fn is_quick(query: &OrderQuery) -> bool {
    let OrderQuery { status, pet_id, reference, limit: _, newest_first: _, after: _ } = query;
    let filters = [status.is_some(), pet_id.is_some(), reference.is_some()];
    filters.into_iter().filter(|&is_there| is_there).count() <= 1
}

pub(super) fn due(
    connection: &Connection,
    after: Option<(OrderId, Timestamp)>,
    now: Timestamp,
    limit: u32,
) -> rusqlite::Result<Vec<(OrderId, Timestamp)>> {
    let due = |row: &Row<'_>| Ok((Cell::read(row, 0)?, Cell::read(row, 1)?));
    let (id, end) = store_area::behind(after);
    let mut statement = connection.prepare_cached(DUE)?;
    statement.query_map((now.as_millisecond(), end, id, limit), due)?.collect()
}

pub(super) fn reservations(connection: &Connection) -> rusqlite::Result<Reservations> {
    connection.query_row(RESERVATIONS, [], |row| {
        let open = row.get(0).map(i64::unsigned_abs)?;
        Ok(Reservations { open, first_end: row.optional_time(1)? })
    })
}

pub(super) fn contacts_until(
    connection: &Connection,
    closed_until: Timestamp,
    after: Option<OrderId>,
    limit: u32,
) -> rusqlite::Result<Vec<OrderId>> {
    let after = after.map_or(0, OrderId::get);
    let mut statement = connection.prepare_cached(CONTACTS_UNTIL)?;
    let found = statement
        .query_map((after, closed_until.as_millisecond(), limit), |row| Cell::read(row, 0))?;
    found.collect()
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
    let list =
        format!("{} WHERE id >= ?1 ORDER BY id LIMIT ?2", SELECT[Table::Categories as usize]);
    let mut statement = connection.prepare_cached(&list)?;
    statement.query_map([first, one_more(limit)], |row| Category::read(row, 0))?.collect()
}

pub(super) fn inventory(connection: &Connection, now: Timestamp) -> rusqlite::Result<Inventory> {
    let count = |of: &str| {
        let count = format!("SELECT count(*) FROM {of}");
        connection.query_row(&count, [], |row| row.get(0).map(i64::unsigned_abs))
    };
    let count_of = |status| count(&format!("pets {}", of_status(status)));
    Ok(Inventory {
        available: count_of(PetStatus::Available)?,
        pending: count_of(PetStatus::Pending)?,
        sold: count_of(PetStatus::Sold)?,
        withdrawn: count("withdrawn_pets")?,
        counted_at: now,
    })
}

pub(super) fn count_on_offer(connection: &Connection, most: usize) -> rusqlite::Result<usize> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let read = |row: &Row<'_>| row.get::<_, i64>(0);
    let count = connection.prepare_cached(&COUNT_ON_OFFER)?.query_row([most], read)?;
    Ok(usize::try_from(count).unwrap_or_default())
}

pub(super) fn of_category(connection: &Connection, id: i64) -> rusqlite::Result<u64> {
    connection.query_row(OF_CATEGORY, [id], |row| row.get(0).map(i64::unsigned_abs))
}

pub(super) fn one_more(limit: Limit) -> i64 {
    i64::from(limit.get()) + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{OpenMode, sqlite::connection};

    #[test]
    fn the_animals_on_offer_are_two_searches_of_an_index_without_a_sort() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("petstore.db");
        let (writing, _) = connection::open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
        for (list, search) in ON_OFFER.iter().zip(["(id<?)", "(id>?)"]) {
            let mut statement = writing.prepare(&format!("EXPLAIN QUERY PLAN {list}")).unwrap();
            let steps = statement.query_map([1, 1], |row| row.get::<_, String>("detail")).unwrap();
            let plan = steps.map(Result::unwrap).collect::<Vec<_>>().join("; ");
            for status in ["available", "pending"] {
                let search = format!("SEARCH pets USING INDEX pets_{status} {search}");
                assert!(plan.contains(&search), "{plan}");
            }
            assert!(plan.contains("MERGE") && !plan.contains("TEMP B-TREE"), "{plan}");
        }
    }
}
