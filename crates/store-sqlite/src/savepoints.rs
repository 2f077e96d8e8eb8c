//! Isolates the writes of a batch from each other: a write that fails is undone without the others.

use std::panic::{self, AssertUnwindSafe};

use petstore_store::{StoreError, cause};

use super::{committer::transaction_lost, connection::Connection, newest::Newest};

/// Runs `work` in a savepoint, and returns its result. Rolls its changes back if it fails or panics, or
/// if `should_keep` returns `false` for its result.
pub(super) fn in_savepoint<T>(
    connection: &mut Connection,
    should_keep: impl FnOnce(&T) -> bool,
    work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
) -> Result<T, StoreError> {
    in_transaction(connection, |connection| {
        connection.prepare_cached("SAVEPOINT job")?.execute([])
    })?;
    let result = in_transaction(connection, work);
    let is_kept = result.as_ref().is_ok_and(should_keep);
    // In autocommit mode, SQLite has already rolled back the transaction, and with it the savepoint.
    if connection.is_autocommit() {
        return result;
    }
    if end_savepoint(connection, is_kept).is_err() {
        // The changes of this write can no longer be separated from the other changes of the batch, so
        // undo all. This fails only if SQLite has already rolled back the transaction.
        let _ = connection.execute_batch("ROLLBACK");
    }
    result
}

/// Runs `work` without a savepoint. If it fails after it has written, rolls back the whole
/// transaction, with the other writes of the batch.
pub(super) fn without_savepoint<T>(
    connection: &mut Connection,
    newest: &mut Newest,
    work: impl FnOnce(&Connection, &mut Newest) -> rusqlite::Result<T>,
) -> Result<T, StoreError> {
    let changes_before = connection.total_changes();
    let result = in_transaction(connection, |connection| work(connection, newest));
    if result.is_err() && connection.total_changes() != changes_before {
        // This fails only if SQLite has already rolled back the transaction.
        let _ = connection.execute_batch("ROLLBACK");
    }
    result
}

/// Runs `work` in the open transaction. Turns a panic into an error, so that it does not end the writer
/// thread.
fn in_transaction<T>(
    connection: &mut Connection,
    work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
) -> Result<T, StoreError> {
    if connection.is_autocommit() {
        // An earlier write has made SQLite roll back the whole transaction. Without a transaction, each
        // statement would commit on its own.
        return Err(transaction_lost());
    }
    match panic::catch_unwind(AssertUnwindSafe(|| work(connection))) {
        Ok(result) => result.map_err(StoreError::from),
        Err(_) => Err(StoreError::Internal(cause("a write panicked"))),
    }
}

/// Ends the savepoint of a write. Undoes its changes unless `is_kept`.
fn end_savepoint(connection: &Connection, is_kept: bool) -> rusqlite::Result<()> {
    if !is_kept {
        connection.prepare_cached("ROLLBACK TO job")?.execute([])?;
    }
    connection.prepare_cached("RELEASE job")?.execute([])?;
    Ok(())
}

/// Returns `true` for any result, so that [`in_savepoint`] keeps its changes.
pub(super) fn keep_always<T>(_: &T) -> bool {
    true
}
