//! Decodes pictures on blocking threads. Cores and memory limit how many are decoded concurrently.

use std::sync::Arc;

use bytes::Bytes;
use petstore_domain::store_area::PictureProblem;
use tokio::{sync::OwnedSemaphorePermit, task, time};
use tracing::error;

use super::{
    MAX_CONCURRENT_DECODES, PhotoError, Photos, decode::needs_all_memory, files::OPERATION_TIMEOUT,
    format::Format,
};

/// A picture in the queue, with the permit that it holds until it is processed.
struct AdmittedPicture {
    content: Bytes,
    format: Format,
    queue_permit: OwnedSemaphorePermit,
}

/// The result of processing a picture, with the queue permit of the picture. The permit also limits
/// the memory for results, so the caller holds it while a large result is in memory.
pub(super) struct FinishedWork<T> {
    pub(super) value: T,
    pub(super) queue_permit: OwnedSemaphorePermit,
}

impl Photos {
    /// Runs `work` with a picture on a blocking thread, as soon as enough cores are free. Fails if
    /// the queue is full. Also fails after [`OPERATION_TIMEOUT`], which limits each wait for cores,
    /// and the work itself.
    ///
    /// The work decodes the picture into pixels of `pixel_length` bytes.
    pub(super) async fn process<T: Send + 'static>(
        &self,
        picture: Bytes,
        format: Format,
        pixel_length: u64,
        work: fn(&[u8], Format) -> Result<T, PictureProblem>,
    ) -> Result<FinishedWork<T>, PhotoError> {
        let admitted_picture = AdmittedPicture {
            content: picture,
            format,
            queue_permit: self.enter_queue()?,
        };
        let (admitted_picture, core_permit) = self
            .acquire_cores_for(admitted_picture, pixel_length)
            .await?;

        let work_handle = self.spawn_work(admitted_picture, core_permit, work);
        let Ok(joined) = time::timeout(OPERATION_TIMEOUT, work_handle).await else {
            return Err(self.count_invalid(PictureProblem::Time));
        };
        match joined {
            Ok(result) => result.map_err(|problem| self.count_invalid(problem)),
            Err(error) if error.is_panic() => {
                error!(%error, "a decoder panicked");
                Err(self.count_invalid(PictureProblem::Unreadable))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Runs `work` on a blocking thread, and measures how long it takes.
    ///
    /// The thread owns the permits, because a decoder cannot be cancelled: they are released only
    /// when the thread ends, even if nobody waits for it any more.
    fn spawn_work<T: Send + 'static>(
        &self,
        picture: AdmittedPicture,
        core_permit: OwnedSemaphorePermit,
        work: fn(&[u8], Format) -> Result<T, PictureProblem>,
    ) -> task::JoinHandle<Result<FinishedWork<T>, PictureProblem>> {
        let clock = Arc::clone(&self.clock);
        let metrics = Arc::clone(&self.metrics);
        task::spawn_blocking(move || {
            let _core_permit = core_permit;
            let start = clock.instant();
            let result = work(&picture.content, picture.format);
            let work_time = clock.instant().saturating_duration_since(start);
            metrics.decoded.observe(work_time);
            result.map(|value| FinishedWork {
                value,
                queue_permit: picture.queue_permit,
            })
        })
    }

    /// Waits for the cores that decoding a picture needs. Returns the picture with the permit for
    /// them.
    ///
    /// A picture needs one core, or all of them if decoding it may take more than half of the
    /// memory. With all cores taken, no other picture is decoded at the same time, so all memory is
    /// free for this one.
    async fn acquire_cores_for(
        &self,
        picture: AdmittedPicture,
        pixel_length: u64,
    ) -> Result<(AdmittedPicture, OwnedSemaphorePermit), PhotoError> {
        let one_core = self.acquire_cores(1).await?;
        // As in `spawn_work`, the thread owns the permits.
        let inspection = task::spawn_blocking(move || {
            let result = needs_all_memory(&picture.content, picture.format, pixel_length);
            (result, picture, one_core)
        });
        let (result, picture, one_core) = inspection.await?;

        let needs_all_cores = result.map_err(|problem| self.count_invalid(problem))?;
        if !needs_all_cores {
            return Ok((picture, one_core));
        }
        // Release the core first. Otherwise, this would wait for its own permit.
        drop(one_core);
        let all_cores = self.acquire_cores(MAX_CONCURRENT_DECODES).await?;
        Ok((picture, all_cores))
    }

    /// Acquires the queue permit for a picture. If the queue is full, fails at once with
    /// [`PhotoError::Busy`].
    fn enter_queue(&self) -> Result<OwnedSemaphorePermit, PhotoError> {
        Arc::clone(&self.queue)
            .try_acquire_owned()
            .map_err(|_no_permit| PhotoError::Busy)
    }

    /// Waits until `count` of the [`MAX_CONCURRENT_DECODES`] permits are free. Fails with
    /// [`PhotoError::Busy`] after [`OPERATION_TIMEOUT`].
    pub(super) async fn acquire_cores(
        &self,
        count: u32,
    ) -> Result<OwnedSemaphorePermit, PhotoError> {
        let acquiring = Arc::clone(&self.cores).acquire_many_owned(count);
        let Ok(result) = time::timeout(OPERATION_TIMEOUT, acquiring).await else {
            return Err(PhotoError::Busy);
        };
        // Does not fail, because the semaphore is never closed.
        result.map_err(|_closed| PhotoError::Busy)
    }

    /// Counts an invalid picture, and returns its error.
    fn count_invalid(&self, problem: PictureProblem) -> PhotoError {
        self.metrics.invalid.count();
        PhotoError::Invalid(problem)
    }
}
