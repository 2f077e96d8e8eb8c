//! A transaction that is undone unless it is committed.

use std::ops::{Deref, DerefMut};

use rusqlite::Connection;

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
