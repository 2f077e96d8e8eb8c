//! The work that keeps the place of photos tidy.

use std::sync::Arc;

use jiff::SignedDuration;
use tokio::task;
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
        let (shard, in_place) = (walk.shard, Arc::clone(place));
        let listed = task::spawn_blocking(move || {
            if in_place.exists()? {
                in_place.prepare()?;
            }
            Ok((in_place.list(shard)?, in_place.is_shared()?))
        });
        let (ShardFiles { photos, bytes }, is_shared) = self.of_place(listed.await)?;
        (walk.photos, walk.bytes) = (walk.photos + photos.len() as u64, walk.bytes + bytes);
        // Not by the times of files: their clock can be another one, and wrong.
        // Another database may need what this one does not know.
        if !is_shared
            && let Some(now) = self.confirmed_clock.now().await?
            && let Ok(until) = now.checked_sub(KEPT)
        {
            let present = photos.into_keys().collect();
            let due = self.store.note_orphans(shard, present, now, until).await?;
            if !due.is_empty() {
                let (count, in_place) = (due.len(), Arc::clone(place));
                let deleted = task::spawn_blocking(move || {
                    due.into_iter().try_for_each(|id| in_place.delete(id))
                });
                self.of_place(deleted.await)?;
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
    fn of_place<T>(
        &self,
        done: Result<std::io::Result<T>, task::JoinError>,
    ) -> Result<T, StoreError> {
        let done = done.map_err(PhotoError::from).and_then(|done| Ok(done?));
        done.map_err(|error| {
            self.photos.metrics.failures.count();
            StoreError::Unavailable(Arc::new(error) as Cause)
        })
    }
}
