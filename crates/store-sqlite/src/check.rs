//! Checks a whole database on demand.

use std::path::Path;

use jiff::Timestamp;
use petstore_domain::{PetId, PetName, PetStatus, pet::HIGHEST_EXPECTED};
use petstore_store::{
    OpenError,
    admin::Parameters,
    check::{self, Checkup, DISAGREEMENTS},
    check_rows::{check_api_keys, check_values, report_rows},
};
use rusqlite::{Row, types::Type};

use super::{
    connection::Connection,
    errors::is_damage,
    opening,
    quick_check::{LOST_TRANSACTIONS, check_etag_key, check_schema},
    transaction::Transaction,
};

/// The number of invalid animals that are reported one by one.
const MAX_REPORTED_ANIMALS: usize = 20;

const INVALID_TIMES: &str = "SELECT id FROM pets
    WHERE created_at NOT BETWEEN $1 AND $2 OR updated_at NOT BETWEEN $1 AND $2";
const EXHAUSTED_SEQUENCES: &str = "SELECT name FROM sqlite_sequence WHERE seq > $1";

/// The problem of a sequence that would give an identifier twice.
const SEQUENCE_PROBLEM: &str = "sqlite_sequence does not contain the last id of {}";

/// Checks the whole file at `path`, like [`petstore_store::check`].
pub fn check(path: &Path) -> Result<Checkup, OpenError> {
    opening::check_untouched(path, |connection, has_lost_transactions| {
        let mut checkup = check_all(connection)?;
        run_steps(&[check_impossible_values], connection, &mut checkup)?;
        if has_lost_transactions {
            checkup.problems.push(LOST_TRANSACTIONS.to_owned());
        }
        Ok(checkup)
    })
}

/// A step of the check, which adds the problems that it finds.
type Step = fn(&mut Connection, &mut Checkup) -> rusqlite::Result<()>;

/// Reads everything, and returns all problems.
pub(super) fn check_all(connection: &mut Connection) -> rusqlite::Result<Checkup> {
    let mut checkup = Checkup {
        problems: check_schema(connection)?,
        ..Checkup::default()
    };
    let steps = [
        check_integrity,
        check_references,
        check_animals,
        check_sequences,
        check_keys,
        check_agreement,
    ];
    run_steps(&steps, connection, &mut checkup)?;
    Ok(checkup)
}

/// Reads everything that databases of older versions also have, and returns the problems. Does not count
/// keys.
pub(super) fn check_any_version(connection: &mut Connection) -> rusqlite::Result<Checkup> {
    let mut checkup = Checkup::default();
    let steps = [
        check_integrity,
        check_references,
        check_animals,
        check_sequences,
    ];
    run_steps(&steps, connection, &mut checkup)?;
    Ok(checkup)
}

/// Runs the steps. Damage that makes a step fail is one more problem.
fn run_steps(
    steps: &[Step],
    connection: &mut Connection,
    checkup: &mut Checkup,
) -> rusqlite::Result<()> {
    for step in steps {
        match step(connection, checkup) {
            Ok(()) => {}
            // At damage, SQLite's error says everything that can be said.
            Err(error) if is_damage(&error) => checkup.problems.push(error.to_string()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Runs SQLite's own check of every page, index, constraint and type.
fn check_integrity(connection: &mut Connection, checkup: &mut Checkup) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let verdict: String = row.get(0)?;
        if verdict == "ok" {
            continue;
        }
        // SQLite reports several pages in one text, below a heading.
        for line in verdict.lines() {
            if !line.starts_with("*** in database ") {
                checkup.problems.push(line.to_owned());
            }
        }
    }
    Ok(())
}

/// Finds rows that refer to rows which are not there.
fn check_references(connection: &mut Connection, checkup: &mut Checkup) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let table: String = row.get(0)?;
        let id: Option<i64> = row.get(1)?;
        let referenced_table: String = row.get(2)?;
        let id = id.map_or_else(String::new, |id| format!(" {id}"));
        checkup.problems.push(format!(
            "row{id} of {table} refers to a row of {referenced_table} that is not there"
        ));
    }
    Ok(())
}

