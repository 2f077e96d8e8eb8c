//! Work of many callers, which a task does in groups: work that arrives while a group is done waits, and
//! becomes the next group.

use std::sync::Arc;

use parking_lot::Mutex;
use petstore_store::{StoreError, cause};
use tokio::{
    sync::{
        mpsc::{self, error::TrySendError},
        oneshot,
    },
    task::JoinHandle,
    time,
};

use super::{pool::WAIT_LIMIT, runner::Runner};

/// The maximum of the work that waits, in addition to the group that is being done. Further work is
/// rejected.
const QUEUE_LENGTH: usize = 1024;

/// The maximum number of callers in a group.
const MAX_GROUP_LENGTH: usize = 64;

/// A group takes no more work once it has this many bytes of names and representations.
pub(super) const MAX_GROUP_BYTES: usize = 256 * 1024;

/// The queue for work of the type `W`, whose result has the type `R`, with the task that does it.
pub(super) struct Queue<W, R> {
    runner: Arc<Runner>,
    sender: mpsc::Sender<WaitingWork<W, R>>,
    worker: JoinHandle<()>,
}

/// Work that waits. The worker takes it, or the caller takes it back, and then knows that it was not
/// done.
struct WaitingWork<W, R> {
    work: Arc<Mutex<Option<W>>>,
    caller: Caller<R>,
}

/// The channel for the result of some work.
pub(super) type Caller<R> = oneshot::Sender<Result<R, StoreError>>;

/// Work that the worker has taken, and its caller.
pub(super) struct CalledWork<W, R> {
    pub(super) work: W,
    pub(super) caller: Caller<R>,
}

/// The groups of work for the worker.
pub(super) struct Groups<W, R> {
    receiver: mpsc::Receiver<WaitingWork<W, R>>,
}

impl<W: Send + 'static, R: Send + 'static> Queue<W, R> {
    /// Starts the task `worker`, which ends when the queue is dropped.
    pub(super) fn start<F: Future<Output = ()> + Send + 'static>(
        runner: Arc<Runner>,
        worker: impl FnOnce(Groups<W, R>, Arc<Runner>) -> F,
    ) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE_LENGTH);
        let worker = tokio::spawn(worker(Groups { receiver }, Arc::clone(&runner)));
        Self {
            runner,
            sender,
            worker,
        }
    }

    /// Adds work, and waits for its result. If the future is dropped while it waits, the work may still
    /// be done.
    pub(super) async fn add(&self, work: W) -> Result<R, StoreError> {
        let work = Arc::new(Mutex::new(Some(work)));
        let (caller, mut receiver) = oneshot::channel();
        let waiting_work = WaitingWork {
            work: Arc::clone(&work),
            caller,
        };
        match self.sender.try_send(waiting_work) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(self.count_overload()),
            Err(TrySendError::Closed(_)) => return Err(worker_stopped()),
        }

        let outcome = match time::timeout(WAIT_LIMIT, &mut receiver).await {
            Ok(outcome) => outcome,
            Err(_) if take(&work).is_some() => return Err(self.count_overload()),
            Err(_) => receiver.await,
        };
        outcome.unwrap_or_else(|_| Err(worker_stopped()))
    }

    /// Counts work that was rejected, and returns its error.
    fn count_overload(&self) -> StoreError {
        self.runner.pool.timeouts.count();
        StoreError::Overloaded
    }
}

impl<W, R> Drop for Queue<W, R> {
    fn drop(&mut self) {
        self.worker.abort();
    }
}

impl<W, R> Groups<W, R> {
    /// Waits for work, and returns as much as fits into a group, in the order of arrival. Returns `None`
    /// when no more work can come.
    ///
    /// `length` returns the length of some work in bytes, for [`MAX_GROUP_BYTES`].
    pub(super) async fn next(&mut self, length: fn(&W) -> usize) -> Option<Vec<CalledWork<W, R>>> {
        loop {
            let first_work = self.receiver.recv().await?;
            let group = self.gather(first_work, length);
            if !group.is_empty() {
                return Some(group);
            }
        }
    }

    /// Adds the work that waits to a group that begins with `first_work`. Leaves out work whose caller is
    /// gone, or has taken it back.
    fn gather(
        &mut self,
        first_work: WaitingWork<W, R>,
        length: fn(&W) -> usize,
    ) -> Vec<CalledWork<W, R>> {
        let mut group = Vec::new();
        let mut group_bytes = 0;
        let mut next_work = Some(first_work);
        while let Some(WaitingWork { work, caller }) = next_work {
            if !caller.is_closed()
                && let Some(work) = take(&work)
            {
                group_bytes += length(&work);
                group.push(CalledWork { work, caller });
            }
            let has_room = group.len() < MAX_GROUP_LENGTH && group_bytes < MAX_GROUP_BYTES;
            next_work = if has_room {
                self.receiver.try_recv().ok()
            } else {
                None
            };
        }
        group
    }
}

fn take<W>(work: &Mutex<Option<W>>) -> Option<W> {
    work.lock().take()
}

/// Returns the error of work whose worker has panicked, so that it is unknown what the worker has done.
pub(super) fn worker_stopped() -> StoreError {
    StoreError::OutcomeUnknown(cause("the task that writes for several callers stopped"))
}
