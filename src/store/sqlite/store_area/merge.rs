//! Merges animals into the tables of the search, in steps that are jobs of the writer.

use std::cmp::Ordering::Equal;

use rusqlite::{Connection, OptionalExtension, Row, ToSql};

use super::{super::pets::status, search::list};
use crate::domain::store_area::name_key;

/// How many animals a step merges: some milliseconds of work.
const STEP: usize = 2_048;

/// A step ends early after it has read so many bytes of names.
const MOST_BYTES: usize = 1 << 20;

/// How many animals a block has.
const BLOCK: i64 = 16_384;

const PENDING: &str = "SELECT id, list, category_id, name FROM search_pending";
const DONE: &str = "DELETE FROM search_pending WHERE id = ?1";
const BLOCK_OF: &str =
    "SELECT first_id FROM search_blocks WHERE first_id <= ?1 ORDER BY first_id DESC LIMIT 1";
const PRESENT: &str = "SELECT id, name, category_id, status, FALSE FROM pets WHERE id = ?1
    UNION ALL SELECT id, name, category_id, status, TRUE FROM withdrawn_pets WHERE id = ?1";
const NEW: &str = "SELECT id, name, category_id, status, FALSE FROM pets WHERE id > ?1
    UNION ALL SELECT id, name, category_id, status, TRUE FROM withdrawn_pets WHERE id > ?1
    ORDER BY 1";
const LAST_MERGED: &str = "SELECT last_merged_id FROM search_state";
const MERGED: &str = "UPDATE search_state SET last_merged_id = ?1";
const LAST_BLOCK: &str = "SELECT first_id, size FROM search_blocks ORDER BY first_id DESC LIMIT 1";
const PUT_BLOCK: &str = "INSERT INTO search_blocks (first_id, size) VALUES (?1, ?2)
    ON CONFLICT DO UPDATE SET size = excluded.size";
const RESET: &str = "DELETE FROM search_by_name; DELETE FROM search_by_category;
    DELETE FROM search_by_category_and_name; DELETE FROM search_blocks;
    DELETE FROM search_pending; UPDATE search_state SET last_merged_id = 0";

/// For each table, and whether it has the category and the key.
const INSERT: [(&str, bool, bool); 3] = [
    (
        "INSERT INTO search_by_name (block, list, id, key) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO NOTHING",
        false,
        true,
    ),
    (
        "INSERT INTO search_by_category_and_name (block, list, id, category_id, key)
            VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
        true,
        true,
    ),
    (
        "INSERT INTO search_by_category (block, list, id, category_id) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO NOTHING",
        true,
        false,
    ),
];
const DELETE: [(&str, bool, bool); 3] = [
    (
        "DELETE FROM search_by_name WHERE block = ?1 AND list = ?2 AND id = ?3 AND key = ?4",
        false,
        true,
    ),
    (
        "DELETE FROM search_by_category_and_name
            WHERE block = ?1 AND list = ?2 AND id = ?3 AND category_id = ?4 AND key = ?5",
        true,
        true,
    ),
    (
        "DELETE FROM search_by_category
            WHERE block = ?1 AND list = ?2 AND id = ?3 AND category_id = ?4",
        true,
        false,
    ),
];

/// What the tables have about an animal.
struct Entry {
    block: i64,
    list: i64,
    category: i64,
    key: String,
    id: i64,
}

/// Counts what a step reads.
struct Budget {
    animals: usize,
    bytes: usize,
}

impl Budget {
    /// Whether there is room for one more animal.
    fn has_room(&self) -> bool {
        self.animals < STEP && self.bytes < MOST_BYTES
    }

    fn take(&mut self, name: &str) {
        self.animals += 1;
        self.bytes += name.len();
    }
}

/// Merges the next animals: those that changed, then those that are new. Returns whether there may
/// be more.
pub(super) fn step(connection: &Connection) -> rusqlite::Result<bool> {
    let mut budget = Budget { animals: 0, bytes: 0 };
    let (removed, mut added) = read_pending(connection, &mut budget)?;
    read_new(connection, &mut budget, &mut added)?;
    write(connection, &DELETE, removed)?;
    write(connection, &INSERT, added)?;
    Ok(!budget.has_room())
}

