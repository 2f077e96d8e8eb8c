//! The work that keeps the place of photos tidy.

use std::{io, mem, sync::Arc};

use jiff::SignedDuration;
use petstore_domain::store_area::{PhotoId, PhotoSize};
use petstore_photos::{self as photos, PhotoError, ShardFiles, WalkProgress};
use petstore_store::{Cause, StoreError};
use tracing::{info, warn};

use super::App;

/// How long a file stays that no photo has: backups and caches may still need it.
const KEPT: SignedDuration = SignedDuration::from_hours(24);

impl App {
    /// Looks at the files of some photos. Notes those that no photo has, and deletes them a day later.
    /// Returns whether there is more to do before the next walk.
    pub async fn tend_photos(&self) -> Result<bool, StoreError> {
        let Some(place) = self.photos.place() else {
            return Ok(false);
        };
        let mut walk = self.photos.walk.lock().await;
        let shard = walk.shard;
        let own = photos::database_mark(&self.store.etag_key(), &self.store.incarnation().await?);
        let others = self.of_place(place.other_marks(&own).await)?;
        // Their files were there before they were.
        let needed = self.store.photos_in(shard).await?;
        let mut failed = None;
        let mut keep_on = |error| {
            self.photos.metrics.failures.count();
            failed.get_or_insert(error);
        };
        let listed = place.list(shard).await.map_err(&mut keep_on);
        if let Ok(ShardFiles { photos, bytes }) = listed {
            let has =
                |id: &PhotoId, size| photos.get(id).is_some_and(|sizes| sizes.contains(&size));
            let is_complete = |id: &&PhotoId| {
                PhotoSize::ALL
                    .into_iter()
                    .all(|size| size.is_made_later() || has(id, size))
            };
            let complete: Vec<_> = needed.iter().filter(is_complete).collect();
            let missing = needed.len() - complete.len();
            let without_card = complete.into_iter().filter(|id| !has(id, PhotoSize::Card));
            self.photos.note_without_card(without_card.copied());
            let count = photos.len() as u64;
            // Not by the times of files: their clock can be another one, and wrong.
            // Another database may need what this one does not know.
            if others.is_empty()
                && let Some(now) = self.confirmed_clock.now().await?
                && let Ok(until) = now.checked_sub(KEPT)
            {
                let present = photos.into_keys().collect();
                let due = self.store.note_orphans(shard, present, now, until).await?;
                let mut deleted = 0;
                for id in due {
                    match place.delete(id).await {
                        Ok(()) => deleted += 1,
                        Err(error) => keep_on(error),
                    }
                }
                if deleted > 0 {
                    info!(
                        deleted,
                        "deleted the files of photos that no animal has had for a day"
                    );
                }
            }
            walk.photos += count;
            walk.bytes += bytes;
            walk.missing += missing as u64;
        }
        walk.first_error = walk.first_error.take().or(failed);
        walk.shard = shard.wrapping_add(1);
        if walk.shard != 0 {
            return Ok(true);
        }
        let WalkProgress {
            photos,
            bytes,
            missing,
            first_error,
            ..
        } = mem::take(&mut *walk);
        self.photos
            .metrics
            .note([photos, bytes, missing, 1 + others.len() as u64]);
        if missing > 0 {
            warn!(%place, missing, "photos have no files in this place; is it the right one?");
        }
        if !others.is_empty() {
            warn!(
                %place,
                own,
                others = others.join(" "),
                "the place of photos has marks of other databases in `owners`, or of an earlier copy of \
                 this one, so no files are deleted; delete the marks of databases that no longer use it"
            );
        }
        first_error.map_or(Ok(false), |error| Err(unavailable(error)))
    }

    /// Returns the result of work in the place of photos.
    fn of_place<T>(&self, done: io::Result<T>) -> Result<T, StoreError> {
        done.inspect_err(|_| self.photos.metrics.failures.count())
            .map_err(unavailable)
    }
}

fn unavailable(error: io::Error) -> StoreError {
    StoreError::Unavailable(Arc::new(PhotoError::from(error)) as Cause)
}
