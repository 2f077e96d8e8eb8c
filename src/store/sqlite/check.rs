//! Whether a database is valid: a quick check when it is opened, and a complete one on demand.

use rusqlite::{Connection, ErrorCode, Row, types::Type};

use super::{keys, migrations, pets, store_area};
use crate::{
    domain::{PetId, PetName, PetStatus},
    store::Checkup,
};

/// How many invalid animals are reported one by one.
const MAX_REPORTED: usize = 20;

/// The problem if the WAL lacks transactions that were committed to it.
pub(super) const LOST_TRANSACTIONS: &str = "the write-ahead log was truncated or removed, and transactions \
     that were committed to it are not in the database";

/// Reads a few pages of each table and index. This takes well below a millisecond, whatever the
/// size of the database. Returns the first problem.
pub(super) fn quick_check(connection: &Connection) -> rusqlite::Result<Option<String>> {
    if let Some(problem) = schema(connection)?.into_iter().next() {
        return Ok(Some(problem));
    }
    for edge in [
        "SELECT id, name FROM pets ORDER BY id LIMIT 1",
        "SELECT id, name FROM pets ORDER BY id DESC LIMIT 1",
        "SELECT digest, name FROM api_keys ORDER BY id DESC LIMIT 1",
        "SELECT key, fingerprint FROM idempotency_keys ORDER BY created_at LIMIT 1",
        "SELECT key, body FROM requests ORDER BY id DESC LIMIT 1",
        "SELECT key, body FROM requests ORDER BY mark LIMIT 1",
        "SELECT id, name FROM withdrawn_pets ORDER BY id DESC LIMIT 1",
        "SELECT id, reference FROM orders ORDER BY id DESC LIMIT 1",
        "SELECT id, label FROM categories ORDER BY id DESC LIMIT 1",
        "SELECT key, names FROM search_names ORDER BY block DESC LIMIT 1",
        "SELECT last_merged_id FROM search_state",
    ] {
        connection.prepare(edge)?.query([])?.next()?;
    }
    if let Some(problem) = etag_key(connection)? {
        return Ok(Some(problem));
    }
    for (status, order) in PetStatus::ALL.into_iter().flat_map(|of| [(of, "ASC"), (of, "DESC")]) {
        let pets = pets::of_status(status);
        let edge = format!("SELECT id, name {pets} ORDER BY id {order} LIMIT 1");
        connection.prepare(&edge)?.query([])?.next()?;
    }
    Ok(None)
}

/// One step of a check.
type Step = fn(&Connection, &mut Checkup) -> rusqlite::Result<()>;

/// Reads everything, and returns all problems.
pub(super) fn all(connection: &Connection) -> rusqlite::Result<Checkup> {
    let mut found = Checkup { problems: schema(connection)?, ..Checkup::default() };
    let steps = [integrity, references, animals, sequences, api_keys, store_area::check::check];
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

/// Whether the error is due to the content of the file, rather than to its access.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::Error as E;
    match error {
        E::FromSqlConversionFailure(..)
        | E::IntegralValueOutOfRange(..)
        | E::InvalidColumnType(..)
        | E::Utf8Error(..) => true,
        other => matches!(
            other.sqlite_error_code(),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
        ),
    }
}

/// Compares tables and indexes with those that the migrations create. Ignores additional ones.
fn schema(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let objects = |connection: &Connection| -> rusqlite::Result<Vec<(String, String)>> {
        connection
            .prepare("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
    };
    let fresh = Connection::open_in_memory()?;
    migrations::create(&fresh)?;
    let found = objects(connection)?;
    let problem = |(name, sql): (String, String)| match found.iter().find(|(of, _)| *of == name) {
        None => Some(format!("{name} is missing")),
        Some((_, other)) if *other != sql => Some(format!("{name} is not as petstore made it")),
        Some(_) => None,
    };
    Ok(objects(&fresh)?.into_iter().filter_map(problem).collect())
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

/// Without the key, the service cannot compute an `ETag`.
fn etag_key(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let is_there = connection.prepare("SELECT key FROM etag_key")?.exists([])?;
    Ok((!is_there).then(|| "the row of etag_key is missing".to_owned()))
}

fn api_keys(connection: &Connection, found: &mut Checkup) -> rusqlite::Result<()> {
    found.keys = keys::list(connection)?.len() as u64;
    found.problems.extend(etag_key(connection)?);
    Ok(())
}
