//! Whether the store can write, and its metrics.

use std::{future::pending, sync::atomic::Ordering};

use async_trait::async_trait;
use rusqlite::Connection;

use super::store::SqliteStore;
use crate::{
    observe::metrics::Exposition,
    store::{Health, StoreError},
};

const INSERT: &str =
    "INSERT INTO pets (name, category_id, status) VALUES ('trial', 0, 'available')";

#[async_trait]
impl Health for SqliteStore {
    async fn check_ready(&self) -> Result<(), StoreError> {
        self.writer.write(try_to_insert).await
    }

    async fn ended(&self) -> StoreError {
        let mut ended = self.writer.ended();
        match ended.wait_for(Option::is_some).await.ok().and_then(|change| change.clone()) {
            Some(change) => change.into(),
            // The store is being closed.
            None => pending().await,
        }
    }

    fn expose(&self, page: &mut Exposition) {
        self.writer.expose(page);
        let size = self.wal.metadata().map_or(0, |wal| wal.len());
        page.number("petstore_wal_size_bytes", "The size of the write-ahead log.", size);
        let help = "New and changed animals that a search reads one by one.";
        let unmerged = self.unmerged.load(Ordering::Relaxed);
        page.number("petstore_search_unmerged_animals", help, unmerged);
    }
}

/// Adds an animal and rolls it back. The commit still writes the pages that were changed and
/// restored.
fn try_to_insert(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("SAVEPOINT trial")?;
    connection.execute(INSERT, [])?;
    connection.execute_batch("ROLLBACK TO trial; RELEASE trial")
}
