//! Migrates the schema in numbered steps. The row of `petstore_schema` has the number of the last step.

use std::time::Duration;

use petstore_domain::{Clock, SystemClock, store_area::unique_text_key};
use petstore_store::{OpenError, OpenMode, open_mode::SET_LABELS};
use tokio::time;
use tokio_postgres::{Client, Error, SimpleQueryMessage, Transaction, error::SqlState};
use tracing::info;

use super::connect::{Session, Unreachable};

/// Step n is at index n - 1. A released step never changes. A step with `CONCURRENTLY` runs only in a
/// new database. A later step removes the indexes.
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

/// The step before which [`collect_changed_keys`] runs.
const SPREADSHEET_STEP: u32 = 34;

const CREATE_CHANGED_KEYS: &str =
    "CREATE TABLE whole_numbers (field TEXT, pet_id BIGINT, key TEXT, number TEXT)";
const ADD_CHANGED_KEY: &str = "INSERT INTO whole_numbers VALUES ($1, $2, $3, $4)";
/// The unique texts whose keys may change. In each release, the key of a value of letters and digits is
/// the same.
const KEYS_THAT_MAY_CHANGE: &str =
    "SELECT field, pet_id, key, pets.fields::jsonb ->> field AS value
    FROM unique_values JOIN pets ON pets.id = pet_id
    WHERE field IN (SELECT name FROM fields WHERE kind = 'text')
        AND pets.fields::jsonb ->> field !~ '^[0-9A-Za-z -]*$'";

/// The number of times that processes which start at the same time may conflict. In each conflict, one of
/// them succeeds.
const MAX_ATTEMPTS: u32 = 20;

/// The time limit for another process that migrates, and for transactions that read a table which is about
/// to change.
const LOCK_WAIT_LIMIT: Duration = Duration::from_mins(10);

/// The pause before the next attempt to get a lock.
const LOCK_PAUSE: Duration = Duration::from_millis(200);

/// The settings of a migration. A step takes as long as the size of the tables requires. But creates queue behind a statement
/// that waits for a lock, so each such wait is short.
const SETTINGS: &str = "SET LOCAL statement_timeout = 0;
    SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = '1s'";

/// The statements that create the row with the version and lock it until the end of the transaction, so
/// that processes that start at the same time wait for each other here. A service of the previous release, which takes a KEY
/// SHARE lock of the row, does not wait.
const LOCK_VERSION: &str = "
    CREATE TABLE IF NOT EXISTS petstore_schema (
        only_row BOOLEAN PRIMARY KEY CHECK (only_row),
        version  BIGINT  NOT NULL
    );
    INSERT INTO petstore_schema VALUES (TRUE, 0) ON CONFLICT DO NOTHING;
    SELECT version FROM petstore_schema FOR NO KEY UPDATE";
const READ_VERSION: &str = "SELECT version FROM petstore_schema";
const SET_VERSION: &str = "UPDATE petstore_schema SET version = $1";

/// Rejects a database that this release must not use, and migrates the schema if `mode` allows.
/// `url` is for messages.
pub(super) async fn run(session: &mut Session, mode: OpenMode, url: &str) -> Result<(), OpenError> {
    let start = SystemClock.instant();
    let mut conflicts = 0;
    let mut is_waiting = false;
    loop {
        let version = read_version(&session.client)
            .await
            .map_err(|error| cannot_open(url, &error))?;
        if is_current(version, mode, url)? {
            return Ok(());
        }

        match migrate(&mut session.client, mode, url).await {
            Ok(()) => {}
            Err(MigrationError::Raced(_)) if conflicts < MAX_ATTEMPTS => conflicts += 1,
            Err(MigrationError::Locked(_))
                if SystemClock.instant().duration_since(start) < LOCK_WAIT_LIMIT =>
            {
                if !is_waiting {
                    info!(database = url, "waiting for others before the migration");
                }
                is_waiting = true;
                time::sleep(LOCK_PAUSE).await;
            }
            Err(error) => return Err(error.into_open_error(url)),
        }
    }
}

/// Whether the schema has the version of this release. Fails if `mode` does not allow a migration.
fn is_current(version: Option<u32>, mode: OpenMode, url: &str) -> Result<bool, OpenError> {
    let path = url.to_owned();
    match (version, mode) {
        (Some(SCHEMA_VERSION), _) => Ok(true),
        (Some(found), _) if found > SCHEMA_VERSION => Err(OpenError::TooNew {
            path,
            found,
            known: SCHEMA_VERSION,
        }),
        (_, mode) if mode.may_migrate() => Ok(false),
        (None | Some(0), OpenMode::Create) => Ok(false),
        (None | Some(0), _) => Err(OpenError::Empty(path)),
        (Some(found), _) => Err(OpenError::TooOld {
            path,
            found,
            known: SCHEMA_VERSION,
        }),
    }
}

