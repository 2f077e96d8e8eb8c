//! The store area: carries out commands on animals, orders and categories, and reads animals.

pub(super) mod lists;

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt;
use petstore_domain::{
    PetId, WriteContext,
    store_area::{Command, StorePet},
};
use petstore_store::{
    ExecutionOutcome, ExecutionRenderer, StoreArea, StoreError,
    admin::{Database, search_sets},
};
use tokio::sync::oneshot;

use super::{
    PostgresStore,
    commands::{Execution, carry_out},
    pool::Access,
    queue::{CalledWork, worker_stopped},
};

#[async_trait]
impl StoreArea for PostgresStore {
    async fn execute(
        &self,
        commands: Vec<Command>,
        context: WriteContext,
        respond: ExecutionRenderer,
    ) -> Result<ExecutionOutcome, StoreError> {
        // A single command shares the round trips of its group; a batch is carried out on its own.
        let is_single = commands.len() == 1;
        let execution = Execution {
            commands,
            context,
            respond,
        };
        if is_single {
            return self.commands.submit(execution).await;
        }
        let (caller, receiver) = oneshot::channel();
        let request = CalledWork {
            work: execution,
            caller,
        };
        carry_out(Arc::clone(&self.runner), Access::Batch, vec![request]).await;
        receiver.await.unwrap_or_else(|_| Err(worker_stopped()))
    }

    async fn get_store_pet(&self, id: PetId) -> Result<Option<StorePet>, StoreError> {
        self.runner
            .run(Access::Read, (), |connection, ()| {
                lists::read_pet(connection, id).boxed()
            })
            .await
    }

    async fn tend_search(&self, threshold: u64) -> Result<bool, StoreError> {
        let is_due = self.read(threshold, search_sets::needs_merge).await?;
        Ok(is_due && self.write(threshold, search_sets::merge).await?)
    }
}
