//! Transactions, and a helper that runs the asynchronous logic of both stores on SQLite.

use std::ops::{Deref, DerefMut};

use futures_util::{FutureExt, future::BoxFuture};
use rusqlite::Error;

use super::connection::Connection;

/// A transaction that is rolled back when dropped, unless it was committed. Unlike the transaction of
/// rusqlite, it borrows its connection mutably and lends it mutably, so it can be sent to another thread.
pub(super) struct Transaction<'c>(&'c mut Connection);

impl<'c> Transaction<'c> {
    /// Begins a transaction with the statement `sql`, such as `BEGIN IMMEDIATE`.
    pub(super) fn begin(connection: &'c mut Connection, sql: &str) -> rusqlite::Result<Self> {
        connection.execute_batch(sql)?;
        Ok(Self(connection))
    }

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
        if !self.is_autocommit() {
            let _ = self.execute_batch("ROLLBACK");
        }
    }
}

/// Returns the result of a future that is ready at its first poll, as all work on SQLite is: it is
/// asynchronous only because both stores share it.
pub(super) fn resolve_now<T>(work: BoxFuture<'_, rusqlite::Result<T>>) -> rusqlite::Result<T> {
    work.now_or_never().unwrap_or(Err(Error::InvalidQuery))
}
