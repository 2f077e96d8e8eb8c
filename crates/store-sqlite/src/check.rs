//! Whether a database is valid: the complete check, on demand.

use std::path::Path;

use jiff::Timestamp;
use petstore_domain::{PetId, PetName, PetStatus, pet::HIGHEST_EXPECTED};
use petstore_store::{
    OpenError,
    check::{self, Checkup, DISAGREEMENTS},
    check_rows::{check_api_keys, check_values, report_rows},
};
use rusqlite::{Row, types::Type};

use super::{
    connection::Connection,
    errors::is_damage,
    opening,
    quick_check::{LOST_TRANSACTIONS, etag_key, schema},
    transaction::Transaction,
};

/// How many invalid animals are reported one by one.
const MAX_REPORTED: usize = 20;

const INVALID_TIMES: &str = "SELECT id FROM pets
    WHERE created_at NOT BETWEEN $1 AND $2 OR updated_at NOT BETWEEN $1 AND $2";
const BEHIND: &str = "sqlite_sequence does not contain the last id of {}";
const EXHAUSTED: &str = "SELECT name FROM sqlite_sequence WHERE seq > $1";

/// Checks the whole file at `path`. See [`petstore_store::check`].
pub fn check(path: &Path) -> Result<Checkup, OpenError> {
    opening::open_to_check(path, |connection, has_lost_transactions| {
        let mut found = all(connection)?;
        run(&[impossible_values], connection, &mut found)?;
        found
            .problems
            .extend(has_lost_transactions.then(|| LOST_TRANSACTIONS.to_owned()));
        Ok(found)
    })
}

type Step = fn(&mut Connection, &mut Checkup) -> rusqlite::Result<()>;

/// Reads everything, and returns all problems.
pub(super) fn all(connection: &mut Connection) -> rusqlite::Result<Checkup> {
    let mut found = Checkup {
        problems: schema(connection)?,
        ..Checkup::default()
    };
    let steps = [integrity, references, animals, sequences, keys, agreement];
    run(&steps, connection, &mut found)?;
    Ok(found)
}

/// Reads everything that is the same in a database of an older version. Does not count keys.
pub(super) fn of_any_version(connection: &mut Connection) -> rusqlite::Result<Checkup> {
    let mut found = Checkup::default();
    run(
        &[integrity, references, animals, sequences],
        connection,
        &mut found,
    )?;
    Ok(found)
}

fn run(steps: &[Step], connection: &mut Connection, found: &mut Checkup) -> rusqlite::Result<()> {
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
fn integrity(connection: &mut Connection, found: &mut Checkup) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let verdict: String = row.get(0)?;
        if verdict != "ok" {
            // SQLite reports several pages in one text, below a heading.
            let lines = verdict
                .lines()
                .filter(|line| !line.starts_with("*** in database "));
            found.problems.extend(lines.map(str::to_owned));
        }
    }
    Ok(())
}

fn references(connection: &mut Connection, found: &mut Checkup) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (table, id, other): (String, Option<i64>, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        let id = id.map_or_else(String::new, |id| format!(" {id}"));
        found.problems.push(format!(
            "row{id} of {table} refers to a row of {other} that is not there"
        ));
    }
    Ok(())
}

fn animals(connection: &mut Connection, found: &mut Checkup) -> rusqlite::Result<()> {
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
        found
            .problems
            .push(format!("more invalid animals: {}", invalid - MAX_REPORTED));
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

/// Returns the tables of $1 whose last identifier is above that of the sequence, and would be given
/// twice.
fn behind(highest: &[(&str, &str)]) -> String {
    let of = |(name, table): &(&str, &str)| format!("SELECT '{name}', max(id) FROM {table}");
    let highest: Vec<_> = highest.iter().map(of).collect();
    format!(
        "WITH highest (name, id) AS ({})
        SELECT name FROM highest LEFT JOIN sqlite_sequence USING (name)
        WHERE id IS NOT NULL GROUP BY name HAVING coalesce(max(seq) < id, TRUE)",
        highest.join(" UNION ALL ")
    )
}

fn sequences(connection: &mut Connection, found: &mut Checkup) -> rusqlite::Result<()> {
    let find = behind(&[("pets", "pets"), ("api_keys", "api_keys")]);
    report_rows::<_, String>(connection, BEHIND, &find, &[], found)
}

fn keys(connection: &mut Connection, found: &mut Checkup) -> rusqlite::Result<()> {
    check_api_keys(connection, found)?;
    found.problems.extend(etag_key(connection)?);
    Ok(())
}

/// Compares all rows of one state of the database.
fn agreement(connection: &mut Connection, found: &mut Checkup) -> rusqlite::Result<()> {
    let moment = &mut *Transaction::begin(connection, "BEGIN")?;
    for (problem, find) in DISAGREEMENTS {
        report_rows::<_, i64>(moment, problem, find, &[], found)?;
    }
    let [first, last] = [Timestamp::MIN, Timestamp::MAX].map(Timestamp::as_millisecond);
    let problem = "animal {} has an invalid time";
    report_rows::<_, i64>(moment, problem, INVALID_TIMES, &[&first, &last], found)?;
    let find = behind(&[("pets", "withdrawn_pets"), ("orders", "orders")]);
    report_rows::<_, String>(moment, BEHIND, &find, &[], found)?;
    // Those in the catalogue were counted before.
    check_values(moment, found).map(drop)
}

/// Finds the rows with values that no release writes.
fn impossible_values(connection: &mut Connection, found: &mut Checkup) -> rusqlite::Result<()> {
    let moment = &*Transaction::begin(connection, "BEGIN")?;
    for (problem, find) in check::impossible_values("seq") {
        report_rows::<_, i64>(moment, &problem, &find, &[], found)?;
    }
    report_rows::<_, String>(
        moment,
        &check::exhausted_ids_problem(),
        EXHAUSTED,
        &[&HIGHEST_EXPECTED],
        found,
    )
}
