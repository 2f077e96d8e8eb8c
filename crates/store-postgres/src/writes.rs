//! Statements that write many rows each, in one transaction that is sent at once.

use std::{future::poll_fn, pin::Pin, task::Poll};

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
    /// Writes these rows; `None` if there are none.
    pub(super) fn of_rows(
        sql: &'static str,
        rows: impl IntoIterator<Item = Vec<Value<'v>>>,
    ) -> Option<Self> {
        let columns = columns(rows);
        (!columns.is_empty()).then_some(Self { sql, columns })
    }

    /// Runs it in the open transaction.
    pub(super) async fn run(&self, client: &Client) -> Result<(), Error> {
        client
            .execute(self.sql, &parameters(&self.columns))
            .await
            .map(drop)
    }
}

/// Returns the columns of rows of the same length.
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

/// How [`Write`] names the columns of its rows in a statement: `new`, with these columns and types.
pub(super) fn rows_of(columns: &[(&str, &str)]) -> String {
    let (names, types): (Vec<_>, Vec<_>) = columns.iter().copied().unzip();
    let arrays = types
        .iter()
        .zip(1..)
        .map(|(of, number)| format!("${number}::{of}[]"));
    let arrays = arrays.collect::<Vec<_>>().join(", ");
    format!("unnest({arrays}) AS new ({})", names.join(", "))
}

pub(super) async fn prepare(
    connection: &mut Connection,
    writes: &[Write<'_>],
) -> Result<Vec<Statement>, Error> {
    let mut prepared = Vec::with_capacity(writes.len());
    for write in writes {
        prepared.push(connection.prepared(write.sql).await?);
    }
    Ok(prepared)
}

/// Runs the statements in one transaction, which `begin` begins: all or none. They are sent without
/// a pause, so the transaction never stays open when this future is dropped.
pub(super) async fn in_transaction(
    client: &Client,
    begin: &str,
    writes: &[Write<'_>],
    prepared: &[Statement],
) -> Result<(), Error> {
    let mut statements = vec![sent(client.batch_execute(begin))];
    for (write, statement) in writes.iter().zip(prepared) {
        statements.push(sent(async move {
            client
                .execute(statement, &parameters(&write.columns))
                .await
                .map(drop)
        }));
    }
    poll_fn(|context| {
        let mut all_sent = true;
        for statement in &mut statements {
            let _ = statement.poll_unpin(context);
            all_sent &= !matches!(Pin::new(statement).output_mut(), Some(Err(_)));
        }
        let mut end = sent(client.batch_execute(if all_sent { "COMMIT" } else { "ROLLBACK" }));
        let _ = end.poll_unpin(context);
        statements.push(end);
        Poll::Ready(())
    })
    .await;
    let mut done = Ok(());
    for mut statement in statements {
        (&mut statement).await;
        if let Some(Err(error)) = Pin::new(&mut statement).take_output() {
            done = done.and(Err(error));
        }
    }
    done
}

type Sent<'c> = MaybeDone<BoxFuture<'c, Result<(), Error>>>;

fn sent<'c>(statement: impl Future<Output = Result<(), Error>> + Send + 'c) -> Sent<'c> {
    maybe_done(statement.boxed())
}
