//! The connection that writes, on its own thread.
//!
//! Writes wait in a bounded queue. The thread takes all waiting writes and commits them in one
//! transaction, so that they share one wait for the disk. Only then are they acknowledged. A failed
//! write does not affect the others.

use std::{
    io, iter,
    panic::{self, AssertUnwindSafe},
    sync::Arc,
    thread,
};

use rusqlite::{Connection, ErrorCode};
use tokio::sync::{
    mpsc::{self, error::TrySendError},
    oneshot,
};

use super::{
    checkpoints::Checkpoints,
    distrust::{Distrust, Ended},
    file::Files,
    newest::Newest,
    readers::WaitingWriter,
    transaction::Transaction,
    writer_metrics::WriterMetrics,
};
use crate::{
    observe::metrics::Exposition,
    store::{StoreError, cause},
};

/// How many writes may wait, in addition to those that are being committed. Further writes are
/// rejected.
const QUEUE_LENGTH: usize = 1024;

/// Committing fewer writes than this costs more than the writes themselves.
const FEW: usize = 16;

/// Why a write fails after SQLite has undone those before it.
const TRANSACTION_LOST: &str = "the transaction was rolled back by an earlier failure";

/// A waiting write. It gets a connection in a transaction, or the reason why there is none.
type Job =
    Box<dyn FnOnce(Result<(&mut Connection, &mut Newest), StoreError>) -> Acknowledge + Send>;

/// Sends the result of a write to its caller, after the result of the commit.
type Acknowledge = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

pub(super) struct Writer {
    metrics: Arc<WriterMetrics>,
    /// `None` only while dropping.
    queue: Option<mpsc::Sender<Job>>,
    thread: Option<thread::JoinHandle<()>>,
    ended: Ended,
}

impl Writer {
    pub(super) fn start(
        connection: Connection,
        files: Files,
        waiting: WaitingWriter,
    ) -> io::Result<Self> {
        let (queue, jobs) = mpsc::channel(QUEUE_LENGTH);
        let metrics = Arc::new(WriterMetrics::default());
        let counting = Arc::clone(&metrics);
        let distrust = Distrust::default();
        let ended = distrust.ended();
        let thread = thread::Builder::new()
            .name("petstore-writer".to_owned())
            .spawn(move || run(connection, files, distrust, &waiting, jobs, &counting))?;
        Ok(Self { metrics, queue: Some(queue), thread: Some(thread), ended })
    }

    /// Runs `work` completely or not at all, and returns once it is on disk.
    ///
    /// If the future is dropped before its turn comes, the work is not done.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.enqueue(|connection, newest| {
            newest.forget();
            in_savepoint(connection, work)
        })
        .await
    }

    /// Runs `work` without a savepoint, for which SQLite would copy every page before its first
    /// change. If it fails after it has written, all writes of its batch fail. It keeps the newest
    /// values up to date.
    pub(super) async fn write_without_savepoint<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection, &mut Newest) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.enqueue(|connection, newest| without_savepoint(connection, newest, work)).await
    }

    /// The end of the use of the store, if somebody changes its files.
    pub(super) fn ended(&self) -> Ended {
        self.ended.clone()
    }

    /// Writes the metrics of the writer.
    pub(super) fn expose(&self, page: &mut Exposition) {
        let waiting = self.queue.as_ref().map_or(0, |queue| QUEUE_LENGTH - queue.capacity());
        let help = "Writes that wait for the writer.";
        page.number("petstore_writer_queue_length", help, waiting);
        let help = "How many writes may wait.";
        page.number("petstore_writer_queue_limit", help, QUEUE_LENGTH);
        self.metrics.expose(page);
    }

    async fn enqueue<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection, &mut Newest) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            if sender.is_closed() {
                return Box::new(|_| {});
            }
            let done = connection.and_then(|(connection, newest)| work(connection, newest));
            Box::new(move |committed| {
                // The caller may be gone by now; the write is still valid. An error of the write
                // itself is more specific than that of the commit.
                let _ = sender.send(done.and_then(|value| committed.map(|()| value)));
            })
        });
        let stopped = || StoreError::Internal(cause("the writer has stopped"));
        match self.queue.as_ref().ok_or_else(stopped)?.try_send(job) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                self.metrics.refusals.count();
                return Err(StoreError::Overloaded);
            }
            Err(TrySendError::Closed(_)) => return Err(stopped()),
        }
        receiver.await.unwrap_or_else(|_| Err(stopped()))
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

