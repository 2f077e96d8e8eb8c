//! A transaction that is undone unless it is committed, and the shared work in it.

use std::ops::{Deref, DerefMut};

use futures_util::{FutureExt, future::BoxFuture};
use rusqlite::Error;

use super::connection::Connection;

/// Unlike that of rusqlite, it lends its connection to one at a time, who may send it to another
/// thread.
pub(super) struct Transaction<'c>(&'c mut Connection);

impl<'c> Transaction<'c> {
    /// Begins with this statement.
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

/// Returns the result of work that never waits.
pub(super) fn done<T>(work: BoxFuture<'_, rusqlite::Result<T>>) -> rusqlite::Result<T> {
    work.now_or_never().unwrap_or(Err(Error::InvalidQuery))
}
