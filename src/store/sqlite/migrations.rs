//! The schema, as numbered steps. The number of the last step that was run is
//! the file's `user_version`.

use rusqlite::{Connection, TransactionBehavior};

use crate::store::{OpenError, OpenMode};

/// Step n stands at index n - 1. A step that was released never changes.
const STEPS: [&str; KNOWN as usize] = [
    include_str!("../../../migrations/sqlite/0001_catalogue.sql"),
    include_str!("../../../migrations/sqlite/0002_idempotency_keys.sql"),
    include_str!("../../../migrations/sqlite/0003_key_rate_limits.sql"),
    include_str!("../../../migrations/sqlite/0004_deprecated_calls.sql"),
    include_str!("../../../migrations/sqlite/0005_indexes_by_status.sql"),
    include_str!("../../../migrations/sqlite/0006_idempotency_marks.sql"),
];

/// The schema version that this release reads and writes.
const KNOWN: u32 = 6;

/// Marks a file as petstore's in its header ("pets"); `file` and SQLite's own
/// tools show it.
const APPLICATION_ID: i64 = 0x7065_7473;

/// What a file says about itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Recognised {
    /// Nothing is in it yet.
    Empty,
    /// It is ours, of this version.
    Version(u32),
    /// It belongs to another program.
    NotOurs,
}

/// Reads what kind of database this is, and writes nothing.
pub(super) fn recognise(connection: &Connection) -> rusqlite::Result<Recognised> {
    // All of one moment: another process may be migrating it right now.
    let moment = connection.unchecked_transaction()?;
    let version = version(&moment)?;
    let application_id: i64 =
        moment.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let objects: i64 =
        moment.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (application_id, version, objects) {
        (APPLICATION_ID, version, _) => Recognised::Version(version),
        (0, 0, 0) => Recognised::Empty,
        _ => Recognised::NotOurs,
    })
}

/// Refuses a database that this release must not touch.
pub(super) fn check(recognised: &Recognised, mode: OpenMode, path: &str) -> Result<(), OpenError> {
    let path = path.to_owned();
    let found = match *recognised {
        Recognised::Version(version) => version,
        Recognised::Empty => 0,
        Recognised::NotOurs => return Err(OpenError::NotOurs(path)),
    };
    let known = KNOWN;
    if found > known {
        return Err(OpenError::TooNew { path, found, known });
    }
    if found < known && mode == OpenMode::AsIs {
        return Err(OpenError::TooOld { path, found, known });
    }
    Ok(())
}

/// Runs the steps that the database lacks: all of them or none. Processes that
/// start at once wait for each other here.
pub(super) fn run(connection: &mut Connection) -> rusqlite::Result<()> {
    if version(connection)? == KNOWN {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = version(&transaction)?;
    if done >= KNOWN {
        // Another process was faster, perhaps one of a newer release.
        return Ok(());
    }
    for step in STEPS.iter().skip(done as usize) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", KNOWN)?;
    transaction.commit()
}

/// Whether the schema is the one of this release.
pub(super) fn is_current(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(version(connection)? == KNOWN)
}

fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
