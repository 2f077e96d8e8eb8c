//! Work that takes more than some milliseconds: it leaves the threads of the runtime, which serve everybody.

use std::sync::Arc;

use petstore_web::edge::{ApiError, Reader};
use tokio::{sync::Semaphore, task};

/// The number of pieces of such work that are done at once for members, and for strangers. Others wait for their turn, each
/// with its form, whose memory is counted.
const PIECES_AT_ONCE: usize = 1;

/// The turns of heavy work. Strangers have turns of their own, so that no member waits for them.
pub(super) struct HeavyWork {
    of_members: Arc<Semaphore>,
    of_strangers: Arc<Semaphore>,
}

impl Default for HeavyWork {
    fn default() -> Self {
        Self {
            of_members: Arc::new(Semaphore::new(PIECES_AT_ONCE)),
            of_strangers: Arc::new(Semaphore::new(PIECES_AT_ONCE)),
        }
    }
}

impl HeavyWork {
    /// Does `work` for a reader on another thread when it is its turn. The turn ends with the work, even if nobody
    /// waits for it any more.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        reader: Reader,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let turns = match reader {
            Reader::Known => &self.of_members,
            Reader::Stranger(_) => &self.of_strangers,
        };
        let turn = Arc::clone(turns)
            .acquire_owned()
            .await
            .map_err(|error| ApiError::internal(Arc::new(error)))?;
        let task = task::spawn_blocking(move || {
            let _until_done = turn;
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
        let of_stranger = Arc::clone(&work.of_strangers).acquire_owned().await;
        assert_eq!(work.run(Reader::Known, || 7).await.ok(), Some(7));
        drop(of_stranger);
        assert_eq!(work.run(Reader::Stranger(None), || 8).await.ok(), Some(8));
    }
}
