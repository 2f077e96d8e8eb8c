//! A connection to the file.

use std::ops::{Deref, DerefMut};

/// A connection to a file. It is a type of this crate, so that it can have the traits of the store.
pub struct Connection(rusqlite::Connection);

impl Connection {
    /// Wraps a connection of the driver.
    pub(super) fn new(connection: rusqlite::Connection) -> Self {
        Self(connection)
    }

    /// Opens an empty database that is nowhere but in memory.
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
