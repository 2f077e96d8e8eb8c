//! The state of a store, for its operator.

use async_trait::async_trait;
use petstore_observe::metrics::Exposition;

use super::StoreError;

/// Reports the state of the store.
#[async_trait]
pub trait Health: Send + Sync {
    /// Succeeds if an animal could be added now.
    async fn check_ready(&self) -> Result<(), StoreError>;

    /// Waits until this process can never write again, and returns why. The log says what to do.
    async fn wait_for_end(&self) -> StoreError;

    /// Writes the store's metrics.
    fn expose(&self, exposition: &mut Exposition);
}
