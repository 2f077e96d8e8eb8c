//! The health of a store, for readiness checks and metrics.

use async_trait::async_trait;
use petstore_observe::metrics::Exposition;

use super::StoreError;

/// Reports the health of a store.
#[async_trait]
pub trait Health: Send + Sync {
    /// Checks that the store would accept a new animal at this moment.
    async fn check_ready(&self) -> Result<(), StoreError>;

    /// Waits until this process can never write again, for example because its database files were
    /// replaced, and returns the reason. The log tells the operator what to do.
    async fn wait_for_fatal_error(&self) -> StoreError;

    /// Writes the metrics of the store.
    fn expose(&self, exposition: &mut Exposition);
}
