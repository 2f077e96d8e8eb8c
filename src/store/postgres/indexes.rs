//! The indexes of large tables. For a new database they are part of the schema. For an older one they
//! are built in the background, while the service runs: with ten million animals, that takes minutes.

use std::time::Duration;

use tokio::time;
use tokio_postgres::{Client, Error};
use tracing::info;

use super::{errors::Failure, name_keys::set_keys};

/// Each statement has the name of an index after `CONCURRENTLY`.
const STEP: &str = include_str!("../../../migrations/postgres/0007_search.sql");

const SETTINGS: &str = "SET statement_timeout = 0; SET enable_seqscan = on";

/// The server ends this lock with the session, and the session after its last statement. So it also
/// protects an index whose construction goes on after its service was stopped.
const LOCK: &str = "SELECT pg_try_advisory_lock(8099990)";
/// How long to wait before the next attempt to get the lock.
const PAUSE: Duration = Duration::from_secs(1);

/// Whether an index is complete. Its construction may have been interrupted.
const IS_VALID: &str = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1::text)";
const NAMES_WITHOUT_KEY: &str = "SELECT id, left(name, 256) FROM pets
    WHERE id > $1 AND name_key IS NULL AND length(name) <> octet_length(name)
    ORDER BY id LIMIT 1000";

/// The names of the indexes, each with the statement that builds it.
fn indexes() -> impl Iterator<Item = (&'static str, &'static str)> + Send {
    STEP.split_inclusive(';').filter_map(|statement| {
        let (_, index) = statement.split_once(" CONCURRENTLY ")?;
        Some((index.split_whitespace().next()?, statement))
    })
}

pub(super) async fn are_built(client: &Client) -> Result<bool, Failure> {
    for (index, _) in indexes() {
        if is_valid(client, index).await? != Some(true) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `None` if there is no such index.
async fn is_valid(client: &Client, index: &str) -> Result<Option<bool>, Error> {
    client.query_opt(IS_VALID, &[&index]).await?.map(|row| row.try_get(0)).transpose()
}

/// Builds the indexes that are not complete, after the names have their keys. Waits for another
/// process that builds them. The session must have no other use.
pub(super) async fn build(client: &Client) -> Result<(), Error> {
    client.batch_execute(SETTINGS).await?;
    while !client.query_one(LOCK, &[]).await?.try_get::<_, bool>(0)? {
        time::sleep(PAUSE).await;
    }
    let mut after = 0_i64;
    loop {
        let rows = client.query(NAMES_WITHOUT_KEY, &[&after]).await?;
        let Some(last) = rows.last() else { break };
        after = last.try_get(0)?;
        set_keys(client, &rows).await?;
    }
    for (index, statement) in indexes() {
        match is_valid(client, index).await? {
            Some(true) => continue,
            Some(false) => {
                let drop = format!("DROP INDEX CONCURRENTLY {index}");
                client.batch_execute(&drop).await?;
            }
            None => {}
        }
        info!(index, "building an index");
        client.batch_execute(statement).await?;
    }
    Ok(())
}
