//! A blocking connection for commands that read or write a whole catalogue.

use std::{
    future::Future,
    ops::ControlFlow,
    pin::{Pin, pin},
    sync::Arc,
};

use futures_util::{FutureExt, TryFutureExt, TryStreamExt};
use petstore_domain::PetStatus;
use petstore_store::{
    OpenError, OpenMode, StoreError,
    admin::{Parameters, Work},
    columns::Value,
    drivers::postgres::Failure,
    tables::Table,
    whole::CatalogueConnection,
};
use tokio::runtime::{self, Runtime};
use tokio_postgres::{Client, Row, RowStream};

use super::{connection::Connection, numbering, store_area::lists, url::PostgresUrl};

/// The settings for statements on whole tables. A statement may run for any time, because there may
/// be much data, or the other end of a copy may be slow. But its wait for a lock is limited,
/// because the creates of a running service queue behind it.
const SETTINGS: &str = "SET statement_timeout = 0; SET enable_seqscan = on; RESET enable_hashjoin;
    RESET enable_mergejoin; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = '5s'";

/// The statements that begin a read-only transaction, and take the snapshot that all later reads
/// see. A transaction takes its snapshot with its first query, whatever rows this query reads.
const BEGIN_SNAPSHOT: &str =
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1 FROM pets LIMIT 1";

/// A blocking connection, which runs the driver on a runtime of its own. Dropping it closes the
/// connection, and the server then rolls back an open transaction.
pub struct BlockingConnection {
    connection: Connection,
    runtime: Runtime,
}

impl BlockingConnection {
    /// Connects to the database at `url`, and migrates its schema if `mode` allows.
    pub(super) fn open(url: &PostgresUrl, mode: OpenMode) -> Result<Self, OpenError> {
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| super::open_error(url, Arc::new(error)))?;
        let session = runtime
            .block_on(super::prepare_database(url, mode))?
            .session;
        runtime
            .block_on(session.client.batch_execute(SETTINGS))
            .map_err(|error| super::open_error(url, Arc::new(error)))?;
        Ok(Self {
            connection: Connection::new(session),
            runtime,
        })
    }

    /// Runs `work` with the client of this connection, and blocks until it completes.
    ///
    /// The future of `work` is boxed, so that the runtime is compiled once for each type of result,
    /// and not for each future.
    pub(super) fn block_on<'s, T, E: Into<Failure>, F: Future<Output = Result<T, E>>>(
        &'s self,
        work: impl FnOnce(&'s Client) -> F,
    ) -> Result<T, StoreError> {
        let work = work(&self.connection).map_err(Into::into).boxed_local();
        self.runtime.block_on(work).map_err(StoreError::from)
    }

    /// Begins a query, and blocks until the server has accepted it.
    fn begin_query(&self, sql: &str, values: Parameters<'_>) -> Result<RowStream, Failure> {
        let values = values.iter().map(|value| value.for_postgres());
        Ok(self
            .runtime
            .block_on(self.connection.query_raw(sql, values))?)
    }

    /// Blocks until the next row arrives. Returns `None` after the last one.
    fn next_row(&self, mut rows: Pin<&mut RowStream>) -> Result<Option<Row>, Failure> {
        Ok(self.runtime.block_on(rows.try_next())?)
    }
}

/// Opens a read-only connection to the database at `url`. All reads see the database as it is now.
pub fn snapshot(url: &PostgresUrl) -> Result<BlockingConnection, OpenError> {
    let connection = BlockingConnection::open(url, OpenMode::AsIs)?;
    match connection.block_on(|client| client.batch_execute(BEGIN_SNAPSHOT)) {
        Ok(()) => Ok(connection),
        Err(error) => Err(super::open_error(url, Arc::new(error))),
    }
}

impl CatalogueConnection for BlockingConnection {
    type Sql = Connection;

    const CHANGES: &'static str = numbering::ALL_CHANGES;
    /// Sequences are not part of the snapshot. The caller reads them last, so that they are at least as
    /// high as every id in the snapshot.
    const LAST_IDS: &'static str =
        "SELECT (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM pets_ids),
        (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM orders_ids),
        (SELECT coalesce(max(id), 0) FROM api_keys), (SELECT coalesce(max(id), 0) FROM staff),
        (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM webhook_ids),
        (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM notes_ids)";

    fn status_clauses(status: PetStatus) -> String {
        format!("WHERE status = '{status}' ORDER BY id NULLS FIRST")
    }

    fn select_all(table: Table) -> String {
        lists::select_all(table)
    }

    fn run<I: Sync, T>(&mut self, input: &I, work: Work<Connection, I, T>) -> Result<T, Failure> {
        self.runtime.block_on(work(&mut self.connection, input))
    }

    fn for_each_row(
        &self,
        sql: &str,
        values: Parameters<'_>,
        mut read_row: impl FnMut(&Row) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<(), Failure> {
        let mut rows = pin!(self.begin_query(sql, values)?);
        // Call `read_row` outside of `block_on`: it may block on another connection, and runtimes must
        // not nest.
        while let Some(row) = self.next_row(rows.as_mut())? {
            if read_row(&row)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn values(row: &Row) -> Result<Vec<Value<'_>>, Failure> {
        (0..row.len())
            .map(|column| Ok(row.try_get(column)?))
            .collect()
    }

    fn is_content_error(error: &Failure) -> bool {
        matches!(error, Failure::Row(_) | Failure::Column(_))
    }
}