/// Counts the animals in the catalogue, and finds the invalid ones.
fn check_animals(connection: &mut Connection, checkup: &mut Checkup) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare("SELECT id, name, category_id, status FROM pets ORDER BY id")?;
    let mut rows = statement.query([])?;
    let mut invalid_animals = 0;
    while let Some(row) = rows.next()? {
        checkup.animals += 1;
        if let Some(problem) = find_problem(row)? {
            invalid_animals += 1;
            if invalid_animals <= MAX_REPORTED_ANIMALS {
                checkup.problems.push(problem);
            }
        }
    }
    if invalid_animals > MAX_REPORTED_ANIMALS {
        let unreported_animals = invalid_animals - MAX_REPORTED_ANIMALS;
        checkup
            .problems
            .push(format!("more invalid animals: {unreported_animals}"));
    }
    Ok(())
}

/// Returns why the service could not show an animal, or would reject it; `None` for a valid animal.
fn find_problem(row: &Row<'_>) -> rusqlite::Result<Option<String>> {
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

/// A sequence, and a table with identifiers that it gave.
struct Sequence {
    name: &'static str,
    table: &'static str,
}

/// Finds the sequences that would give an identifier of their tables twice.
fn report_low_sequences(
    connection: &Connection,
    sequences: &[Sequence],
    checkup: &mut Checkup,
) -> rusqlite::Result<()> {
    let mut last_ids = Vec::with_capacity(sequences.len());
    for Sequence { name, table } in sequences {
        last_ids.push(format!("SELECT '{name}', max(id) FROM {table}"));
    }
    let statement = format!(
        "WITH highest (name, id) AS ({})
        SELECT name FROM highest LEFT JOIN sqlite_sequence USING (name)
        WHERE id IS NOT NULL GROUP BY name HAVING coalesce(max(seq) < id, TRUE)",
        last_ids.join(" UNION ALL ")
    );
    report_rows::<_, String>(connection, SEQUENCE_PROBLEM, &statement, &[], checkup)
}

fn check_sequences(connection: &mut Connection, checkup: &mut Checkup) -> rusqlite::Result<()> {
    let sequences = [
        Sequence {
            name: "pets",
            table: "pets",
        },
        Sequence {
            name: "api_keys",
            table: "api_keys",
        },
    ];
    report_low_sequences(connection, &sequences, checkup)
}

fn check_keys(connection: &mut Connection, checkup: &mut Checkup) -> rusqlite::Result<()> {
    check_api_keys(connection, checkup)?;
    checkup.problems.extend(check_etag_key(connection)?);
    Ok(())
}

/// Compares all rows of one state of the database.
fn check_agreement(connection: &mut Connection, checkup: &mut Checkup) -> rusqlite::Result<()> {
    let snapshot = &mut *Transaction::begin(connection, "BEGIN")?;
    for (problem, statement) in DISAGREEMENTS {
        report_rows::<_, i64>(snapshot, problem, statement, &[], checkup)?;
    }
    let first_time = Timestamp::MIN.as_millisecond();
    let last_time = Timestamp::MAX.as_millisecond();
    let problem = "animal {} has an invalid time";
    let times: Parameters<'_> = &[&first_time, &last_time];
    report_rows::<_, i64>(snapshot, problem, INVALID_TIMES, times, checkup)?;
    let sequences = [
        Sequence {
            name: "pets",
            table: "withdrawn_pets",
        },
        Sequence {
            name: "orders",
            table: "orders",
        },
    ];
    report_low_sequences(snapshot, &sequences, checkup)?;
    // `check_animals` has counted the animals in the catalogue.
    let _animals = check_values(snapshot, checkup)?;
    Ok(())
}

/// Finds the rows with values that no release writes.
fn check_impossible_values(
    connection: &mut Connection,
    checkup: &mut Checkup,
) -> rusqlite::Result<()> {
    let snapshot = &*Transaction::begin(connection, "BEGIN")?;
    for (problem, statement) in check::impossible_values("seq") {
        report_rows::<_, i64>(snapshot, &problem, &statement, &[], checkup)?;
    }
    report_rows::<_, String>(
        snapshot,
        &check::exhausted_ids_problem(),
        EXHAUSTED_SEQUENCES,
        &[&HIGHEST_EXPECTED],
        checkup,
    )
}
