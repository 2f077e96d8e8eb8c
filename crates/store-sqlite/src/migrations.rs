//! Migrates the schema in numbered steps. `user_version` of the file is the number of the last step
//! that was applied.

use std::time::Instant;

use petstore_domain::{Clock, SystemClock, store_area};
use petstore_store::{OpenError, OpenMode, open_mode::SET_LABELS};
use rusqlite::{
    Connection, TransactionBehavior,
    functions::{Context, FunctionFlags},
};
use tracing::info;

/// The steps; step n is at index n - 1. A released step never changes.
const STEPS: [&str; SCHEMA_VERSION as usize] = [
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
    include_str!("../migrations/0038_time_zone.sql"),
    include_str!("../migrations/0039_spellings.sql"),
    include_str!("../migrations/0040_listed.sql"),
    include_str!("../migrations/0041_notes.sql"),
    include_str!("../migrations/0042_contract.sql"),
    include_str!("../migrations/0043_lost_photos.sql"),
    include_str!("../migrations/0044_changes_without_rowid.sql"),
];

/// The schema version of this release.
const SCHEMA_VERSION: u32 = 44;

/// The application id ("pets" in ASCII) in the header of a petstore database. Tools such as `file`
/// show it.
const APPLICATION_ID: i64 = 0x7065_7473;

/// What kind of database a file is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DatabaseKind {
    /// A file without content.
    Empty,
    /// A petstore database of this version.
    Version(u32),
    /// A database of another program.
    OfAnotherProgram,
}

/// Determines the kind of a database. Only reads.
pub(super) fn read_kind(connection: &Connection) -> rusqlite::Result<DatabaseKind> {
    // One transaction, so that the values are consistent while another process is migrating.
    let snapshot = connection.unchecked_transaction()?;
    let version = read_version(&snapshot)?;
    let application_id: i64 =
        snapshot.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let object_count: i64 =
        snapshot.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let kind = match (application_id, version, object_count) {
        (APPLICATION_ID, version, _) => DatabaseKind::Version(version),
        (0, 0, 0) => DatabaseKind::Empty,
        _ => DatabaseKind::OfAnotherProgram,
    };
    Ok(kind)
}

/// Rejects a database of another program or of a later release. Also rejects an older version unless
/// `mode` allows its migration, and an empty database unless `mode` allows the creation of the schema.
pub(super) fn reject_unusable(
    kind: &DatabaseKind,
    mode: OpenMode,
    path: &str,
) -> Result<(), OpenError> {
    let path = path.to_owned();
    match *kind {
        DatabaseKind::Version(version) => reject_unusable_version(version, mode, path),
        DatabaseKind::Empty => match mode {
            OpenMode::AsIs => Err(OpenError::Empty(path)),
            OpenMode::CreateAndMigrate | OpenMode::CreateLabelled(_) | OpenMode::Create => Ok(()),
        },
        DatabaseKind::OfAnotherProgram => Err(OpenError::ForeignDatabase(path)),
    }
}

/// Rejects the version of a later release, and an older version unless `mode` allows its migration.
fn reject_unusable_version(version: u32, mode: OpenMode, path: String) -> Result<(), OpenError> {
    if version > SCHEMA_VERSION {
        return Err(OpenError::TooNew {
            path,
            found: version,
            known: SCHEMA_VERSION,
        });
    }
    if version < SCHEMA_VERSION && !mode.may_migrate() {
        return Err(OpenError::TooOld {
            path,
            found: version,
            known: SCHEMA_VERSION,
        });
    }
    Ok(())
}

/// Brings the schema to the version of this release in one transaction, if `mode` allows. Processes that
/// start at the same time migrate one after another. `path` appears in log lines.
pub(super) fn run(connection: &mut Connection, mode: OpenMode, path: &str) -> rusqlite::Result<()> {
    if is_current(connection)? {
        return Ok(());
    }
    let start = SystemClock.instant();
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have migrated while this one waited for the lock.
    let old_version = read_version(&transaction)?;
    if old_version >= SCHEMA_VERSION || (old_version > 0 && !mode.may_migrate()) {
        return Ok(());
    }
    let is_new = old_version == 0;
    if !is_new {
        info!(
            database = path,
            from = old_version,
            to = SCHEMA_VERSION,
            "migrating the schema"
        );
    }
    run_steps_after(old_version, &transaction)?;
    if is_new {
        for field in mode.labels() {
            transaction.execute(
                SET_LABELS,
                (field.label, field.choice_labels_json, field.name),
            )?;
        }
    }
    transaction.commit()?;
    if !is_new {
        log_migrated(path, old_version, start);
    }
    Ok(())
}

/// Logs that the schema was migrated from `old_version` to [`SCHEMA_VERSION`] in the time since `start`.
fn log_migrated(path: &str, old_version: u32, start: Instant) {
    let duration = SystemClock.instant().saturating_duration_since(start);
    let duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    info!(
        database = path,
        from = old_version,
        to = SCHEMA_VERSION,
        duration_us,
        "migrated the schema"
    );
}

/// Creates the schema of this release in an empty database.
pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
    run_steps_after(0, connection)
}

/// Runs the steps after the step `last_step`, or all steps if it is 0, and sets the version. First
/// registers the SQL functions that some steps call.
fn run_steps_after(last_step: u32, connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function("unseparated", 1, flags, |call: &Context<'_>| {
        call.get(0).map(store_area::compact_key)
    })?;
    connection.create_scalar_function("unique_text_key", 1, flags, |call: &Context<'_>| {
        let text: String = call.get(0)?;
        Ok(store_area::unique_text_key(&text))
    })?;
    for step in STEPS.iter().skip(last_step as usize) {
        connection.execute_batch(step)?;
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", SCHEMA_VERSION)
}

/// Whether the schema has the version of this release.
pub(super) fn is_current(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(read_version(connection)? == SCHEMA_VERSION)
}

/// Reads the number of the last step that was applied; 0 for a new file.
fn read_version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
