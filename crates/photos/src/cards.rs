//! Makes card files, which have the size [`PhotoSize::Card`], for photos that were stored before
//! this size existed. They are made from large files, which have the size [`PhotoSize::Large`].

use std::time::{Duration, Instant};

use petstore_domain::store_area::{PhotoFile, PhotoId, PhotoSize};
use tokio::{task, time};

use super::{PhotoError, Photos, decode::shrink_file, storage::PhotoStorage};

/// The maximum number of queued photos that lack a card file. The next hourly walk over all files
/// finds the photos for which the queue has no space.
const MAX_QUEUED_PHOTOS: usize = 65_536;

/// The longest pause after making a card file.
const MAX_PAUSE: Duration = Duration::from_secs(1);

impl Photos {
    /// Queues photos that lack a file of the size [`PhotoSize::Card`], until the queue is full.
    pub fn queue_missing_cards(&self, photos: impl Iterator<Item = PhotoId>) {
        let mut queued_photos = self.missing_cards.lock();
        let free_count = MAX_QUEUED_PHOTOS - queued_photos.len();
        queued_photos.extend(photos.take(free_count));
    }

    /// Makes the card file of one queued photo from its large file. Returns `false` if there was
    /// nothing to do: no photo is queued, or photos are off. Other processes may make the same file
    /// concurrently.
    ///
    /// Pauses afterwards, because the caller makes one file after the other without a pause of its
    /// own.
    ///
    /// If this fails, the photo is no longer queued. The next hourly walk over all files queues it
    /// again.
    pub async fn make_card(&self) -> Result<bool, PhotoError> {
        let Some(storage) = &self.storage else {
            return Ok(false);
        };
        let Some(id) = self.missing_cards.lock().pop_first() else {
            return Ok(false);
        };

        let start = self.clock.instant();
        let card = PhotoFile {
            id,
            size: PhotoSize::Card,
        };
        if let Err(error) = self.make_smaller_file(storage, card).await {
            if matches!(error, PhotoError::PhotoStorage(_)) {
                self.metrics.failures.count();
            }
            return Err(error);
        }

        self.pause_after_work(start).await;
        Ok(true)
    }

    /// Sleeps for twice the time since `start`, but at most [`MAX_PAUSE`]. Because of this pause,
    /// making card files slows requests down only a little.
    async fn pause_after_work(&self, start: Instant) {
        let work_time = self.clock.instant().saturating_duration_since(start);
        time::sleep((2 * work_time).min(MAX_PAUSE)).await;
    }

    /// Makes `file` from the large file of its photo. Does nothing if `file` exists already, or if
    /// the large file is missing.
    async fn make_smaller_file(
        &self,
        storage: &PhotoStorage,
        file: PhotoFile,
    ) -> Result<(), PhotoError> {
        if storage.length(file).await?.is_some() {
            return Ok(());
        }
        let large_file = PhotoFile {
            size: PhotoSize::Large,
            ..file
        };
        let Some(large_content) = storage.read(large_file).await? else {
            return Ok(());
        };

        let core_permit = self.acquire_cores(1).await?;
        let shrinking = task::spawn_blocking(move || {
            let _core_permit = core_permit;
            shrink_file(large_content.into(), file.size)
        });
        let Ok(content) = shrinking.await? else {
            return Err(PhotoError::Damaged(large_file.name()));
        };

        // The random number changes only the lower 64 of the 128 bits. The first byte stays the
        // same, as `add_file` requires.
        let PhotoId(id_number) = file.id;
        let lower_bits: u64 = self.draw_random();
        let unused_id = PhotoId(id_number ^ u128::from(lower_bits));
        storage.add_file(file, unused_id, content).await?;
        Ok(())
    }
}
