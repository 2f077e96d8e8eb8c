//! Maintains the photo storage: finds missing and orphaned files, and deletes the orphaned files.
//!
//! The storage has 256 shards. A walk checks the files of all of them, one after another
//! ([`App::tend_photos`]). Each database that uses a storage leaves its mark there, which is a
//! file. While there is the mark of another database, no files are deleted, because the other
//! database may need them.

use std::{io, mem, sync::Arc};

use jiff::SignedDuration;
use petstore_domain::store_area::{PhotoId, PhotoSize};
use petstore_observe::metrics::PhotoCounts;
use petstore_photos::{self as photos, PhotoError, PhotoStorage, ShardFiles, WalkProgress};
use petstore_store::{Cause, StoreError};
use tracing::{info, warn};

use super::App;

/// How long the files of photos that no animal has are kept. Backups and caches may still need
/// them.
const ORPHAN_RETENTION: SignedDuration = SignedDuration::from_hours(24);

impl App {
    /// Checks the files of the next shard of the photo storage. Returns whether the walk has more
    /// shards.
    ///
    /// Records orphaned files, and deletes them a day later. Nothing is deleted while the storage
    /// has the mark of another database.
    pub async fn tend_photos(&self) -> Result<bool, StoreError> {
        let Some(storage) = self.photos.storage() else {
            return Ok(false);
        };
        let mut walk = self.photos.walk.lock().await;
        let own_mark =
            photos::database_mark(&self.store.etag_key(), &self.store.incarnation().await?);
        let other_marks = match storage.add_mark_and_list_others(&own_mark).await {
            Ok(other_marks) => other_marks,
            Err(error) => {
                self.photos.metrics.failures.count();
                return Err(unavailable(error));
            }
        };

        let may_delete = other_marks.is_empty();
        self.check_shard(storage, &mut walk, may_delete).await?;
        // The number of the last shard wraps around to 0, which completes the walk.
        walk.shard = walk.shard.wrapping_add(1);
        if walk.shard != 0 {
            return Ok(true);
        }
        let completed_walk = mem::take(&mut *walk);
        self.finish_walk(storage, completed_walk, &own_mark, &other_marks)?;
        Ok(false)
    }

    /// Counts the files of the next shard of a walk, and queues the creation of missing card files.
    /// Deletes orphaned files if `may_delete` is set.
    async fn check_shard(
        &self,
        storage: &PhotoStorage,
        walk: &mut WalkProgress,
        may_delete: bool,
    ) -> Result<(), StoreError> {
        let shard = walk.shard;
        // List the photos before the files. The files of a new photo are written before the photo
        // is stored, so a photo that is listed here has its files.
        let needed_photos = self.store.photos_in(shard).await?;
        let files = match storage.list(shard).await {
            Ok(files) => files,
            Err(error) => {
                self.note_failure(walk, error);
                return Ok(());
            }
        };

        let mut photos_without_card = Vec::new();
        let mut missing_count = 0;
        for &id in &needed_photos {
            if !is_complete(&files, id) {
                missing_count += 1;
            } else if !has_file(&files, id, PhotoSize::Card) {
                photos_without_card.push(id);
            }
        }
        self.photos
            .queue_missing_cards(photos_without_card.into_iter());
        walk.photos += files.photos.len() as u64;
        walk.bytes += files.bytes;
        walk.missing += missing_count;

        if may_delete {
            self.delete_orphans(storage, walk, files).await?;
        }
        Ok(())
    }

    /// Records which photos in the shard are orphans, which no animal has. Deletes the files of
    /// photos that have been orphans for a day.
    ///
    /// Does not rely on the modification times of the files, because the clock of the storage may
    /// be wrong.
    async fn delete_orphans(
        &self,
        storage: &PhotoStorage,
        walk: &mut WalkProgress,
        files: ShardFiles,
    ) -> Result<(), StoreError> {
        let Some(now) = self.confirmed_clock.now().await? else {
            // A wrong clock could delete files too early.
            return Ok(());
        };
        // An error means that the time is out of range, so nothing can be that old.
        let Ok(orphaned_until) = now.checked_sub(ORPHAN_RETENTION) else {
            return Ok(());
        };
        let present_photos = files.photos.into_keys().collect();
        let due_photos = self
            .store
            .note_orphans(walk.shard, present_photos, now, orphaned_until)
            .await?;

        let mut deleted = 0;
        for id in due_photos {
            match storage.delete(id).await {
                Ok(()) => deleted += 1,
                Err(error) => self.note_failure(walk, error),
            }
        }
        if deleted > 0 {
            info!(
                deleted,
                "deleted the files of photos that no animal has had for a day"
            );
        }
        Ok(())
    }

    /// Reports the results of a completed walk in the metrics and the log. Fails with the first
    /// error of the walk, if it had one.
    fn finish_walk(
        &self,
        storage: &PhotoStorage,
        walk: WalkProgress,
        own_mark: &str,
        other_marks: &[String],
    ) -> Result<(), StoreError> {
        let missing = walk.missing;
        let database_count = 1 + other_marks.len() as u64;
        self.photos.metrics.record_counts(PhotoCounts {
            photos: walk.photos,
            bytes: walk.bytes,
            missing,
            databases: database_count,
        });
        if missing > 0 {
            warn!(place = %storage, missing, "photos have no files in this place; is it the right one?");
        }
        if !other_marks.is_empty() {
            warn!(
                place = %storage,
                own = own_mark,
                others = other_marks.join(" "),
                "another database, or an earlier copy of this one, also uses this place of photos, so no files of \
                 photos are deleted; if it no longer does, delete its mark in the folder `owners` there"
            );
        }
        match walk.first_error {
            Some(error) => Err(unavailable(error)),
            None => Ok(()),
        }
    }

    /// Whether the files of a photo exist. Without a photo storage, no files exist.
    pub(super) async fn has_photo_files(&self, id: PhotoId) -> Result<bool, StoreError> {
        // The large file is enough, because it is deleted last.
        self.photos
            .has_large_file(id)
            .await
            .map_err(|error| StoreError::Unavailable(Arc::new(error)))
    }

    /// Counts a failure, and remembers the error if it is the first one of the walk. The walk
    /// continues, and reports the error at its end.
    fn note_failure(&self, walk: &mut WalkProgress, error: io::Error) {
        self.photos.metrics.failures.count();
        walk.first_error.get_or_insert(error);
    }
}

/// Whether the shard has the file of a photo in this size.
fn has_file(files: &ShardFiles, id: PhotoId, size: PhotoSize) -> bool {
    files
        .photos
        .get(&id)
        .is_some_and(|sizes| sizes.contains(&size))
}

/// Whether the shard has the files of a photo in all sizes. Does not count the sizes that a
/// background task adds later.
fn is_complete(files: &ShardFiles, id: PhotoId) -> bool {
    PhotoSize::ALL
        .into_iter()
        .all(|size| size.may_be_missing() || has_file(files, id, size))
}

/// Returns the error of a store whose photo storage failed.
fn unavailable(error: io::Error) -> StoreError {
    StoreError::Unavailable(Arc::new(PhotoError::from(error)) as Cause)
}
