//! Implements `Sql` and `Database`: the interface through which the code that both stores share runs its
//! statements and transactions.

use std::{pin::pin, time::Duration};

use futures_util::{FutureExt, TryFutureExt, TryStreamExt, future::try_join_all};
use petstore_domain::store_area::JournalState;
use petstore_store::{
    admin::{
        Database, Parameters, RowVisitor, SharedValue, SlowRead, Sql, SqlFuture, StoreFuture,
        Values, Work, WorkOutcome, plans::Plans,
    },
    drivers::postgres::Failure,
};
use tokio_postgres::Row;

use super::{
    PostgresStore,
    connection::Connection,
    journal, numbering,
    pool::Access,
    requests,
    store_area::lists::PLANS,
    transaction::in_transaction,
    write_attempts::{RetriedWrite, TokenWrite},
};

/// The time limit for counting all animals, including retries.
const COUNT_LIMIT: Duration = Duration::from_mins(1);

/// The beginning of a transaction that counts whole tables: with a time limit that is long enough,
/// and with sequential scans, which sessions otherwise disable.
const BEGIN_TO_COUNT: &str = "BEGIN READ ONLY; SET LOCAL statement_timeout = '60s';
    SET LOCAL enable_seqscan = on";

/// The beginning of a transaction whose statements all read from one snapshot.
const BEGIN_SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

impl Sql for Connection {
    type Error = Failure;
    type Row = Row;
    type BorrowedRow<'r> = Row;

    const RECORD: &'static str = journal::RECORD;
    const CONFIRM_FIRST: &'static str = journal::CONFIRM_FIRST;
    const LOG_BOUNDS: &'static str = numbering::BOUNDS;
    const LAST_OLDER: &'static str = journal::LAST_OLDER;
    const NEWEST_OLDER: &'static str = journal::NEWEST_OLDER;
    const HAS_OLDER: &'static str = journal::HAS_OLDER;
    const AUDIT_CHANGES: [&'static str; 2] = journal::AUDIT_CHANGES;
    const CHANGES: &'static str = journal::CHANGES;
    const HISTORY: &'static str = journal::HISTORY;
    const PUBLIC_STATE: &'static str = numbering::PUBLIC_STATE;
    const RETURNS: &'static str = journal::RETURNS;
    const DRAW_WEBHOOK_ID: &'static str = "SELECT nextval('webhook_ids')";
    const FORGET_REQUESTS: &'static str = requests::FORGET_REQUESTS;
    /// These numbers identify the database even after a failover: a standby has the same numbers as its
    /// primary.
    const INCARNATION: &'static str =
        "SELECT concat_ws(' ', system_identifier, oid, 'etag_key'::regclass::oid)
        FROM pg_control_system(), pg_database WHERE datname = current_database()";

    fn incarnation_from(text: &str) -> Option<String> {
        Some(text.to_owned())
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
        async move {
            let mut rows = pin!(self.begin_query(sql, values).await?);
            while let Some(row) = rows.try_next().await? {
                if read_row(&row)?.is_break() {
                    break;
                }
            }
            Ok(())
        }
        .boxed()
    }

    fn rows<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
    ) -> SqlFuture<'t, Self, Vec<Row>> {
        async move {
            let rows = self.begin_query(sql, values).await?;
            Ok(rows.try_collect().await?)
        }
        .boxed()
    }

    fn execute<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
    ) -> SqlFuture<'t, Self, u64> {
        async move {
            let statement = self.prepare_once(sql).await?;
            let values = values.iter().map(|value| value.for_postgres());
            Ok(self.execute_raw(&statement, values).await?)
        }
        .boxed()
    }

    fn execute_each<'t>(
        &'t mut self,
        sql: &'static str,
        values: Vec<Values<'t>>,
    ) -> SqlFuture<'t, Self, Vec<u64>> {
        async move {
            let statement = self.prepare_once(sql).await?;
            let client = &**self;
            // `try_join_all` polls every execution at once, so all are sent before the first response.
            let executions = values.iter().map(|values| {
                client.execute_raw(&statement, values.iter().map(|value| value.for_postgres()))
            });
            Ok(try_join_all(executions).await?)
        }
        .boxed()
    }

    fn rows_each<'t>(
        &'t mut self,
        sql: &'static str,
        values: Vec<Values<'t>>,
    ) -> SqlFuture<'t, Self, Vec<Vec<Row>>> {
        async move {
            let statement = self.prepare_once(sql).await?;
            let client = &**self;
            // `try_join_all` polls every query at once, so all are sent before the first response.
            let queries = values.iter().map(|values| async {
                let parameters = values.iter().map(|value| value.for_postgres());
                let rows = client.query_raw(&statement, parameters).await?;
                rows.try_collect().await
            });
            Ok(try_join_all(queries).await?)
        }
        .boxed()
    }

    fn no_row() -> Failure {
        Failure::Row("count")
    }
}

