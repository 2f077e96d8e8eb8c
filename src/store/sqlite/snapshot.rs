//! The content of a catalogue at one moment.

use std::{ops::ControlFlow, path::Path};

use rusqlite::{Connection, Row};

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
const ALL: &str = "SELECT id, name, category_id, status FROM pets ORDER BY id";
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
        let mut statement;
        let mut rows = match status {
            None => {
                statement = self.0.prepare(ALL)?;
                statement.query([])?
            }
            Some(status) => {
                let pets = rows::of_status(status);
                let all = format!("SELECT id, name, category_id {pets} ORDER BY id");
                statement = self.0.prepare(&all)?;
                statement.query([])?
            }
        };
        while let Some(row) = rows.next()? {
            if show(pet(row, status)?).is_break() {
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
        show: &mut dyn FnMut(&[Value]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let all = format!("SELECT {columns} FROM {name} ORDER BY {order}");
        let mut statement = self.0.prepare(&all)?;
        let count = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let values: rusqlite::Result<Vec<Value>> = (0..count).map(|at| row.get(at)).collect();
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

/// The animal of a row. `status` is the status of all rows, if the statement selects one.
fn pet<'r>(row: &'r Row<'_>, status: Option<PetStatus>) -> rusqlite::Result<PetRef<'r>> {
    Ok(PetRef {
        id: rows::identifier(row.get(0)?)?,
        name: row.get_ref(1)?.as_str()?,
        category_id: row.get(2)?,
        status: match status {
            Some(status) => status,
            None => rows::status(row.get_ref(3)?)?,
        },
    })
}
