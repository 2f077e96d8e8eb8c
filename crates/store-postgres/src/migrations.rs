//! The schema, as numbered steps. The row of `petstore_schema` has the number of the last step.

use std::time::Duration;

use petstore_domain::{Clock, SystemClock, store_area::unique_text_key};
use petstore_store::{OpenError, OpenMode, open_mode::SET_LABELS};
use tokio::time;
use tokio_postgres::{Client, Error, SimpleQueryMessage, Transaction, error::SqlState};
use tracing::info;

use super::connect::{Session, Unreachable};

/// Step n is at index n - 1. A released step never changes. A step with `CONCURRENTLY` runs only in a
/// new database. A later step removes the indexes.
const STEPS: [&str; KNOWN as usize] = [
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
];

/// The schema version of this release.
const KNOWN: u32 = 34;

/// The step before which [`find_changed_keys`] runs.
const SPREADSHEET_NUMBERS: u32 = 34;

const CREATE_CHANGED_KEYS: &str =
    "CREATE TABLE whole_numbers (field TEXT, pet_id BIGINT, key TEXT, number TEXT)";
const ADD_CHANGED_KEY: &str = "INSERT INTO whole_numbers VALUES ($1, $2, $3, $4)";
/// The keys of other values are letters and digits, in each release.
const KEYS_THAT_MAY_CHANGE: &str =
    "SELECT field, pet_id, key, pets.fields::jsonb ->> field AS value
    FROM unique_values JOIN pets ON pets.id = pet_id
    WHERE field IN (SELECT name FROM fields WHERE kind = 'text')
        AND pets.fields::jsonb ->> field !~ '^[0-9A-Za-z -]*$'";

/// How often processes that start at the same time may conflict. In each conflict, one of them
/// succeeds.
const MAX_ATTEMPTS: u32 = 20;

/// How long to wait for another process that migrates, and for transactions that read a table which
/// is about to change.
const OTHERS_DONE_WITHIN: Duration = Duration::from_mins(10);

/// How long to wait before the next attempt to get a lock.
const PAUSE: Duration = Duration::from_millis(200);

/// A step takes as long as the size of the tables requires. But creates queue behind a statement
/// that waits for a lock, so each such wait is short.
const SETTINGS: &str = "SET LOCAL statement_timeout = 0;
    SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = '1s'";

/// Creates the row and locks it until the end of the transaction, so that processes that start at
/// the same time wait for each other here. A service of the previous release, which takes a KEY
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
    let started = SystemClock.instant();
    let mut attempts = 0;
    let mut has_waited = false;
    loop {
        let found = version(&session.client)
            .await
            .map_err(|error| cannot_open(url, &error))?;
        if is_current(found, mode, url)? {
            return Ok(());
        }
        match migrate(&mut session.client, mode, url).await {
            Err(Stopped::Raced(_)) if attempts < MAX_ATTEMPTS => attempts += 1,
            Err(Stopped::Locked(_))
                if SystemClock.instant().duration_since(started) < OTHERS_DONE_WITHIN =>
            {
                if !has_waited {
                    info!(database = url, "waiting for others before the migration");
                }
                has_waited = true;
                time::sleep(PAUSE).await;
            }
            Err(Stopped::NameTaken(error)) => {
                let table = error.as_db_error().map_or("", |error| error.message());
                let what = table.to_owned();
                return Err(OpenError::NameTaken {
                    path: url.to_owned(),
                    what,
                });
            }
            Err(
                Stopped::Raced(error) | Stopped::Locked(error) | Stopped::ConnectionError(error),
            ) => {
                return Err(cannot_open(url, &error));
            }
            Ok(()) => {}
        }
    }
}

/// Whether the schema has the version of this release. Fails if `mode` does not allow a migration.
fn is_current(found: Option<u32>, mode: OpenMode, url: &str) -> Result<bool, OpenError> {
    let path = url.to_owned();
    match (found, mode) {
        (Some(KNOWN), _) => Ok(true),
        (Some(found), _) if found > KNOWN => Err(OpenError::TooNew {
            path,
            found,
            known: KNOWN,
        }),
        (_, mode) if mode.may_migrate() => Ok(false),
        (None | Some(0), OpenMode::Create) => Ok(false),
        (None | Some(0), _) => Err(OpenError::Empty(path)),
        (Some(found), _) => Err(OpenError::TooOld {
            path,
            found,
            known: KNOWN,
        }),
    }
}

