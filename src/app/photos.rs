//! The work that keeps the place of photos tidy.

use std::{io, sync::Arc};

use jiff::SignedDuration;
use tracing::info;

use super::App;
use crate::{
    photos::{PhotoError, ShardFiles, Walk},
    store::{Cause, StoreError},
};

/// How long a file stays that no photo has: backups and caches may still need it.
const KEPT: SignedDuration = SignedDuration::from_hours(24);

impl App {
    /// Looks at the files of some photos. Notes those that no photo has, and deletes them a day later.
    /// Returns whether there is more to do before the next walk.
    pub async fn tend_photos(&self) -> Result<bool, StoreError> {
        let Some(place) = self.photos.place() else { return Ok(false) };
        let mut walk = self.photos.walk.lock().await;
        let shard = walk.shard;
        let ShardFiles { photos, bytes } = self.of_place(place.list(shard).await)?;
        (walk.photos, walk.bytes) = (walk.photos + photos.len() as u64, walk.bytes + bytes);
        // Not by the times of files: their clock can be another one, and wrong.
        // Another database may need what this one does not know.
        if !self.of_place(place.is_shared().await)?
            && let Some(now) = self.confirmed_clock.now().await?
            && let Ok(until) = now.checked_sub(KEPT)
        {
            let present = photos.into_keys().collect();
            let due = self.store.note_orphans(shard, present, now, until).await?;
            for &id in &due {
                self.of_place(place.delete(id).await)?;
            }
            if !due.is_empty() {
                let count = due.len();
                info!(count, "deleted the files of photos that no animal has had for a day");
            }
        }
        walk.shard = shard.wrapping_add(1);
        let has_more = walk.shard != 0;
        if !has_more {
            self.photos.metrics.note(walk.photos, walk.bytes);
            *walk = Walk::default();
        }
        Ok(has_more)
    }

    /// The result of work in the place of photos.
    fn of_place<T>(&self, done: io::Result<T>) -> Result<T, StoreError> {
        done.map_err(|error| {
            self.photos.metrics.failures.count();
            StoreError::Unavailable(Arc::new(PhotoError::from(error)) as Cause)
        })
    }
}
