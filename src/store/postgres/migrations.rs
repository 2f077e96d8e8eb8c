//! The schema, as numbered steps. The row of `petstore_schema` has the number of the last step.

use std::sync::Arc;

use tokio_postgres::{Client, Error, GenericClient, error::SqlState};
use tracing::info;

use super::connect::Unreachable;
use crate::{
    domain::{Clock, SystemClock},
    store::{OpenError, OpenMode},
};

/// Step n is at index n - 1. A released step never changes.
const STEPS: [&str; KNOWN as usize] = [
    include_str!("../../../migrations/postgres/0001_catalogue.sql"),
    include_str!("../../../migrations/postgres/0002_deprecated_calls.sql"),
    include_str!("../../../migrations/postgres/0003_idempotency_marks.sql"),
    include_str!("../../../migrations/postgres/0004_etag_key.sql"),
    include_str!("../../../migrations/postgres/0005_requests.sql"),
    include_str!("../../../migrations/postgres/0006_store_area.sql"),
];

/// The schema version of this release.
const KNOWN: u32 = 6;

/// How often processes that start at the same time may conflict. In each conflict, one of them
/// succeeds.
const MAX_ATTEMPTS: u32 = 20;

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
pub(super) async fn run(client: &mut Client, mode: OpenMode, url: &str) -> Result<(), OpenError> {
    let mut attempts = 0;
    loop {
        let found = version(client).await.map_err(|error| cannot_open(url, &error))?;
        if is_current(found, mode, url)? {
            return Ok(());
        }
        attempts += 1;
        match migrate(client, mode, url).await {
            Err(Stopped::Raced(_)) if attempts < MAX_ATTEMPTS => {}
            Err(Stopped::NameTaken(error)) => {
                let table = error.as_db_error().map_or("", |error| error.message());
                let what = table.to_owned();
                return Err(OpenError::NameTaken { path: url.to_owned(), what });
            }
            Err(Stopped::Raced(error) | Stopped::Failed(error)) => {
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
        (Some(found), _) if found > KNOWN => Err(OpenError::TooNew { path, found, known: KNOWN }),
        (_, OpenMode::CreateAndMigrate) | (None | Some(0), OpenMode::Create) => Ok(false),
        (None | Some(0), OpenMode::AsIs) => Err(OpenError::Absent(path)),
        (Some(found), _) => Err(OpenError::TooOld { path, found, known: KNOWN }),
    }
}

/// The version of the schema; `None` if the database has no petstore schema yet.
async fn version(client: &impl GenericClient) -> Result<Option<u32>, Error> {
    match client.query_opt(READ_VERSION, &[]).await {
        Ok(None) => Ok(None),
        Ok(Some(row)) => Ok(Some(u32::try_from(row.try_get::<_, i64>(0)?).unwrap_or(u32::MAX))),
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Why the migration stopped.
enum Stopped {
    /// Another process migrates at the same time.
    Raced(Error),
    /// An object of another program has a name that petstore needs.
    NameTaken(Error),
    Failed(Error),
}

/// Runs the missing steps that `mode` allows: all or none.
async fn migrate(client: &mut Client, mode: OpenMode, url: &str) -> Result<(), Stopped> {
    let raced = |error: Error| {
        let is_conflict = error.code().is_some_and(|code| {
            code.code().starts_with("40")
                || [
                    SqlState::UNIQUE_VIOLATION,
                    SqlState::DUPLICATE_TABLE,
                    SqlState::DUPLICATE_OBJECT,
                ]
                .contains(code)
        });
        if is_conflict { Stopped::Raced(error) } else { Stopped::Failed(error) }
    };
    let started = SystemClock.instant();
    let transaction = client.transaction().await.map_err(Stopped::Failed)?;
    transaction.batch_execute(LOCK_VERSION).await.map_err(raced)?;
    // Another process may have migrated first.
    let from = version(&transaction).await.map_err(raced)?.unwrap_or(0);
    if from >= KNOWN || (from > 0 && mode != OpenMode::CreateAndMigrate) {
        return Ok(());
    }
    if from > 0 {
        info!(database = url, from, to = KNOWN, "migrating the schema");
    }
    for step in STEPS.iter().skip(from as usize) {
        transaction.batch_execute(step).await.map_err(|error| match error.code() {
            Some(&SqlState::DUPLICATE_TABLE | &SqlState::DUPLICATE_OBJECT) => {
                Stopped::NameTaken(error)
            }
            _ => raced(error),
        })?;
    }
    transaction.execute(SET_VERSION, &[&i64::from(KNOWN)]).await.map_err(raced)?;
    transaction.commit().await.map_err(raced)?;
    if from > 0 {
        let took = SystemClock.instant().saturating_duration_since(started);
        let duration_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        info!(database = url, from, to = KNOWN, duration_us, "migrated the schema");
    }
    Ok(())
}

pub(super) fn cannot_open(url: &str, error: &Error) -> OpenError {
    OpenError::Io { path: url.to_owned(), cause: Arc::new(Unreachable::from(error)) }
}
