//! Commits batches of writes, each batch in one transaction.

use std::{mem, sync::Arc};

use petstore_store::{StoreError, cause};
use rusqlite::ErrorCode;

use super::{
    connection::Connection, file::Files, newest::Newest, readers::WaitingWriter,
    transaction::Transaction, writer_metrics::WriterMetrics,
};

/// A queued write, or a write in a transaction that is not yet committed.
pub(super) trait Job: Send {
    /// Runs the write in the open transaction, and keeps its result. May be called again after the
    /// transaction was undone. The new result then replaces the old one.
    fn run(&mut self, connection: &mut Connection, newest: &mut Newest);

    /// Sends the result of the write to its caller, once the result of the commit is known.
    fn acknowledge(self: Box<Self>, commit_result: Result<(), StoreError>);
}

/// Why the transaction of a batch failed.
enum Failure {
    /// The transaction was rolled back, because one of the writes made SQLite do so, or the disk was
    /// full. The writes can be retried one by one.
    Undone(StoreError),
    /// The transaction could not begin, or it is unknown whether it was committed. The writes must not
    /// be retried.
    Final(StoreError),
}

/// Commits batches of writes, on the thread of the writer.
pub(super) struct Committer {
    pub(super) connection: Connection,
    pub(super) newest: Newest,
    pub(super) files: Files,
    pub(super) waiting_writer: WaitingWriter,
    pub(super) metrics: Arc<WriterMetrics>,
}

impl Committer {
    /// Commits the batch in one transaction, then acknowledges its jobs. If the transaction is undone,
    /// retries each job in a transaction of its own: a job that cannot succeed must not make the others
    /// fail. Returns whether anything was committed. Leaves the batch empty.
    pub(super) fn commit(&mut self, batch: &mut Vec<Box<dyn Job>>) -> bool {
        let outcome = self.try_commit(batch);
        if batch.len() < 2 || !matches!(outcome, Err(Failure::Undone(_))) {
            return acknowledge(batch, outcome);
        }
        self.commit_one_by_one(mem::take(batch))
    }

    /// Commits each job in a transaction of its own, and acknowledges it. After a final failure, rejects
    /// the remaining jobs. Returns whether anything was committed.
    fn commit_one_by_one(&mut self, batch: Vec<Box<dyn Job>>) -> bool {
        let mut has_changes = false;
        let mut jobs = batch.into_iter();
        while let Some(job) = jobs.next() {
            let mut single = vec![job];
            let outcome = self.try_commit(&mut single);
            let is_final = matches!(outcome, Err(Failure::Final(_)));
            has_changes |= acknowledge(&mut single, outcome);
            if is_final {
                // Do not run the remaining jobs: each could wait just as long for the same lock.
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

    /// Runs the batch like [`Self::run_and_commit`]. After a failure, clears the cache of newest values
    /// and counts the failure.
    fn try_commit(&mut self, batch: &mut Vec<Box<dyn Job>>) -> Result<bool, Failure> {
        let outcome = self.run_and_commit(batch);
        if outcome.is_err() {
            self.newest.forget();
            self.metrics.failures.count();
        }
        outcome
    }

    /// Runs every job of the batch in one transaction, and commits it. Returns whether anything was
    /// changed.
    fn run_and_commit(&mut self, batch: &mut Vec<Box<dyn Job>>) -> Result<bool, Failure> {
        let Self {
            connection,
            newest,
            files,
            waiting_writer,
            metrics,
        } = self;
        let result = begin(connection, newest, files);
        // The wait for the write lock is over, whether or not it was successful.
        waiting_writer.stop_waiting();
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

/// Begins the transaction of a batch. Fails if the files have been replaced or changed by another
/// program.
fn begin<'c>(
    connection: &'c mut Connection,
    newest: &mut Newest,
    files: &mut Files,
) -> Result<Transaction<'c>, StoreError> {
    // IMMEDIATE waits for the write lock now. A transaction that began with a read and took the lock
    // later would fail at once while another process holds the lock.
    let transaction = Transaction::begin(connection, "BEGIN IMMEDIATE")?;
    // This transaction holds the write lock, so no other process can append to the WAL from here on.
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
            // On a full disk, the last page of the transaction is not in the WAL, so it is not committed.
            Some(ErrorCode::DiskFull) => Failure::Undone(StoreError::from(error)),
            // The whole transaction may be in the WAL. While this process lives, its next commit
            // overwrites it. If this process dies first, the next one treats it as committed.
            _ => Failure::Final(StoreError::OutcomeUnknown(Arc::new(error))),
        })?;
    files
        .check()
        .map_err(|change| Failure::Final(StoreError::OutcomeUnknown(Arc::new(change))))
}

/// Returns the error of a write that did not run because its transaction was already rolled back.
pub(super) fn transaction_lost() -> StoreError {
    StoreError::Unavailable(cause(
        "the transaction was rolled back by an earlier failure",
    ))
}
