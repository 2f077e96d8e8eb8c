//! Whether the rows of the store area agree with each other.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
};

use jiff::Timestamp;
use rusqlite::Connection;

use super::{
    super::{errors::is_damage, sql},
    fields, lists,
    rows::SELECT,
    search_block::{self, Entry},
};
use crate::{
    domain::pet::HIGHEST_EXPECTED,
    store::{
        admin,
        check::{self, Checkup, DISAGREEMENTS, OneKind, PHOTOS, UNIQUE_VALUES, ValueCheck},
        tables::{Table, pet_with_order},
    },
};

const INVALID_TIMES: &str = "SELECT id FROM pets
    WHERE created_at NOT BETWEEN ?1 AND ?2 OR updated_at NOT BETWEEN ?1 AND ?2";
/// An identifier below the highest one would be given twice.
const SEQUENCES: &str = "WITH highest (name, id) AS (
        SELECT 'pets', max(id) FROM withdrawn_pets UNION ALL SELECT 'orders', max(id) FROM orders)
    SELECT name FROM highest
    WHERE id > coalesce((SELECT seq FROM sqlite_sequence WHERE name = highest.name), 0)";
const EXHAUSTED: &str = "SELECT name FROM sqlite_sequence WHERE seq > ?1";
/// The animals that the blocks of the search have as they are.
const MERGED: &str = "
    SELECT id, name, category_id, status, FALSE FROM pets
    WHERE id <= (SELECT last_merged_id FROM search_state)
        AND id NOT IN (SELECT id FROM search_pending)
    UNION ALL
    SELECT id, name, category_id, status, TRUE FROM withdrawn_pets
    WHERE id <= (SELECT last_merged_id FROM search_state)
        AND id NOT IN (SELECT id FROM search_pending)";
const PENDING: &str = "SELECT id FROM search_pending";
const BLOCKS: &str = "SELECT first_id FROM search_blocks ORDER BY first_id";

/// Compares all rows of one state of the database.
pub(in super::super) fn agreement(
    connection: &Connection,
    found: &mut Checkup,
) -> rusqlite::Result<()> {
    let moment = connection.unchecked_transaction()?;
    for (problem, statement) in DISAGREEMENTS {
        report(&moment, problem, statement, [], found)?;
    }
    let times = [Timestamp::MIN, Timestamp::MAX].map(Timestamp::as_millisecond);
    report(&moment, "animal {} has an invalid time", INVALID_TIMES, times, found)?;
    // Those in the catalogue were checked before.
    for table in Table::ALL.into_iter().filter(|&table| table != Table::Pets) {
        report_unreadable(&moment, table, found)?;
    }
    for table in moment.prepare(SEQUENCES)?.query_map([], |row| row.get::<_, String>(0))? {
        let table = table?;
        found.problems.push(format!("sqlite_sequence does not contain the last id of {table}"));
    }
    values(&moment, found)?;
    search(&moment, found)
}

/// Compares the values of animals with the fields.
fn values(connection: &Connection, found: &mut Checkup) -> rusqlite::Result<()> {
    let mut values = ValueCheck::with(fields::read(connection)?);
    for table in [Table::Pets, Table::WithdrawnPets] {
        let with_values =
            format!("{} WHERE fields IS NOT NULL OR photos IS NOT NULL", SELECT[table as usize]);
        let mut statement = connection.prepare(&with_values)?;
        let mut rows = statement.query([])?;
        let mut found = OneKind::of(&mut found.problems);
        while let Some(row) = rows.next()? {
            match pet_with_order(row) {
                Ok(pet) => values.add_pet(&pet).into_iter().for_each(|problem| found.add(problem)),
                // Of a withdrawn animal, that was reported before.
                Err(error) if is_damage(&error) && table == Table::Pets => {
                    found.add(format!("animal {} is invalid: {error}", row.get::<_, i64>(0)?));
                }
                Err(error) if is_damage(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }
    let mut statement = connection.prepare(UNIQUE_VALUES)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        values.add_owner(&(row.get(0)?, row.get(1)?), row.get(2)?);
    }
    let shared = sql::rows(connection, admin::fields::SHARED, &[&i64::MAX])?;
    let owners: Vec<_> = shared.iter().map(admin::fields::owner).collect::<Result<_, _>>()?;
    found.notes.extend(check::notes_of(&owners));
    let mut statement = connection.prepare(PHOTOS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        values.add_photo(row.get(0)?, row.get(1)?);
    }
    found.problems.extend(values.disagreements());
    Ok(())
}

/// Finds the rows with values that no release writes.
pub(in super::super) fn impossible_values(
    connection: &Connection,
    found: &mut Checkup,
) -> rusqlite::Result<()> {
    let moment = connection.unchecked_transaction()?;
    for (problem, statement) in check::impossible_values("seq") {
        report(&moment, &problem, &statement, [], found)?;
    }
    for table in moment.prepare(EXHAUSTED)?.query_map([HIGHEST_EXPECTED], |row| row.get(0))? {
        let table: String = table?;
        found.problems.push(check::exhausted(&table));
    }
    Ok(())
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
fn report_unreadable(
    connection: &Connection,
    table: Table,
    found: &mut Checkup,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&lists::everything(table))?;
    let mut rows = statement.query([])?;
    let mut found = OneKind::of(&mut found.problems);
    while let Some(row) = rows.next()? {
        match table.read(row) {
            Err(error) if is_damage(&error) => {
                let what = table.row();
                found.add(format!("{what} {} is invalid: {error}", row.get::<_, i64>(0)?));
            }
            other => drop(other?),
        }
    }
    Ok(())
}

/// Compares the blocks of the search with the animals, by the sums of the hashes of their entries,
/// so that each table is read once and in its own order.
fn search(connection: &Connection, found: &mut Checkup) -> rusqlite::Result<()> {
    let blocks: Vec<i64> = all(connection, BLOCKS)?;
    let (mut expected, mut statement) = (0, connection.prepare(MERGED)?);
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        let before = &blocks[..blocks.partition_point(|&first| first <= id)];
        let block = before.last().or(blocks.first()).copied();
        for entry in Entry::all_of(row)? {
            add_hash(&mut expected, block, &entry);
        }
    }
    let (mut present, pending) = (0, all::<HashSet<i64>>(connection, PENDING)?);
    for block in blocks {
        match search_block::load(connection, block) {
            Ok(entries) => {
                for entry in entries.iter().filter(|entry| !pending.contains(&entry.id)) {
                    add_hash(&mut present, Some(block), entry);
                }
            }
            Err(error) if is_damage(&error) => {
                found.problems.push(format!("block {block} of the search is invalid: {error}"));
            }
            Err(error) => return Err(error),
        }
    }
    if present != expected {
        found.problems.push("search_names does not agree with the animals".to_owned());
    }
    Ok(())
}

fn all<C: FromIterator<i64>>(connection: &Connection, ids: &str) -> rusqlite::Result<C> {
    connection.prepare(ids)?.query_map([], |row| row.get(0))?.collect()
}

fn add_hash(sum: &mut u64, block: Option<i64>, Entry { key, id, kind }: &Entry) {
    let mut hash = DefaultHasher::new();
    (block, key, id, kind).hash(&mut hash);
    *sum = sum.wrapping_add(hash.finish());
}
