//! What a store promises for the files of photos.

use async_trait::async_trait;
use jiff::Timestamp;

use super::StoreError;
use crate::domain::store_area::PhotoId;

/// Knows which files the photos of all animals need, withdrawn or not.
#[async_trait]
pub trait PhotoFiles: Send + Sync {
    /// The incarnation of the database, which no copy of it has: that of a backup, of a dump, or of a
    /// template. Processes on one database have the same, also after a failover to a standby.
    async fn incarnation(&self) -> Result<String, StoreError>;

    /// The photos whose identifiers begin with this byte, in their order.
    async fn photos_in(&self, shard: u8) -> Result<Vec<PhotoId>, StoreError>;

    /// Notes which files with identifiers that begin with this byte no photo has, at `now`, of all
    /// `present` ones. Returns those that were noted at `until` or before, and that no photo has.
    async fn note_orphans(
        &self,
        shard: u8,
        present: Vec<PhotoId>,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<PhotoId>, StoreError>;
}
