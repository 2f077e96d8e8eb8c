//! Migrates the schema in numbered steps. The row of `petstore_schema` holds the number of the last step
//! that was applied.

use std::time::{Duration, Instant};

use petstore_domain::{Clock, SystemClock, store_area::unique_text_key};
use petstore_store::{OpenError, OpenMode, open_mode::SET_LABELS};
use tokio::time;
use tokio_postgres::{Client, Error, SimpleQueryMessage, Transaction, error::SqlState};
use tracing::info;

use super::connect::{Session, Unreachable};

/// The steps; step n is at index n - 1. A released step never changes.
///
/// A step with `CONCURRENTLY` only creates indexes, which a later step drops if they exist. So an
/// existing database skips such a step, because building an index of a large table takes long.
const STEPS: [&str; SCHEMA_VERSION as usize] = [
    include_str!("../migrations/0001_catalogue.sql"),
    include_str!("../migrations/0002_deprecated_calls.sql"),
    include_str!("../migrations/0003_idempotency_marks.sql"),
    include_str!("../migrations/0004_etag_key.sql"),
    include_str!("../migrations/0005_requests.sql"),
    include_str!("../migrations/0006_store_area.sql"),
    include_str!("../migrations/0007_search.sql"),
    include_str!("../migrations/0008_changes.sql"),
    include_str!("../migrations/0009_webhooks.sql"),
    include_str!("../migrations/0010_staff.sql"),
    include_str!("../migrations/0011_history.sql"),
    include_str!("../migrations/0012_fewer_indexes.sql"),
    include_str!("../migrations/0013_fewer_checks.sql"),
    include_str!("../migrations/0014_log_in_place.sql"),
    include_str!("../migrations/0015_confirmed_time.sql"),
    include_str!("../migrations/0016_words.sql"),
    include_str!("../migrations/0017_words_index.sql"),
    include_str!("../migrations/0018_webhook_tests.sql"),
    include_str!("../migrations/0019_fields.sql"),
    include_str!("../migrations/0020_price_of_an_order.sql"),
    include_str!("../migrations/0021_contacts.sql"),
    include_str!("../migrations/0022_field_values.sql"),
    include_str!("../migrations/0023_photos.sql"),
    include_str!("../migrations/0024_unique_texts.sql"),
    include_str!("../migrations/0025_choice_labels.sql"),
    include_str!("../migrations/0026_one_search.sql"),
    include_str!("../migrations/0027_words_of_values.sql"),
    include_str!("../migrations/0028_profile.sql"),
    include_str!("../migrations/0029_logo.sql"),
    include_str!("../migrations/0030_staff_language.sql"),
    include_str!("../migrations/0031_first_steps.sql"),
    include_str!("../migrations/0032_staff_identity.sql"),
    include_str!("../migrations/0033_staff_passkeys.sql"),
    include_str!("../migrations/0034_spreadsheet_numbers.sql"),
    include_str!("../migrations/0035_time_zone.sql"),
    include_str!("../migrations/0036_spellings.sql"),
    include_str!("../migrations/0037_listed.sql"),
    include_str!("../migrations/0038_notes.sql"),
    include_str!("../migrations/0039_contract.sql"),
    include_str!("../migrations/0040_lost_photos.sql"),
];

/// The schema version of this release.
const SCHEMA_VERSION: u32 = 40;

/// The number of the step that reads the table of changed keys (`0034_spreadsheet_numbers.sql`).
/// Before it, [`collect_changed_keys`] creates and fills this table.
const CHANGED_KEYS_STEP: u32 = 34;

/// The statement that creates the table of changed keys.
const CREATE_CHANGED_KEYS: &str =
    "CREATE TABLE whole_numbers (field TEXT, pet_id BIGINT, key TEXT, number TEXT)";
const ADD_CHANGED_KEY: &str = "INSERT INTO whole_numbers VALUES ($1, $2, $3, $4)";
/// The query for the unique texts whose keys may change. Every release computes the same key for a value
/// of ASCII letters, digits, spaces and hyphens, so those are skipped.
const KEYS_THAT_MAY_CHANGE: &str =
    "SELECT field, pet_id, key, pets.fields::jsonb ->> field AS value
    FROM unique_values JOIN pets ON pets.id = pet_id
    WHERE field IN (SELECT name FROM fields WHERE kind = 'text')
        AND pets.fields::jsonb ->> field !~ '^[0-9A-Za-z -]*$'";

/// The maximum number of retries after a conflict with another process that starts at the same time. In
/// each conflict, one of the processes succeeds.
const MAX_CONFLICTS: u32 = 20;

/// The time limit for waiting for locks, of another process that migrates, or of a transaction that reads
/// a table which a step changes.
const LOCK_WAIT_LIMIT: Duration = Duration::from_mins(10);

