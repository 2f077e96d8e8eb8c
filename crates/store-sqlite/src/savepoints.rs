//! Runs a write so that its failure undoes no other write of its batch.

use std::panic::{self, AssertUnwindSafe};

use petstore_store::{StoreError, cause};

use super::{committer::transaction_lost, connection::Connection, newest::Newest};

/// Runs `work`, and undoes it if it fails, or if `is_kept` returns `false` for its result.
pub(super) fn in_savepoint<T>(
    connection: &mut Connection,
    is_kept: impl FnOnce(&T) -> bool,
    work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
) -> Result<T, StoreError> {
    in_transaction(connection, |connection| {
        connection.prepare_cached("SAVEPOINT job")?.execute([])
    })?;
    let result = in_transaction(connection, work);
    let is_kept = result.as_ref().is_ok_and(is_kept);
    if !connection.is_autocommit() && end_savepoint(connection, is_kept).is_err() {
        // The changes of this job can no longer be separated from the changes of other jobs.
        let _ = connection.execute_batch("ROLLBACK");
    }
    result
}

/// Runs `work`, and undoes the whole transaction if it fails after it has written.
pub(super) fn without_savepoint<T>(
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

/// Ends the savepoint of a job. Undoes its changes unless `is_kept`.
fn end_savepoint(connection: &Connection, is_kept: bool) -> rusqlite::Result<()> {
    if !is_kept {
        connection.prepare_cached("ROLLBACK TO job")?.execute([])?;
    }
    connection.prepare_cached("RELEASE job")?.execute([])?;
    Ok(())
}

/// Keeps any result. See [`in_savepoint`].
pub(super) fn keep_always<T>(_: &T) -> bool {
    true
}
