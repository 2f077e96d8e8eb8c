//! Identifiers that were met, in constant memory.

use rusqlite::{Connection, OptionalExtension, params};

use crate::domain::PetId;

/// Which identifiers were met, and in which row: a private database of SQLite,
/// which keeps in a temporary file what it has no room for.
pub struct SeenIds(Connection);

impl SeenIds {
    /// None yet.
    ///
    /// # Errors
    ///
    /// If there is no room for temporary files.
    pub fn new() -> rusqlite::Result<Self> {
        let connection = Connection::open("")?;
        connection.execute_batch(
            "PRAGMA journal_mode = OFF;
             CREATE TABLE met (id INTEGER PRIMARY KEY, row INTEGER NOT NULL);
             BEGIN",
        )?;
        Ok(Self(connection))
    }

    /// Notes that `id` was met in `row`, unless it was met before: then the row
    /// where that was.
    ///
    /// # Errors
    ///
    /// If there is no room for temporary files.
    pub fn meet(&self, id: PetId, row: u64) -> rusqlite::Result<Option<u64>> {
        let insert = "INSERT OR IGNORE INTO met (id, row) VALUES (?1, ?2)";
        let noted = self.0.prepare_cached(insert)?.execute(params![id.get(), row.cast_signed()])?;
        if noted == 1 { Ok(None) } else { self.met_in(id) }
    }

    /// The row where `id` was met first.
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be read.
    pub fn met_in(&self, id: PetId) -> rusqlite::Result<Option<u64>> {
        let find = "SELECT row FROM met WHERE id = ?1";
        let row: Option<i64> =
            self.0.prepare_cached(find)?.query_row([id.get()], |row| row.get(0)).optional()?;
        Ok(row.map(i64::cast_unsigned))
    }
}