/// The pause before the retry of a migration that did not get a lock.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(200);

/// The settings of a migration. A step may run for any time, because large tables require it. But each
/// wait for a lock is short, because the creates of a running service queue behind it.
const SETTINGS: &str = "SET LOCAL statement_timeout = 0;
    SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = '1s'";

/// The statements that create the row with the version if it is missing, and lock it until the end of the
/// transaction. Because of the lock, processes that start at the same time migrate one after another. It
/// does not block a running service of the previous release, which takes only KEY SHARE locks on the row.
const LOCK_VERSION: &str = "
    CREATE TABLE IF NOT EXISTS petstore_schema (
        only_row BOOLEAN PRIMARY KEY CHECK (only_row),
        version  BIGINT  NOT NULL
    );
    INSERT INTO petstore_schema VALUES (TRUE, 0) ON CONFLICT DO NOTHING;
    SELECT version FROM petstore_schema FOR NO KEY UPDATE";
const READ_VERSION: &str = "SELECT version FROM petstore_schema";
const SET_VERSION: &str = "UPDATE petstore_schema SET version = $1";

/// Brings the schema to the version of this release, if `mode` allows. Rejects a database that this
/// release must not use. `url` appears in messages.
pub(super) async fn run(session: &mut Session, mode: OpenMode, url: &str) -> Result<(), OpenError> {
    let start = SystemClock.instant();
    let mut conflicts = 0;
    let mut has_logged_wait = false;
    loop {
        let version = read_version(&session.client)
            .await
            .map_err(|error| driver_error(url, &error))?;
        if !needs_migration(version, mode, url)? {
            return Ok(());
        }

        match migrate(&mut session.client, mode, url).await {
            // Check the version again, because `migrate` does nothing if another process has just
            // changed it.
            Ok(()) => {}
            Err(MigrationError::Raced(_)) if conflicts < MAX_CONFLICTS => conflicts += 1,
            Err(MigrationError::Locked(_))
                if SystemClock.instant().duration_since(start) < LOCK_WAIT_LIMIT =>
            {
                if !has_logged_wait {
                    info!(database = url, "waiting for others before the migration");
                }
                has_logged_wait = true;
                time::sleep(LOCK_RETRY_INTERVAL).await;
            }
            Err(error) => return Err(error.into_open_error(url)),
        }
    }
}

/// Whether the schema has an older version than this release, or does not exist yet (version 0). Fails
/// for a newer version, and if `mode` does not allow the migration.
fn needs_migration(version: u32, mode: OpenMode, url: &str) -> Result<bool, OpenError> {
    let path = url.to_owned();
    if version == 0 {
        return match mode {
            OpenMode::AsIs => Err(OpenError::Empty(path)),
            OpenMode::CreateAndMigrate | OpenMode::CreateLabelled(_) | OpenMode::Create => Ok(true),
        };
    }
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
    Ok(version < SCHEMA_VERSION)
}

/// Returns the version of the schema; 0 if the database has no petstore schema yet.
async fn read_version(client: &Client) -> Result<u32, Error> {
    match client.query_opt(READ_VERSION, &[]).await {
        Ok(None) => Ok(0),
        Ok(Some(row)) => {
            let version: i64 = row.try_get(0)?;
            // A version that no release has is rejected as too new.
            Ok(u32::try_from(version).unwrap_or(u32::MAX))
        }
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(0),
        Err(error) => Err(error),
    }
}

/// The reason why a migration failed.
enum MigrationError {
    /// Another process was migrating at the same time; a retry finds its result.
    Raced(Error),
    /// Another transaction holds a lock; a retry may get it.
    Locked(Error),
    /// An object of another program has a name that petstore needs.
    NameTaken(Error),
    /// Any other error of the connection or of a statement; a retry would not help.
    Permanent(Error),
}

impl MigrationError {
    /// Converts the error into the message for the operator of the database at `url`.
    fn into_open_error(self, url: &str) -> OpenError {
        match self {
            Self::NameTaken(error) => {
                let message = error.as_db_error().map_or("", |error| error.message());
                OpenError::NameTaken {
                    path: url.to_owned(),
                    what: message.to_owned(),
                }
            }
            Self::Raced(error) | Self::Locked(error) | Self::Permanent(error) => {
                driver_error(url, &error)
            }
        }
    }
}

impl From<Error> for MigrationError {
    fn from(error: Error) -> Self {
        match error.code() {
            Some(&SqlState::LOCK_NOT_AVAILABLE) => Self::Locked(error),
            // Class 40 has the rollbacks because of other transactions, such as deadlocks.
            Some(code) if code.code().starts_with("40") || *code == SqlState::UNIQUE_VIOLATION => {
                Self::Raced(error)
            }
            _ => Self::Permanent(error),
        }
    }
}

