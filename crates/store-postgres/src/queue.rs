//! Work of many callers, which a task does in groups: what comes while a group is done waits, and is
//! then done together.

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

use super::{pool::FREE_WITHIN, runner::Runner};

/// How much work may wait, in addition to what is being done. Further work is rejected.
const QUEUE_LENGTH: usize = 1024;

/// How many callers a group has at most.
const GROUP: usize = 64;

/// A group takes no more work once it has this many bytes of names and representations.
pub(super) const GROUP_BYTES: usize = 256 * 1024;

/// Takes work to the task that does it.
pub(super) struct Queue<W, D> {
    runner: Arc<Runner>,
    waiting: mpsc::Sender<Waiting<W, D>>,
    worker: JoinHandle<()>,
}

/// Work that waits. It is taken by the worker, or back by the caller, who then knows that it was not
/// done.
struct Waiting<W, D> {
    work: Arc<Mutex<Option<W>>>,
    caller: Caller<D>,
}

pub(super) type Caller<D> = oneshot::Sender<Result<D, StoreError>>;

/// What the worker gets.
pub(super) struct Groups<W, D>(mpsc::Receiver<Waiting<W, D>>);

impl<W: Send + 'static, D: Send + 'static> Queue<W, D> {
    pub(super) fn start<F: Future<Output = ()> + Send + 'static>(
        runner: Arc<Runner>,
        worker: impl FnOnce(Groups<W, D>, Arc<Runner>) -> F,
    ) -> Self {
        let (sender, waiting) = mpsc::channel(QUEUE_LENGTH);
        let worker = tokio::spawn(worker(Groups(waiting), Arc::clone(&runner)));
        Self {
            runner,
            waiting: sender,
            worker,
        }
    }

    /// Does this work. If the future is dropped while it waits, the work may still be done.
    pub(super) async fn add(&self, work: W) -> Result<D, StoreError> {
        let work = Arc::new(Mutex::new(Some(work)));
        let (caller, mut done) = oneshot::channel();
        match self.waiting.try_send(Waiting {
            work: Arc::clone(&work),
            caller,
        }) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(self.rejected()),
            Err(TrySendError::Closed(_)) => return Err(stopped()),
        }
        let done = match time::timeout(FREE_WITHIN, &mut done).await {
            Ok(done) => done,
            Err(_) if take(&work).is_some() => return Err(self.rejected()),
            Err(_) => done.await,
        };
        done.unwrap_or_else(|_| Err(stopped()))
    }

    fn rejected(&self) -> StoreError {
        self.runner.pool.timeouts.count();
        StoreError::Overloaded
    }
}

impl<W, D> Drop for Queue<W, D> {
    fn drop(&mut self) {
        self.worker.abort();
    }
}

impl<W, D> Groups<W, D> {
    /// Returns the work that waits, as much as fits into a group, in the order in which it came.
    /// `None` when there will be no more.
    pub(super) async fn next(&mut self, bytes: fn(&W) -> usize) -> Option<Vec<(W, Caller<D>)>> {
        loop {
            let first = self.0.recv().await?;
            let group = self.gather(first, bytes);
            if !group.is_empty() {
                return Some(group);
            }
        }
    }

    fn gather(&mut self, first: Waiting<W, D>, bytes: fn(&W) -> usize) -> Vec<(W, Caller<D>)> {
        let mut group = Vec::new();
        let mut length = 0;
        let mut next = Some(first);
        while let Some(Waiting { work, caller }) = next {
            // The caller may be gone.
            if !caller.is_closed()
                && let Some(work) = take(&work)
            {
                length += bytes(&work);
                group.push((work, caller));
            }
            let has_room = group.len() < GROUP && length < GROUP_BYTES;
            next = if has_room {
                self.0.try_recv().ok()
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

/// Returns the worker has panicked, so it is unknown what it has done.
pub(super) fn stopped() -> StoreError {
    StoreError::OutcomeUnknown(cause("the task that writes for several callers stopped"))
}
