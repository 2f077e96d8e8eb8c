//! Statements that write many rows each, in one transaction that is sent at once.

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

/// A statement for many rows, with an array for each of their columns.
pub(super) struct Write<'v> {
    sql: &'static str,
    columns: Vec<Vec<Value<'v>>>,
}

impl<'v> Write<'v> {
    /// Creates a statement that writes these rows; `None` if there are none.
    pub(super) fn from_rows(
        sql: &'static str,
        rows: impl IntoIterator<Item = Vec<Value<'v>>>,
    ) -> Option<Self> {
        let parameter_columns = columns(rows);
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

    /// Runs the statement like [`Self::run`], with its prepared form.
    async fn run_prepared(&self, client: &Client, statement: &Statement) -> Result<(), Error> {
        client
            .execute(statement, &parameters(&self.columns))
            .await?;
        Ok(())
    }
}

/// Turns rows of the same length into columns: the rows `(1, a)` and `(2, b)` become `(1, 2)` and
/// `(a, b)`.
pub(super) fn columns<'v>(rows: impl IntoIterator<Item = Vec<Value<'v>>>) -> Vec<Vec<Value<'v>>> {
    let mut columns = Vec::new();
    for row in rows {
        columns.resize(row.len(), Vec::new());
        for (column, value) in columns.iter_mut().zip(row) {
            column.push(value);
        }
    }
    columns
}

/// Returns the parameters of a statement: arrays, or the values of one row.
pub(super) fn parameters<T: ToSql + Sync>(values: &[T]) -> Vec<&(dyn ToSql + Sync)> {
    values
        .iter()
        .map(|value| value as &(dyn ToSql + Sync))
        .collect()
}

/// Returns the table `new` with the rows of a [`Write`], for its statement. `columns` has the name and
/// the type of each column.
///
/// The columns `id` of type `bigint` and `name` of type `text` become
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

/// Prepares the statements, in the order of `writes`.
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

/// Runs the statements in one transaction: all or none. Sends `begin`, the statements and a COMMIT without
/// a pause, so the transaction never stays open when this future is dropped.
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
    // Gives access to the context of this task, with which a future is polled.
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

/// A statement that is sent when it is polled for the first time.
type SentStatement<'c> = MaybeDone<BoxFuture<'c, Result<(), Error>>>;

fn to_send<'c>(
    statement: impl Future<Output = Result<(), Error>> + Send + 'c,
) -> SentStatement<'c> {
    maybe_done(statement.boxed())
}

/// Sends the statements, and then a COMMIT, which is added to them. Adds a ROLLBACK instead if a
/// statement cannot be sent.
fn send_with_commit<'c>(
    client: &'c Client,
    statements: &mut Vec<SentStatement<'c>>,
    context: &mut Context<'_>,
) {
    let mut are_all_sent = true;
    for statement in statements.iter_mut() {
        let _ = statement.poll_unpin(context);
        if let Some(Err(_)) = Pin::new(statement).output_mut() {
            are_all_sent = false;
        }
    }
    let end = if are_all_sent { "COMMIT" } else { "ROLLBACK" };
    let mut end = to_send(client.batch_execute(end));
    let _ = end.poll_unpin(context);
    statements.push(end);
}
