//! The store area: carries out commands as jobs of the writer, and reads animals.

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

use super::store::SqliteStore;

const COUNT_UNMERGED: &str = "SELECT (SELECT count(*) FROM value_changes)
    + max(0, coalesce((SELECT max(id) FROM pets), 0) - merged) FROM search_state";

#[async_trait]
impl StoreArea for SqliteStore {
    async fn execute(
        &self,
        commands: Vec<Command>,
        context: WriteContext,
        respond: ExecutionRenderer,
    ) -> Result<ExecutionOutcome, StoreError> {
        let batch = Arc::new(Batch { commands, context });
        let mut turn = None;
        if batch.commands.len() > 1 {
            // Deciding a batch can take milliseconds, during which all other writes would wait. So decide
            // it first on a connection that reads, one batch at a time. Only a batch that is accepted
            // there goes to the writer, which will most likely accept it, too. The turn lasts until the
            // write is done.
            let batch = Arc::clone(&batch);
            let (refusal, batch_turn) = self
                .batches
                .read_in_turn(move |connection| {
                    execute::find_refusal(connection, &batch.commands, &batch.context)
                })
                .await?;
            if let Some(refusal) = refusal {
                return Ok(refusal);
            }
            turn = Some(batch_turn);
        }
        let outcome = self
            .writer
            .write_without_savepoint(move |connection, newest| {
                execute::execute(connection, newest, &batch.commands, &batch.context, respond)
            })
            .await;
        drop(turn);
        outcome
    }

    async fn get_store_pet(&self, id: PetId) -> Result<Option<StorePet>, StoreError> {
        self.readers
            .read(|connection| rows::get_pet(connection, id))
    }

    async fn tend_search(&self, threshold: u64) -> Result<bool, StoreError> {
        let count: i64 = self
            .readers
            .read(|connection| connection.query_row(COUNT_UNMERGED, [], |row| row.get(0)))?;
        self.unmerged_animals
            .store(count.unsigned_abs(), Ordering::Relaxed);
        let is_due = self.read(threshold, search_sets::needs_merge).await?;
        Ok(is_due && self.write(threshold, search_sets::merge).await?)
    }
}

/// The commands of a request, shared by the first decision and the write.
struct Batch {
    commands: Vec<Command>,
    context: WriteContext,
}
