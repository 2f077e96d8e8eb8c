//! Statements and transactions for what is the same in every store.

use std::{fs, ops::ControlFlow, os::unix::fs::MetadataExt, time::UNIX_EPOCH};

use futures_util::{FutureExt, TryFutureExt, future};
use petstore_domain::store_area::JournalState;
use petstore_store::{
    admin::{
        Database, Parameter, Parameters, RowVisitor, SharedValue, SlowRead, Sql, SqlFuture,
        StoreFuture, Values, Work, plans::Plans,
    },
    columns::Columns,
};
use rusqlite::{
    CachedStatement, Error,
    types::{FromSql, Type, Value, ValueRef},
};

use super::{
    connection::Connection, journal, plans::PLANS, requests, slow_reads::USUAL_PAGE,
    store::SqliteStore, transaction::done,
};

/// A row that was copied.
pub struct Row(Vec<Value>);

impl Columns for Row {
    type Error = Error;

    fn value<T>(&self, at: usize) -> rusqlite::Result<T>
    where
        T: FromSql + for<'r> tokio_postgres::types::FromSql<'r>,
    {
        let value = self.0.get(at).ok_or(Error::InvalidColumnIndex(at))?;
        let read = T::column_result(value.into());
        read.map_err(|error| Error::FromSqlConversionFailure(at, value.data_type(), error.into()))
    }

    fn text(&self, at: usize) -> rusqlite::Result<Option<&str>> {
        let value = self.0.get(at).ok_or(Error::InvalidColumnIndex(at))?;
        Ok(ValueRef::from(value).as_str_or_null()?)
    }

    fn invalid(&self, at: usize) -> Error {
        let shown = self.0.get(at).map(|value| format!("{value:?}"));
        let kind = self.0.get(at).map_or(Type::Null, Value::data_type);
        Error::InvalidColumnType(at, shown.unwrap_or_default(), kind)
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
    const FORGET_REQUESTS: &'static str = requests::FORGET;
    const INCARNATION: &'static str = "SELECT file FROM pragma_database_list WHERE name = 'main'";

    /// Returns a copy of a file has another inode or another time of birth. In a snapshot of a file
    /// system, it has another path.
    fn incarnation_from(file: &str) -> Option<String> {
        let found = fs::metadata(file).ok()?;
        let born = found
            .created()
            .ok()
            .and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        Some(format!(
            "{} {} {file}",
            found.ino(),
            born.unwrap_or_default().as_nanos()
        ))
    }

    fn plans() -> &'static Plans {
        &PLANS
    }

    fn visit<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
        show: RowVisitor<'t, Self>,
    ) -> SqlFuture<'t, Self, ()> {
        future::ready(visit(self, sql, values, show)).boxed()
    }

    fn rows<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
    ) -> SqlFuture<'t, Self, Vec<Row>> {
        future::ready(rows(self, sql, values)).boxed()
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
        let each = values.iter().map(|values| {
            let values: Vec<&dyn Parameter> = values.iter().map(|value| &**value as _).collect();
            execute(self, sql, &values)
        });
        future::ready(each.collect()).boxed()
    }

    fn rows_each<'t>(
        &'t mut self,
        sql: &'static str,
        values: Vec<Values<'t>>,
    ) -> SqlFuture<'t, Self, Vec<Vec<Row>>> {
        let each = values.iter().map(|values| {
            let values: Vec<&dyn Parameter> = values.iter().map(|value| &**value as _).collect();
            rows(self, sql, &values)
        });
        future::ready(each.collect()).boxed()
    }

    fn no_row() -> Error {
        Error::QueryReturnedNoRows
    }
}

pub(super) fn visit(
    connection: &Connection,
    sql: &str,
    values: Parameters<'_>,
    mut show: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<ControlFlow<()>>,
) -> rusqlite::Result<()> {
    let mut statement = bound(connection, sql, values)?;
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        if show(row)?.is_break() {
            break;
        }
    }
    Ok(())
}

