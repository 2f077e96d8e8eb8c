//! The promises of a store for the store area.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use async_trait::async_trait;
use petstore_domain::{
    PetId, StoredResponse, WriteContext,
    store_area::{Change, Command, Decision, Refusal, StorePet},
};

use super::StoreError;

/// Carries out the commands of the store area, with what each store does in its own way.
#[async_trait]
pub trait StoreArea: Send + Sync {
    /// Carries out `commands` in one transaction, in this order: each command sees the effect of the commands
    /// before it. [`petstore_domain::store_area::decide`] decides about each, with the state that the
    /// transaction reads. The first refusal undoes all of them.
    ///
    /// If the client may repeat the request, it has its effect only once: see
    /// [`super::Pets::create_pet`]. A refused request is not remembered.
    async fn execute(
        &self,
        commands: Vec<Command>,
        context: WriteContext,
        respond: ExecutionRenderer,
    ) -> Result<ExecutionOutcome, StoreError>;

    /// Reads the animal with this identifier, withdrawn or not.
    async fn get_store_pet(&self, id: PetId) -> Result<Option<StorePet>, StoreError>;

    /// Merges some of the animals that were added or changed into the sets of the search, if more than
    /// `few` wait for it, or if their names and values are so long that they make the search slow.
    /// Returns whether there may be more to do. The search is exact at every moment.
    async fn tend_search(&self, few: u64) -> Result<bool, StoreError>;
}

/// The result of [`StoreArea::execute`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecutionOutcome {
    Done {
        response: StoredResponse,
        /// The changes, for the log and the metrics.
        changes: Vec<Change>,
    },
    /// The same request was carried out before, with this response.
    Replayed(StoredResponse),
    /// Nothing was done: the idempotency key was used before, for another request.
    IdempotencyConflict,
    Refused {
        /// The position of the command, from 0.
        index: usize,
        refusal: Refusal,
    },
}

/// A function that renders the response to carried out commands.
pub type ExecutionRenderer = fn(&[Decision]) -> StoredResponse;
