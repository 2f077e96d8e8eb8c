//! The connection that writes, on its own thread.
//!
//! Writes wait in a bounded queue. The thread takes all waiting writes and commits them in one
//! transaction, so that they share one wait for the disk. Only then are they acknowledged. A failed
//! write does not affect the others: if it undoes the transaction, each write of the batch is done
//! again in a transaction of its own.

use std::{
    io, iter, mem,
    panic::{self, AssertUnwindSafe},
    sync::Arc,
    thread,
};

use petstore_observe::metrics::Exposition;
use petstore_store::{StoreError, admin::WorkOutcome, cause};
use rusqlite::ErrorCode;
use tokio::sync::{
    mpsc::{self, error::TrySendError},
    oneshot,
};

use super::{
    checkpoints::Checkpoints,
    connection::Connection,
    distrust::{Distrust, EndOfUse},
    file::Files,
    newest::Newest,
    readers::WaitingWriter,
    transaction::Transaction,
    writer_metrics::WriterMetrics,
};

/// The number of writes that may wait, in addition to the batch that is being committed. Further writes are
/// rejected.
const QUEUE_LENGTH: usize = 1024;

/// The number of writes below which their commit costs more than the writes themselves.
const SMALL_BATCH: usize = 16;

/// Returns the error of a write after SQLite has undone the writes before it.
fn transaction_lost() -> StoreError {
    StoreError::Unavailable(cause(
        "the transaction was rolled back by an earlier failure",
    ))
}

fn writer_stopped() -> StoreError {
    StoreError::Internal(cause("the writer has stopped"))
}

/// A write that waits, or that is in a transaction without a commit yet.
trait Job: Send {
    /// Does the write, and keeps its result in place of an earlier one.
    fn run(&mut self, connection: &mut Connection, newest: &mut Newest);

    /// Sends the result of the write to its caller, after the result of the commit.
    fn acknowledge(self: Box<Self>, commit_result: Result<(), StoreError>);
}

/// A write for a caller.
struct CallerJob<W, T> {
    work: W,
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
            // An error of the write itself is more specific than an error of the commit.
            (Some(result), Ok(())) | (Some(result @ Err(_)), Err(_)) => result,
            (_, Err(error)) => Err(error),
            (None, Ok(())) => return,
        };
        // The caller may be gone by now; the write is still valid.
        let _ = self.caller.send(result);
    }
}

/// The handle to the thread that writes.
pub(super) struct Writer {
    metrics: Arc<WriterMetrics>,
    /// `None` only while dropping.
    queue: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<thread::JoinHandle<()>>,
    end_of_use: EndOfUse,
}

impl Writer {
    /// Starts the thread, which ends when the writer is dropped.
    pub(super) fn start(
        connection: Connection,
        files: Files,
        waiting_writer: WaitingWriter,
    ) -> io::Result<Self> {
        let (queue, jobs) = mpsc::channel(QUEUE_LENGTH);
        let metrics = Arc::new(WriterMetrics::default());
        let distrust = Distrust::default();
        let end_of_use = distrust.end_of_use();
        let committer = Committer {
            connection,
            newest: Newest::default(),
            files,
            waiting_writer,
            metrics: Arc::clone(&metrics),
        };
        let thread = thread::Builder::new()
            .name("petstore-writer".to_owned())
            .spawn(move || run(committer, distrust, jobs))?;
        Ok(Self {
            metrics,
            queue: Some(queue),
            thread: Some(thread),
            end_of_use,
        })
    }

    /// Runs `work` completely or not at all, and returns once it is on disk. It may run a second time,
    /// if everything that it did was undone.
    ///
    /// If the future is dropped before its turn comes, the work is not done.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        mut work: impl FnMut(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.enqueue(move |connection, newest| {
            newest.forget();
            in_savepoint(connection, |_| true, &mut work)
        })
        .await
    }

    /// Writes as [`Writer::write`] does, and also undoes `work` if it refuses.
    pub(super) async fn write_unless_refused<T: Send + 'static, R: Send + 'static>(
        &self,
        mut work: impl FnMut(&mut Connection) -> rusqlite::Result<WorkOutcome<T, R>> + Send + 'static,
    ) -> Result<WorkOutcome<T, R>, StoreError> {
        self.enqueue(move |connection, newest| {
            newest.forget();
            in_savepoint(connection, WorkOutcome::is_done, &mut work)
        })
        .await
    }

    /// Runs `work` without a savepoint, for which SQLite would copy every page before its first
    /// change. If it fails after it has written, all writes of its batch are done again. It keeps the
    /// newest values up to date.
    pub(super) async fn write_without_savepoint<T: Send + 'static>(
        &self,
        mut work: impl FnMut(&Connection, &mut Newest) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.enqueue(move |connection, newest| without_savepoint(connection, newest, &mut work))
            .await
    }

    /// Returns the end of the use of the store, if somebody changes its files.
    pub(super) fn end_of_use(&self) -> EndOfUse {
        self.end_of_use.clone()
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

    /// Adds a write to the queue, and waits for its result.
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
            let _ = thread.join();
        }
    }
}

