//! Whether a database is valid: the complete check, on demand.

use std::path::Path;

use rusqlite::{Connection, Row, types::Type};

use super::{
    connection,
    errors::is_damage,
    quick_check::{LOST_TRANSACTIONS, etag_key, schema},
    store_area::check::{agreement, impossible_values},
};
use crate::{
    domain::{PetId, PetName, PetStatus},
    store::{Checkup, OpenError, admin::keys},
};

/// How many invalid animals are reported one by one.
const MAX_REPORTED: usize = 20;

/// Checks the whole file at `path`. See [`crate::store::check`].
pub(in super::super) fn check(path: &Path) -> Result<Checkup, OpenError> {
    connection::open_to_check(path, |connection, has_lost_transactions| {
        let mut found = all(connection)?;
        run(&[impossible_values], connection, &mut found)?;
        found.problems.extend(has_lost_transactions.then(|| LOST_TRANSACTIONS.to_owned()));
        Ok(found)
    })
}

/// One step of a check.
type Step = fn(&Connection, &mut Checkup) -> rusqlite::Result<()>;

/// Reads everything, and returns all problems.
pub(super) fn all(connection: &Connection) -> rusqlite::Result<Checkup> {
    let mut found = Checkup { problems: schema(connection)?, ..Checkup::default() };
    let steps = [integrity, references, animals, sequences, api_keys, agreement];
    run(&steps, connection, &mut found)?;
    Ok(found)
}

/// Reads everything that is the same in a database of an older version. Does not count keys.
pub(super) fn of_any_version(connection: &Connection) -> rusqlite::Result<Checkup> {
    let mut found = Checkup::default();
    run(&[integrity, references, animals, sequences], connection, &mut found)?;
    Ok(found)
}

fn run(steps: &[Step], connection: &Connection, found: &mut Checkup) -> rusqlite::Result<()> {
    for step in steps {
        match step(connection, found) {
            Ok(()) => {}
            // At damage, SQLite's error is all that is known.
            Err(error) if is_damage(&error) => found.problems.push(error.to_string()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// SQLite's own check of every page, index, constraint and type.
fn integrity(connection: &Connection, found: &mut Checkup) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let verdict: String = row.get(0)?;
        if verdict != "ok" {
            // SQLite reports several pages in one text, below a heading.
            let lines = verdict.lines().filter(|line| !line.starts_with("*** in database "));
            found.problems.extend(lines.map(str::to_owned));
        }
    }
    Ok(())
}

fn references(connection: &Connection, found: &mut Checkup) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (table, id, other): (String, Option<i64>, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        let id = id.map_or_else(String::new, |id| format!(" {id}"));
        found
            .problems
            .push(format!("row{id} of {table} refers to a row of {other} that is not there"));
    }
    Ok(())
}

fn animals(connection: &Connection, found: &mut Checkup) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare("SELECT id, name, category_id, status FROM pets ORDER BY id")?;
    let mut rows = statement.query([])?;
    let mut invalid = 0;
    while let Some(row) = rows.next()? {
        found.animals += 1;
        if let Some(problem) = problem_of(row)? {
            invalid += 1;
            if invalid <= MAX_REPORTED {
                found.problems.push(problem);
            }
        }
    }
    if invalid > MAX_REPORTED {
        found.problems.push(format!("more invalid animals: {}", invalid - MAX_REPORTED));
    }
    Ok(())
}

/// Why the service could not show an animal, or would reject it.
fn problem_of(row: &Row<'_>) -> rusqlite::Result<Option<String>> {
    let id: i64 = row.get(0)?;
    let name = row.get_ref(1)?.as_str().ok();
    let category_id = row.get_ref(2)?.data_type();
    let status = row.get_ref(3)?.as_str().ok();
    let problem = if PetId::new(id).is_none() {
        "has an invalid id"
    } else if name.is_none() {
        "has a name that is not Unicode text"
    } else if name.is_some_and(|name| name.len() > PetName::MAX_LENGTH) {
        "has a name of more than 64 KiB"
    } else if name.is_some_and(|name| PetName::new(name.to_owned()).is_none()) {
        "has a name with U+0000"
    } else if category_id != Type::Integer {
        "has a category that is not an integer"
    } else if status.is_none_or(|status| status.parse::<PetStatus>().is_err()) {
        "has an invalid status"
    } else {
        return Ok(None);
    };
    Ok(Some(format!("animal {id} {problem}")))
}

/// An id below the highest one would be given twice.
fn sequences(connection: &Connection, found: &mut Checkup) -> rusqlite::Result<()> {
    for (table, highest) in
        [("pets", "SELECT max(id) FROM pets"), ("api_keys", "SELECT max(id) FROM api_keys")]
    {
        let highest: Option<i64> = connection.query_row(highest, [], |row| row.get(0))?;
        let last: Option<i64> = connection.query_row(
            "SELECT max(seq) FROM sqlite_sequence WHERE name = ?1",
            [table],
            |row| row.get(0),
        )?;
        if last < highest {
            found.problems.push(format!("sqlite_sequence does not contain the last id of {table}"));
        }
    }
    Ok(())
}

fn api_keys(connection: &Connection, found: &mut Checkup) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(keys::LIST)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        found.keys += 1;
        match keys::key_of(row) {
            Err(error) if is_damage(&error) => {
                found
                    .problems
                    .push(format!("API key {} is invalid: {error}", row.get::<_, i64>(0)?));
            }
            other => drop(other?),
        }
    }
    found.problems.extend(etag_key(connection)?);
    Ok(())
}
