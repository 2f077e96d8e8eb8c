//! Statements and transactions for what is the same in every store.

use std::{mem, pin::pin, time::Duration};

use futures_util::{FutureExt, TryFutureExt, TryStreamExt, future::try_join_all};
use petstore_domain::store_area::JournalState;
use petstore_store::{
    admin::{
        Database, Parameters, RowVisitor, SharedValue, SlowRead, Sql, SqlFuture, StoreFuture,
        Values, Work, plans::Plans,
    },
    drivers::postgres::Failure,
};
use tokio_postgres::Row;

use super::{
    PostgresStore, journal, numbering,
    pool::{Access, Connection},
    requests,
    store_area::lists::PLANS,
};

/// Remembers a write under a token, as a request without a caller. Waits for a concurrent attempt of
/// the same write, and does nothing if that was done.
const CLAIM: &str = "
    INSERT INTO requests (caller, key, operation, fingerprint, status, body, created_at, mark)
    SELECT 0, $1, 'administration', decode(repeat('00', 32), 'hex'), 0, '',
        floor(extract(epoch FROM now()))::bigint, coalesce(max(number), 0) FROM idempotency_marks
    ON CONFLICT (caller, key) DO NOTHING";
const NOTE: &str = "UPDATE requests SET location = $2 WHERE caller = 0 AND key = $1";
const NOTED: &str = "SELECT location::bigint FROM requests WHERE caller = 0 AND key = $1";

/// The constraint that a write violates if another one has the same idempotency key.
const REQUEST: &str = "requests_pkey";

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
    const FORGET_REQUESTS: &'static str = requests::FORGET;
    /// A standby has these numbers from its primary.
    const INCARNATION: &'static str =
        "SELECT concat_ws(' ', system_identifier, oid, 'etag_key'::regclass::oid)
        FROM pg_control_system(), pg_database WHERE datname = current_database()";

    fn incarnation_from(found: &str) -> Option<String> {
        Some(found.to_owned())
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
        async move {
            let statement = self.prepared(sql).await?;
            let values = values.iter().map(|value| value.for_postgres());
            let mut rows = pin!(self.query_raw(&statement, values).await?);
            while let Some(row) = rows.try_next().await? {
                if show(&row)?.is_break() {
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
            let statement = self.prepared(sql).await?;
            let values = values.iter().map(|value| value.for_postgres());
            Ok(self
                .query_raw(&statement, values)
                .await?
                .try_collect()
                .await?)
        }
        .boxed()
    }

    fn execute<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
    ) -> SqlFuture<'t, Self, u64> {
        async move {
            let statement = self.prepared(sql).await?;
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
            let statement = self.prepared(sql).await?;
            let client = &**self;
            // All are sent before the first response.
            let each = values.iter().map(|values| {
                client.execute_raw(&statement, values.iter().map(|value| value.for_postgres()))
            });
            Ok(try_join_all(each).await?)
        }
        .boxed()
    }

    fn rows_each<'t>(
        &'t mut self,
        sql: &'static str,
        values: Vec<Values<'t>>,
    ) -> SqlFuture<'t, Self, Vec<Vec<Row>>> {
        async move {
            let statement = self.prepared(sql).await?;
            let client = &**self;
            // All are sent before the first response.
            let each = values.iter().map(|values| async {
                let values = values.iter().map(|value| value.for_postgres());
                client
                    .query_raw(&statement, values)
                    .await?
                    .try_collect()
                    .await
            });
            Ok(try_join_all(each).await?)
        }
        .boxed()
    }

    fn no_row() -> Failure {
        Failure::Row("count")
    }
}

/// A transaction, which is undone when this is dropped before its end.
struct Transaction<'c> {
    on: &'c mut Connection,
    is_open: bool,
}

impl<'c> Transaction<'c> {
    async fn begin(on: &'c mut Connection, with: &str) -> Result<Self, Failure> {
        let transaction = Self { on, is_open: true };
        transaction.on.batch_execute(with).await?;
        Ok(transaction)
    }

    async fn end(mut self, with: &str) -> Result<(), Failure> {
        self.is_open = false;
        Ok(self.on.batch_execute(with).await?)
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // The statement is sent at once.
            drop(self.on.batch_execute("ROLLBACK").now_or_never());
        }
    }
}

/// A write, with its token.
struct Once<W> {
    what: W,
    token: String,
}

