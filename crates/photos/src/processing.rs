//! Decodes pictures on threads of their own, as many at the same time as cores and memory allow.

use std::sync::Arc;

use bytes::Bytes;
use petstore_domain::store_area::PictureProblem;
use tokio::{sync::OwnedSemaphorePermit, task, time};
use tracing::error;

use super::{
    DECODED_PICTURES, PhotoError, Photos, decode::needs_all_memory, files::OPERATION_LIMIT,
    format::Format,
};

/// A picture of a client with its permit, which it keeps until its work is done.
struct AdmittedPicture {
    content: Bytes,
    format: Format,
    queue_permit: OwnedSemaphorePermit,
}

/// The result of the work on a picture, with the permit of the picture.
pub(super) struct FinishedWork<T> {
    pub(super) value: T,
    pub(super) queue_permit: OwnedSemaphorePermit,
}

impl Photos {
    /// Does `work` with a picture on a thread of its own, as soon as a core is free. The work decodes
    /// the picture into pixels of `pixel_length` bytes.
    pub(super) async fn process<T: Send + 'static>(
        &self,
        picture: Bytes,
        format: Format,
        pixel_length: u64,
        work: fn(&[u8], Format) -> Result<T, PictureProblem>,
    ) -> Result<FinishedWork<T>, PhotoError> {
        let picture = AdmittedPicture {
            content: picture,
            format,
            queue_permit: self.enter_queue()?,
        };
        let (picture, core_permit) = self.acquire_cores_for(picture, pixel_length).await?;

        match time::timeout(OPERATION_LIMIT, self.decode(picture, core_permit, work)).await {
            Ok(Ok(decoded)) => decoded.map_err(|problem| self.invalid(problem)),
            Ok(Err(error)) if error.is_panic() => {
                error!(%error, "a decoder panicked");
                Err(self.invalid(PictureProblem::Unreadable))
            }
            Ok(Err(error)) => Err(error.into()),
            Err(_) => Err(self.invalid(PictureProblem::Time)),
        }
    }

    /// Starts a thread that does `work`, and measures the time that this takes.
    ///
    /// A decoder cannot be stopped. So the thread owns the permits: they are free when the thread ends,
    /// even if nobody waits for it.
    fn decode<T: Send + 'static>(
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

    /// Reads the head of a picture, and waits for the cores that it needs: all of them, if it needs
    /// more than half of the memory.
    ///
    /// Returns the picture with the permit for the cores.
    async fn acquire_cores_for(
        &self,
        picture: AdmittedPicture,
        pixel_length: u64,
    ) -> Result<(AdmittedPicture, OwnedSemaphorePermit), PhotoError> {
        let one_core = self.acquire_cores(1).await?;
        // The thread owns the permits, so that they are not free while it runs.
        let reading = task::spawn_blocking(move || {
            let result = needs_all_memory(&picture.content, picture.format, pixel_length);
            (result, picture, one_core)
        });
        let (result, picture, one_core) = reading.await?;

        let needs_all_memory = result.map_err(|problem| self.invalid(problem))?;
        if !needs_all_memory {
            return Ok((picture, one_core));
        }
        drop(one_core);
        let all_cores = self.acquire_cores(DECODED_PICTURES).await?;
        Ok((picture, all_cores))
    }

    /// Returns a permit for the memory of a picture, or [`PhotoError::Busy`] without waiting.
    fn enter_queue(&self) -> Result<OwnedSemaphorePermit, PhotoError> {
        Arc::clone(&self.queue)
            .try_acquire_owned()
            .map_err(|_| PhotoError::Busy)
    }

    /// Waits until `count` of the [`DECODED_PICTURES`] are free, at most for [`OPERATION_LIMIT`].
    pub(super) async fn acquire_cores(
        &self,
        count: u32,
    ) -> Result<OwnedSemaphorePermit, PhotoError> {
        let acquiring = Arc::clone(&self.cores).acquire_many_owned(count);
        match time::timeout(OPERATION_LIMIT, acquiring).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) | Err(_) => Err(PhotoError::Busy),
        }
    }

    /// Counts an invalid picture, and returns its error.
    fn invalid(&self, problem: PictureProblem) -> PhotoError {
        self.metrics.invalid.count();
        PhotoError::Invalid(problem)
    }
}
