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

use super::pool::Connection;

/// A statement that writes many rows. Each of its parameters is an array with the values of one column.
pub(super) struct Write<'v> {
    sql: &'static str,
    columns: Vec<Vec<Value<'v>>>,
}

impl<'v> Write<'v> {
    /// Creates the statement `sql` for these rows; `None` if there are no rows.
    pub(super) fn from_rows(
        sql: &'static str,
        rows: impl IntoIterator<Item = Vec<Value<'v>>>,
    ) -> Option<Self> {
        let parameter_columns = transpose(rows);
        if parameter_columns.is_empty() {
            return None;
        }
        Some(Self {
            sql,
            columns: parameter_columns,
        })
    }

    /// Runs the statement in the open transaction.
    pub(super) async fn run(&self, client: &Client) -> Result<(), Error> {
        client.execute(self.sql, &parameters(&self.columns)).await?;
        Ok(())
    }

    /// Runs the statement like [`Self::run`], as the prepared `statement`.
    async fn run_prepared(&self, client: &Client, statement: &Statement) -> Result<(), Error> {
        client
            .execute(statement, &parameters(&self.columns))
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

/// Returns the parameters of a statement in the form that the driver takes. `values` are arrays, or the
/// values of a single row.
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

/// Returns the prepared statements of `writes`, in the same order.
pub(super) async fn prepare(
    connection: &mut Connection,
    writes: &[Write<'_>],
) -> Result<Vec<Statement>, Error> {
    let mut statements = Vec::with_capacity(writes.len());
    for write in writes {
        statements.push(connection.prepare_once(write.sql).await?);
    }
    Ok(statements)
}

/// Runs the writes in one transaction, and returns the first error. `statements` are the prepared
/// statements of the writes.
///
/// Sends `begin`, the statements and the COMMIT in a single poll. So if this future is dropped, the
/// transaction is not left open: either everything was sent, or nothing.
pub(super) async fn in_transaction(
    client: &Client,
    begin: &str,
    writes: &[Write<'_>],
    statements: &[Statement],
) -> Result<(), Error> {
    let mut pending = vec![to_send(client.batch_execute(begin))];
    for (write, statement) in writes.iter().zip(statements) {
        pending.push(to_send(write.run_prepared(client, statement)));
    }
    // `poll_fn` provides the context with which `send_with_commit` polls the statements.
    poll_fn(|context| {
        send_with_commit(client, &mut pending, context);
        Poll::Ready(())
    })
    .await;

    let mut first_error = None;
    for mut statement in pending {
        (&mut statement).await;
        if let Some(Err(error)) = Pin::new(&mut statement).take_output() {
            first_error.get_or_insert(error);
        }
    }
    first_error.map_or(Ok(()), Err)
}

/// A statement that is sent when it is first polled, and that keeps its result until it is taken.
type PendingStatement<'c> = MaybeDone<BoxFuture<'c, Result<(), Error>>>;

/// Wraps a statement that is to be sent later.
fn to_send<'c>(
    statement: impl Future<Output = Result<(), Error>> + Send + 'c,
) -> PendingStatement<'c> {
    maybe_done(statement.boxed())
}

/// Sends the statements, then a COMMIT or, if one of the statements could not be sent, a ROLLBACK. Adds
/// this last statement to `statements`, so that the caller waits for its response, too.
fn send_with_commit<'c>(
    client: &'c Client,
    statements: &mut Vec<PendingStatement<'c>>,
    context: &mut Context<'_>,
) {
    let mut are_all_sent = true;
    for statement in statements.iter_mut() {
        let _ = statement.poll_unpin(context);
        // An error this early means that the statement was not sent, or has failed already.
        if let Some(Err(_)) = Pin::new(statement).output_mut() {
            are_all_sent = false;
        }
    }
    let end = if are_all_sent { "COMMIT" } else { "ROLLBACK" };
    let mut last_statement = to_send(client.batch_execute(end));
    let _ = last_statement.poll_unpin(context);
    statements.push(last_statement);
}
