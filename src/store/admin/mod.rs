//! Administration: what is the same in every store, written once over the transactions that each
//! store gives.

pub(super) mod audit;
mod deliveries;
mod keys;
mod requests;
mod staff;
mod webhooks;

pub use self::deliveries::KEPT_ATTEMPTS;

use futures_util::{
    FutureExt,
    future::{self, BoxFuture},
};

use super::{
    Changes, StoreError,
    columns::Columns,
    log::{Origin, written},
};
use crate::domain::{WriteContext, store_area::Act};

/// The value of a parameter in a statement.
pub(super) trait Parameter: rusqlite::ToSql + Send + Sync {
    fn for_postgres(&self) -> &(dyn tokio_postgres::types::ToSql + Sync);
}

impl<T: rusqlite::ToSql + tokio_postgres::types::ToSql + Send + Sync> Parameter for T {
    fn for_postgres(&self) -> &(dyn tokio_postgres::types::ToSql + Sync) {
        self
    }
}

/// The values of all parameters that a statement has each time, in the order of their numbers.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        vec![$(Box::new($value) as Box<dyn Parameter + '_>),*]
    };
}
use values;

/// The values of all parameters, in the order of their numbers.
pub(super) type Parameters<'v> = &'v [&'v dyn Parameter];

/// Runs statements, one after the other. Every store accepts the same statements, in which the
/// parameters `$1`, `$2` and so on stand in any order.
pub(super) trait Sql: Send {
    type Error: Send;
    type Row: Columns<Error = Self::Error> + Send + Sync;

    /// Records an act: its time, type, subject, actor, the actor's number and name, the request and
    /// the details.
    const RECORD: &'static str;

    /// Sets the confirmed time to that of the newest change, or to $1, if there is none.
    const CONFIRM_FIRST: &'static str;
    /// The numbers of the first and the last change of the log.
    const LOG_BOUNDS: &'static str;
    /// The last change above $1 and below $2 before which all are older than $3; $1 if there is
    /// none.
    const LAST_OLDER: &'static str;
    /// The same, or one after it, after which none is older.
    const NEWEST_OLDER: &'static str;
    /// Whether a change above $1 and up to $2 is older than $3.
    const HAS_OLDER: &'static str;
    /// What the audit trail selects of the changes: the oldest first, and the newest first.
    const AUDITED: [&'static str; 2];
    /// An identifier for a webhook.
    const DRAW_WEBHOOK_ID: &'static str;
    /// Forgets at most $2 requests that are older than $1 marks.
    const FORGET_REQUESTS: &'static str;

    /// The rows of a result.
    fn rows<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
    ) -> BoxFuture<'t, Result<Vec<Self::Row>, Self::Error>>;

    /// Writes, and returns how many rows.
    fn execute<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
    ) -> BoxFuture<'t, Result<u64, Self::Error>>;

    /// Writes with each of these values, and returns how many rows each time.
    fn execute_each<'t>(
        &'t mut self,
        sql: &'static str,
        values: Vec<Vec<Box<dyn Parameter + 't>>>,
    ) -> BoxFuture<'t, Result<Vec<u64>, Self::Error>>;

    /// The error of a statement that must have a row and has none.
    fn no_row() -> Self::Error;

    /// The first row of a result, if it has one.
    fn row<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
    ) -> BoxFuture<'t, Result<Option<Self::Row>, Self::Error>> {
        self.rows(sql, values).map(|rows| Ok(rows?.into_iter().next())).boxed()
    }

    /// The number in the first column of the only row.
    fn number<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
    ) -> BoxFuture<'t, Result<i64, Self::Error>> {
        self.row(sql, values).map(|row| row?.ok_or_else(Self::no_row)?.value(0)).boxed()
    }
}

/// What is done with a value, over one connection.
pub(super) type Work<S, W, T> =
    for<'t> fn(&'t mut S, &'t W) -> BoxFuture<'t, Result<T, <S as Sql>::Error>>;

/// A store, as administration needs it.
pub(super) trait Database: Changes {
    type Sql: Sql + 'static;

    /// Reads what takes microseconds.
    fn read<W, T>(
        &self,
        what: W,
        work: Work<Self::Sql, W, T>,
    ) -> BoxFuture<'_, Result<T, StoreError>>
    where
        W: Send + Sync + 'static,
        T: Send + 'static;

    /// Writes in one transaction. After a connection broke, the work may run again although it was
    /// done, so its result must then be the same.
    fn write<W, T>(
        &self,
        what: W,
        work: Work<Self::Sql, W, T>,
    ) -> BoxFuture<'_, Result<T, StoreError>>
    where
        W: Send + Sync + 'static,
        T: Send + 'static;

    /// Writes once, in one transaction. `work` returns a number with which `show` finds the result
    /// in the same transaction, also if the work was done by an attempt whose connection broke. A
    /// refusal undoes the transaction.
    fn once<W, T, R>(
        &self,
        what: W,
        work: Work<Self::Sql, W, Result<i64, R>>,
        show: Work<Self::Sql, i64, T>,
    ) -> BoxFuture<'_, Result<Result<T, R>, StoreError>>
    where
        W: Send + Sync + 'static,
        T: Send + 'static,
        R: Send + 'static;
}

/// Shows nothing of a write.
fn nothing<'t, S: Sql>(_: &'t mut S, _: &'t i64) -> BoxFuture<'t, Result<(), S::Error>> {
    future::ready(Ok(())).boxed()
}

/// Locks the same row for everything of which there may be only so many. So each one that is added
/// counts those before it.
const ONE_ADDS: &str = "UPDATE confirmed_time SET at = at";

/// Records an act of administration. It is in the audit trail behind the changes that have a number.
/// So those before it get theirs first, by [`Changes::log_state`].
async fn record<S: Sql>(on: &mut S, act: &Act, context: &WriteContext) -> Result<(), S::Error> {
    let Origin { at, actor, request_id } = context.into();
    let (kind, name, details) = (act.kind.as_str(), actor.name.as_deref(), written(act));
    let (by, number) = (actor.actor.kind(), actor.actor.id());
    on.execute(
        S::RECORD,
        &[&at, &kind, &act.subject.id, &by, &number, &name, &request_id, &details],
    )
    .await?;
    Ok(())
}
