//! Implements `Sql` and `Database`: the interface through which the code that both stores share runs its
//! statements and transactions.

use std::{
    fs,
    ops::ControlFlow,
    os::unix::fs::MetadataExt,
    time::{Duration, UNIX_EPOCH},
};

use futures_util::{FutureExt, TryFutureExt, future};
use petstore_domain::store_area::JournalState;
use petstore_store::{
    admin::{
        Database, Parameter, Parameters, RowVisitor, SharedValue, SlowRead, Sql, SqlFuture,
        StoreFuture, Values, Work, WorkOutcome, plans::Plans,
    },
    columns::Columns,
};
use rusqlite::{
    CachedStatement, Error,
    types::{FromSql, Type, Value, ValueRef},
};

use super::{
    connection::Connection, journal, plans::PLANS, requests, slow_reads::MAX_FAST_PAGE_BYTES,
    store::SqliteStore, transaction::resolve_now,
};

/// An owned copy of a row.
pub struct Row {
    /// The values, in the order of the columns.
    values: Vec<Value>,
}

impl Columns for Row {
    type Error = Error;

    fn value<T>(&self, column: usize) -> rusqlite::Result<T>
    where
        T: FromSql + for<'r> tokio_postgres::types::FromSql<'r>,
    {
        let value = self.get(column)?;
        T::column_result(value.into()).map_err(|error| {
            Error::FromSqlConversionFailure(column, value.data_type(), error.into())
        })
    }

    fn text(&self, column: usize) -> rusqlite::Result<Option<&str>> {
        let value = self.get(column)?;
        Ok(ValueRef::from(value).as_str_or_null()?)
    }

    fn invalid(&self, column: usize) -> Error {
        match self.values.get(column) {
            Some(value) => {
                Error::InvalidColumnType(column, format!("{value:?}"), value.data_type())
            }
            None => Error::InvalidColumnType(column, String::new(), Type::Null),
        }
    }
}

impl Row {
    /// Returns the value of a column. Fails if the row has no such column.
    fn get(&self, column: usize) -> rusqlite::Result<&Value> {
        self.values
            .get(column)
            .ok_or(Error::InvalidColumnIndex(column))
    }
}

impl Sql for Connection {
    type Error = Error;
    type Row = Row;
    type BorrowedRow<'r> = rusqlite::Row<'r>;

    const RECORD: &'static str = journal::RECORD;
    const CONFIRM_FIRST: &'static str = journal::CONFIRM_FIRST;
    const LOG_BOUNDS: &'static str = journal::STATE;
    const LAST_OLDER: &'static str = journal::LAST_OLDER;
    const NEWEST_OLDER: &'static str = journal::LAST_OLDER;
    const HAS_OLDER: &'static str = journal::HAS_OLDER;
    const AUDIT_CHANGES: [&'static str; 2] = journal::AUDIT_CHANGES;
    const CHANGES: &'static str = journal::CHANGES;
    const HISTORY: &'static str = journal::HISTORY;
    const PUBLIC_STATE: &'static str = journal::PUBLIC_STATE;
    const RETURNS: &'static str = journal::RETURNS;
    const DRAW_WEBHOOK_ID: &'static str = "UPDATE webhook_ids SET last = last + 1 RETURNING last";
    const FORGET_REQUESTS: &'static str = requests::FORGET_REQUESTS;
    const INCARNATION: &'static str = "SELECT file FROM pragma_database_list WHERE name = 'main'";

    /// Returns the inode, the creation time and the path of the file. A copy of the file differs in
    /// its inode or its creation time, and a file in a snapshot of the file system differs in its
    /// path.
    fn incarnation_from(file: &str) -> Option<String> {
        let metadata = fs::metadata(file).ok()?;
        let birth = match metadata.created() {
            // A time before 1970 counts as 1970.
            Ok(time) => time.duration_since(UNIX_EPOCH).unwrap_or_default(),
            // Some file systems do not record it.
            Err(_) => Duration::default(),
        };
        Some(format!("{} {} {file}", metadata.ino(), birth.as_nanos()))
    }

    fn plans() -> &'static Plans {
        &PLANS
    }

