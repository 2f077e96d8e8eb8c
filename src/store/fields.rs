//! What a store promises for fields.

use async_trait::async_trait;

use super::{StoreError, Written};
use crate::domain::{
    StoredResponse, WriteContext,
    store_area::{Act, FieldChange, FieldSet},
};

/// Stores the fields with which animals are described.
#[async_trait]
pub trait Fields: Send + Sync {
    /// All fields.
    async fn fields(&self) -> Result<FieldSet, StoreError>;

    /// Makes a change, records the act, and remembers the response if the client may repeat the
    /// request. [`Written::Stale`] if any field has changed since the change was decided.
    async fn write_field(
        &self,
        change: Option<FieldChange>,
        act: Option<Act>,
        response: StoredResponse,
        context: WriteContext,
    ) -> Result<Written, StoreError>;
}
