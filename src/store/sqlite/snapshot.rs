//! The content of a catalogue at one moment.

use std::{ops::ControlFlow, path::Path};

use futures_util::FutureExt;
use rusqlite::{Connection, Row};

use super::{connection, migrations, rows, store_area::lists, transaction::done};
use crate::{
    domain::{
        PetRef, PetStatus,
        store_area::{FieldSet, Resource},
    },
    store::{
        OpenError, OpenMode, StoreError,
        admin::fields,
        bulk::{LastIds, Snapshot, StoredRequest, Table, Value},
        request_rows,
    },
};

const COUNT: &str = "SELECT count(*) FROM pets WHERE ?1 IS NULL OR status = ?1";
const LAST_ID: &str = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?1";
const LAST_WEBHOOK: &str = "SELECT last FROM webhook_ids";

/// See [`crate::store::fields_of_new_database`].
pub(in crate::store) fn fields_of_new_database() -> rusqlite::Result<FieldSet> {
    let mut connection = Connection::open_in_memory()?;
    migrations::create(&connection)?;
    done(fields::list(&mut connection).boxed())
}

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

    /// Calls `show` with each row of `sql`, until `show` breaks.
    fn each(
        &self,
        sql: &str,
        mut show: impl FnMut(&Row<'_>) -> rusqlite::Result<ControlFlow<()>>,
    ) -> Result<(), StoreError> {
        let mut statement = self.0.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if show(row)?.is_break() {
                break;
            }
        }
        Ok(())
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
        self.each(&all, |row| Ok(show(rows::pet(row)?)))
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
        self.each(request_rows::ALL, |row| Ok(show(request_rows::request(row)?)))
    }

    fn rows(
        &mut self,
        Table { name, columns, order, .. }: &'static Table,
        show: &mut dyn FnMut(&[Value<'_>]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let all = format!("SELECT {columns} FROM {name} ORDER BY {order}");
        self.each(&all, |row| {
            let columns = 0..row.as_ref().column_count();
            let values: rusqlite::Result<Vec<_>> =
                columns.map(|at| Ok(rows::any_value(row.get_ref(at)?)?)).collect();
            Ok(show(&values?))
        })
    }

    fn fields(&mut self) -> Result<FieldSet, StoreError> {
        Ok(done(fields::list(&mut self.0).boxed())?)
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
