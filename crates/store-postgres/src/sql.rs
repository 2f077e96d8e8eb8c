//! Implements `Sql` and `Database`, through which the shared logic of the stores runs statements.

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
    PostgresStore, journal, numbering,
    pool::{Access, Connection},
    requests,
    store_area::lists::PLANS,
};

/// The statement that claims the token of a write, as a remembered request with caller 0. It waits for a
/// concurrent attempt of the same write, and inserts no row if that attempt commits.
const CLAIM_TOKEN: &str = "
    INSERT INTO requests (caller, key, operation, fingerprint, status, body, created_at, mark)
    SELECT 0, $1, 'administration', decode(repeat('00', 32), 'hex'), 0, '',
        floor(extract(epoch FROM now()))::bigint, coalesce(max(number), 0) FROM idempotency_marks
    ON CONFLICT (caller, key) DO NOTHING";
/// The statement that stores the number that a write returned with its token, in the column `location`,
/// which such a request does not use.
const SAVE_RESULT: &str = "UPDATE requests SET location = $2 WHERE caller = 0 AND key = $1";
const READ_RESULT: &str = "SELECT location::bigint FROM requests WHERE caller = 0 AND key = $1";

/// The constraint that a write violates if another request has the same key.
const KEY_CONSTRAINT: &str = "requests_pkey";

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
    /// These numbers identify the database even after a failover: a standby has the same as its primary.
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
            let statement = self.prepare_once(sql).await?;
            let values = values.iter().map(|value| value.for_postgres());
            let mut rows = pin!(self.query_raw(&statement, values).await?);
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
            let statement = self.prepare_once(sql).await?;
            let values = values.iter().map(|value| value.for_postgres());
            let rows = self.query_raw(&statement, values).await?;
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

/// An open transaction. It is rolled back if it is dropped before it is committed.
struct Transaction<'c> {
    connection: &'c mut Connection,
    is_open: bool,
}

impl<'c> Transaction<'c> {
    /// Begins a transaction with the statement `begin`.
    async fn begin(connection: &'c mut Connection, begin: &str) -> Result<Self, Failure> {
        let transaction = Self {
            connection,
            is_open: true,
        };
        transaction.connection.batch_execute(begin).await?;
        Ok(transaction)
    }

    async fn commit(mut self) -> Result<(), Failure> {
        self.is_open = false;
        Ok(self.connection.batch_execute("COMMIT").await?)
    }

    async fn roll_back(mut self) -> Result<(), Failure> {
        self.is_open = false;
        Ok(self.connection.batch_execute("ROLLBACK").await?)
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // A single poll sends the statement. The server runs it before any later statement of this
            // connection, so there is no need to wait for its response.
            let _ = self.connection.batch_execute("ROLLBACK").now_or_never();
        }
    }
}

/// A write that takes effect only once, even if it is attempted several times.
struct TokenWrite<W> {
    input: W,
    /// The random token under which the write and its result are remembered.
    token: String,
}

impl<W> TokenWrite<W> {
    /// Runs `work` in a transaction, unless an earlier attempt has already committed it.
    ///
    /// `work` returns a number, such as the id of a new row, which is stored with the token. From this
    /// number, `read_result` reads the result, even in a retry. A refusal by `work` rolls back.
    async fn attempt<T, R>(
        &self,
        connection: &mut Connection,
        work: Work<Connection, W, WorkOutcome<i64, R>>,
        read_result: Work<Connection, i64, T>,
    ) -> Result<WorkOutcome<T, R>, Failure> {
        let transaction = Transaction::begin(connection, "BEGIN").await?;
        let claim: Parameters<'_> = &[&self.token];
        let claimed_rows = transaction.connection.execute(CLAIM_TOKEN, claim).await?;
        let number = if claimed_rows == 0 {
            transaction.connection.confirm().await?;
            transaction.connection.number(READ_RESULT, claim).await?
        } else {
            match work(transaction.connection, &self.input).await {
                Ok(WorkOutcome::Done(number)) => {
                    let result: Parameters<'_> = &[&self.token, &number.to_string()];
                    transaction.connection.execute(SAVE_RESULT, result).await?;
                    number
                }
                Ok(WorkOutcome::Refused(refusal)) => {
                    transaction.roll_back().await?;
                    // The refusal may be due to another write, which the standby must have before the
                    // caller learns of it.
                    connection.confirm().await?;
                    return Ok(WorkOutcome::Refused(refusal));
                }
                Err(failure) if failure.is_duplicate(KEY_CONSTRAINT) => {
                    return Err(Failure::Raced);
                }
                Err(failure) => return Err(failure),
            }
        };

        let result = read_result(transaction.connection, &number).await?;
        transaction.commit().await?;
        Ok(WorkOutcome::Done(result))
    }
}

