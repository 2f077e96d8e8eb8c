//! Checks a whole database on demand: for `petstore check`, and for each copy.

use std::path::Path;

use jiff::Timestamp;
use petstore_domain::{PetId, PetName, PetStatus, pet::HIGHEST_EXPECTED};
use petstore_store::{
    OpenError,
    admin::Parameters,
    check::{self, Checkup, DISAGREEMENTS, RowCheck},
    check_rows::{check_api_keys, check_values, report_rows},
};
use rusqlite::{
    Row,
    types::{Type, ValueRef},
};

use super::{
    connection::Connection,
    errors::is_damage,
    opening::{self, CheckedDatabase},
    quick_check::{LOST_TRANSACTIONS, check_etag_key, check_schema},
    transaction::Transaction,
};

/// The maximum number of invalid animals that are reported individually.
const MAX_REPORTED_ANIMALS: usize = 20;

/// The query for the animals with a time before $1 or after $2.
const INVALID_TIMES: &str = "SELECT id FROM pets
    WHERE created_at NOT BETWEEN $1 AND $2 OR updated_at NOT BETWEEN $1 AND $2";
/// The query for the sequences that have passed the identifier $1.
const EXHAUSTED_SEQUENCES: &str = "SELECT name FROM sqlite_sequence WHERE seq > $1";

/// The message about a sequence that would assign an identifier again. The name of the sequence
/// replaces the `{}`.
const SEQUENCE_PROBLEM: &str = "sqlite_sequence does not contain the last id of {}";

/// A step of the check. It adds its problems to the report.
type Step = fn(&mut Connection, &mut Checkup) -> rusqlite::Result<()>;

/// A sequence of identifiers, and a table whose rows got their identifiers from it.
struct Sequence {
    name: &'static str,
    table: &'static str,
}

/// Checks the whole database at `path` for `petstore check`, without changing it.
pub fn check(path: &Path) -> Result<Checkup, OpenError> {
    let mut database = opening::open_to_check(path)?;
    check_database(&mut database)
        .map_err(|error| opening::open_error(&path.display().to_string(), error))
}

/// Runs the checks that a copy must pass, and those whose problems only `petstore check` reports.
fn check_database(database: &mut CheckedDatabase) -> rusqlite::Result<Checkup> {
    let connection = &mut database.connection;
    let mut checkup = check_current_version(connection)?;
    run_steps(&[check_impossible_values], connection, &mut checkup)?;
    if database.has_lost_transactions {
        checkup.problems.push(LOST_TRANSACTIONS.to_owned());
    }
    Ok(checkup)
}

/// Runs the checks that a copy must pass. The database must have the schema version of this release.
pub(super) fn check_current_version(connection: &mut Connection) -> rusqlite::Result<Checkup> {
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
        check_agreement_and_values,
    ];
    run_steps(&steps, connection, &mut checkup)?;
    Ok(checkup)
}

/// Runs the checks that also apply to a database of an older version. Does not count the API keys.
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

/// Runs the steps in order. If a step fails because the database is damaged, records the error as a
/// problem and continues with the next step.
fn run_steps(
    steps: &[Step],
    connection: &mut Connection,
    checkup: &mut Checkup,
) -> rusqlite::Result<()> {
    for step in steps {
        match step(connection, checkup) {
            Ok(()) => {}
            // SQLite's message is all that is known about the damage.
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
        // One row can report several problems: one per line, below a heading.
        for line in verdict.lines() {
            if !line.starts_with("*** in database ") {
                checkup.problems.push(line.to_owned());
            }
        }
    }
    Ok(())
}

/// Finds rows whose foreign key refers to a missing row.
fn check_references(connection: &mut Connection, checkup: &mut Checkup) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let table: String = row.get(0)?;
        // Null for a table without row identifiers.
        let rowid: Option<i64> = row.get(1)?;
        let referenced_table: String = row.get(2)?;
        let row_name = match rowid {
            Some(rowid) => format!("row {rowid}"),
            None => "row".to_owned(),
        };
        checkup.problems.push(format!(
            "{row_name} of {table} refers to a row of {referenced_table} that is not there"
        ));
    }
    Ok(())
}

/// Counts the animals in the catalogue, and reports the invalid ones: the first
/// [`MAX_REPORTED_ANIMALS`] individually, and the number of the others.
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

