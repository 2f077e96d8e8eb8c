//! Makes the card files of photos that were stored before the size [`PhotoSize::Card`] existed.

use std::time::{Duration, Instant};

use petstore_domain::store_area::{PhotoFile, PhotoId, PhotoSize};
use tokio::{task, time};

use super::{PhotoError, Photos, decode::shrink_file, storage::PhotoStorage};

/// How many photos that wait for a card file are remembered. The hourly walk finds the others.
const MAX_WAITING_PHOTOS: usize = 65_536;

/// The longest pause after a card file was made.
const MAX_PAUSE: Duration = Duration::from_secs(1);

impl Photos {
    /// Remembers photos that have no file of the size [`PhotoSize::Card`].
    pub fn note_without_card(&self, photos: impl Iterator<Item = PhotoId>) {
        let mut waiting_photos = self.without_card.lock();
        let free_count = MAX_WAITING_PHOTOS - waiting_photos.len();
        waiting_photos.extend(photos.take(free_count));
    }

    /// Makes the card file of one remembered photo from its large file. Other processes may do so at
    /// the same time.
    ///
    /// Returns whether further photos may wait.
    pub async fn make_card(&self) -> Result<bool, PhotoError> {
        let Some(storage) = &self.storage else {
            return Ok(false);
        };
        let Some(id) = self.without_card.lock().pop_first() else {
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

    /// Pauses for twice the time since `start`, so that the work takes at most a third of the time
    /// and slows requests little.
    async fn pause_after_work(&self, start: Instant) {
        let work_time = self.clock.instant().saturating_duration_since(start);
        time::sleep((2 * work_time).min(MAX_PAUSE)).await;
    }

    /// Makes `file` from the large file of its photo, unless `file` exists or the large file is
    /// missing.
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

        // The first byte of the identifier stays, because the random number has only 64 of the 128 bits.
        let PhotoId(id_number) = file.id;
        let unused_id = PhotoId(id_number ^ u128::from(self.draw_random::<u64>()));
        storage.add(file, unused_id, content).await?;
        Ok(())
    }
}