fn run(
    mut connection: Connection,
    mut files: Files,
    mut distrust: Distrust,
    waiting: &WaitingWriter,
    mut jobs: mpsc::Receiver<Job>,
    metrics: &WriterMetrics,
) {
    let mut batch = Vec::with_capacity(QUEUE_LENGTH);
    let mut checkpoints = Checkpoints::default();
    let mut newest = Newest::default();
    while jobs.blocking_recv_many(&mut batch, QUEUE_LENGTH) > 0 {
        if batch.len() < FEW {
            // If this thread shares a core with the runtime threads, this lets them run first, and
            // their writes join this batch. If it has its own core, this takes almost no time.
            thread::yield_now();
            fill_up(&mut batch, iter::from_fn(|| jobs.try_recv().ok()));
        }
        let has_committed =
            commit(&mut connection, &mut newest, &mut files, waiting, &mut batch, metrics);
        distrust.handle_change(&connection, &files);
        if has_committed && files.needs_checkpoint() {
            checkpoints.run(&connection, &mut files);
        }
    }
}

/// Adds more writes to the batch, up to its limit, so that a steady stream of writes cannot delay
/// the first commit.
fn fill_up<T>(batch: &mut Vec<T>, more: impl Iterator<Item = T>) {
    batch.extend(more.take(QUEUE_LENGTH.saturating_sub(batch.len())));
}

/// Runs every job of the batch in one transaction, then acknowledges them. Returns whether anything
/// was committed.
fn commit(
    connection: &mut Connection,
    newest: &mut Newest,
    files: &mut Files,
    waiting: &WaitingWriter,
    batch: &mut Vec<Job>,
    metrics: &WriterMetrics,
) -> bool {
    let mut has_changes = false;
    let mut done = Vec::with_capacity(batch.len());
    let begun = begin(connection, newest, files);
    waiting.end();
    let committed = match begun {
        Ok(mut transaction) => {
            let changes_before = transaction.total_changes();
            done.extend(batch.drain(..).map(|job| job(Ok((&mut transaction, newest)))));
            has_changes = transaction.total_changes() != changes_before;
            metrics.time_commit(has_changes.then_some(done.len()), || finish(transaction, files))
        }
        Err(error) => {
            done.extend(batch.drain(..).map(|job| job(Err(error.clone()))));
            Err(error)
        }
    };
    if committed.is_err() {
        newest.forget();
        metrics.failures.count();
    }
    for acknowledge in done {
        acknowledge(committed.clone());
    }
    committed.is_ok() && has_changes
}

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

fn finish(transaction: Transaction<'_>, files: &mut Files) -> Result<(), StoreError> {
    if transaction.is_autocommit() {
        return Err(StoreError::Unavailable(cause(TRANSACTION_LOST)));
    }
    transaction.commit().map_err(|error| match error.sqlite_error_code() {
        // Then the last page of the transaction is not in the WAL.
        Some(ErrorCode::DiskFull) => StoreError::from(error),
        // The whole transaction may be in the WAL. As long as this process lives, the next commit
        // overwrites it. If the process dies first, the next one reads it.
        _ => StoreError::OutcomeUnknown(Arc::new(error)),
    })?;
    files.check().map_err(|change| StoreError::OutcomeUnknown(Arc::new(change)))
}

/// Runs `work`, and undoes it if it fails.
fn in_savepoint<T>(
    connection: &mut Connection,
    work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
) -> Result<T, StoreError> {
    let begin =
        |connection: &mut Connection| connection.prepare_cached("SAVEPOINT job")?.execute([]);
    in_transaction(connection, begin)?;
    let done = in_transaction(connection, work);
    if !connection.is_autocommit() && end_savepoint(connection, done.is_ok()).is_err() {
        // The changes of this job can no longer be separated from the others.
        let _ = connection.execute_batch("ROLLBACK");
    }
    done
}

/// Runs `work`, and undoes the whole transaction if it fails after it has written.
fn without_savepoint<T>(
    connection: &mut Connection,
    newest: &mut Newest,
    work: impl FnOnce(&Connection, &mut Newest) -> rusqlite::Result<T>,
) -> Result<T, StoreError> {
    let before = connection.total_changes();
    let done = in_transaction(connection, |connection| work(connection, newest));
    if done.is_err() && connection.total_changes() != before {
        let _ = connection.execute_batch("ROLLBACK");
    }
    done
}

fn in_transaction<T>(
    connection: &mut Connection,
    work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
) -> Result<T, StoreError> {
    if connection.is_autocommit() {
        // After an earlier job, SQLite rolled back the whole transaction. Nothing may be written
        // outside a transaction.
        return Err(StoreError::Unavailable(cause(TRANSACTION_LOST)));
    }
    match panic::catch_unwind(AssertUnwindSafe(|| work(connection))) {
        Ok(done) => done.map_err(StoreError::from),
        Err(_) => Err(StoreError::Internal(cause("a write panicked"))),
    }
}

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
