//! The store area: commands as jobs of the writer, and reads.

pub(super) mod changes;
mod execute;
pub(super) mod fields;
mod rows;

use std::sync::{Arc, atomic::Ordering};

use async_trait::async_trait;
use petstore_domain::{
    PetId, WriteContext,
    store_area::{Command, StorePet},
};
use petstore_store::{
    ExecutionOutcome, ExecutionRenderer, StoreArea, StoreError,
    admin::{Database, search_sets},
};

use super::{newest::Newest, store::SqliteStore};
use crate::connection::Connection;

const UNMERGED: &str = "SELECT (SELECT count(*) FROM value_changes)
    + max(0, coalesce((SELECT max(id) FROM pets), 0) - merged) FROM search_state";

#[async_trait]
impl StoreArea for SqliteStore {
    async fn execute(
        &self,
        commands: Vec<Command>,
        context: WriteContext,
        respond: ExecutionRenderer,
    ) -> Result<ExecutionOutcome, StoreError> {
        let batch = Arc::new((commands, context));
        let mut turn = None;
        if batch.0.len() > 1 {
            // This can take milliseconds, in which no other write should wait. So batches take
            // turns, and the writer gets only those that will most likely not be refused.
            let batch = Arc::clone(&batch);
            let refused =
                move |connection: &mut Connection| execute::refused(connection, &batch.0, &batch.1);
            let (refused, taken) = self.batches.read_in_turn(refused).await?;
            if let Some(refused) = refused {
                return Ok(refused);
            }
            turn = Some(taken);
        }
        let execute = move |connection: &Connection, newest: &mut Newest| {
            execute::execute(connection, newest, &batch.0, &batch.1, respond)
        };
        let executed = self.writer.write_without_savepoint(execute).await;
        drop(turn);
        executed
    }

    async fn get_store_pet(&self, id: PetId) -> Result<Option<StorePet>, StoreError> {
        self.readers
            .read(|connection| rows::get_pet(connection, id))
    }

    async fn tend_search(&self, few: u64) -> Result<bool, StoreError> {
        let count = |on: &mut Connection| on.query_row(UNMERGED, [], |row| row.get(0));
        let unmerged = self.readers.read(count).map(i64::unsigned_abs)?;
        self.unmerged.store(unmerged, Ordering::Relaxed);
        Ok(
            self.read(few, search_sets::is_due).await?
                && self.write((), search_sets::merge).await?,
        )
    }
}
