//! What a store promises for fields.

use async_trait::async_trait;

use super::{StoreError, Written};
use crate::domain::{
    PetId, StoredResponse, WriteContext,
    store_area::{Act, FieldChange, FieldName, FieldSet, Owner, UniqueKey},
};

/// Stores the fields with which animals are described.
#[async_trait]
pub trait Fields: Send + Sync {
    /// All fields.
    async fn fields(&self) -> Result<FieldSet, StoreError>;

    /// The animals in the catalogue that have a unique value: one, or several of [`Self::shared_values`].
    async fn owners(&self, of: UniqueKey) -> Result<Vec<PetId>, StoreError>;

    /// The first animals that have a unique value together with another one, those of a value together. A
    /// migration found them when values began to be compared without separators.
    async fn shared_values(&self) -> Result<Vec<Owner>, StoreError>;

    /// Begins to look for values of a field, unless any field has changed since `seen`. Afterwards,
    /// the fields have the next version, and each transaction that writes a value of this one says
    /// so. Returns whether it began.
    async fn examine_field(&self, name: FieldName, seen: i64) -> Result<bool, StoreError>;

    /// Makes a change, records the act, and remembers the response if the client may repeat the
    /// request. [`Written::Stale`] if any field has changed since the change was decided, or if a
    /// value of the field was written although [`FieldChange::must_be_unused`].
    async fn write_field(
        &self,
        change: Option<FieldChange>,
        act: Option<Act>,
        response: StoredResponse,
        context: WriteContext,
    ) -> Result<Written, StoreError>;
}
