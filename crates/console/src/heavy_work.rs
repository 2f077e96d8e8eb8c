//! Runs CPU-bound work that takes more than a few milliseconds on blocking threads. On the
//! runtime's worker threads, such work would stall other requests.

use std::sync::Arc;

use petstore_web::edge::{ApiError, Reader};
use tokio::{sync::Semaphore, task};

/// The maximum number of concurrent jobs of members. Strangers have as many jobs of their own.
/// Further jobs wait. The memory of their forms stays reserved in the meantime, which bounds the
/// number of waiting jobs.
const MAX_CONCURRENT_JOBS: usize = 1;

/// Limits the concurrency of heavy work. Members and strangers (clients without a session) have
/// separate permits, so that no member waits for a stranger.
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
    /// Waits for a permit, and runs `work` for a reader on a blocking thread. If the returned
    /// future is dropped, the work still finishes and holds its permit until then.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        reader: Reader,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let semaphore = match reader {
            Reader::Known => &self.members,
            Reader::Stranger(_) => &self.strangers,
        };
        // Fails only if the semaphore is closed, which it never is.
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
        let result = HeavyWork::default()
            .run(Reader::Known, || thread::current().id())
            .await;
        let work_thread = result.ok();
        assert!(work_thread.is_some());
        assert_ne!(work_thread, Some(thread::current().id()));
    }

    #[tokio::test]
    async fn members_do_not_wait_for_the_work_of_strangers() {
        let heavy_work = HeavyWork::default();
        let strangers_permit = Arc::clone(&heavy_work.strangers).acquire_owned().await;
        let member_result = heavy_work.run(Reader::Known, || 7).await;
        assert_eq!(member_result.ok(), Some(7));
        drop(strangers_permit);
        let stranger_result = heavy_work.run(Reader::Stranger(None), || 8).await;
        assert_eq!(stranger_result.ok(), Some(8));
    }
}
