//! The connection type of this crate.

use std::ops::{Deref, DerefMut};

/// A connection to a database. It is a newtype because of the orphan rule: this crate cannot implement
/// the traits of `petstore-store` for the connection type of rusqlite.
pub struct Connection(rusqlite::Connection);

impl Connection {
    /// Wraps a connection of rusqlite.
    pub(super) fn new(connection: rusqlite::Connection) -> Self {
        Self(connection)
    }

    /// Opens a new, empty in-memory database.
    pub(crate) fn open_in_memory() -> rusqlite::Result<Self> {
        let connection = rusqlite::Connection::open_in_memory()?;
        Ok(Self(connection))
    }
}

impl Deref for Connection {
    type Target = rusqlite::Connection;

    fn deref(&self) -> &rusqlite::Connection {
        &self.0
    }
}

impl DerefMut for Connection {
    fn deref_mut(&mut self) -> &mut rusqlite::Connection {
        &mut self.0
    }
}