/// Commits batches of writes until the queue is closed.
fn run(mut committer: Committer, mut distrust: Distrust, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
    let mut batch = Vec::with_capacity(QUEUE_LENGTH);
    let mut checkpoints = Checkpoints::default();
    while jobs.blocking_recv_many(&mut batch, QUEUE_LENGTH) > 0 {
        if batch.len() < SMALL_BATCH {
            // If this thread shares a core with the runtime threads, this lets them run first, and
            // their writes join this batch. If it has its own core, this takes almost no time.
            thread::yield_now();
            extend_to_limit(&mut batch, iter::from_fn(|| jobs.try_recv().ok()));
        }
        let has_committed = committer.commit(&mut batch);
        distrust.handle_change(&committer.connection, &committer.files);
        if has_committed && committer.files.needs_checkpoint() {
            checkpoints.run(&committer.connection, &mut committer.files);
        }
    }
}

/// Adds more writes to the batch, up to its limit, so that a steady stream of writes cannot delay
/// the first commit.
fn extend_to_limit<T>(batch: &mut Vec<T>, waiting_jobs: impl Iterator<Item = T>) {
    let room = QUEUE_LENGTH.saturating_sub(batch.len());
    batch.extend(waiting_jobs.take(room));
}

/// The failure of a transaction.
enum Failure {
    /// Nothing was committed, because one of the writes made SQLite undo all of them, or the disk was full.
    Undone(StoreError),
    /// No write began, or it is unknown whether they were committed.
    Final(StoreError),
}

/// The part of the thread that commits batches of writes.
struct Committer {
    connection: Connection,
    newest: Newest,
    files: Files,
    waiting_writer: WaitingWriter,
    metrics: Arc<WriterMetrics>,
}

impl Committer {
    /// Commits the batch in one transaction, then acknowledges its jobs. If that transaction is undone,
    /// each job gets a transaction of its own, so that a job that cannot succeed does not take others
    /// with it. Returns whether anything was committed.
    fn commit(&mut self, batch: &mut Vec<Box<dyn Job>>) -> bool {
        let outcome = self.try_commit(batch);
        if batch.len() < 2 || !matches!(outcome, Err(Failure::Undone(_))) {
            return acknowledge(batch, outcome);
        }
        let mut has_changes = false;
        let mut jobs = mem::take(batch).into_iter();
        while let Some(job) = jobs.next() {
            let mut single = vec![job];
            let outcome = self.try_commit(&mut single);
            let is_final = matches!(outcome, Err(Failure::Final(_)));
            has_changes |= acknowledge(&mut single, outcome);
            if is_final {
                // Each of the remaining jobs could wait for the same lock.
                let mut remaining_jobs: Vec<_> = jobs.collect();
                acknowledge(
                    &mut remaining_jobs,
                    Err(Failure::Undone(transaction_lost())),
                );
                break;
            }
        }
        has_changes
    }

    /// Runs every job of the batch in one transaction, and commits it. Returns whether anything was
    /// changed.
    fn try_commit(&mut self, batch: &mut Vec<Box<dyn Job>>) -> Result<bool, Failure> {
        let outcome = self.run_and_commit(batch);
        if outcome.is_err() {
            self.newest.forget();
            self.metrics.failures.count();
        }
        outcome
    }

    /// Runs every job of the batch in one transaction, and commits it.
    fn run_and_commit(&mut self, batch: &mut Vec<Box<dyn Job>>) -> Result<bool, Failure> {
        let Self {
            connection,
            newest,
            files,
            waiting_writer,
            metrics,
        } = self;
        let result = begin(connection, newest, files);
        waiting_writer.end();
        let mut transaction = result.map_err(Failure::Final)?;
        let changes_before = transaction.total_changes();
        for job in batch.iter_mut() {
            job.run(&mut transaction, newest);
        }
        let has_changes = transaction.total_changes() != changes_before;
        let batch_size = if has_changes { Some(batch.len()) } else { None };
        metrics.time_commit(batch_size, || commit(transaction, files))?;
        Ok(has_changes)
    }
}