    fn visit<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
        read_row: RowVisitor<'t, Self>,
    ) -> SqlFuture<'t, Self, ()> {
        future::ready(visit_rows(self, sql, values, read_row)).boxed()
    }

    fn rows<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
    ) -> SqlFuture<'t, Self, Vec<Row>> {
        future::ready(read_rows(self, sql, values)).boxed()
    }

    fn execute<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
    ) -> SqlFuture<'t, Self, u64> {
        future::ready(execute(self, sql, values)).boxed()
    }

    fn execute_each<'t>(
        &'t mut self,
        sql: &'static str,
        values: Vec<Values<'t>>,
    ) -> SqlFuture<'t, Self, Vec<u64>> {
        let results = values
            .iter()
            .map(|values| execute(self, sql, &borrow(values)));
        future::ready(results.collect()).boxed()
    }

    fn rows_each<'t>(
        &'t mut self,
        sql: &'static str,
        values: Vec<Values<'t>>,
    ) -> SqlFuture<'t, Self, Vec<Vec<Row>>> {
        let results = values
            .iter()
            .map(|values| read_rows(self, sql, &borrow(values)));
        future::ready(results.collect()).boxed()
    }

    fn no_row() -> Error {
        Error::QueryReturnedNoRows
    }
}

/// Borrows owned values as parameters.
fn borrow<'v>(values: &'v Values<'_>) -> Vec<&'v dyn Parameter> {
    let mut parameters: Vec<&dyn Parameter> = Vec::with_capacity(values.len());
    for value in values {
        parameters.push(&**value);
    }
    parameters
}

/// Runs a query, and calls `read_row` with each row of its result, until that breaks.
pub(super) fn visit_rows(
    connection: &Connection,
    sql: &str,
    values: Parameters<'_>,
    mut read_row: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<ControlFlow<()>>,
) -> rusqlite::Result<()> {
    let mut statement = prepare_with_values(connection, sql, values)?;
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        if read_row(row)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Runs a query, and returns copies of all rows of its result.
pub(super) fn read_rows(
    connection: &Connection,
    sql: &str,
    values: Parameters<'_>,
) -> rusqlite::Result<Vec<Row>> {
    let mut statement = prepare_with_values(connection, sql, values)?;
    let column_count = statement.column_count();
    let mut borrowed_rows = statement.raw_query();
    let mut rows = Vec::new();
    while let Some(row) = borrowed_rows.next()? {
        let values = (0..column_count).map(|column| row.get(column));
        rows.push(Row {
            values: values.collect::<Result<_, _>>()?,
        });
    }
    Ok(rows)
}

/// Runs a statement that writes, and returns the number of affected rows.
fn execute(connection: &Connection, sql: &str, values: Parameters<'_>) -> rusqlite::Result<u64> {
    let row_count = prepare_with_values(connection, sql, values)?.raw_execute()?;
    Ok(row_count as u64)
}

/// Prepares a statement, and binds the n-th value to its parameter `$n`.
///
/// To SQLite, `$1` is only a name: SQLite numbers the parameters in the order in which they first
/// appear. So this function finds the value of each parameter by its name.
fn prepare_with_values<'c>(
    connection: &'c Connection,
    sql: &str,
    values: Parameters<'_>,
) -> rusqlite::Result<CachedStatement<'c>> {
    let mut statement = connection.prepare_cached(sql)?;
    if statement.parameter_count() != values.len() {
        return Err(Error::InvalidParameterCount(
            values.len(),
            statement.parameter_count(),
        ));
    }
    for position in 1..=values.len() {
        let value = statement
            .parameter_name(position)
            .and_then(|name| value_by_name(name, values));
        match value {
            Some(value) => statement.raw_bind_parameter(position, value)?,
            // Report the whole SQL, which is more useful in the log than the name.
            None => return Err(Error::InvalidParameterName(sql.to_owned())),
        }
    }
    Ok(statement)
}