/// Returns the version of the schema; `None` if the database has no petstore schema yet.
async fn version(client: &Client) -> Result<Option<u32>, Error> {
    match client.query_opt(READ_VERSION, &[]).await {
        Ok(None) => Ok(None),
        Ok(Some(row)) => Ok(Some(
            u32::try_from(row.try_get::<_, i64>(0)?).unwrap_or(u32::MAX),
        )),
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(None),
        Err(error) => Err(error),
    }
}

enum Stopped {
    /// Another process migrates at the same time.
    Raced(Error),
    /// Another transaction has a lock.
    Locked(Error),
    /// An object of another program has a name that petstore needs.
    NameTaken(Error),
    ConnectionError(Error),
}

impl From<Error> for Stopped {
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

/// Whether another process created the same object first.
fn is_taken(error: &Error) -> bool {
    let taken = [&SqlState::DUPLICATE_TABLE, &SqlState::DUPLICATE_OBJECT];
    error.code().is_some_and(|code| taken.contains(&code))
}

/// Runs the missing steps in one transaction, if `mode` allows that.
async fn migrate(client: &mut Client, mode: OpenMode, url: &str) -> Result<(), Stopped> {
    let started = SystemClock.instant();
    let transaction = client.transaction().await?;
    transaction.batch_execute(SETTINGS).await?;
    let locked = transaction
        .simple_query(LOCK_VERSION)
        .await
        .map_err(|error| {
            if is_taken(&error) {
                Stopped::Raced(error)
            } else {
                error.into()
            }
        })?;
    // Another process may have migrated first.
    let from = locked.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
        _ => None,
    });
    let from: u32 = from.unwrap_or(u32::MAX);
    if from >= KNOWN || (from > 0 && !mode.may_migrate()) {
        return Ok(());
    }
    if from > 0 {
        info!(database = url, from, to = KNOWN, "migrating the schema");
    }
    for (number, step) in (1..).zip(STEPS).skip(from as usize) {
        if number == SPREADSHEET_NUMBERS {
            find_changed_keys(&transaction).await?;
        }
        if from == 0 || !step.contains("CONCURRENTLY") {
            let step = step.replace(" CONCURRENTLY", "");
            transaction.batch_execute(&step).await.map_err(in_step)?;
        }
    }
    if from == 0 {
        for (label, choices, name) in mode.labels() {
            transaction
                .execute(SET_LABELS, &[&label, &choices, &name])
                .await?;
        }
    }
    transaction
        .execute(SET_VERSION, &[&i64::from(KNOWN)])
        .await?;
    transaction.commit().await?;
    if from > 0 {
        let took = SystemClock.instant().saturating_duration_since(started);
        let duration_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        info!(
            database = url,
            from,
            to = KNOWN,
            duration_us,
            "migrated the schema"
        );
    }
    Ok(())
}

/// Puts the keys of unique texts that differ from those of their values into a table for the step
/// [`SPREADSHEET_NUMBERS`]. SQL cannot make these keys.
async fn find_changed_keys(transaction: &Transaction<'_>) -> Result<(), Error> {
    transaction.batch_execute(CREATE_CHANGED_KEYS).await?;
    let add = transaction.prepare(ADD_CHANGED_KEY).await?;
    for row in transaction.query(KEYS_THAT_MAY_CHANGE, &[]).await? {
        let field: String = row.try_get(0)?;
        let pet: i64 = row.try_get(1)?;
        let former: String = row.try_get(2)?;
        let value: String = row.try_get(3)?;
        let key = unique_text_key(&value);
        if key != former {
            transaction
                .execute(&add, &[&field, &pet, &former, &key])
                .await?;
        }
    }
    Ok(())
}

fn in_step(error: Error) -> Stopped {
    if is_taken(&error) {
        Stopped::NameTaken(error)
    } else {
        error.into()
    }
}

pub(super) fn cannot_open(url: &str, error: &Error) -> OpenError {
    Unreachable::from(error).opening(url)
}
