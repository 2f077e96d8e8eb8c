//! The remembered requests of a store.

use async_trait::async_trait;

use super::StoreError;

/// Forgets old requests. Each is remembered by the write that it asks for, such as
/// [`super::Pets::create_pet`].
#[async_trait]
pub trait Requests: Send + Sync {
    /// Adds a mark after all remembered requests, if `seen` is still the newest mark, and returns
    /// the newest mark. Marks count from 1; 0 means that there is no mark.
    async fn mark_idempotency_keys(&self, seen: Option<i64>) -> Result<i64, StoreError>;

    /// Forgets requests older than the mark that is `marks` before the newest one: the oldest
    /// first, and at most `limit`. Returns how many.
    async fn forget_idempotency_keys(&self, marks: i64, limit: u32) -> Result<usize, StoreError>;
}
