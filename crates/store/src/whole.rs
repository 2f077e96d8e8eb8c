//! Reads whole catalogues, for export, copy and check. Both stores share this code.

use std::ops::ControlFlow;

use futures_util::FutureExt;
use petstore_domain::{
    PetRef, PetStatus,
    store_area::{FieldSet, Profile, Resource},
};

use super::{
    StoreError,
    admin::{Parameters, Sql, Work, fields, profile},
    bulk::{CHANGES, CopiedTable, LastIds, Snapshot, StoredRequest, Value},
    columns::Columns,
    request_rows,
    tables::{Table, read_contract_pet},
};

/// Counts the animals with the status $1, or all animals if that is null.
const COUNT_PETS: &str = "SELECT count(*) FROM pets WHERE CAST($1 AS text) IS NULL OR status = $1";

/// A blocking connection that reads whole catalogues. Each store implements it for its connection,
/// which then also implements [`Snapshot`].
pub trait CatalogueConnection {
    /// The connection on which the work of both stores runs.
    type Sql: Sql;

    /// The table or subquery from which the log of changes is copied, with the columns of its entry
    /// in [`TABLES`](super::bulk::TABLES).
    const CHANGES: &'static str;
    /// Selects the members of [`LastIds`], in the order of their declaration.
    const LAST_IDS: &'static str;

    /// Returns the `WHERE` and `ORDER BY` clauses that select the animals with a status in
    /// ascending order of id.
    fn status_clauses(status: PetStatus) -> String;

    /// Returns the statement that selects every row of a table with the columns that `Table::read`
    /// expects.
    fn select_all(table: Table) -> String;

    /// Runs work that both stores share.
    fn run<I: Sync, T>(
        &mut self,
        input: &I,
        work: Work<Self::Sql, I, T>,
    ) -> Result<T, ConnectionError<Self>>;

    /// Calls `visitor` with each row of a result until `visitor` breaks. An implementation may read
    /// over another connection.
    fn for_each_row(
        &self,
        sql: &str,
        values: Parameters<'_>,
        visitor: impl FnMut(&BorrowedRow<'_, Self>) -> Result<ControlFlow<()>, ConnectionError<Self>>,
    ) -> Result<(), ConnectionError<Self>>;

    /// Returns all values in a row, whatever their types.
    fn values<'r>(row: &'r BorrowedRow<'_, Self>) -> Result<Vec<Value<'r>>, ConnectionError<Self>>;

    /// Whether an error is due to the content of a row, and not to the connection.
    fn is_content_error(error: &ConnectionError<Self>) -> bool;

    /// Whether another check of the store already reports every possible fault of this row, so that
    /// the shared check need not report them again.
    fn is_checked_elsewhere(
        _table: Table,
        _row: &BorrowedRow<'_, Self>,
    ) -> Result<bool, ConnectionError<Self>> {
        Ok(false)
    }
}

/// The error type of a connection.
pub(super) type ConnectionError<C> = <<C as CatalogueConnection>::Sql as Sql>::Error;

/// A row that is valid until the next one is read.
pub(super) type BorrowedRow<'r, C> = <<C as CatalogueConnection>::Sql as Sql>::BorrowedRow<'r>;

impl<C: CatalogueConnection> Snapshot for C {
    fn count_pets(&mut self, status: Option<PetStatus>) -> Result<u64, StoreError> {
        let status = status.map(PetStatus::as_str);
        let count = self.run(&status, |connection, status| {
            async move { connection.number(COUNT_PETS, &[status]).await }.boxed()
        });
        // A count is never negative.
        Ok(count.map_err(Into::into)?.unsigned_abs())
    }

    fn visit_pets(
        &mut self,
        status: Option<PetStatus>,
        visitor: &mut dyn FnMut(PetRef<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let clauses = match status {
            Some(status) => C::status_clauses(status),
            None => "ORDER BY id".to_owned(),
        };
        let statement = format!("SELECT id, name, category_id, status FROM pets {clauses}");
        self.for_each_row(&statement, &[], |row| Ok(visitor(read_contract_pet(row)?)))
            .map_err(Into::into)
    }

    fn visit_resources(
        &mut self,
        visitor: &mut dyn FnMut(Resource) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        for table in Table::ALL {
            let flow = visit_table(self, table, visitor).map_err(Into::into)?;
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn visit_requests(
        &mut self,
        visitor: &mut dyn FnMut(StoredRequest) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.for_each_row(request_rows::ALL_REQUESTS, &[], |row| {
            Ok(visitor(request_rows::read_request(row)?))
        })
        .map_err(Into::into)
    }

    fn visit_rows(
        &mut self,
        table: &'static CopiedTable,
        visitor: &mut dyn FnMut(&[Value<'_>]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let CopiedTable {
            name,
            columns,
            order,
            ..
        } = table;
        // Each store reads the changes in its own way.
        let source = if *name == CHANGES { C::CHANGES } else { name };
        let statement = format!("SELECT {columns} FROM {source} ORDER BY {order}");
        self.for_each_row(&statement, &[], |row| Ok(visitor(&C::values(row)?)))
            .map_err(Into::into)
    }

    fn fields(&mut self) -> Result<FieldSet, StoreError> {
        self.run(&(), |connection, ()| {
            fields::read_fields(connection).boxed()
        })
        .map_err(Into::into)
    }

    fn profile(&mut self) -> Result<Profile, StoreError> {
        self.run(&(), |connection, ()| {
            profile::read_profile(connection).boxed()
        })
        .map_err(Into::into)
    }

    fn last_ids(&mut self) -> Result<LastIds, StoreError> {
        let result = self.run(&(), |connection, ()| {
            async move {
                // The columns of `LAST_IDS` are in the order of the members below.
                let row = connection.only_row(C::LAST_IDS, &[]).await?;
                Ok(LastIds {
                    pet: row.value(0)?,
                    order: row.value(1)?,
                    key: row.value(2)?,
                    staff: row.value(3)?,
                    webhook: row.value(4)?,
                    note: row.value(5)?,
                })
            }
            .boxed()
        });
        result.map_err(Into::into)
    }
}

/// Calls `visitor` with each resource of a table until `visitor` breaks. Returns the last answer of
/// `visitor`, so that the caller knows whether to continue.
fn visit_table<C: CatalogueConnection>(
    connection: &C,
    table: Table,
    visitor: &mut dyn FnMut(Resource) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, ConnectionError<C>> {
    let mut last_answer = ControlFlow::Continue(());
    connection.for_each_row(&C::select_all(table), &[], |row| {
        last_answer = visitor(table.read(row)?);
        Ok(last_answer)
    })?;
    Ok(last_answer)
}
