//! Facts about the newest rows for each write.

use std::sync::Arc;

use petstore_domain::store_area::FieldSet;
use petstore_store::request_rows::NEWEST_MARK;
use rusqlite::OptionalExtension;

use super::connection::Connection;

const DATA_VERSION: &str = "PRAGMA data_version";
const LATEST: &str = "SELECT latest_at FROM changes ORDER BY seq DESC LIMIT 1";
const LAST_ORDER: &str = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'orders'";

/// The writer reads these values only once while all writes are creates and commands of its own:
/// for each of them, to find the values took a tenth of its time. Everything else forgets them.
#[derive(Debug, Default)]
pub(super) struct Newest {
    /// `PRAGMA data_version` when they were read, which changes with each commit of another process.
    version: i64,
    latest_at: Option<i64>,
    order: Option<i64>,
    mark: Option<i64>,
    fields: Option<Arc<FieldSet>>,
}

impl Newest {
    /// Forgets the values if another process has committed since they were read. Call this at the
    /// beginning of each transaction that writes.
    pub(super) fn validate(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let read = |row: &rusqlite::Row<'_>| row.get(0);
        let version = connection
            .prepare_cached(DATA_VERSION)?
            .query_row([], read)?;
        if self.version != version {
            *self = Self {
                version,
                ..Self::default()
            };
        }
        Ok(())
    }

    /// The values may have changed.
    pub(super) fn forget(&mut self) {
        *self = Self {
            version: self.version,
            ..Self::default()
        };
    }

    /// Returns the latest time in the log after a change at this time, which the caller appends.
    pub(super) fn latest_at(&mut self, connection: &Connection, at: i64) -> rusqlite::Result<i64> {
        let latest_at = known(&mut self.latest_at, connection, LATEST)?.max(at);
        self.latest_at = Some(latest_at);
        Ok(latest_at)
    }

    /// Returns the highest identifier that an order ever had, 0 if there was none.
    pub(super) fn order(&mut self, connection: &Connection) -> rusqlite::Result<i64> {
        known(&mut self.order, connection, LAST_ORDER)
    }

    /// An order with this identifier was added, unless it was there before.
    pub(super) fn has_order(&mut self, id: i64) {
        self.order = self.order.map(|last| last.max(id));
    }

    /// Returns the fields of the store, which `read` reads if they are not known.
    pub(super) fn fields(
        &mut self,
        read: impl FnOnce() -> rusqlite::Result<FieldSet>,
    ) -> rusqlite::Result<Arc<FieldSet>> {
        if let Some(known) = &self.fields {
            return Ok(Arc::clone(known));
        }
        Ok(Arc::clone(self.fields.insert(Arc::new(read()?))))
    }

    /// Returns the newest mark of remembered requests.
    pub(super) fn mark(&mut self, connection: &Connection) -> rusqlite::Result<i64> {
        known(&mut self.mark, connection, NEWEST_MARK)
    }
}

/// Returns the value, which the statement reads if it is not known.
fn known(
    value: &mut Option<i64>,
    connection: &Connection,
    statement: &str,
) -> rusqlite::Result<i64> {
    if let Some(known) = *value {
        return Ok(known);
    }
    let found = connection
        .prepare_cached(statement)?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(*value.insert(found.unwrap_or(i64::MIN)))
}
