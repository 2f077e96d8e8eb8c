//! CPU-bound work that takes more than a few milliseconds. It runs on blocking threads, so that it
//! does not stall the runtime's worker threads, which serve all requests.

use std::sync::Arc;

use petstore_web::edge::{ApiError, Reader};
use tokio::{sync::Semaphore, task};

/// How many jobs run concurrently for members, and how many for strangers. Further jobs wait. Each
/// holds its form meanwhile, whose memory is reserved.
const MAX_CONCURRENT_JOBS: usize = 1;

/// Limits the concurrency of heavy work. Members and strangers have separate permits, so that no
/// member waits for a stranger.
pub(super) struct HeavyWork {
    members: Arc<Semaphore>,
    strangers: Arc<Semaphore>,
}

impl Default for HeavyWork {
    fn default() -> Self {
        Self {
            members: Arc::new(Semaphore::new(MAX_CONCURRENT_JOBS)),
            strangers: Arc::new(Semaphore::new(MAX_CONCURRENT_JOBS)),
        }
    }
}

impl HeavyWork {
    /// Runs `work` for a reader on a blocking thread, once a permit is free. The permit is held
    /// until the work has finished, even if the returned future is dropped before.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        reader: Reader,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let semaphore = match reader {
            Reader::Known => &self.members,
            Reader::Stranger(_) => &self.strangers,
        };
        let permit = Arc::clone(semaphore)
            .acquire_owned()
            .await
            .map_err(|error| ApiError::internal(Arc::new(error)))?;
        let task = task::spawn_blocking(move || {
            let _held_until_done = permit;
            work()
        });
        task.await
            .map_err(|error| ApiError::internal(Arc::new(error)))
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[tokio::test]
    async fn heavy_work_leaves_the_threads_of_the_runtime() {
        let worker = HeavyWork::default()
            .run(Reader::Known, || thread::current().id())
            .await;
        assert_ne!(worker.ok(), Some(thread::current().id()));
    }

    #[tokio::test]
    async fn members_do_not_wait_for_the_work_of_strangers() {
        let work = HeavyWork::default();
        let running_job = Arc::clone(&work.strangers).acquire_owned().await;
        assert_eq!(work.run(Reader::Known, || 7).await.ok(), Some(7));
        drop(running_job);
        assert_eq!(work.run(Reader::Stranger(None), || 8).await.ok(), Some(8));
    }
}