/// Returns the version of the schema; `None` if the database has no petstore schema yet.
async fn read_version(client: &Client) -> Result<Option<u32>, Error> {
    match client.query_opt(READ_VERSION, &[]).await {
        Ok(None) => Ok(None),
        Ok(Some(row)) => {
            let version: i64 = row.try_get(0)?;
            Ok(Some(u32::try_from(version).unwrap_or(u32::MAX)))
        }
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The reason why a migration has stopped.
enum MigrationError {
    /// Another process migrates at the same time.
    Raced(Error),
    /// Another transaction has a lock.
    Locked(Error),
    /// An object of another program has a name that petstore needs.
    NameTaken(Error),
    ConnectionError(Error),
}

impl MigrationError {
    /// Returns the error for an operator about the database at `url`.
    fn into_open_error(self, url: &str) -> OpenError {
        match self {
            Self::NameTaken(error) => {
                let message = error.as_db_error().map_or("", |error| error.message());
                OpenError::NameTaken {
                    path: url.to_owned(),
                    what: message.to_owned(),
                }
            }
            Self::Raced(error) | Self::Locked(error) | Self::ConnectionError(error) => {
                cannot_open(url, &error)
            }
        }
    }
}

impl From<Error> for MigrationError {
    fn from(error: Error) -> Self {
        match error.code() {
            Some(&SqlState::LOCK_NOT_AVAILABLE) => Self::Locked(error),
            Some(code) if code.code().starts_with("40") || *code == SqlState::UNIQUE_VIOLATION => {
                Self::Raced(error)
            }
            _ => Self::ConnectionError(error),
        }
    }
}

/// Whether an object with the name of a new one exists already.
fn is_name_taken(error: &Error) -> bool {
    matches!(
        error.code(),
        Some(&SqlState::DUPLICATE_TABLE | &SqlState::DUPLICATE_OBJECT)
    )
}

/// Runs the missing steps in one transaction, if `mode` allows that.
async fn migrate(client: &mut Client, mode: OpenMode, url: &str) -> Result<(), MigrationError> {
    let start = SystemClock.instant();
    let transaction = client.transaction().await?;
    transaction.batch_execute(SETTINGS).await?;
    let from = lock_version(&transaction).await?;
    // Another process may have migrated first.
    if from >= SCHEMA_VERSION || (from > 0 && !mode.may_migrate()) {
        return Ok(());
    }

    let is_new = from == 0;
    if !is_new {
        info!(
            database = url,
            from,
            to = SCHEMA_VERSION,
            "migrating the schema"
        );
    }
    run_steps(&transaction, from).await?;
    if is_new {
        set_labels(&transaction, mode).await?;
    }
    transaction
        .execute(SET_VERSION, &[&i64::from(SCHEMA_VERSION)])
        .await?;
    transaction.commit().await?;

    if !is_new {
        let duration = SystemClock.instant().saturating_duration_since(start);
        let duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        info!(
            database = url,
            from,
            to = SCHEMA_VERSION,
            duration_us,
            "migrated the schema"
        );
    }
    Ok(())
}

/// Writes the labels that the mode has for the fields of a new database.
async fn set_labels(transaction: &Transaction<'_>, mode: OpenMode) -> Result<(), Error> {
    for (label, choices, name) in mode.labels() {
        transaction
            .execute(SET_LABELS, &[&label, &choices, &name])
            .await?;
    }
    Ok(())
}

/// Locks the version of the schema until the end of the transaction, and returns it; 0 for a new
/// database.
async fn lock_version(transaction: &Transaction<'_>) -> Result<u32, MigrationError> {
    let messages = match transaction.simple_query(LOCK_VERSION).await {
        Ok(messages) => messages,
        Err(error) if is_name_taken(&error) => return Err(MigrationError::Raced(error)),
        Err(error) => return Err(error.into()),
    };
    let version = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
        _ => None,
    });
    Ok(version.unwrap_or(u32::MAX))
}

/// Runs the steps after the version `from`.
async fn run_steps(transaction: &Transaction<'_>, from: u32) -> Result<(), MigrationError> {
    for (number, step) in (1..).zip(STEPS).skip(from as usize) {
        if number == SPREADSHEET_STEP {
            collect_changed_keys(transaction).await?;
        }
        let is_only_for_new_database = step.contains("CONCURRENTLY");
        if is_only_for_new_database && from > 0 {
            continue;
        }
        let step = step.replace(" CONCURRENTLY", "");
        match transaction.batch_execute(&step).await {
            Ok(()) => {}
            Err(error) if is_name_taken(&error) => return Err(MigrationError::NameTaken(error)),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Puts the unique texts whose keys this release makes in another way into a table for the step
/// [`SPREADSHEET_STEP`]. SQL cannot make these keys.
async fn collect_changed_keys(transaction: &Transaction<'_>) -> Result<(), Error> {
    transaction.batch_execute(CREATE_CHANGED_KEYS).await?;
    let add_key = transaction.prepare(ADD_CHANGED_KEY).await?;
    for row in transaction.query(KEYS_THAT_MAY_CHANGE, &[]).await? {
        let field: String = row.try_get(0)?;
        let pet: i64 = row.try_get(1)?;
        let former_key: String = row.try_get(2)?;
        let value: String = row.try_get(3)?;
        let key = unique_text_key(&value);
        if key != former_key {
            transaction
                .execute(&add_key, &[&field, &pet, &former_key, &key])
                .await?;
        }
    }
    Ok(())
}

/// Returns the error for an operator about the database at `url`.
pub(super) fn cannot_open(url: &str, error: &Error) -> OpenError {
    Unreachable::from(error).into_open_error(url)
}