/// Returns the problem of an animal that the service could not read or would have rejected; `None` if
/// the animal is valid.
fn find_problem(row: &Row<'_>) -> rusqlite::Result<Option<String>> {
    let id: i64 = row.get(0)?;
    let category_type = row.get_ref(2)?.data_type();
    let problem = if PetId::new(id).is_none() {
        "has an invalid id"
    } else if let Some(problem) = find_name_problem(row.get_ref(1)?) {
        problem
    } else if category_type != Type::Integer {
        "has a category that is not an integer"
    } else if !is_status(row.get_ref(3)?) {
        "has an invalid status"
    } else {
        return Ok(None);
    };
    Ok(Some(format!("animal {id} {problem}")))
}

/// Returns the problem of a name; `None` if the name is valid.
fn find_name_problem(value: ValueRef<'_>) -> Option<&'static str> {
    let Ok(name) = value.as_str() else {
        return Some("has a name that is not Unicode text");
    };
    if name.len() > PetName::MAX_LENGTH {
        return Some("has a name of more than 64 KiB");
    }
    if PetName::new(name.to_owned()).is_none() {
        return Some("has a name with U+0000");
    }
    None
}

/// Whether a value is the text of a status.
fn is_status(value: ValueRef<'_>) -> bool {
    match value.as_str() {
        Ok(text) => text.parse::<PetStatus>().is_ok(),
        Err(_) => false,
    }
}

/// Reports each sequence that is below the highest identifier of its table, and so would assign that
/// identifier again.
fn report_low_sequences(
    connection: &Connection,
    sequences: &[Sequence],
    checkup: &mut Checkup,
) -> rusqlite::Result<()> {
    let mut selections = Vec::with_capacity(sequences.len());
    for Sequence { name, table } in sequences {
        selections.push(format!("SELECT '{name}', max(id) FROM {table}"));
    }
    // `id` need not be in GROUP BY: `highest` has one row for each name, so all rows of a group
    // have the same `id`. `max(seq)` is null for a sequence without a row, which would begin at 1 again.
    let statement = format!(
        "WITH highest (name, id) AS ({})
        SELECT name FROM highest LEFT JOIN sqlite_sequence USING (name)
        WHERE id IS NOT NULL GROUP BY name HAVING coalesce(max(seq) < id, TRUE)",
        selections.join(" UNION ALL ")
    );
    report_rows::<_, String>(connection, SEQUENCE_PROBLEM, &statement, &[], checkup)
}

/// Checks the sequences of the tables that a database of any version has. The sequences of other tables
/// are checked by [`check_agreement_and_values`].
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

/// Checks and counts the API keys, and checks that the key for `ETag` headers exists.
fn check_keys(connection: &mut Connection, checkup: &mut Checkup) -> rusqlite::Result<()> {
    check_api_keys(connection, checkup)?;
    checkup.problems.extend(check_etag_key(connection)?);
    Ok(())
}

/// Checks in one snapshot that different tables agree, and that the times of animals, the sequences and
/// the values are valid.
fn check_agreement_and_values(
    connection: &mut Connection,
    checkup: &mut Checkup,
) -> rusqlite::Result<()> {
    let snapshot = &mut *Transaction::begin(connection, "BEGIN")?;
    for RowCheck { problem, statement } in DISAGREEMENTS {
        report_rows::<_, i64>(snapshot, problem, statement, &[], checkup)?;
    }
    let first_time = Timestamp::MIN.as_millisecond();
    let last_time = Timestamp::MAX.as_millisecond();
    let problem = "animal {} has an invalid time";
    let times: Parameters<'_> = &[&first_time, &last_time];
    report_rows::<_, i64>(snapshot, problem, INVALID_TIMES, times, checkup)?;
    let sequences = [
        // A withdrawn animal keeps the identifier that it got from the sequence of all animals.
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
    // The count is not needed: `check_animals` has already counted the animals.
    let _animals = check_values(snapshot, checkup)?;
    Ok(())
}

/// Finds rows with values that no release ever writes, and exhausted sequences. They do not prevent
/// a complete copy of the database, so this step is not part of [`check_current_version`].
fn check_impossible_values(
    connection: &mut Connection,
    checkup: &mut Checkup,
) -> rusqlite::Result<()> {
    let snapshot = &*Transaction::begin(connection, "BEGIN")?;
    // In SQLite, the column `seq` identifies a change.
    for RowCheck { problem, statement } in check::impossible_values("seq") {
        report_rows::<_, i64>(snapshot, &problem, &statement, &[], checkup)?;
    }
    // A sequence is reported by its name, and not by a number like the rows above.
    report_rows::<_, String>(
        snapshot,
        &check::exhausted_ids_problem(),
        EXHAUSTED_SEQUENCES,
        &[&HIGHEST_EXPECTED],
        checkup,
    )
}
