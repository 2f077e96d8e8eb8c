//! Statements that write many rows at once, and transactions that send all their statements without
//! waiting for the responses in between.

use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::{
    FutureExt,
    future::{BoxFuture, MaybeDone, maybe_done},
};
use petstore_store::columns::Value;
use tokio_postgres::{Client, Error, Statement, types::ToSql};

use super::connection::Connection;

/// A statement that writes many rows. Each of its parameters is an array with the values of one column.
pub(super) struct Write<'v> {
    sql: &'static str,
    /// The values of each column.
    columns: Vec<Vec<Value<'v>>>,
}

impl<'v> Write<'v> {
    /// Returns the statement `sql` for these rows; `None` if there are no rows.
    pub(super) fn from_rows(
        sql: &'static str,
        rows: impl IntoIterator<Item = Vec<Value<'v>>>,
    ) -> Option<Self> {
        let columns = transpose(rows);
        if columns.is_empty() {
            return None;
        }
        Some(Self { sql, columns })
    }

    /// Runs the statement in the open transaction.
    pub(super) async fn run(&self, client: &Client) -> Result<(), Error> {
        client.execute(self.sql, &parameters(&self.columns)).await?;
        Ok(())
    }
}

/// A [`Write`] whose statement is prepared.
pub(super) struct PreparedWrite<'w> {
    write: &'w Write<'w>,
    statement: Statement,
}

impl PreparedWrite<'_> {
    /// Runs the statement.
    async fn run(&self, client: &Client) -> Result<(), Error> {
        client
            .execute(&self.statement, &parameters(&self.write.columns))
            .await?;
        Ok(())
    }
}

/// Transposes rows of the same length into columns: the rows `(1, a)` and `(2, b)` become the columns
/// `(1, 2)` and `(a, b)`.
pub(super) fn transpose<'v>(rows: impl IntoIterator<Item = Vec<Value<'v>>>) -> Vec<Vec<Value<'v>>> {
    let mut columns = Vec::new();
    for row in rows {
        columns.resize(row.len(), Vec::new());
        for (column, value) in columns.iter_mut().zip(row) {
            column.push(value);
        }
    }
    columns
}

/// Returns the parameters of a statement in the form that the driver takes. `values` has one element for
/// each parameter: an array in a [`Write`], and a single value in other statements.
pub(super) fn parameters<T: ToSql + Sync>(values: &[T]) -> Vec<&(dyn ToSql + Sync)> {
    values
        .iter()
        .map(|value| value as &(dyn ToSql + Sync))
        .collect()
}

/// Returns the SQL expression that turns the arrays of a [`Write`] back into rows of a table `new`.
/// `columns` are the names and the types of its columns.
///
/// For example, `[("id", "bigint"), ("name", "text")]` becomes
/// `unnest($1::bigint[], $2::text[]) AS new (id, name)`.
pub(super) fn unnest_rows(columns: &[(&str, &str)]) -> String {
    let mut names = Vec::with_capacity(columns.len());
    let mut arrays = Vec::with_capacity(columns.len());
    for (index, (name, kind)) in columns.iter().enumerate() {
        let number = index + 1;
        names.push(*name);
        arrays.push(format!("${number}::{kind}[]"));
    }
    let arrays = arrays.join(", ");
    let names = names.join(", ");
    format!("unnest({arrays}) AS new ({names})")
}

/// Prepares the statements of `writes`, and keeps their order.
pub(super) async fn prepare<'w>(
    connection: &mut Connection,
    writes: &'w [Write<'_>],
) -> Result<Vec<PreparedWrite<'w>>, Error> {
    let mut prepared_writes = Vec::with_capacity(writes.len());
    for write in writes {
        let statement = connection.prepare_once(write.sql).await?;
        prepared_writes.push(PreparedWrite { write, statement });
    }
    Ok(prepared_writes)
}

/// Runs the writes in one transaction, and commits it. Fails with the first error.
///
/// Sends `begin`, the statements and the COMMIT without waiting in between: the driver sends a statement
/// when its future is first polled, and the first poll of this future polls all of them. So if this
/// future is dropped, the transaction is not left open: either everything was sent, or nothing.
pub(super) async fn send_transaction(
    client: &Client,
    begin: &str,
    writes: &[PreparedWrite<'_>],
) -> Result<(), Error> {
    let mut pending = vec![unsent(client.batch_execute(begin))];
    for write in writes {
        pending.push(unsent(write.run(client)));
    }
    // `poll_fn` provides the context with which `send_with_commit` polls the statements.
    poll_fn(|context| {
        send_with_commit(client, &mut pending, context);
        Poll::Ready(())
    })
    .await;

    // Wait for the responses to all statements, even after an error.
    let mut outcome = Ok(());
    for mut statement in pending {
        (&mut statement).await;
        // The result is there, because the statement is done, and nobody else takes it.
        let result = Pin::new(&mut statement).take_output().unwrap_or(Ok(()));
        outcome = outcome.and(result);
    }
    outcome
}

/// A statement that is sent when it is first polled, and that keeps its result until it is taken.
type PendingStatement<'c> = MaybeDone<BoxFuture<'c, Result<(), Error>>>;

/// Wraps a statement that was not sent yet.
fn unsent<'c>(
    statement: impl Future<Output = Result<(), Error>> + Send + 'c,
) -> PendingStatement<'c> {
    maybe_done(statement.boxed())
}

/// Sends the statements, and then a COMMIT, or a ROLLBACK if one of the statements could not be sent or
/// has already failed. Adds this last statement to `statements`, so that the caller waits for its
/// response, too.
fn send_with_commit<'c>(
    client: &'c Client,
    statements: &mut Vec<PendingStatement<'c>>,
    context: &mut Context<'_>,
) {
    let mut has_error = false;
    for statement in statements.iter_mut() {
        // A poll sends the statement. The result, if there is one already, stays in the statement.
        let _ = statement.poll_unpin(context);
        // Without this statement, the others must not be committed.
        if let Some(Err(_)) = Pin::new(statement).output_mut() {
            has_error = true;
        }
    }
    let end = if has_error { "ROLLBACK" } else { "COMMIT" };
    let mut last_statement = unsent(client.batch_execute(end));
    let _ = last_statement.poll_unpin(context);
    statements.push(last_statement);
}