impl Database for PostgresStore {
    type Sql = Connection;

    /// There is no maximum, because [`Self::read_slowly`] reads large pages in the same way as
    /// [`Self::read`].
    const MAX_FAST_PAGE_BYTES: usize = usize::MAX;

    fn log_state(&self) -> StoreFuture<'_, JournalState> {
        self.runner
            .run(Access::Write, (), |connection, ()| {
                numbering::number_changes(connection).boxed()
            })
            .boxed()
    }

    fn forget(&self, kept_from: i64, kept_until: i64, limit: i64) -> StoreFuture<'_, usize> {
        self.runner
            .run(Access::Write, (), move |connection, ()| {
                journal::forget_changes(connection, kept_from, kept_until, limit).boxed()
            })
            .boxed()
    }

    fn assign_change_numbers(&self) -> StoreFuture<'_, ()> {
        self.log_state().map_ok(drop).boxed()
    }

    fn read<I: SharedValue, T: SharedValue>(
        &self,
        input: I,
        work: Work<Connection, I, T>,
    ) -> StoreFuture<'_, T> {
        self.runner
            .run(Access::Read, input, move |connection, input| {
                work(connection, input)
            })
            .boxed()
    }

    fn read_slowly<I: SharedValue, T: SharedValue>(
        &self,
        kind: SlowRead,
        input: I,
        work: Work<Connection, I, T>,
    ) -> StoreFuture<'_, T> {
        // The server runs slow reads of all kinds at the same time as others. Only counts need
        // special treatment: they take so long that they need a higher time limit.
        if kind != SlowRead::Counts {
            return self.read(input, work);
        }
        self.runner
            .run_with_limit(
                COUNT_LIMIT,
                Access::Read,
                input,
                move |connection, input| {
                    in_transaction(BEGIN_TO_COUNT, connection, input, work).boxed()
                },
            )
            .boxed()
    }

    /// The kind does not matter, because the server runs reads of all kinds at the same time.
    fn search<I: SharedValue, T: SharedValue>(
        &self,
        _: SlowRead,
        input: I,
        work: Work<Connection, I, T>,
    ) -> StoreFuture<'_, T> {
        self.runner
            .run(Access::Read, input, move |connection, input| {
                in_transaction(BEGIN_SNAPSHOT, connection, input, work).boxed()
            })
            .boxed()
    }

    fn write<I: SharedValue, T: SharedValue>(
        &self,
        input: I,
        work: Work<Connection, I, T>,
    ) -> StoreFuture<'_, T> {
        let write = RetriedWrite::new(input);
        self.runner
            .run(Access::Write, write, move |connection, write| {
                write.attempt(connection, work).boxed()
            })
            .boxed()
    }

    fn write_once<I: SharedValue, T: SharedValue, R: SharedValue>(
        &self,
        input: I,
        work: Work<Connection, I, WorkOutcome<i64, R>>,
        read_result: Work<Connection, i64, T>,
    ) -> StoreFuture<'_, WorkOutcome<T, R>> {
        let write = TokenWrite {
            input,
            token: self.runner.draw_token(),
        };
        self.runner
            .run(Access::Write, write, move |connection, write| {
                write.attempt(connection, work, read_result).boxed()
            })
            .boxed()
    }
}
