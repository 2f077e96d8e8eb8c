//! Merges animals into the blocks of the search, in steps that are jobs of the writer.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row};

use super::search_block::{self, BLOCK, Entry, MOST_KEYS};

/// In so many blocks a step merges changed animals: at most some ten milliseconds of work.
const BLOCKS: usize = 16;

/// A step ends early after it has read so many bytes of names, in some milliseconds.
const MOST_BYTES: usize = 8 << 20;

/// It also ends early after it has written blocks with so many bytes of keys, so that one with many
/// long keys does not make other writes wait.
const MOST_KEY_BYTES: usize = 4 << 20;

/// An animal that was added by hand below the first block belongs to this block.
const PENDING: &str = "SELECT id, coalesce(
        (SELECT max(first_id) FROM search_blocks WHERE first_id <= id),
        (SELECT min(first_id) FROM search_blocks))
    FROM search_pending ORDER BY id";
const DONE: &str = "DELETE FROM search_pending WHERE id <= ?1";
const PRESENT: &str = "SELECT id, name, category_id, status, FALSE FROM pets WHERE id = ?1
    UNION ALL SELECT id, name, category_id, status, TRUE FROM withdrawn_pets WHERE id = ?1";
const NEW: &str = "SELECT id, name, category_id, status, FALSE FROM pets WHERE id > ?1
    UNION ALL SELECT id, name, category_id, status, TRUE FROM withdrawn_pets WHERE id > ?1
    ORDER BY 1";
const LAST_MERGED: &str = "SELECT last_merged_id FROM search_state";
const MERGED: &str = "UPDATE search_state SET last_merged_id = ?1";
const LAST_BLOCK: &str = "SELECT first_id, size FROM search_blocks ORDER BY first_id DESC LIMIT 1";
const RESET: &str = "DELETE FROM search_blocks; DELETE FROM search_names;
    DELETE FROM search_pending; UPDATE search_state SET last_merged_id = 0";

/// What a step may still read.
struct Budget {
    animals: usize,
    bytes: usize,
}

impl Budget {
    const WHOLE: Self = Self { animals: BLOCK, bytes: MOST_BYTES };

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
    Ok(merge_changed(connection)? || merge_new(connection)?)
}

/// Empties the tables if an animal was added in the middle, so that all are merged again.
pub(in super::super) fn allow_for(connection: &Connection, added: i64) -> rusqlite::Result<()> {
    let last: i64 = connection.query_row(LAST_MERGED, [], |row| row.get(0))?;
    if added <= last { connection.execute_batch(RESET) } else { Ok(()) }
}

/// Merges changed animals, in ascending order. Returns whether there were any.
fn merge_changed(connection: &Connection) -> rusqlite::Result<bool> {
    // By block, the identifiers of the animals and their keys: none, if one is gone.
    let mut changed: BTreeMap<i64, BTreeMap<i64, Vec<Entry>>> = BTreeMap::new();
    let mut budget = Budget::WHOLE;
    let mut pending = connection.prepare_cached(PENDING)?;
    let mut present = connection.prepare_cached(PRESENT)?;
    let mut rows = pending.query([])?;
    while !budget.is_spent()
        && let Some(row) = rows.next()?
    {
        let (id, block) = (row.get(0)?, row.get(1)?);
        if changed.len() == BLOCKS && !changed.contains_key(&block) {
            break;
        }
        let mut entries = Vec::new();
        let read = present.query_row([id], |row| read(row, &mut budget, &mut entries));
        read.optional()?;
        changed.entry(block).or_default().insert(id, entries);
    }
    drop(rows);
    let (mut last, mut bytes) = (None, 0);
    for (block, changed) in changed {
        if bytes >= MOST_KEY_BYTES {
            break;
        }
        last = changed.keys().last().copied();
        let mut entries = search_block::load(connection, block)?;
        entries.retain(|entry| !changed.contains_key(&entry.id));
        entries.extend(changed.into_values().flatten());
        if entries.len() > MOST_KEYS {
            // An operator added many animals between those of the block.
            connection.execute_batch(RESET)?;
            return Ok(true);
        }
        bytes += entries.iter().map(|entry| entry.key.len()).sum::<usize>();
        search_block::store(connection, block, entries)?;
    }
    connection.prepare_cached(DONE)?.execute([last])?;
    Ok(last.is_some())
}

/// Merges new animals. They join the last block if it has room, and become a block otherwise.
/// Returns whether there may be more.
fn merge_new(connection: &Connection) -> rusqlite::Result<bool> {
    let last: i64 = connection.prepare_cached(LAST_MERGED)?.query_row([], |row| row.get(0))?;
    let (mut budget, mut entries) = (Budget::WHOLE, Vec::new());
    let mut new = connection.prepare_cached(NEW)?;
    let mut rows = new.query([last])?;
    while !budget.is_spent()
        && let Some(row) = rows.next()?
    {
        read(row, &mut budget, &mut entries)?;
    }
    drop(rows);
    if let (Some(first), Some(newest)) = (entries.first(), entries.last()) {
        let (mut block, newest) = (first.id, newest.id);
        let mut last_block = connection.prepare_cached(LAST_BLOCK)?;
        let of_last = last_block.query_row([], |row| Ok((row.get(0)?, row.get::<_, u16>(1)?)));
        if let Some((of_last, size)) = of_last.optional()?
            && usize::from(size) + entries.len() <= BLOCK
        {
            block = of_last;
            entries.append(&mut search_block::load(connection, block)?);
        }
        search_block::store(connection, block, entries)?;
        connection.prepare_cached(MERGED)?.execute([newest])?;
    }
    Ok(budget.is_spent())
}

/// Reads the keys of an animal in a row of [`PRESENT`] or [`NEW`].
fn read(row: &Row<'_>, budget: &mut Budget, entries: &mut Vec<Entry>) -> rusqlite::Result<()> {
    budget.take(row.get_ref(1)?.as_str()?);
    entries.extend(Entry::all_of(row)?);
    Ok(())
}
