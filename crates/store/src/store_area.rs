//! The commands of the store area, which each store executes in its own way.

use async_trait::async_trait;
use petstore_domain::{
    PetId, StoredResponse, WriteContext,
    store_area::{Change, Command, Decision, Refusal, StorePet},
};

use super::StoreError;

/// Executes the commands of the store area.
#[async_trait]
pub trait StoreArea: Send + Sync {
    /// Executes `commands` in one transaction, in order: each command sees the effects of the
    /// commands before it. [`petstore_domain::store_area::decide`] decides each of them against the
    /// state that the transaction reads. The first refusal rolls back all of them.
    ///
    /// If the request has an idempotency key, its commands take effect only once: see
    /// [`super::Pets::create_pet`]. A refused request is not remembered.
    async fn execute(
        &self,
        commands: Vec<Command>,
        context: WriteContext,
        respond: ExecutionRenderer,
    ) -> Result<ExecutionOutcome, StoreError>;

    /// Reads the animal with this identifier, withdrawn or not.
    async fn get_store_pet(&self, id: PetId) -> Result<Option<StorePet>, StoreError>;

    /// Merges a batch of added or changed animals into the sets of the search. Returns whether more
    /// animals may be waiting.
    ///
    /// Does nothing unless more than `threshold` animals are waiting, or their names and values are
    /// so long that they slow down searches. Searches are exact at any time; a backlog only makes
    /// them slower.
    async fn tend_search(&self, threshold: u64) -> Result<bool, StoreError>;
}

/// The result of [`StoreArea::execute`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecutionOutcome {
    /// All commands were executed.
    Done {
        /// The response that the renderer made.
        response: StoredResponse,
        /// The changes, for the log and the metrics.
        changes: Vec<Change>,
    },
    /// The same request was executed before, with this response.
    Replayed(StoredResponse),
    /// Nothing was done: the idempotency key was used before for another request.
    IdempotencyConflict,
    /// Nothing was done: a command was refused.
    Refused {
        /// The position of the refused command, from 0.
        index: usize,
        /// The reason why the command was refused.
        refusal: Refusal,
    },
}

/// A function that renders the response to executed commands from their decisions.
pub type ExecutionRenderer = fn(&[Decision]) -> StoredResponse;
