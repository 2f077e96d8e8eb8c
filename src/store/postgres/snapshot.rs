//! The content of a catalogue at one moment.

use std::{ops::ControlFlow, pin::pin};

use futures_util::TryStreamExt;
use tokio_postgres::{Row, types::ToSql};

use super::{
    bulk::Blocking, errors::Failure, numbering, rows, store_area::lists::everything,
    url::PostgresUrl,
};
use crate::{
    domain::{
        PetRef, PetStatus,
        store_area::{FieldSet, Resource},
    },
    store::{
        OpenError, OpenMode, StoreError,
        admin::fields,
        bulk::{self, LastIds, Snapshot, StoredRequest, Value},
        request_rows,
        tables::Table,
    },
};

/// The first query takes the snapshot for all later reads.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1 FROM pets LIMIT 1";
const COUNT: &str = "SELECT count(*) FROM pets WHERE $1::text IS NULL OR status = $1";
const ALL: &str = "SELECT id, name, category_id, status FROM pets ORDER BY id";
const ALL_OF_STATUS: &str = "SELECT id, name, category_id, status FROM pets
    WHERE status = $1 ORDER BY id NULLS FIRST";
/// Sequences are not part of the snapshot. They are read last, so they are at least as high as its
/// ids.
pub(super) const LAST_PET: &str =
    "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM pets_ids";
const LAST_ORDER: &str = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM orders_ids";
const LAST_KEY: &str = "SELECT coalesce(max(id), 0) FROM api_keys";
const LAST_STAFF: &str = "SELECT coalesce(max(id), 0) FROM staff";
const LAST_WEBHOOK: &str = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM webhook_ids";

/// See [`Snapshot`].
pub struct PostgresSnapshot(Blocking);

impl PostgresSnapshot {
    pub(in crate::store) fn open(url: &PostgresUrl) -> Result<Self, OpenError> {
        let connection = Blocking::open(url, OpenMode::AsIs)?;
        connection.wait(|client| client.batch_execute(BEGIN)).map_err(|error| OpenError::Io {
            path: url.to_string(),
            cause: std::sync::Arc::new(error),
        })?;
        Ok(Self(connection))
    }

    /// Calls `show` with each row of `sql`, until `show` breaks.
    pub(super) fn each(
        &self,
        sql: &str,
        parameters: &[&(dyn ToSql + Sync)],
        mut show: impl FnMut(&Row) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<(), StoreError> {
        let rows = self.0.wait(|client| client.query_raw(sql, parameters.iter().copied()))?;
        let mut rows = pin!(rows);
        // Called outside of `wait`, because it may wait for another connection.
        while let Some(row) = self.0.wait(|_| rows.try_next())? {
            if show(&row)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl Snapshot for PostgresSnapshot {
    fn count_pets(&mut self, status: Option<PetStatus>) -> Result<u64, StoreError> {
        let status = status.map(PetStatus::as_str);
        let count: i64 = self.0.wait(async |client| {
            client.query_one(COUNT, &[&status]).await.and_then(|row| row.try_get(0))
        })?;
        Ok(count.unsigned_abs())
    }

    fn pets(
        &mut self,
        status: Option<PetStatus>,
        show: &mut dyn FnMut(PetRef<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let show = |row: &Row| Ok(show(rows::pet(row)?));
        match status {
            None => self.each(ALL, &[], show),
            Some(status) => self.each(ALL_OF_STATUS, &[&status.as_str()], show),
        }
    }

    fn resources(
        &mut self,
        show: &mut dyn FnMut(Resource) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut goes_on = true;
        for table in Table::ALL {
            if goes_on {
                self.each(&everything(table), &[], |row| {
                    let shown = show(table.read(row)?);
                    goes_on = shown.is_continue();
                    Ok(shown)
                })?;
            }
        }
        Ok(())
    }

    fn requests(
        &mut self,
        show: &mut dyn FnMut(StoredRequest) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.each(request_rows::ALL, &[], |row| Ok(show(request_rows::request(row)?)))
    }

    fn rows(
        &mut self,
        bulk::Table { name, columns, order, .. }: &'static bulk::Table,
        show: &mut dyn FnMut(&[Value<'_>]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let all =
            if *name == "changes" { numbering::ALL } else { &format!("SELECT * FROM {name}") };
        let sql = format!("SELECT {columns} FROM ({all}) AS rows ORDER BY {order}");
        self.each(&sql, &[], |row| {
            let values: Result<Vec<Value<'_>>, _> =
                (0..row.len()).map(|at| row.try_get(at)).collect();
            Ok(show(&values?))
        })
    }

    fn fields(&mut self) -> Result<FieldSet, StoreError> {
        let rows = self.0.wait(|client| client.query(fields::LIST, &[]))?;
        Ok(fields::set(&rows)?)
    }

    fn last_ids(&mut self) -> Result<LastIds, StoreError> {
        self.0.wait(async |client| {
            let pet = client.query_one(LAST_PET, &[]).await?.try_get(0)?;
            let order = client.query_one(LAST_ORDER, &[]).await?.try_get(0)?;
            let key = client.query_one(LAST_KEY, &[]).await?.try_get(0)?;
            let staff = client.query_one(LAST_STAFF, &[]).await?.try_get(0)?;
            let webhook = client.query_one(LAST_WEBHOOK, &[]).await?.try_get(0)?;
            Ok::<_, Failure>(LastIds { pet, order, key, staff, webhook })
        })
    }
}
