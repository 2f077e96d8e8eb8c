//! Group commit: a worker task does the work of many callers in groups. While a group is in
//! progress, new work waits, and forms the next group.

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

/// The maximum number of callers that wait for their group. The work of further callers is rejected.
const QUEUE_LENGTH: usize = 1024;

/// The maximum number of callers in a group.
const MAX_GROUP_LENGTH: usize = 64;

/// The size at which a group is full, in bytes. It counts the names and representations of new
/// animals, and the changes of commands.
pub(super) const MAX_GROUP_BYTES: usize = 256 * 1024;

/// A queue for work of type `W` with results of type `R`, and its worker task.
pub(super) struct Queue<W, R> {
    runner: Arc<Runner>,
    sender: mpsc::Sender<QueuedWork<W, R>>,
    worker: JoinHandle<()>,
}

/// Work in the queue. Either the worker takes it, or the caller takes it back after a timeout. A caller
/// that gets its work back knows that the work was not done.
struct QueuedWork<W, R> {
    slot: WorkSlot<W>,
    caller: Caller<R>,
}

/// The place of some work, which is shared by the worker and the caller; `None` once one of them has
/// taken the work.
type WorkSlot<W> = Arc<Mutex<Option<W>>>;

/// The sender that delivers the result of some work to its caller.
pub(super) type Caller<R> = oneshot::Sender<Result<R, StoreError>>;

/// Work that the worker has taken, with the channel to its caller.
pub(super) struct CalledWork<W, R> {
    pub(super) work: W,
    pub(super) caller: Caller<R>,
}

/// The worker's end of a [`Queue`], which forms the groups.
pub(super) struct Groups<W, R> {
    receiver: mpsc::Receiver<QueuedWork<W, R>>,
}

impl<W: Send + 'static, R: Send + 'static> Queue<W, R> {
    /// Starts the task `worker`, which is aborted when the queue is dropped.
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

    /// Enqueues work, and waits for its result.
    ///
    /// Fails if the queue is full, or if the worker does not take the work within [`WAIT_LIMIT`]. If this
    /// future is dropped, the work may still be done.
    pub(super) async fn submit(&self, work: W) -> Result<R, StoreError> {
        let slot = Arc::new(Mutex::new(Some(work)));
        let (result_sender, mut receiver) = oneshot::channel();
        let queued_work = QueuedWork {
            slot: Arc::clone(&slot),
            caller: result_sender,
        };
        match self.sender.try_send(queued_work) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(self.runner.pool.count_overload()),
            Err(TrySendError::Closed(_)) => return Err(worker_stopped()),
        }

        let in_time = time::timeout(WAIT_LIMIT, &mut receiver).await;
        let result = if let Ok(result) = in_time {
            result
        } else {
            // Either the worker or this caller takes the work, because the slot has it only once.
            let is_taken_back = take_work(&slot).is_some();
            if is_taken_back {
                return Err(self.runner.pool.count_overload());
            }
            // The worker was first, and does the work, so wait for its result.
            receiver.await
        };
        result.unwrap_or_else(|_| Err(worker_stopped()))
    }
}

impl<W, R> Drop for Queue<W, R> {
    fn drop(&mut self) {
        self.worker.abort();
    }
}

impl<W, R> Groups<W, R> {
    /// Waits for work, and returns as much of it as fits into a group, in the order of arrival. Returns
    /// `None` when the queue is closed.
    ///
    /// `byte_length` returns the size of one piece of work, which counts against [`MAX_GROUP_BYTES`].
    pub(super) async fn next(
        &mut self,
        byte_length: fn(&W) -> usize,
    ) -> Option<Vec<CalledWork<W, R>>> {
        loop {
            let first_work = self.receiver.recv().await?;
            let group = self.collect_group(first_work, byte_length);
            // A group is empty if all callers have given up.
            if !group.is_empty() {
                return Some(group);
            }
        }
    }

    /// Forms a group of `first_work` and the work that is already in the queue. Skips work whose caller is
    /// gone, or has taken it back.
    fn collect_group(
        &mut self,
        first_work: QueuedWork<W, R>,
        byte_length: fn(&W) -> usize,
    ) -> Vec<CalledWork<W, R>> {
        let mut group = Vec::new();
        let mut group_bytes = 0;
        let mut next_work = Some(first_work);
        while let Some(QueuedWork { slot, caller }) = next_work {
            if !caller.is_closed()
                && let Some(work) = take_work(&slot)
            {
                group_bytes += byte_length(&work);
                group.push(CalledWork { work, caller });
            }
            let has_room = group.len() < MAX_GROUP_LENGTH && group_bytes < MAX_GROUP_BYTES;
            next_work = if has_room {
                // An empty queue ends the group.
                self.receiver.try_recv().ok()
            } else {
                None
            };
        }
        group
    }
}

/// Takes the work, unless the other side (the worker or the caller) has already taken it.
fn take_work<W>(slot: &Mutex<Option<W>>) -> Option<W> {
    slot.lock().take()
}

/// Returns the error for work whose worker has panicked or stopped, so that its outcome is unknown.
pub(super) fn worker_stopped() -> StoreError {
    StoreError::OutcomeUnknown(cause("the task that writes for several callers stopped"))
}
