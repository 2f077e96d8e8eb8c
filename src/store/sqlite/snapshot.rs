//! The content of a catalogue at one moment.

use std::{ops::ControlFlow, path::Path};

use rusqlite::Connection;

use super::{connection, rows, store_area::lists};
use crate::{
    domain::{PetRef, PetStatus, store_area::Resource},
    store::{
        OpenError, OpenMode, StoreError,
        bulk::{LastIds, Snapshot, StoredRequest, Table, Value},
        request_rows,
    },
};

const COUNT: &str = "SELECT count(*) FROM pets WHERE ?1 IS NULL OR status = ?1";
const LAST_ID: &str = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?1";
const LAST_WEBHOOK: &str = "SELECT last FROM webhook_ids";

/// See [`Snapshot`].
pub struct SqliteSnapshot(Connection);

impl SqliteSnapshot {
    pub(in crate::store) fn open(path: &Path) -> Result<Self, OpenError> {
        let connection = connection::open_untouched(path, OpenMode::AsIs)?;
        // The first read takes the snapshot.
        let begun = connection
            .execute_batch("BEGIN")
            .and_then(|()| connection.query_row("SELECT count(*) FROM api_keys", [], |_| Ok(())));
        begun.map_err(|error| connection::cannot_open(&path.display().to_string(), error))?;
        Ok(Self(connection))
    }
}

impl Snapshot for SqliteSnapshot {
    fn count_pets(&mut self, status: Option<PetStatus>) -> Result<u64, StoreError> {
        let status = status.map(PetStatus::as_str);
        let count: i64 = self.0.query_row(COUNT, [status], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }

    fn pets(
        &mut self,
        status: Option<PetStatus>,
        show: &mut dyn FnMut(PetRef<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let of_status = status.map(rows::of_status).unwrap_or_default();
        let all = format!("SELECT id, name, category_id, status FROM pets {of_status} ORDER BY id");
        let mut statement = self.0.prepare(&all)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if show(rows::pet(row)?).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn resources(
        &mut self,
        show: &mut dyn FnMut(Resource) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        Ok(lists::each(&self.0, show)?)
    }

    fn requests(
        &mut self,
        show: &mut dyn FnMut(StoredRequest) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut statement = self.0.prepare(request_rows::ALL)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if show(request_rows::request(row)?).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn rows(
        &mut self,
        Table { name, columns, order, .. }: &'static Table,
        show: &mut dyn FnMut(&[Value<'_>]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let all = format!("SELECT {columns} FROM {name} ORDER BY {order}");
        let mut statement = self.0.prepare(&all)?;
        let count = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let values: rusqlite::Result<Vec<_>> =
                (0..count).map(|at| Ok(rows::any_value(row.get_ref(at)?)?)).collect();
            if show(&values?).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn last_ids(&mut self) -> Result<LastIds, StoreError> {
        let last = |table| self.0.query_row(LAST_ID, [table], |row| row.get(0));
        Ok(LastIds {
            pet: last("pets")?,
            order: last("orders")?,
            key: last("api_keys")?,
            staff: last("staff")?,
            webhook: self.0.query_row(LAST_WEBHOOK, [], |row| row.get(0))?,
        })
    }
}
