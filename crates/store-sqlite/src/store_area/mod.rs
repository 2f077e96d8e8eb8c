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

/// The query for the number of changed and new animals that are not yet merged into the index of the
/// search.
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
        if batch.commands.len() < 2 {
            return self.write_batch(batch, respond).await;
        }
        // Deciding a batch can take milliseconds, during which all other writes would wait. So decide it
        // first on a connection that reads, one batch at a time. Only a batch that is accepted there
        // goes to the writer, which will most likely accept it, too.
        let batch_to_decide = Arc::clone(&batch);
        let first_decision = self
            .batches
            .read_in_turn(move |connection| {
                let Batch { commands, context } = &*batch_to_decide;
                execute::find_refusal(connection, commands, context)
            })
            .await?;
        if let Some(refusal) = first_decision.value {
            return Ok(refusal);
        }
        let outcome = self.write_batch(batch, respond).await;
        // The turn lasts until the write is done, so at most one batch whose client still waits is in
        // the queue of the writer.
        drop(first_decision.turn);
        outcome
    }

    async fn get_store_pet(&self, id: PetId) -> Result<Option<StorePet>, StoreError> {
        self.readers
            .read(|connection| rows::get_pet(connection, id))
    }

    async fn tend_search(&self, threshold: u64) -> Result<bool, StoreError> {
        let unmerged_animals: i64 = self
            .readers
            .read(|connection| connection.query_row(COUNT_UNMERGED, [], |row| row.get(0)))?;
        self.unmerged_animals
            .store(unmerged_animals.unsigned_abs(), Ordering::Relaxed);
        let is_due = self.read(threshold, search_sets::needs_merge).await?;
        Ok(is_due && self.write(threshold, search_sets::merge).await?)
    }
}

/// The commands of a request, shared by the first decision and the write.
struct Batch {
    commands: Vec<Command>,
    context: WriteContext,
}

impl SqliteStore {
    /// Carries out the commands of a request in a job of the writer.
    async fn write_batch(
        &self,
        batch: Arc<Batch>,
        respond: ExecutionRenderer,
    ) -> Result<ExecutionOutcome, StoreError> {
        self.writer
            .write_without_savepoint(move |connection, newest| {
                let Batch { commands, context } = &*batch;
                execute::execute(connection, newest, commands, context, respond)
            })
            .await
    }
}
