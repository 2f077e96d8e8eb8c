//! The indexes of large tables. For a new database they are part of the schema. For an older one they
//! are built in the background, while the service runs: with ten million animals, that takes minutes.

use std::time::Duration;

use tokio::time;
use tokio_postgres::{Client, Error};
use tracing::info;

use super::{
    errors::Failure,
    name_keys::{set_keys, without_words},
};

/// Each statement has the name of an index after `CONCURRENTLY`.
const STEPS: [&str; 2] = [
    include_str!("../../../migrations/postgres/0007_search.sql"),
    include_str!("../../../migrations/postgres/0017_words_index.sql"),
];

const SETTINGS: &str = "SET statement_timeout = 0; SET enable_seqscan = on";

/// The server ends this lock with the session, and the session after its last statement. So it also
/// protects an index whose construction goes on after its service was stopped.
const LOCK: &str = "SELECT pg_try_advisory_lock(8099990)";
/// How long to wait before the next attempt to get the lock.
const PAUSE: Duration = Duration::from_secs(1);

/// Whether an index is complete. Its construction may have been interrupted.
const IS_VALID: &str = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1::text)";

/// The names of the indexes, each with the statement that builds it.
fn indexes() -> impl Iterator<Item = (&'static str, &'static str)> + Send {
    STEPS.into_iter().flat_map(|step| step.split_inclusive(';')).filter_map(|statement| {
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
    for table in ["pets", "withdrawn_pets"] {
        let without = concat!("WHERE id > $1 AND ", without_words!(), " ORDER BY id LIMIT 1000");
        let without = format!("SELECT id, left(name, 256) FROM {table} {without}");
        let mut after = 0_i64;
        loop {
            let rows = client.query(&without, &[&after]).await?;
            let Some(last) = rows.last() else { break };
            after = last.try_get(0)?;
            set_keys(client, table, &rows).await?;
        }
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
