//! Reads whole catalogues: what every store does in the same way.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::ops::ControlFlow;

use futures_util::FutureExt;
use petstore_domain::{
    PetRef, PetStatus,
    store_area::{FieldSet, Profile, Resource},
};

use super::{
    StoreError,
    admin::{Parameters, Sql, Work, fields, profile},
    bulk::{LastIds, Snapshot, StoredRequest, Table, Value},
    columns::Columns,
    request_rows,
    tables::{self, pet_of_contract},
};

const COUNT: &str = "SELECT count(*) FROM pets WHERE CAST($1 AS text) IS NULL OR status = $1";

/// A connection for whole catalogues. All methods block.
pub trait CatalogueConnection {
    type Sql: Sql;

    /// The changes with their numbers, from which [`Table::columns`] are selected.
    const CHANGES: &'static str;
    /// The columns of [`LastIds`].
    const LAST_IDS: &'static str;

    /// Selects the animals of a status in the order of their identifiers, behind the name of their
    /// table.
    fn of_status(status: PetStatus) -> String;

    /// Selects everything in a table, for `tables::Table::read`.
    fn select_all(table: tables::Table) -> String;

    /// Does what is the same in every store.
    fn run<W: Sync, T>(
        &mut self,
        what: &W,
        work: Work<Self::Sql, W, T>,
    ) -> Result<T, ConnectionError<Self>>;

    /// Calls `show` with each row of a result, until it breaks. It may use another connection.
    fn each(
        &self,
        sql: &str,
        values: Parameters<'_>,
        show: impl FnMut(&BorrowedRow<'_, Self>) -> Result<ControlFlow<()>, ConnectionError<Self>>,
    ) -> Result<(), ConnectionError<Self>>;

    /// The values in a row, of any type that a table has.
    fn values<'r>(row: &'r BorrowedRow<'_, Self>) -> Result<Vec<Value<'r>>, ConnectionError<Self>>;

    /// Whether the error is due to what a row contains.
    fn is_content_error(error: &ConnectionError<Self>) -> bool;

    /// Whether another check reports all that can be invalid in this row.
    fn is_checked(
        _: tables::Table,
        _: &BorrowedRow<'_, Self>,
    ) -> Result<bool, ConnectionError<Self>> {
        Ok(false)
    }
}

/// The error of a connection.
pub(super) type ConnectionError<W> = <<W as CatalogueConnection>::Sql as Sql>::Error;

/// A row that is read before the next one.
pub(super) type BorrowedRow<'r, W> = <<W as CatalogueConnection>::Sql as Sql>::BorrowedRow<'r>;

impl<W: CatalogueConnection> Snapshot for W {
    fn count_pets(&mut self, status: Option<PetStatus>) -> Result<u64, StoreError> {
        let status = status.map(PetStatus::as_str);
        let count = self.run(&status, |connection, status| {
            async move { connection.number(COUNT, &[status]).await }.boxed()
        });
        Ok(count.map_err(Into::into)?.unsigned_abs())
    }

    fn pets(
        &mut self,
        status: Option<PetStatus>,
        show: &mut dyn FnMut(PetRef<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let by_id = status.map_or_else(|| "ORDER BY id".to_owned(), W::of_status);
        let all = format!("SELECT id, name, category_id, status FROM pets {by_id}");
        self.each(&all, &[], |row| Ok(show(pet_of_contract(row)?)))
            .map_err(Into::into)
    }

    fn resources(
        &mut self,
        show: &mut dyn FnMut(Resource) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut shown = ControlFlow::Continue(());
        for table in tables::Table::ALL {
            if shown.is_continue() {
                let read = self.each(&W::select_all(table), &[], |row| {
                    shown = show(table.read(row)?);
                    Ok(shown)
                });
                read.map_err(Into::into)?;
            }
        }
        Ok(())
    }

    fn requests(
        &mut self,
        show: &mut dyn FnMut(StoredRequest) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let all = request_rows::ALL;
        self.each(all, &[], |row| Ok(show(request_rows::request(row)?)))
            .map_err(Into::into)
    }

    fn rows(
        &mut self,
        Table {
            name,
            columns,
            order,
            ..
        }: &'static Table,
        show: &mut dyn FnMut(&[Value<'_>]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let rows = if *name == "changes" { W::CHANGES } else { name };
        let all = format!("SELECT {columns} FROM {rows} ORDER BY {order}");
        self.each(&all, &[], |row| Ok(show(&W::values(row)?)))
            .map_err(Into::into)
    }

    fn fields(&mut self) -> Result<FieldSet, StoreError> {
        self.run(&(), |connection, ()| fields::list(connection).boxed())
            .map_err(Into::into)
    }

    fn profile(&mut self) -> Result<Profile, StoreError> {
        self.run(&(), |connection, ()| profile::read(connection).boxed())
            .map_err(Into::into)
    }

    fn last_ids(&mut self) -> Result<LastIds, StoreError> {
        let row = self.run(&(), |connection, ()| connection.row(W::LAST_IDS, &[]));
        let row = row
            .and_then(|row| row.ok_or_else(W::Sql::no_row))
            .map_err(Into::into)?;
        let last = |at| row.value(at).map_err(Into::into);
        Ok(LastIds {
            pet: last(0)?,
            order: last(1)?,
            key: last(2)?,
            staff: last(3)?,
            webhook: last(4)?,
        })
    }
}
