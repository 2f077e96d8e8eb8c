//! The writer: a dedicated thread with the only connection that writes (group commit).
//!
//! Writes wait in a bounded queue. The thread takes all queued writes as a batch, and commits the batch
//! in one transaction, so that its writes share one wait for the disk. Only then are they acknowledged.
//!
//! A failed write does not affect the others: if it undoes the whole transaction, each write of the
//! batch is retried in a transaction of its own.

use std::{io, iter, sync::Arc, thread};

use petstore_observe::metrics::Exposition;
use petstore_store::{StoreError, admin::WorkOutcome, cause};
use tokio::sync::{
    mpsc::{self, error::TrySendError},
    oneshot,
};

use super::{
    checkpoints::Checkpoints,
    committer::{Committer, Job},
    connection::Connection,
    distrust::{ExternalChangeHandler, FatalChangeReceiver},
    file::Files,
    newest::Newest,
    readers::WaitingWriter,
    savepoints::{in_savepoint, keep_always, without_savepoint},
    writer_metrics::WriterMetrics,
};

/// The maximum number of writes in the queue, not counting the batch that is being committed. Further
/// writes are rejected.
const QUEUE_LENGTH: usize = 1024;

/// The batch size below which the commit costs more than the writes. It is then worth waiting for more
/// writes.
const SMALL_BATCH: usize = 16;

/// A write, with the channel to its caller.
struct CallerJob<W, T> {
    /// The function that writes.
    work: W,
    /// The result of `work`; `None` until it has run. It does not run if the caller is gone.
    result: Option<Result<T, StoreError>>,
    caller: oneshot::Sender<Result<T, StoreError>>,
}

impl<W, T> Job for CallerJob<W, T>
where
    W: FnMut(&mut Connection, &mut Newest) -> Result<T, StoreError> + Send,
    T: Send,
{
    fn run(&mut self, connection: &mut Connection, newest: &mut Newest) {
        if !self.caller.is_closed() {
            self.result = Some((self.work)(connection, newest));
        }
    }

    fn acknowledge(self: Box<Self>, commit_result: Result<(), StoreError>) {
        let result = match (self.result, commit_result) {
            (Some(Ok(value)), Ok(())) => Ok(value),
            // If both failed, the error of the write is more specific than the error of the commit.
            (Some(Err(write_error)), _) => Err(write_error),
            (_, Err(commit_error)) => Err(commit_error),
            // The write did not run, because the caller was gone.
            (None, Ok(())) => return,
        };
        // If the caller is gone by now, the write stays committed, and nobody needs the result.
        let _ = self.caller.send(result);
    }
}

/// The handle to the writer thread.
pub(super) struct Writer {
    metrics: Arc<WriterMetrics>,
    /// The queue of the thread; `None` only while this is being dropped.
    queue: Option<mpsc::Sender<Box<dyn Job>>>,
    /// The thread; `None` only while this is being dropped.
    thread: Option<thread::JoinHandle<()>>,
    /// Receives the change with which another program has made the store unusable, if one does so.
    fatal_change: FatalChangeReceiver,
}

impl Writer {
    /// Starts the writer thread, which ends when this handle is dropped. With
    /// `waiting_writer`, the thread tells the readers that it waits for its lock.
    pub(super) fn start(
        connection: Connection,
        files: Files,
        waiting_writer: WaitingWriter,
    ) -> io::Result<Self> {
        let (queue, jobs) = mpsc::channel(QUEUE_LENGTH);
        let metrics = Arc::new(WriterMetrics::default());
        let change_handler = ExternalChangeHandler::default();
        let fatal_change = change_handler.fatal_change();
        let committer = Committer {
            connection,
            newest: Newest::default(),
            files,
            waiting_writer,
            metrics: Arc::clone(&metrics),
        };
        let thread = thread::Builder::new()
            .name("petstore-writer".to_owned())
            .spawn(move || run_writer(committer, change_handler, jobs))?;
        Ok(Self {
            metrics,
            queue: Some(queue),
            thread: Some(thread),
            fatal_change,
        })
    }

