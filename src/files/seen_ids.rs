//! Identifiers that were seen, in constant memory.

use rusqlite::{Connection, OptionalExtension, params};

use crate::domain::PetId;

/// The identifiers that were seen, and in which row. They are in a private SQLite database, which
/// uses a temporary file when it outgrows its memory.
pub struct SeenIds(Connection);

impl SeenIds {
    /// No identifiers yet.
    ///
    /// # Errors
    ///
    /// If there is no space for temporary files.
    pub fn new() -> rusqlite::Result<Self> {
        let connection = Connection::open("")?;
        connection.execute_batch(
            "PRAGMA journal_mode = OFF;
             CREATE TABLE seen (id INTEGER PRIMARY KEY, row INTEGER NOT NULL);
             BEGIN",
        )?;
        Ok(Self(connection))
    }

    /// Records that `row` has `id`, or returns the row that already has it.
    ///
    /// # Errors
    ///
    /// If there is no space for temporary files.
    pub fn record(&self, id: PetId, row: u64) -> rusqlite::Result<Option<u64>> {
        let insert = "INSERT OR IGNORE INTO seen (id, row) VALUES (?1, ?2)";
        let inserted =
            self.0.prepare_cached(insert)?.execute(params![id.get(), row.cast_signed()])?;
        if inserted == 1 { Ok(None) } else { self.row_of(id) }
    }

    /// The first row with `id`.
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be read.
    pub fn row_of(&self, id: PetId) -> rusqlite::Result<Option<u64>> {
        let find = "SELECT row FROM seen WHERE id = ?1";
        let row: Option<i64> =
            self.0.prepare_cached(find)?.query_row([id.get()], |row| row.get(0)).optional()?;
        Ok(row.map(i64::cast_unsigned))
    }
}