/// Whether a statement failed because a table or another object already has the name of a new one.
fn is_name_taken(error: &Error) -> bool {
    matches!(
        error.code(),
        Some(&SqlState::DUPLICATE_TABLE | &SqlState::DUPLICATE_OBJECT)
    )
}

/// Runs the missing steps in one transaction, if `mode` still allows that once the version is locked.
async fn migrate(client: &mut Client, mode: OpenMode, url: &str) -> Result<(), MigrationError> {
    let start = SystemClock.instant();
    let transaction = client.transaction().await?;
    transaction.batch_execute(SETTINGS).await?;
    let old_version = lock_version(&transaction).await?;
    // Another process may have migrated since the version was read.
    if old_version >= SCHEMA_VERSION || (old_version > 0 && !mode.may_migrate()) {
        return Ok(());
    }

    let is_new = old_version == 0;
    if !is_new {
        info!(
            database = url,
            from = old_version,
            to = SCHEMA_VERSION,
            "migrating the schema"
        );
    }
    run_steps(&transaction, old_version).await?;
    if is_new {
        set_labels(&transaction, mode).await?;
    }
    transaction
        .execute(SET_VERSION, &[&i64::from(SCHEMA_VERSION)])
        .await?;
    transaction.commit().await?;

    if !is_new {
        log_migrated(url, old_version, start);
    }
    Ok(())
}

/// Logs that the schema was migrated from `old_version` to [`SCHEMA_VERSION`] in the time since `start`.
fn log_migrated(url: &str, old_version: u32, start: Instant) {
    let duration = SystemClock.instant().saturating_duration_since(start);
    let duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    info!(
        database = url,
        from = old_version,
        to = SCHEMA_VERSION,
        duration_us,
        "migrated the schema"
    );
}

/// Gives the fields of a new database the labels that `mode` defines, if any.
async fn set_labels(transaction: &Transaction<'_>, mode: OpenMode) -> Result<(), Error> {
    for field in mode.labels() {
        transaction
            .execute(
                SET_LABELS,
                &[&field.label, &field.choice_labels_json, &field.name],
            )
            .await?;
    }
    Ok(())
}

/// Locks the version of the schema until the end of the transaction, and returns the version. A new
/// database has version 0. If the version cannot be parsed, returns the highest number, so that
/// nothing migrates.
async fn lock_version(transaction: &Transaction<'_>) -> Result<u32, MigrationError> {
    let messages = match transaction.simple_query(LOCK_VERSION).await {
        Ok(messages) => messages,
        // Another process has created the same table since this statement checked that it is missing.
        Err(error) if is_name_taken(&error) => return Err(MigrationError::Raced(error)),
        Err(error) => return Err(error.into()),
    };
    let version = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
        _ => None,
    });
    Ok(version.unwrap_or(u32::MAX))
}

/// Runs the steps after `old_version`, which is 0 for a new database.
async fn run_steps(transaction: &Transaction<'_>, old_version: u32) -> Result<(), MigrationError> {
    let is_new = old_version == 0;
    for (number, step) in (1..).zip(STEPS).skip(old_version as usize) {
        if number == CHANGED_KEYS_STEP {
            collect_changed_keys(transaction).await?;
        }
        let creates_indexes_dropped_later = step.contains("CONCURRENTLY");
        if creates_indexes_dropped_later && !is_new {
            continue;
        }
        // PostgreSQL refuses CONCURRENTLY in a transaction. A new database does not need it: nobody
        // else uses its tables, so nobody waits for an index.
        let statements = step.replace(" CONCURRENTLY", "");
        match transaction.batch_execute(&statements).await {
            Ok(()) => {}
            Err(error) if is_name_taken(&error) => return Err(MigrationError::NameTaken(error)),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Creates the table of changed keys, and fills it with the keys of unique texts that this release
/// computes differently. This is not part of a step, because SQL cannot compute the keys.
async fn collect_changed_keys(transaction: &Transaction<'_>) -> Result<(), Error> {
    transaction.batch_execute(CREATE_CHANGED_KEYS).await?;
    let add_key = transaction.prepare(ADD_CHANGED_KEY).await?;
    for row in transaction.query(KEYS_THAT_MAY_CHANGE, &[]).await? {
        let field: String = row.try_get(0)?;
        let pet_id: i64 = row.try_get(1)?;
        let former_key: String = row.try_get(2)?;
        let value: String = row.try_get(3)?;
        let key = unique_text_key(&value);
        if key != former_key {
            transaction
                .execute(&add_key, &[&field, &pet_id, &former_key, &key])
                .await?;
        }
    }
    Ok(())
}

/// Converts a driver error into the message for the operator of the database at `url`.
fn driver_error(url: &str, error: &Error) -> OpenError {
    Unreachable::from(error).into_open_error(url)
}
