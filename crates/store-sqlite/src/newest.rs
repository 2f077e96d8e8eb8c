//! Caches facts about the newest rows between writes.

use std::sync::Arc;

use petstore_domain::store_area::FieldSet;
use petstore_store::request_rows::NEWEST_MARK;
use rusqlite::OptionalExtension;

use super::connection::Connection;

/// The query for a number that changes with each commit of another process.
const DATA_VERSION: &str = "PRAGMA data_version";
/// The query for the latest time of all changes in the log.
const LATEST_AT: &str = "SELECT latest_at FROM changes ORDER BY seq DESC LIMIT 1";
/// The query for the highest identifier that an order ever had.
const LAST_ORDER: &str = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'orders'";

/// A cache of values that each create and each command needs, which saves a tenth of the time of such a
/// write.
///
/// Creates and commands keep the cache up to date. Any other write, a failure, or a commit of another
/// process invalidates it.
#[derive(Debug, Default)]
pub(super) struct Newest {
    /// The result of [`DATA_VERSION`] for which the values are valid.
    version: i64,
    /// The latest time of all changes in the log, in milliseconds.
    latest_at: Option<i64>,
    /// The highest identifier that an order ever had.
    last_order: Option<i64>,
    /// The newest mark, by which the age of remembered requests is counted. See
    /// [`petstore_domain::idempotency::MARK_INTERVAL`].
    request_mark: Option<i64>,
    /// The field definitions of the store.
    fields: Option<Arc<FieldSet>>,
}

impl Newest {
    /// Clears the cache if another process has committed since the values were read. Must be called at
    /// the beginning of each transaction that writes: until its end, no other process can commit.
    pub(super) fn clear_if_outdated(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let version = connection
            .prepare_cached(DATA_VERSION)?
            .query_row([], |row| row.get(0))?;
        if self.version != version {
            *self = Self {
                version,
                ..Self::default()
            };
        }
        Ok(())
    }

    /// Clears the cache, because the values may have changed.
    pub(super) fn clear(&mut self) {
        *self = Self {
            version: self.version,
            ..Self::default()
        };
    }

    /// Records the time of a change that the caller then appends. Returns the latest time of all changes
    /// in the log, including this one. Times are in milliseconds.
    pub(super) fn advance_latest_at(
        &mut self,
        connection: &Connection,
        time: i64,
    ) -> rusqlite::Result<i64> {
        let latest_at = get_or_read(&mut self.latest_at, connection, LATEST_AT)?.max(time);
        self.latest_at = Some(latest_at);
        Ok(latest_at)
    }

    /// Returns the highest identifier that an order ever had; 0 if there was none.
    pub(super) fn last_order(&mut self, connection: &Connection) -> rusqlite::Result<i64> {
        get_or_read(&mut self.last_order, connection, LAST_ORDER)
    }

    /// Records the identifier of an order, which may be a new one. Does nothing if the last identifier
    /// is not cached.
    pub(super) fn note_order(&mut self, id: i64) {
        self.last_order = self.last_order.map(|last_id| last_id.max(id));
    }

    /// Returns the field definitions of the store. Reads them with `read` if they are not cached.
    pub(super) fn fields(
        &mut self,
        read: impl FnOnce() -> rusqlite::Result<FieldSet>,
    ) -> rusqlite::Result<Arc<FieldSet>> {
        if let Some(fields) = &self.fields {
            return Ok(Arc::clone(fields));
        }
        let fields = self.fields.insert(Arc::new(read()?));
        Ok(Arc::clone(fields))
    }

    /// Returns the newest mark of remembered requests.
    pub(super) fn request_mark(&mut self, connection: &Connection) -> rusqlite::Result<i64> {
        get_or_read(&mut self.request_mark, connection, NEWEST_MARK)
    }
}

/// Returns a cached value. If it is not cached, reads it with `statement`, and caches it. If the
/// statement selects no row, as in an empty log, the value is `i64::MIN`, which is lower than any time.
fn get_or_read(
    cached: &mut Option<i64>,
    connection: &Connection,
    statement: &str,
) -> rusqlite::Result<i64> {
    if let Some(value) = *cached {
        return Ok(value);
    }
    let value = connection
        .prepare_cached(statement)?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(*cached.insert(value.unwrap_or(i64::MIN)))
}
