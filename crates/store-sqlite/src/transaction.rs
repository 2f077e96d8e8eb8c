//! Transactions, and a helper that runs the asynchronous logic of both stores on SQLite.

use std::ops::{Deref, DerefMut};

use futures_util::{FutureExt, future::BoxFuture};
use rusqlite::Error;

use super::connection::Connection;

/// A transaction that is rolled back when dropped, unless it was committed. Unlike the transaction type
/// of rusqlite, it holds a mutable borrow of its connection, so it can be sent to another thread.
pub(super) struct Transaction<'c>(&'c mut Connection);

impl<'c> Transaction<'c> {
    /// Begins a transaction with the statement `sql`, such as `BEGIN IMMEDIATE`.
    pub(super) fn begin(connection: &'c mut Connection, sql: &str) -> rusqlite::Result<Self> {
        connection.execute_batch(sql)?;
        Ok(Self(connection))
    }

    /// Commits the transaction. If that fails, dropping it rolls it back.
    pub(super) fn commit(self) -> rusqlite::Result<()> {
        self.execute_batch("COMMIT")
    }
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.0
    }
}

impl DerefMut for Transaction<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        self.0
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // In autocommit mode, the transaction was committed, or SQLite has rolled it back.
        if !self.is_autocommit() {
            // Nobody could handle an error here.
            let _ = self.execute_batch("ROLLBACK");
        }
    }
}

/// Returns the result of work on SQLite, which is ready at its first poll. The work is asynchronous only
/// because PostgreSQL shares its code. Fails if a future is not ready.
pub(super) fn resolve_now<T>(work: BoxFuture<'_, rusqlite::Result<T>>) -> rusqlite::Result<T> {
    work.now_or_never().unwrap_or(Err(Error::InvalidQuery))
}
