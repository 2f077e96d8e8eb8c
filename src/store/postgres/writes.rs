//! Statements that write, in one transaction that is sent at once.

use std::{future::poll_fn, pin::Pin, task::Poll};

use futures_util::{
    FutureExt,
    future::{BoxFuture, MaybeDone, maybe_done},
};
use tokio_postgres::{Client, Error, Statement, types::ToSql};

use super::pool::Connection;

pub(super) type Value = Box<dyn ToSql + Sync + Send>;

pub(super) struct Write {
    pub(super) sql: &'static str,
    pub(super) values: Vec<Value>,
}

impl Write {
    pub(super) fn parameters(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect()
    }
}

macro_rules! values {
    ($($value:expr),* $(,)?) => {
        vec![$(Box::new($value) as Value),*]
    };
}

pub(super) use values;

pub(super) async fn prepare(
    connection: &mut Connection,
    writes: &[Write],
) -> Result<Vec<Statement>, Error> {
    let mut prepared = Vec::with_capacity(writes.len());
    for write in writes {
        prepared.push(connection.prepared(write.sql).await?);
    }
    Ok(prepared)
}

/// Runs the statements in one transaction: all or none. They are sent without a pause, so the
/// transaction never stays open when this future is dropped.
pub(super) async fn in_transaction(
    client: &Client,
    writes: &[Write],
    prepared: &[Statement],
) -> Result<(), Error> {
    let mut statements = vec![sent(client.batch_execute("BEGIN"))];
    for (write, statement) in writes.iter().zip(prepared) {
        statements.push(sent(async move {
            client.execute(statement, &write.parameters()).await.map(drop)
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