/// Returns the value of the parameter with this name: the n-th value for the name `$n`. Returns `None`
/// if the name has another form, or if there is no such value.
fn value_by_name<'v>(name: &str, values: Parameters<'v>) -> Option<&'v dyn Parameter> {
    let number: usize = name.strip_prefix('$')?.parse().ok()?;
    let index = number.checked_sub(1)?;
    values.get(index).copied()
}

impl Database for SqliteStore {
    type Sql = Connection;

    const MAX_FAST_PAGE_BYTES: usize = MAX_FAST_PAGE_BYTES;

    fn log_state(&self) -> StoreFuture<'_, JournalState> {
        let state = self
            .readers
            .read(|connection| journal::read_state(connection));
        future::ready(state).boxed()
    }

    fn forget(&self, kept_from: i64, kept_until: i64, limit: i64) -> StoreFuture<'_, usize> {
        self.writer
            .write(move |connection| {
                journal::forget_changes(connection, kept_from, kept_until, limit)
            })
            .boxed()
    }

    fn assign_change_numbers(&self) -> StoreFuture<'_, ()> {
        future::ready(Ok(())).boxed()
    }

    fn read<I: SharedValue, T: SharedValue>(
        &self,
        input: I,
        work: Work<Connection, I, T>,
    ) -> StoreFuture<'_, T> {
        async move {
            self.readers
                .read(|connection| resolve_now(work(connection, &input)))
        }
        .boxed()
    }

    fn read_slowly<I: SharedValue, T: SharedValue>(
        &self,
        kind: SlowRead,
        input: I,
        work: Work<Connection, I, T>,
    ) -> StoreFuture<'_, T> {
        let slow_reads = match kind {
            SlowRead::LargePages => &self.large_pages,
            SlowRead::Searches => &self.searches,
            SlowRead::Followers => &self.followers,
            SlowRead::Offers => &self.offers,
            SlowRead::Counts => &self.counts,
        };
        slow_reads
            .read_in_turn(move |connection| resolve_now(work(connection, &input)))
            .map_ok(|read| read.value)
            .boxed()
    }

    fn search<I: SharedValue, T: SharedValue>(
        &self,
        kind: SlowRead,
        input: I,
        work: Work<Connection, I, T>,
    ) -> StoreFuture<'_, T> {
        self.read_slowly(kind, input, work)
    }

    fn write<I: SharedValue, T: SharedValue>(
        &self,
        input: I,
        work: Work<Connection, I, T>,
    ) -> StoreFuture<'_, T> {
        self.writer
            .write(move |connection| resolve_now(work(connection, &input)))
            .boxed()
    }

    fn write_once<I: SharedValue, T: SharedValue, R: SharedValue>(
        &self,
        input: I,
        work: Work<Connection, I, WorkOutcome<i64, R>>,
        read_result: Work<Connection, i64, T>,
    ) -> StoreFuture<'_, WorkOutcome<T, R>> {
        self.writer
            .write_unless_refused(move |connection| {
                let number = match resolve_now(work(connection, &input))? {
                    WorkOutcome::Done(number) => number,
                    WorkOutcome::Refused(refusal) => return Ok(WorkOutcome::Refused(refusal)),
                };
                let result = resolve_now(read_result(connection, &number))?;
                Ok(WorkOutcome::Done(result))
            })
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_parameter_gets_the_value_of_its_number_in_whatever_order_they_appear() {
        let connection = Connection::open_in_memory().unwrap();
        let text = |sql, values: Parameters<'_>| {
            read_rows(&connection, sql, values)?[0].value::<String>(0)
        };
        let concatenated = "SELECT $2 || $1 || $2 || $3";
        assert_eq!(text(concatenated, &[&"a", &"b", &"c"]).unwrap(), "babc");
        assert_eq!(text(concatenated, &[&"c", &"a", &"b"]).unwrap(), "acab");
        for (sql, values) in [
            ("SELECT $1 || $3", &[&"a" as &dyn Parameter, &"b"][..]),
            ("SELECT $1 || $2", &[&"a"]),
            ("SELECT $1", &[&"a", &"b"]),
            ("SELECT ?1", &[&"a"]),
        ] {
            assert!(text(sql, values).is_err(), "{sql}");
        }
    }
}
