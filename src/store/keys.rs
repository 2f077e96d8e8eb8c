//! The API keys of a store.

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreError;
use crate::domain::{KeyDigest, KeyId, KeyRecord, KeyUse, NewKey, WriteContext};

/// Stores API keys.
#[async_trait]
pub trait Keys: Send + Sync {
    /// Adds a key.
    async fn create_key(&self, key: NewKey, context: WriteContext)
    -> Result<KeyRecord, StoreError>;

    /// The key with this digest, valid or not.
    async fn find_key(&self, digest: &KeyDigest) -> Result<Option<KeyRecord>, StoreError>;

    /// The digest of every key, valid or not, in any order.
    async fn key_digests(&self) -> Result<Vec<KeyDigest>, StoreError>;

    /// The key with this number, valid or not.
    async fn get_key(&self, id: KeyId) -> Result<Option<KeyRecord>, StoreError>;

    /// Every key, valid or not, in ascending order of number.
    async fn list_keys(&self) -> Result<Vec<KeyRecord>, StoreError>;

    /// Revokes a key, and returns its new state. An earlier revocation keeps its date.
    async fn revoke_key(
        &self,
        id: KeyId,
        context: WriteContext,
    ) -> Result<Option<KeyRecord>, StoreError>;

    /// Adds `successor` and lets the key `id` expire at `until`, unless it expires sooner: both or
    /// neither. Returns the successor. Returns `None` and changes nothing if the key `id` does not
    /// exist, or already has a successor.
    async fn rotate_key(
        &self,
        id: KeyId,
        successor: NewKey,
        until: Timestamp,
        context: WriteContext,
    ) -> Result<Option<KeyRecord>, StoreError>;

    /// The first key of the lineage of the key `id`, found by following its rotations back. It
    /// never changes. It is `id` itself if that key is not a successor.
    async fn first_of_lineage(&self, id: KeyId) -> Result<KeyId, StoreError>;

    /// Records when keys were last used, and when they last called the deprecated operation.
    /// Ignores times earlier than the recorded ones, and unknown keys.
    async fn record_key_uses(&self, uses: Vec<KeyUse>) -> Result<(), StoreError>;
}
