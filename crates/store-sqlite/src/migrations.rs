//! The schema, as numbered steps. `user_version` of the file is the number of the last step.

use petstore_domain::{Clock, SystemClock, store_area};
use petstore_store::{OpenError, OpenMode, open_mode::SET_LABELS};
use rusqlite::{
    Connection, TransactionBehavior,
    functions::{Context, FunctionFlags},
};
use tracing::info;

/// Step n is at index n - 1. A released step never changes.
const STEPS: [&str; KNOWN as usize] = [
    include_str!("../migrations/0001_catalogue.sql"),
    include_str!("../migrations/0002_idempotency_keys.sql"),
    include_str!("../migrations/0003_key_rate_limits.sql"),
    include_str!("../migrations/0004_deprecated_calls.sql"),
    include_str!("../migrations/0005_indexes_by_status.sql"),
    include_str!("../migrations/0006_idempotency_marks.sql"),
    include_str!("../migrations/0007_etag_key.sql"),
    include_str!("../migrations/0008_requests.sql"),
    include_str!("../migrations/0009_store_area.sql"),
    include_str!("../migrations/0010_search.sql"),
    include_str!("../migrations/0011_changes.sql"),
    include_str!("../migrations/0012_webhooks.sql"),
    include_str!("../migrations/0013_staff.sql"),
    include_str!("../migrations/0014_history.sql"),
    include_str!("../migrations/0015_fewer_indexes.sql"),
    include_str!("../migrations/0016_packed_search.sql"),
    include_str!("../migrations/0017_long_names.sql"),
    include_str!("../migrations/0018_confirmed_time.sql"),
    include_str!("../migrations/0019_words.sql"),
    include_str!("../migrations/0020_webhook_tests.sql"),
    include_str!("../migrations/0021_cheaper_orders.sql"),
    include_str!("../migrations/0022_fields.sql"),
    include_str!("../migrations/0023_price_of_an_order.sql"),
    include_str!("../migrations/0024_contacts.sql"),
    include_str!("../migrations/0025_field_values.sql"),
    include_str!("../migrations/0026_photos.sql"),
    include_str!("../migrations/0027_unique_texts.sql"),
    include_str!("../migrations/0028_choice_labels.sql"),
    include_str!("../migrations/0029_one_search.sql"),
    include_str!("../migrations/0030_words_of_values.sql"),
    include_str!("../migrations/0031_profile.sql"),
    include_str!("../migrations/0032_logo.sql"),
    include_str!("../migrations/0033_staff_language.sql"),
    include_str!("../migrations/0034_first_steps.sql"),
    include_str!("../migrations/0035_staff_identity.sql"),
    include_str!("../migrations/0036_staff_passkeys.sql"),
    include_str!("../migrations/0037_spreadsheet_numbers.sql"),
];

/// The schema version of this release.
const KNOWN: u32 = 37;

/// Marks a file as petstore's in its header ("pets"), where `file` and SQLite's tools show it.
const APPLICATION_ID: i64 = 0x7065_7473;

/// The kinds of database that a file can be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Recognised {
    Empty,
    /// It is a petstore database of this version.
    Version(u32),
    /// It belongs to another program.
    OfAnotherProgram,
}

/// Reads what kind of database this is, without writing.
pub(super) fn recognise(connection: &Connection) -> rusqlite::Result<Recognised> {
    // A single transaction, because another process may be migrating right now.
    let moment = connection.unchecked_transaction()?;
    let version = version(&moment)?;
    let application_id: i64 =
        moment.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let objects: i64 =
        moment.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (application_id, version, objects) {
        (APPLICATION_ID, version, _) => Recognised::Version(version),
        (0, 0, 0) => Recognised::Empty,
        _ => Recognised::OfAnotherProgram,
    })
}

/// Rejects a database that this release must not use.
pub(super) fn check(recognised: &Recognised, mode: OpenMode, path: &str) -> Result<(), OpenError> {
    let path = path.to_owned();
    let (found, may_be_older) = match *recognised {
        Recognised::Version(version) => (version, mode.may_migrate()),
        Recognised::Empty if mode == OpenMode::AsIs => return Err(OpenError::Empty(path)),
        Recognised::Empty => (0, true),
        Recognised::OfAnotherProgram => return Err(OpenError::OfAnotherProgram(path)),
    };
    let known = KNOWN;
    if found > known {
        return Err(OpenError::TooNew { path, found, known });
    }
    if found < known && !may_be_older {
        return Err(OpenError::TooOld { path, found, known });
    }
    Ok(())
}

/// Runs the missing steps that `mode` allows: all or none. Processes that start at the same time
/// wait for each other here.
pub(super) fn run(connection: &mut Connection, mode: OpenMode, path: &str) -> rusqlite::Result<()> {
    if version(connection)? == KNOWN {
        return Ok(());
    }
    let started = SystemClock.instant();
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have migrated first.
    let from = version(&transaction)?;
    if from >= KNOWN || (from > 0 && !mode.may_migrate()) {
        return Ok(());
    }
    if from > 0 {
        info!(database = path, from, to = KNOWN, "migrating the schema");
    }
    run_from(from, &transaction)?;
    if from == 0 {
        for labels in mode.labels() {
            transaction.execute(SET_LABELS, labels)?;
        }
    }
    transaction.commit()?;
    if from > 0 {
        let took = SystemClock.instant().saturating_duration_since(started);
        let duration_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        info!(
            database = path,
            from,
            to = KNOWN,
            duration_us,
            "migrated the schema"
        );
    }
    Ok(())
}

/// Creates the schema of this release in an empty database.
pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
    run_from(0, connection)
}

/// Runs the steps after the one with this number.
fn run_from(done: u32, connection: &Connection) -> rusqlite::Result<()> {
    let unseparated = |row: &Context<'_>| row.get(0).map(store_area::unseparated);
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function("unseparated", 1, flags, unseparated)?;
    let key = |row: &Context<'_>| Ok(store_area::unique_text_key(&row.get::<String>(0)?));
    connection.create_scalar_function("unique_text_key", 1, flags, key)?;
    for step in STEPS.iter().skip(done as usize) {
        connection.execute_batch(step)?;
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", KNOWN)
}

/// Whether the schema has the version of this release.
pub(super) fn is_current(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(version(connection)? == KNOWN)
}

fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
