//! Transactions that are rolled back unless they are committed, and the shared work in them.

use std::ops::{Deref, DerefMut};

use futures_util::{FutureExt, future::BoxFuture};
use rusqlite::Error;

use super::connection::Connection;

/// A transaction that is rolled back unless it is committed. Unlike a transaction of rusqlite, it lends its
/// connection mutably, so that the connection can be sent to another thread.
pub(super) struct Transaction<'c>(&'c mut Connection);

impl<'c> Transaction<'c> {
    /// Begins a transaction with this statement.
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

/// Returns the result of work that never waits, although its type is a future.
pub(super) fn finish<T>(work: BoxFuture<'_, rusqlite::Result<T>>) -> rusqlite::Result<T> {
    work.now_or_never().unwrap_or(Err(Error::InvalidQuery))
}
