//! Merges animals into the tables of the search, in steps that are jobs of the writer.

use rusqlite::{Connection, OptionalExtension, Row};

use super::{super::pets::status, search::list};
use crate::domain::store_area::name_key;

/// How many changed animals a step merges: some milliseconds of work.
const STEP: i64 = 2_048;

/// How many animals a block has. A step can make a whole one in about twenty milliseconds, because it
/// writes each page only once.
const BLOCK: i64 = 8_192;

/// A step ends early after it has read so many bytes of names.
const MOST_BYTES: usize = 1 << 20;

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
const RESET: &str = "DELETE FROM search_by_name; DELETE FROM search_by_category_and_name;
    DELETE FROM search_blocks; DELETE FROM search_pending; UPDATE search_state SET last_merged_id = 0";

/// For each table.
const INSERT: [&str; 2] = [
    "INSERT INTO search_by_name (block, list, key, id) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT DO NOTHING",
    "INSERT INTO search_by_category_and_name (block, list, key, id, category_id)
        VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
];
const DELETE: [&str; 2] = [
    "DELETE FROM search_by_name WHERE block = ?1 AND list = ?2 AND key = ?3 AND id = ?4",
    "DELETE FROM search_by_category_and_name
        WHERE block = ?1 AND list = ?2 AND key = ?3 AND id = ?4 AND category_id = ?5",
];

/// What the tables have about an animal.
struct Entry {
    block: i64,
    list: i64,
    category: i64,
    key: String,
    id: i64,
}

/// What a step may still read.
struct Budget {
    animals: i64,
    bytes: usize,
}

impl Budget {
    fn of(animals: i64) -> Self {
        Self { animals, bytes: MOST_BYTES }
    }

    fn is_spent(&self) -> bool {
        self.animals == 0 || self.bytes == 0
    }

    fn take(&mut self, name: &str) {
        self.animals -= 1;
        self.bytes = self.bytes.saturating_sub(name.len());
    }
}

/// Merges the next animals: those that changed, or if there are none, those that are new. Returns
/// whether there may be more.
pub(super) fn step(connection: &Connection) -> rusqlite::Result<bool> {
    let (removed, added) = read_pending(connection)?;
    if removed.is_empty() {
        let (added, has_more) = read_new(connection)?;
        write(connection, INSERT, added)?;
        return Ok(has_more);
    }
    write(connection, DELETE, removed)?;
    write(connection, INSERT, added)?;
    Ok(true)
}

/// Empties the tables if an animal was added in the middle, so that all are merged again.
pub(in super::super) fn allow_for(connection: &Connection, added: i64) -> rusqlite::Result<()> {
    let last: i64 = connection.query_row(LAST_MERGED, [], |row| row.get(0))?;
    if added <= last { connection.execute_batch(RESET) } else { Ok(()) }
}

/// The entries of changed animals, as they were and as they are.
fn read_pending(connection: &Connection) -> rusqlite::Result<(Vec<Entry>, Vec<Entry>)> {
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    let mut budget = Budget::of(STEP);
    let mut pending = connection.prepare_cached(PENDING)?;
    let mut block_of = connection.prepare_cached(BLOCK_OF)?;
    let mut present = connection.prepare_cached(PRESENT)?;
    let mut rows = pending.query([])?;
    while !budget.is_spent()
        && let Some(row) = rows.next()?
    {
        let (id, name) = (row.get(0)?, row.get_ref(3)?.as_str()?);
        budget.take(name);
        let block = block_of.query_row([id], |row| row.get(0))?;
        let (list, category) = (row.get(1)?, row.get(2)?);
        removed.push(Entry { block, list, category, key: name_key(name), id });
        let mut now = present.query([id])?;
        while let Some(row) = now.next()? {
            added.push(entry(row, block)?);
        }
    }
    let mut done = connection.prepare_cached(DONE)?;
    for entry in &removed {
        done.execute([entry.id])?;
    }
    Ok((removed, added))
}

/// The entries of new animals, and whether there may be more. As many as a block has become one;
/// fewer join the last block if it has room.
fn read_new(connection: &Connection) -> rusqlite::Result<(Vec<Entry>, bool)> {
    let last: i64 = connection.prepare_cached(LAST_MERGED)?.query_row([], |row| row.get(0))?;
    let mut budget = Budget::of(BLOCK);
    let mut added: Vec<Entry> = Vec::new();
    let mut new = connection.prepare_cached(NEW)?;
    let mut rows = new.query([last])?;
    while !budget.is_spent()
        && let Some(row) = rows.next()?
    {
        budget.take(row.get_ref(1)?.as_str()?);
        added.push(entry(row, row.get(0)?)?);
    }
    drop(rows);
    if let (Some(first), Some(newest)) = (added.first(), added.last()) {
        let (mut block, mut size, merged) = (first.id, BLOCK - budget.animals, newest.id);
        let mut last_block = connection.prepare_cached(LAST_BLOCK)?;
        let of_last = last_block.query_row([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?)));
        if let Some((of_last, has)) = of_last.optional()?
            && size + has <= BLOCK
        {
            (block, size) = (of_last, size + has);
        }
        for entry in &mut added {
            entry.block = block;
        }
        connection.prepare_cached(PUT_BLOCK)?.execute([block, size])?;
        connection.prepare_cached(MERGED)?.execute([merged])?;
    }
    Ok((added, budget.is_spent()))
}

/// The entry of an animal in a row of [`PRESENT`] or [`NEW`].
fn entry(row: &Row<'_>, block: i64) -> rusqlite::Result<Entry> {
    let list = list(status(row.get_ref(3)?)?, row.get(4)?);
    let key = name_key(row.get_ref(1)?.as_str()?);
    Ok(Entry { block, list, category: row.get(2)?, key, id: row.get(0)? })
}

/// Runs a statement of each table with all entries, in the order of that table, so that neighbours
/// share its pages.
fn write(
    connection: &Connection,
    [by_name, by_category_and_name]: [&str; 2],
    mut entries: Vec<Entry>,
) -> rusqlite::Result<()> {
    entries.sort_by(|one, other| {
        let place = |entry: &Entry| (entry.block, entry.list);
        place(one).cmp(&place(other)).then_with(|| one.key.cmp(&other.key))
    });
    let mut statement = connection.prepare_cached(by_name)?;
    for Entry { block, list, key, id, .. } in &entries {
        statement.execute((block, list, key, id))?;
    }
    // The order in a category stays.
    entries.sort_by_key(|entry| (entry.block, entry.category));
    let mut statement = connection.prepare_cached(by_category_and_name)?;
    for Entry { block, list, category, key, id } in &entries {
        statement.execute((block, list, key, id, category))?;
    }
    Ok(())
}