/// Sends the results of all jobs to their callers. Returns whether anything was committed.
fn acknowledge(batch: &mut Vec<Box<dyn Job>>, outcome: Result<bool, Failure>) -> bool {
    let (has_changes, commit_result) = match outcome {
        Ok(has_changes) => (has_changes, Ok(())),
        Err(Failure::Undone(error) | Failure::Final(error)) => (false, Err(error)),
    };
    for job in batch.drain(..) {
        job.acknowledge(commit_result.clone());
    }
    has_changes
}

/// Begins the transaction of a batch, when the files are still the open ones.
fn begin<'c>(
    connection: &'c mut Connection,
    newest: &mut Newest,
    files: &mut Files,
) -> Result<Transaction<'c>, StoreError> {
    // IMMEDIATE takes the write lock now, while waiting for another process is allowed. SQLite
    // rejects a read transaction that turns into a write without waiting.
    let transaction = Transaction::begin(connection, "BEGIN IMMEDIATE")?;
    // From here on, no other process appends to the WAL.
    files.check()?;
    newest.validate(&transaction)?;
    Ok(transaction)
}

/// Commits the transaction of a batch, and checks the files afterwards.
fn commit(transaction: Transaction<'_>, files: &mut Files) -> Result<(), Failure> {
    if transaction.is_autocommit() {
        return Err(Failure::Undone(transaction_lost()));
    }
    transaction
        .commit()
        .map_err(|error| match error.sqlite_error_code() {
            // On a full disk, the last page of the transaction is not in the WAL.
            Some(ErrorCode::DiskFull) => Failure::Undone(StoreError::from(error)),
            // The whole transaction may be in the WAL. As long as this process lives, the next commit
            // overwrites it. If the process dies first, the next one reads it.
            _ => Failure::Final(StoreError::OutcomeUnknown(Arc::new(error))),
        })?;
    files
        .check()
        .map_err(|change| Failure::Final(StoreError::OutcomeUnknown(Arc::new(change))))
}

/// Runs `work`, and undoes it if it fails or if `is_kept` denies that its result is kept.
fn in_savepoint<T>(
    connection: &mut Connection,
    is_kept: impl FnOnce(&T) -> bool,
    work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
) -> Result<T, StoreError> {
    in_transaction(connection, |connection| {
        connection.prepare_cached("SAVEPOINT job")?.execute([])
    })?;
    let result = in_transaction(connection, work);
    let keep = result.as_ref().is_ok_and(is_kept);
    if !connection.is_autocommit() && end_savepoint(connection, keep).is_err() {
        // The changes of this job can no longer be separated from the changes of other jobs.
        let _ = connection.execute_batch("ROLLBACK");
    }
    result
}

/// Runs `work`, and undoes the whole transaction if it fails after it has written.
fn without_savepoint<T>(
    connection: &mut Connection,
    newest: &mut Newest,
    work: impl FnOnce(&Connection, &mut Newest) -> rusqlite::Result<T>,
) -> Result<T, StoreError> {
    let changes_before = connection.total_changes();
    let result = in_transaction(connection, |connection| work(connection, newest));
    if result.is_err() && connection.total_changes() != changes_before {
        let _ = connection.execute_batch("ROLLBACK");
    }
    result
}

/// Runs `work` in the open transaction. A panic is an error.
fn in_transaction<T>(
    connection: &mut Connection,
    work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
) -> Result<T, StoreError> {
    if connection.is_autocommit() {
        // After an earlier job, SQLite rolled back the whole transaction. Nothing may be written
        // outside a transaction.
        return Err(transaction_lost());
    }
    match panic::catch_unwind(AssertUnwindSafe(|| work(connection))) {
        Ok(result) => result.map_err(StoreError::from),
        Err(_) => Err(StoreError::Internal(cause("a write panicked"))),
    }
}

/// Ends the savepoint of a job. Undoes its changes unless `keep`.
fn end_savepoint(connection: &Connection, keep: bool) -> rusqlite::Result<()> {
    if !keep {
        connection.prepare_cached("ROLLBACK TO job")?.execute([])?;
    }
    connection.prepare_cached("RELEASE job")?.execute([])?;
    Ok(())
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
