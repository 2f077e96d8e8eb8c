//! A store whose commands are those of the store below it.

use std::sync::Arc;

use async_trait::async_trait;
use petstore_domain::{WriteContext, store_area::Command};
use petstore_store::{ExecutionOutcome, ExecutionRenderer, Store, StoreError};

use crate::with_pets::Commands;

/// The commands of a store.
pub struct Unchanged(pub Arc<dyn Store>);

#[async_trait]
impl Commands for Unchanged {
    async fn execute(
        &self,
        commands: Vec<Command>,
        context: WriteContext,
        respond: ExecutionRenderer,
    ) -> Result<ExecutionOutcome, StoreError> {
        self.0.execute(commands, context, respond).await
    }
}