    /// Runs `work` atomically. Returns its result once its changes are on disk. `work` may run a second
    /// time, but only after all changes of the first run were undone.
    ///
    /// If the future is dropped while the write is still queued, the write is not done.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        mut work: impl FnMut(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.enqueue(move |connection, newest| {
            // `work` does not keep the cached values up to date.
            newest.clear();
            in_savepoint(connection, keep_always, &mut work)
        })
        .await
    }

    /// Runs `work` like [`Writer::write`]. Undoes its changes if it returns a refusal.
    pub(super) async fn write_unless_refused<T: Send + 'static, R: Send + 'static>(
        &self,
        mut work: impl FnMut(&mut Connection) -> rusqlite::Result<WorkOutcome<T, R>> + Send + 'static,
    ) -> Result<WorkOutcome<T, R>, StoreError> {
        self.enqueue(move |connection, newest| {
            // As in `write`.
            newest.clear();
            in_savepoint(connection, WorkOutcome::is_done, &mut work)
        })
        .await
    }

    /// Runs `work` like [`Writer::write`], but without a savepoint. This saves SQLite from copying every
    /// page before its first change.
    ///
    /// If `work` fails after it has written, the whole batch is undone, and each of its writes is
    /// retried in a transaction of its own. `work` must keep the cached [`Newest`] values up to date.
    pub(super) async fn write_without_savepoint<T: Send + 'static>(
        &self,
        mut work: impl FnMut(&Connection, &mut Newest) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.enqueue(move |connection, newest| without_savepoint(connection, newest, &mut work))
            .await
    }

    /// Returns a receiver for the change with which another program has made the store unusable.
    pub(super) fn fatal_change(&self) -> FatalChangeReceiver {
        self.fatal_change.clone()
    }

    /// Writes the metrics of the writer.
    pub(super) fn expose(&self, exposition: &mut Exposition) {
        let queue_length = self
            .queue
            .as_ref()
            .map_or(0, |queue| QUEUE_LENGTH - queue.capacity());
        let help = "Writes that wait for the writer.";
        exposition.number("petstore_writer_queue_length", help, queue_length);
        let help = "How many writes may wait.";
        exposition.number("petstore_writer_queue_limit", help, QUEUE_LENGTH);
        self.metrics.expose(exposition);
    }

    /// Adds a write to the queue, and waits for its result. Fails with [`StoreError::Overloaded`] if the
    /// queue is full.
    async fn enqueue<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Connection, &mut Newest) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (caller, receiver) = oneshot::channel();
        let job = Box::new(CallerJob {
            work,
            result: None,
            caller,
        });
        let queue = self.queue.as_ref().ok_or_else(writer_stopped)?;
        match queue.try_send(job) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                self.metrics.refusals.count();
                return Err(StoreError::Overloaded);
            }
            Err(TrySendError::Closed(_)) => return Err(writer_stopped()),
        }
        receiver.await.unwrap_or_else(|_| Err(writer_stopped()))
    }
}

impl Drop for Writer {
    /// Waits until all queued writes are on disk.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // An error would be a panic of the thread, which was reported when it occurred.
            let _ = thread.join();
        }
    }
}

/// Returns the error of a write after the writer thread has ended.
fn writer_stopped() -> StoreError {
    StoreError::Internal(cause("the writer has stopped"))
}

/// Runs the writer thread: commits batches of writes until the queue is closed.
fn run_writer(
    mut committer: Committer,
    mut change_handler: ExternalChangeHandler,
    mut jobs: mpsc::Receiver<Box<dyn Job>>,
) {
    let mut batch = Vec::with_capacity(QUEUE_LENGTH);
    let mut checkpoints = Checkpoints::default();
    while jobs.blocking_recv_many(&mut batch, QUEUE_LENGTH) > 0 {
        if batch.len() < SMALL_BATCH {
            // If runtime threads share the core of this thread, yielding lets them run, and their
            // writes join this batch. If this thread has a core of its own, yielding takes almost
            // no time.
            thread::yield_now();
            // An empty queue ends the iterator.
            let waiting_jobs = iter::from_fn(|| jobs.try_recv().ok());
            extend_to_limit(&mut batch, waiting_jobs);
        }
        let has_changes = committer.commit_and_acknowledge(&mut batch);
        // Usually, no other program has changed the files, and this does nothing.
        change_handler.handle_change(&committer.connection, &committer.files);
        if has_changes && committer.files.needs_checkpoint() {
            checkpoints.run(&committer.connection, &mut committer.files);
        }
    }
}

/// Adds waiting writes to the batch, up to [`QUEUE_LENGTH`] in total, so that a steady stream of
/// writes cannot delay the commit forever.
fn extend_to_limit<T>(batch: &mut Vec<T>, waiting_jobs: impl Iterator<Item = T>) {
    let room = QUEUE_LENGTH.saturating_sub(batch.len());
    batch.extend(waiting_jobs.take(room));
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