impl<W> Once<W> {
    async fn attempt<T, R>(
        &self,
        on: &mut Connection,
        work: Work<Connection, W, Result<i64, R>>,
        show: Work<Connection, i64, T>,
    ) -> Result<Result<T, R>, Failure> {
        let transaction = Transaction::begin(on, "BEGIN").await?;
        let number = if transaction.on.execute(CLAIM, &[&self.token]).await? == 0 {
            transaction.on.confirm().await?;
            transaction.on.number(NOTED, &[&self.token]).await?
        } else {
            match work(transaction.on, &self.what).await {
                Ok(Ok(number)) => {
                    let note: Parameters<'_> = &[&self.token, &number.to_string()];
                    transaction.on.execute(NOTE, note).await?;
                    number
                }
                Ok(Err(refusal)) => {
                    transaction.end("ROLLBACK").await?;
                    // It may be due to what another write has done.
                    on.confirm().await?;
                    return Ok(Err(refusal));
                }
                Err(failure) if failure.is_duplicate(REQUEST) => return Err(Failure::Raced),
                Err(failure) => return Err(failure),
            }
        };
        let shown = show(transaction.on, &number).await?;
        transaction.end("COMMIT").await?;
        Ok(Ok(shown))
    }
}

/// How long a count of all animals may take, including retries.
const COUNTED_WITHIN: Duration = Duration::from_mins(1);
const BEGIN_TO_COUNT: &str = "BEGIN READ ONLY; SET LOCAL statement_timeout = '60s';
    SET LOCAL enable_seqscan = on";

/// Begins a transaction all of whose statements see the store at one moment.
const BEGIN_SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// Reads in one transaction.
async fn read_within<W: Sync, T>(
    begin: &str,
    on: &mut Connection,
    what: &W,
    work: Work<Connection, W, T>,
) -> Result<T, Failure> {
    let transaction = Transaction::begin(on, begin).await?;
    let done = work(transaction.on, what).await?;
    transaction.end("COMMIT").await?;
    Ok(done)
}

impl Database for PostgresStore {
    type Sql = Connection;

    const USUAL_PAGE: usize = usize::MAX;

    fn log_state(&self) -> StoreFuture<'_, JournalState> {
        self.runner
            .run(Access::Write, (), |on, ()| numbering::number(on).boxed())
            .boxed()
    }

    fn forget(&self, kept: [i64; 2], limit: i64) -> StoreFuture<'_, usize> {
        self.runner
            .run(Access::Write, (), move |on, ()| {
                journal::forget(on, kept, limit).boxed()
            })
            .boxed()
    }

    fn number_changes(&self) -> StoreFuture<'_, ()> {
        self.log_state().map_ok(drop).boxed()
    }

    fn read<W: SharedValue, T: SharedValue>(
        &self,
        what: W,
        work: Work<Connection, W, T>,
    ) -> StoreFuture<'_, T> {
        self.runner
            .run(Access::Read, what, move |on, what| work(on, what))
            .boxed()
    }

    fn read_slowly<W: SharedValue, T: SharedValue>(
        &self,
        kind: SlowRead,
        what: W,
        work: Work<Connection, W, T>,
    ) -> StoreFuture<'_, T> {
        if kind != SlowRead::Counts {
            return self.read(what, work);
        }
        self.runner
            .run_within(COUNTED_WITHIN, Access::Read, what, move |on, what| {
                read_within(BEGIN_TO_COUNT, on, what, work).boxed()
            })
            .boxed()
    }

    fn search<W: SharedValue, T: SharedValue>(
        &self,
        _: SlowRead,
        what: W,
        work: Work<Connection, W, T>,
    ) -> StoreFuture<'_, T> {
        self.runner
            .run(Access::Read, what, move |on, what| {
                read_within(BEGIN_SNAPSHOT, on, what, work).boxed()
            })
            .boxed()
    }

    fn write<W: SharedValue, T: SharedValue>(
        &self,
        what: W,
        work: Work<Connection, W, T>,
    ) -> StoreFuture<'_, T> {
        self.runner
            .run(Access::Write, (what, false), move |on, (what, is_retry)| {
                async move {
                    let transaction = Transaction::begin(on, "BEGIN").await?;
                    if mem::replace(is_retry, true) {
                        transaction.on.confirm().await?;
                    }
                    let done = work(transaction.on, what).await?;
                    transaction.end("COMMIT").await?;
                    Ok(done)
                }
                .boxed()
            })
            .boxed()
    }

    fn write_once<W: SharedValue, T: SharedValue, R: SharedValue>(
        &self,
        what: W,
        work: Work<Connection, W, Result<i64, R>>,
        show: Work<Connection, i64, T>,
    ) -> StoreFuture<'_, Result<T, R>> {
        let once = Once {
            what,
            token: self.runner.token(),
        };
        self.runner
            .run(Access::Write, once, move |on, once| {
                once.attempt(on, work, show).boxed()
            })
            .boxed()
    }
}
