//! Reads whole catalogues, for [`petstore_store::whole`].

use std::{ops::ControlFlow, path::Path};

use futures_util::FutureExt;
use petstore_domain::{PetStatus, store_area::FieldSet};
use petstore_store::{
    OpenError, OpenMode,
    admin::{Parameters, Work, fields},
    columns::Value,
    tables::Table,
    whole::CatalogueConnection,
};
use rusqlite::{Error, Row, types::ValueRef};

use super::{
    connection::Connection, errors::is_damage, migrations, opening, plans, rows, sql,
    transaction::resolve_now,
};

/// Returns the fields that the migrations create in a new database.
pub fn fields_of_new_database() -> rusqlite::Result<FieldSet> {
    let mut connection = Connection::open_in_memory()?;
    migrations::create(&connection)?;
    resolve_now(fields::read_fields(&mut connection).boxed())
}

/// Opens a read-only connection to the database at `path`. All its reads see the database as it is now.
pub fn snapshot(path: &Path) -> Result<Connection, OpenError> {
    let connection = opening::open_read_only(path, OpenMode::AsIs)?;
    begin_snapshot(&connection)
        .map_err(|error| opening::open_error(&path.display().to_string(), error))?;
    Ok(connection)
}

/// Begins a transaction, and takes its snapshot by a first read.
fn begin_snapshot(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN")?;
    connection.query_row("SELECT count(*) FROM api_keys", [], |_| Ok(()))
}

impl CatalogueConnection for Connection {
    type Sql = Self;

    const CHANGES: &'static str = "changes";
    const LAST_IDS: &'static str = "SELECT coalesce(max(seq) FILTER (WHERE name = 'pets'), 0),
        coalesce(max(seq) FILTER (WHERE name = 'orders'), 0),
        coalesce(max(seq) FILTER (WHERE name = 'api_keys'), 0),
        coalesce(max(seq) FILTER (WHERE name = 'staff'), 0), (SELECT last FROM webhook_ids),
        coalesce(max(seq) FILTER (WHERE name = 'notes'), 0)
        FROM sqlite_sequence";

    fn status_clauses(status: PetStatus) -> String {
        rows::status_clause(status) + " ORDER BY id"
    }

    fn select_all(table: Table) -> String {
        plans::select_all(table)
    }

    fn run<I: Sync, T>(&mut self, input: &I, work: Work<Self, I, T>) -> rusqlite::Result<T> {
        resolve_now(work(self, input))
    }

    fn for_each_row(
        &self,
        sql: &str,
        values: Parameters<'_>,
        read_row: impl FnMut(&Row<'_>) -> rusqlite::Result<ControlFlow<()>>,
    ) -> rusqlite::Result<()> {
        sql::visit_rows(self, sql, values, read_row)
    }

    fn values<'r>(row: &'r Row<'_>) -> rusqlite::Result<Vec<Value<'r>>> {
        let columns = 0..row.as_ref().column_count();
        columns
            .map(|column| Ok(rows::to_value(row.get_ref(column)?)?))
            .collect()
    }

    fn is_content_error(error: &Error) -> bool {
        is_damage(error)
    }

    fn is_checked_elsewhere(table: Table, row: &Row<'_>) -> rusqlite::Result<bool> {
        // `check.rs` checks the other columns of an animal.
        let is_null = |column| row.get_ref(column).map(|value| value == ValueRef::Null);
        Ok(table == Table::Pets && is_null("fields")? && is_null("photos")?)
    }
}
