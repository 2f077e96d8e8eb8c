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
    /// Runs the write in the open transaction, and keeps its result. If the transaction is undone,
    /// this may be called again, and the new result replaces the old one.
    fn run(&mut self, connection: &mut Connection, newest: &mut Newest);

    /// Sends the result of the write to its caller, once the result of the commit is known.
    fn acknowledge(self: Box<Self>, commit_result: Result<(), StoreError>);
}

/// Why the transaction of a batch failed.
enum Failure {
    /// SQLite rolled the transaction back because of one of the writes, or because the disk was full.
    /// The writes can be retried one by one.
    Undone(StoreError),
    /// The transaction could not begin, or it is unknown whether it was committed. The writes must not
    /// be retried.
    Final(StoreError),
}

impl Failure {
    /// Returns the error for the callers of the writes.
    fn into_error(self) -> StoreError {
        match self {
            Self::Undone(error) | Self::Final(error) => error,
        }
    }
}

/// Commits batches of writes, on the thread of the writer.
pub(super) struct Committer {
    pub(super) connection: Connection,
    /// A cache of the facts that creates and commands must know about the newest rows.
    pub(super) newest: Newest,
    /// The files of the database, which are checked before and after each commit.
    pub(super) files: Files,
    /// The handle with which the readers learn that the wait for the write lock is over.
    pub(super) waiting_writer: WaitingWriter,
    pub(super) metrics: Arc<WriterMetrics>,
}

impl Committer {
    /// Commits the batch in one transaction, then acknowledges its jobs. Leaves the batch empty. Returns
    /// whether anything was changed.
    ///
    /// If the transaction is undone, retries each job in a transaction of its own: a job that cannot
    /// succeed must not make the others fail.
    pub(super) fn commit_and_acknowledge(&mut self, batch: &mut Vec<Box<dyn Job>>) -> bool {
        let outcome = self.try_commit(batch);
        let is_undone = matches!(outcome, Err(Failure::Undone(_)));
        let has_several_jobs = batch.len() > 1;
        if is_undone && has_several_jobs {
            return self.commit_one_by_one(mem::take(batch));
        }
        acknowledge(batch, outcome)
    }

    /// Commits each job in a transaction of its own, and acknowledges it. After a final failure, rejects
    /// the remaining jobs. Returns whether anything was changed.
    fn commit_one_by_one(&mut self, batch: Vec<Box<dyn Job>>) -> bool {
        let mut has_changes = false;
        let mut jobs = batch.into_iter();
        while let Some(job) = jobs.next() {
            let mut single_job = vec![job];
            let outcome = self.try_commit(&mut single_job);
            let is_final = matches!(outcome, Err(Failure::Final(_)));
            has_changes |= acknowledge(&mut single_job, outcome);
            if is_final {
                // What has made this commit fail, such as a lock or a replaced file, would probably make
                // the next ones fail, too, perhaps each after a long wait. The remaining jobs were rolled
                // back with the transaction of the batch.
                for remaining_job in jobs {
                    remaining_job.acknowledge(Err(transaction_lost()));
                }
                return has_changes;
            }
        }
        has_changes
    }

    /// Runs and commits the batch like [`Self::run_and_commit`]. After a failure, clears the cache of
    /// newest values and counts the failure.
    fn try_commit(&mut self, batch: &mut Vec<Box<dyn Job>>) -> Result<bool, Failure> {
        let outcome = self.run_and_commit(batch);
        if outcome.is_err() {
            self.newest.clear();
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
        let begin_result = begin(connection, newest, files);
        // Even if the transaction could not begin, the wait for the write lock is over. So tell this to
        // the readers before an error is returned.
        waiting_writer.stop_waiting();
        let mut transaction = begin_result.map_err(Failure::Final)?;
        let changes_before = transaction.total_changes();
        for job in batch.iter_mut() {
            job.run(&mut transaction, newest);
        }
        let has_changes = transaction.total_changes() != changes_before;
        if has_changes {
            metrics.time_commit(batch.len(), || commit(transaction, files))?;
        } else {
            // A commit without changes does not wait for the disk, so it is not measured.
            commit(transaction, files)?;
        }
        Ok(has_changes)
    }
}

/// Sends the results of all jobs of a batch to their callers. `outcome` tells whether the commit of the
/// batch has changed anything, or why it failed. Returns whether anything was changed, which is `false`
/// after a failure.
fn acknowledge(batch: &mut Vec<Box<dyn Job>>, outcome: Result<bool, Failure>) -> bool {
    let has_changes = matches!(outcome, Ok(true));
    let commit_result = outcome.map(|_| ()).map_err(Failure::into_error);
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
    newest.clear_if_outdated(&transaction)?;
    Ok(transaction)
}

/// Commits the transaction of a batch, and checks the files afterwards.
fn commit(transaction: Transaction<'_>, files: &mut Files) -> Result<(), Failure> {
    // In autocommit mode, SQLite has already rolled back the transaction, because of one of the writes.
    if transaction.is_autocommit() {
        return Err(Failure::Undone(transaction_lost()));
    }
    transaction
        .commit()
        .map_err(|error| match error.sqlite_error_code() {
            // On a full disk, the last page of the transaction is not in the WAL, so it is not committed.
            Some(ErrorCode::DiskFull) => Failure::Undone(StoreError::from(error)),
            // The whole transaction may be in the WAL. The next commit of this process would overwrite
            // it there. But if this process dies first, the next process treats it as committed.
            _ => Failure::Final(StoreError::OutcomeUnknown(Arc::new(error))),
        })?;
    files
        .check()
        .map_err(|change| Failure::Final(StoreError::OutcomeUnknown(Arc::new(change))))
}

/// Returns the error of a write that is not committed, because its transaction was rolled back after
/// another failure.
pub(super) fn transaction_lost() -> StoreError {
    StoreError::Unavailable(cause(
        "the transaction was rolled back by an earlier failure",
    ))
}