/// The time limit for counting all animals, including retries.
const COUNT_LIMIT: Duration = Duration::from_mins(1);
/// The beginning of a transaction that counts whole tables: with a time limit that is long enough, and
/// with sequential scans, which sessions otherwise disable.
const BEGIN_TO_COUNT: &str = "BEGIN READ ONLY; SET LOCAL statement_timeout = '60s';
    SET LOCAL enable_seqscan = on";

/// The beginning of a transaction whose statements all read from one snapshot.
const BEGIN_SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// Runs `work` in a transaction that the statement `begin` opens, and commits it.
async fn in_transaction<W: Sync, T>(
    begin: &str,
    connection: &mut Connection,
    input: &W,
    work: Work<Connection, W, T>,
) -> Result<T, Failure> {
    let transaction = Transaction::begin(connection, begin).await?;
    let value = work(transaction.connection, input).await?;
    transaction.commit().await?;
    Ok(value)
}

/// A write that needs no token, because running it again has the same effect.
struct RetriedWrite<W> {
    input: W,
    /// Whether there was an earlier attempt. It may have committed.
    is_retry: bool,
}

impl<W: Sync> RetriedWrite<W> {
    /// Runs `work` in a transaction. A retry first waits until the standby has the rows of the earlier
    /// attempts, because it may return them, and a failover must not lose what was returned.
    async fn attempt<T>(
        &mut self,
        connection: &mut Connection,
        work: Work<Connection, W, T>,
    ) -> Result<T, Failure> {
        let transaction = Transaction::begin(connection, "BEGIN").await?;
        if self.is_retry {
            transaction.connection.confirm().await?;
        }
        self.is_retry = true;
        let value = work(transaction.connection, &self.input).await?;
        transaction.commit().await?;
        Ok(value)
    }
}

impl Database for PostgresStore {
    type Sql = Connection;

    /// Here, [`Self::read_slowly`] reads even large pages like [`Self::read`].
    const MAX_FAST_PAGE_BYTES: usize = usize::MAX;

    fn log_state(&self) -> StoreFuture<'_, JournalState> {
        self.runner
            .run(Access::Write, (), |connection, ()| {
                numbering::number_changes(connection).boxed()
            })
            .boxed()
    }

    fn forget(&self, [kept_from, kept_until]: [i64; 2], limit: i64) -> StoreFuture<'_, usize> {
        self.runner
            .run(Access::Write, (), move |connection, ()| {
                journal::forget_changes(connection, kept_from, kept_until, limit).boxed()
            })
            .boxed()
    }

    fn assign_change_numbers(&self) -> StoreFuture<'_, ()> {
        self.log_state().map_ok(drop).boxed()
    }

    fn read<W: SharedValue, T: SharedValue>(
        &self,
        input: W,
        work: Work<Connection, W, T>,
    ) -> StoreFuture<'_, T> {
        self.runner
            .run(Access::Read, input, move |connection, input| {
                work(connection, input)
            })
            .boxed()
    }

    fn read_slowly<W: SharedValue, T: SharedValue>(
        &self,
        kind: SlowRead,
        input: W,
        work: Work<Connection, W, T>,
    ) -> StoreFuture<'_, T> {
        // Only counts take so long that they need a higher time limit.
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

    fn search<W: SharedValue, T: SharedValue>(
        &self,
        _: SlowRead,
        input: W,
        work: Work<Connection, W, T>,
    ) -> StoreFuture<'_, T> {
        self.runner
            .run(Access::Read, input, move |connection, input| {
                in_transaction(BEGIN_SNAPSHOT, connection, input, work).boxed()
            })
            .boxed()
    }

    fn write<W: SharedValue, T: SharedValue>(
        &self,
        input: W,
        work: Work<Connection, W, T>,
    ) -> StoreFuture<'_, T> {
        let write = RetriedWrite {
            input,
            is_retry: false,
        };
        self.runner
            .run(Access::Write, write, move |connection, write| {
                write.attempt(connection, work).boxed()
            })
            .boxed()
    }

    fn write_once<W: SharedValue, T: SharedValue, R: SharedValue>(
        &self,
        input: W,
        work: Work<Connection, W, WorkOutcome<i64, R>>,
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
