//! Whether the rows of the store area agree with each other.

use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::Timestamp;
use rusqlite::{Connection, Row};

use super::{
    super::{check::is_damage, pets::status},
    rows::{self, order_columns, withdrawn_pet_columns},
    search::{blocks, list},
};
use crate::{
    domain::store_area::name_key,
    store::check::{Checkup, DISAGREEMENTS, OneKind},
};

const INVALID_TIMES: &str = "SELECT id FROM pets
    WHERE created_at NOT BETWEEN ?1 AND ?2 OR updated_at NOT BETWEEN ?1 AND ?2";
const WITHDRAWN: &str =
    concat!("SELECT ", withdrawn_pet_columns!(), " FROM withdrawn_pets ORDER BY id");
const ORDERS: &str = concat!("SELECT ", order_columns!(), " FROM orders ORDER BY id");
const CATEGORIES: &str = "SELECT id, label, version FROM categories ORDER BY id";
/// An identifier below the highest one would be given twice.
const SEQUENCES: &str = "WITH highest (name, id) AS (
        SELECT 'pets', max(id) FROM withdrawn_pets UNION ALL SELECT 'orders', max(id) FROM orders)
    SELECT name FROM highest
    WHERE id > coalesce((SELECT seq FROM sqlite_sequence WHERE name = highest.name), 0)";
/// What the tables of the search should have.
const MERGED: &str = "
    SELECT id, name, category_id, status, FALSE, NULL FROM pets
    WHERE id <= (SELECT last_merged_id FROM search_state)
        AND id NOT IN (SELECT id FROM search_pending)
    UNION ALL
    SELECT id, name, category_id, status, TRUE, NULL FROM withdrawn_pets
    WHERE id <= (SELECT last_merged_id FROM search_state)
        AND id NOT IN (SELECT id FROM search_pending)
    UNION ALL
    SELECT id, name, category_id, NULL, NULL, list FROM search_pending";
/// What they have.
const SEARCH: [(&str, &str); 2] = [
    ("search_by_name", "SELECT block, list, id, key, NULL FROM search_by_name"),
    (
        "search_by_category_and_name",
        "SELECT block, list, id, key, category_id FROM search_by_category_and_name",
    ),
];

/// Compares all rows of one state of the database.
pub(in super::super) fn check(
    connection: &Connection,
    found: &mut Checkup,
) -> rusqlite::Result<()> {
    let moment = connection.unchecked_transaction()?;
    for (problem, statement) in DISAGREEMENTS {
        report(&moment, problem, statement, [], found)?;
    }
    let times = [Timestamp::MIN, Timestamp::MAX].map(Timestamp::as_millisecond);
    report(&moment, "animal {} has an invalid time", INVALID_TIMES, times, found)?;
    read(&moment, "withdrawn animal", WITHDRAWN, rows::withdrawn_pet, found)?;
    read(&moment, "order", ORDERS, rows::order, found)?;
    read(&moment, "category", CATEGORIES, rows::category, found)?;
    for table in moment.prepare(SEQUENCES)?.query_map([], |row| row.get::<_, String>(0))? {
        let table = table?;
        found.problems.push(format!("sqlite_sequence does not contain the last id of {table}"));
    }
    search(&moment, found)
}

/// Reports each row that a statement finds.
fn report(
    connection: &Connection,
    problem: &str,
    statement: &str,
    values: impl rusqlite::Params,
    found: &mut Checkup,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(statement)?;
    let mut found = OneKind::of(&mut found.problems);
    for id in statement.query_map(values, |row| row.get::<_, i64>(0))? {
        found.add(problem.replace("{}", &id?.to_string()));
    }
    Ok(())
}

/// Reports each row that the service could not show.
fn read<T>(
    connection: &Connection,
    what: &str,
    statement: &str,
    read: fn(&Row<'_>) -> rusqlite::Result<T>,
    found: &mut Checkup,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(statement)?;
    let mut rows = statement.query([])?;
    let mut found = OneKind::of(&mut found.problems);
    while let Some(row) = rows.next()? {
        match read(row) {
            Err(error) if is_damage(&error) => {
                found.add(format!("{what} {} is invalid: {error}", row.get::<_, i64>(0)?));
            }
            other => drop(other?),
        }
    }
    Ok(())
}

/// Compares the tables of the search with the animals, by the sums of the hashes of their rows, so
/// that each table is read once and in its own order.
fn search(connection: &Connection, found: &mut Checkup) -> rusqlite::Result<()> {
    let blocks = blocks(connection)?;
    let (mut expected, mut statement) = ([0; 2], connection.prepare(MERGED)?);
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (id, key, category) = (row.get(0)?, name_key(row.get_ref(1)?.as_str()?), row.get(2)?);
        let list = match row.get::<_, Option<i64>>(5)? {
            Some(list) => list,
            None => list(status(row.get_ref(3)?)?, row.get(4)?),
        };
        let block = blocks[..blocks.partition_point(|&first| first <= id)].last().copied();
        for (sum, category) in expected.iter_mut().zip([None, Some(category)]) {
            add_hash(sum, (block, list, id, &key, category));
        }
    }
    for ((table, entries), expected) in SEARCH.into_iter().zip(expected) {
        let (mut sum, mut statement) = (0, connection.prepare(entries)?);
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let key = row.get_ref(3)?.as_str()?;
            add_hash(&mut sum, (row.get(0)?, row.get(1)?, row.get(2)?, key, row.get(4)?));
        }
        if sum != expected {
            found.problems.push(format!("{table} does not agree with the animals"));
        }
    }
    Ok(())
}

type Entry<'r> = (Option<i64>, i64, i64, &'r str, Option<i64>);

fn add_hash(sum: &mut u64, entry: Entry<'_>) {
    let mut hash = DefaultHasher::new();
    entry.hash(&mut hash);
    *sum = sum.wrapping_add(hash.finish());
}