/// Empties the tables if an animal was added in the middle, so that all are merged again.
pub(in super::super) fn allow_for(connection: &Connection, added: i64) -> rusqlite::Result<()> {
    let last: i64 = connection.query_row(LAST_MERGED, [], |row| row.get(0))?;
    if added <= last { connection.execute_batch(RESET) } else { Ok(()) }
}

/// The entries of changed animals, as they were and as they are.
fn read_pending(
    connection: &Connection,
    budget: &mut Budget,
) -> rusqlite::Result<(Vec<Entry>, Vec<Entry>)> {
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    let mut pending = connection.prepare_cached(PENDING)?;
    let mut block_of = connection.prepare_cached(BLOCK_OF)?;
    let mut present = connection.prepare_cached(PRESENT)?;
    let mut rows = pending.query([])?;
    while budget.has_room()
        && let Some(row) = rows.next()?
    {
        let (id, name) = (row.get(0)?, row.get_ref(3)?.as_str()?);
        budget.take(name);
        let block = block_of.query_row([id], |row| row.get(0))?;
        let (list, category) = (row.get(1)?, row.get(2)?);
        removed.push(Entry { block, list, category, key: name_key(name), id });
        let mut now = present.query([id])?;
        while let Some(row) = now.next()? {
            added.push(entry(row, block, budget)?);
        }
    }
    let mut done = connection.prepare_cached(DONE)?;
    for entry in &removed {
        done.execute([entry.id])?;
    }
    Ok((removed, added))
}

/// The entries of new animals.
fn read_new(
    connection: &Connection,
    budget: &mut Budget,
    added: &mut Vec<Entry>,
) -> rusqlite::Result<()> {
    let last: i64 = connection.prepare_cached(LAST_MERGED)?.query_row([], |row| row.get(0))?;
    let mut last_block = connection.prepare_cached(LAST_BLOCK)?;
    let (mut block, mut size) = last_block
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?
        .unwrap_or((0, BLOCK));
    let mut put_block = connection.prepare_cached(PUT_BLOCK)?;
    let mut new = connection.prepare_cached(NEW)?;
    let mut rows = new.query([last])?;
    let mut merged = last;
    while budget.has_room()
        && let Some(row) = rows.next()?
    {
        merged = row.get(0)?;
        if size >= BLOCK {
            (block, size) = (merged, 0);
        }
        size += 1;
        added.push(entry(row, block, budget)?);
        if size == BLOCK {
            put_block.execute([block, size])?;
        }
    }
    drop(rows);
    if merged > last {
        put_block.execute([block, size])?;
        connection.prepare_cached(MERGED)?.execute([merged])?;
    }
    Ok(())
}

/// The entry of an animal in a row of [`PRESENT`] or [`NEW`].
fn entry(row: &Row<'_>, block: i64, budget: &mut Budget) -> rusqlite::Result<Entry> {
    let name = row.get_ref(1)?.as_str()?;
    budget.take(name);
    let list = list(status(row.get_ref(3)?)?, row.get(4)?);
    Ok(Entry { block, list, category: row.get(2)?, key: name_key(name), id: row.get(0)? })
}

/// Runs a statement of each table with all entries, in the order of that table, so that neighbours
/// share its pages.
fn write(
    connection: &Connection,
    statements: &[(&str, bool, bool); 3],
    mut entries: Vec<Entry>,
) -> rusqlite::Result<()> {
    for &(statement, has_category, has_key) in statements {
        let order = |one: &Entry, other: &Entry| {
            let category = if has_category { one.category.cmp(&other.category) } else { Equal };
            let key = if has_key { one.key.cmp(&other.key) } else { Equal };
            let block = one.block.cmp(&other.block).then(category);
            block.then(one.list.cmp(&other.list)).then(key).then(one.id.cmp(&other.id))
        };
        entries.sort_unstable_by(order);
        let mut statement = connection.prepare_cached(statement)?;
        for Entry { block, list, category, key, id } in &entries {
            let mut values: Vec<&dyn ToSql> = vec![block, list, id];
            values.extend(has_category.then_some(category as &dyn ToSql));
            values.extend(has_key.then_some(key as &dyn ToSql));
            statement.execute(&*values)?;
        }
    }
    Ok(())
}