pub(super) fn rows(
    connection: &Connection,
    sql: &str,
    values: Parameters<'_>,
) -> rusqlite::Result<Vec<Row>> {
    let mut statement = bound(connection, sql, values)?;
    let count = statement.column_count();
    let mut rows = statement.raw_query();
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(Row((0..count)
            .map(|at| row.get(at))
            .collect::<Result<_, _>>()?));
    }
    Ok(found)
}

fn execute(connection: &Connection, sql: &str, values: Parameters<'_>) -> rusqlite::Result<u64> {
    Ok(bound(connection, sql, values)?.raw_execute()? as u64)
}

/// Returns the statement with the values of its parameters. To SQLite, `$1` is a name, and it
/// numbers its parameters in the order in which they first appear.
fn bound<'c>(
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
    for index in 1..=values.len() {
        let name = statement
            .parameter_name(index)
            .and_then(|name| name.strip_prefix('$'));
        let number = name.and_then(|name| name.parse::<usize>().ok());
        let value = number.and_then(|number| values.get(number.checked_sub(1)?));
        let value = value.ok_or_else(|| Error::InvalidParameterName(sql.to_owned()))?;
        statement.raw_bind_parameter(index, value)?;
    }
    Ok(statement)
}

impl Database for SqliteStore {
    type Sql = Connection;

    const USUAL_PAGE: usize = USUAL_PAGE;

    fn log_state(&self) -> StoreFuture<'_, JournalState> {
        future::ready(self.readers.read(|on| journal::state(on))).boxed()
    }

    fn forget(&self, kept: [i64; 2], limit: i64) -> StoreFuture<'_, usize> {
        self.writer
            .write(move |on| journal::forget(on, kept, limit))
            .boxed()
    }

    fn number_changes(&self) -> StoreFuture<'_, ()> {
        future::ready(Ok(())).boxed()
    }

    fn read<W: SharedValue, T: SharedValue>(
        &self,
        what: W,
        work: Work<Connection, W, T>,
    ) -> StoreFuture<'_, T> {
        async move { self.readers.read(|on| done(work(on, &what))) }.boxed()
    }

    fn read_slowly<W: SharedValue, T: SharedValue>(
        &self,
        kind: SlowRead,
        what: W,
        work: Work<Connection, W, T>,
    ) -> StoreFuture<'_, T> {
        let reads = match kind {
            SlowRead::LargePages => &self.large_pages,
            SlowRead::Searches => &self.searches,
            SlowRead::Followers => &self.followers,
            SlowRead::Offers => &self.offers,
            SlowRead::Counts => &self.counts,
        };
        let read = reads.read_in_turn(move |on| done(work(on, &what)));
        read.map_ok(|(done, _turn)| done).boxed()
    }

    fn search<W: SharedValue, T: SharedValue>(
        &self,
        kind: SlowRead,
        what: W,
        work: Work<Connection, W, T>,
    ) -> StoreFuture<'_, T> {
        self.read_slowly(kind, what, work)
    }

    fn write<W: SharedValue, T: SharedValue>(
        &self,
        what: W,
        work: Work<Connection, W, T>,
    ) -> StoreFuture<'_, T> {
        self.writer.write(move |on| done(work(on, &what))).boxed()
    }

    fn write_once<W: SharedValue, T: SharedValue, R: SharedValue>(
        &self,
        what: W,
        work: Work<Connection, W, Result<i64, R>>,
        show: Work<Connection, i64, T>,
    ) -> StoreFuture<'_, Result<T, R>> {
        let once = move |on: &mut Connection| match done(work(on, &what))? {
            Ok(id) => done(show(on, &id)).map(Ok),
            Err(refusal) => Ok(Err(refusal)),
        };
        self.writer.write(once).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_parameter_gets_the_value_of_its_number_in_whatever_order_they_appear() {
        let connection = Connection::open_in_memory().unwrap();
        let text =
            |sql, values: Parameters<'_>| rows(&connection, sql, values)?[0].value::<String>(0);
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
