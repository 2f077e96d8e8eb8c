//! Statements that SQLite and PostgreSQL share: what runs them, and the values of their parameters.

use std::{fmt::Display, ops::ControlFlow};

use futures_util::{FutureExt, future::BoxFuture};

use super::plans::Plans;
use crate::{StoreError, columns::Columns};

/// The value of a parameter in a statement.
pub trait Parameter: rusqlite::ToSql + Send + Sync {
    /// Returns the value as the driver of PostgreSQL takes it.
    fn for_postgres(&self) -> &(dyn tokio_postgres::types::ToSql + Sync);
}

impl<T: rusqlite::ToSql + tokio_postgres::types::ToSql + Send + Sync> Parameter for T {
    fn for_postgres(&self) -> &(dyn tokio_postgres::types::ToSql + Sync) {
        self
    }
}

/// The borrowed values of all parameters of a statement: the first one is `$1`.
pub type Parameters<'v> = &'v [&'v dyn Parameter];

/// The owned values of all parameters of a statement, which `values!` makes: the first one is `$1`.
///
/// A statement that runs several times has one such value for each run.
pub type Values<'v> = Vec<Box<dyn Parameter + 'v>>;

/// Makes [`Values`]. It is a macro because each value has a type of its own.
///
/// ```ignore
/// values![id, name.as_str()]
/// // becomes
/// vec![
///     Box::new(id) as Box<dyn Parameter + '_>,
///     Box::new(name.as_str()) as Box<dyn Parameter + '_>,
/// ]
/// ```
macro_rules! values {
    ($($value:expr),*) => {
        vec![$(Box::new($value) as Box<dyn Parameter + '_>),*]
    };
}
pub(super) use values;

/// A connection that runs statements, one after the other.
///
/// Every store accepts the same statements, in which the parameters `$1`, `$2` and so on stand in any order.
pub trait Sql: Send + Sized + 'static {
    type Error: Display + Into<StoreError> + Send;
    type Row: Columns<Error = Self::Error> + Send + Sync;
    /// A row that is read before the next one, without a copy of it.
    type BorrowedRow<'r>: Columns<Error = Self::Error>;

    /// Records an act: its time, type, subject, actor, the actor's number and name, the request and
    /// the details.
    const RECORD: &'static str;

    /// Sets the confirmed time to the time of the newest change, or to $1, if there is no change.
    const CONFIRM_FIRST: &'static str;
    /// Selects the numbers of the first and the last change of the log.
    const LOG_BOUNDS: &'static str;
    /// Selects the last change above $1 and below $2 before which all are older than $3; $1 if there is
    /// none.
    const LAST_OLDER: &'static str;
    /// Selects the change of [`Self::LAST_OLDER`], or one after it, after which none is older than $3.
    const NEWEST_OLDER: &'static str;
    /// Selects whether a change above $1 and up to $2 is older than $3.
    const HAS_OLDER: &'static str;
    /// Select the changes for the audit trail: the oldest first, and the newest first.
    const AUDIT_CHANGES: [&'static str; 2];
    /// Selects at most $4 of the changes above $1 and up to $2, of the type $3 if it is not null.
    const CHANGES: &'static str;
    /// Selects at most $3 of the changes of the animal $1 below $2, the newest first.
    const HISTORY: &'static str;
    /// Selects the epoch of the log, and four numbers that change with what the public sees: how many changes there
    /// were, the versions of the fields and of the profile, and the start of the server.
    const PUBLIC_STATE: &'static str;
    /// Selects the changes above $1 and up to $2 by which an animal became available again, the newest first.
    const RETURNS: &'static str;
    /// Selects an identifier for a webhook.
    const DRAW_WEBHOOK_ID: &'static str;
    /// Forgets at most $2 requests that are older than $1 marks.
    const FORGET_REQUESTS: &'static str;
    /// Selects the text from which [`Self::incarnation_from`] makes the incarnation of the database.
    const INCARNATION: &'static str;

    /// Returns the incarnation for the text that [`Self::INCARNATION`] selects. See
    /// [`crate::PhotoFiles::incarnation`].
    fn incarnation_from(text: &str) -> Option<String>;

    /// Returns the statements of lists.
    fn plans() -> &'static Plans;

    /// Calls `visitor` with each row of a result, until it breaks.
    fn visit<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
        visitor: RowVisitor<'t, Self>,
    ) -> SqlFuture<'t, Self, ()>;

    /// Reads all rows of a result.
    fn rows<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
    ) -> SqlFuture<'t, Self, Vec<Self::Row>>;

    /// Writes, and returns the number of rows that were written.
    fn execute<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
    ) -> SqlFuture<'t, Self, u64>;

    /// Runs a statement once with each item of `values`. Returns the number of rows that each run wrote.
    fn execute_each<'t>(
        &'t mut self,
        sql: &'static str,
        values: Vec<Values<'t>>,
    ) -> SqlFuture<'t, Self, Vec<u64>>;

    /// Runs a statement once with each item of `values`. Returns the rows of each run.
    fn rows_each<'t>(
        &'t mut self,
        sql: &'static str,
        values: Vec<Values<'t>>,
    ) -> SqlFuture<'t, Self, Vec<Vec<Self::Row>>>;

    /// Returns the error of a statement that must have a row and has none.
    fn no_row() -> Self::Error;

    /// Reads the first row of a result, if it has one.
    fn row<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
    ) -> SqlFuture<'t, Self, Option<Self::Row>> {
        self.rows(sql, values)
            .map(|rows| Ok(rows?.into_iter().next()))
            .boxed()
    }

    /// Reads the first row of a result that always has one.
    fn only_row<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
    ) -> SqlFuture<'t, Self, Self::Row> {
        self.row(sql, values)
            .map(|row| row?.ok_or_else(Self::no_row))
            .boxed()
    }

    /// Reads the number in the first column of the only row.
    fn number<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
    ) -> SqlFuture<'t, Self, i64> {
        self.row(sql, values)
            .map(|row| row?.ok_or_else(Self::no_row)?.value(0))
            .boxed()
    }
}

/// A statement that runs, or several of them, with the result `T`.
pub type SqlFuture<'t, S, T> = BoxFuture<'t, Result<T, <S as Sql>::Error>>;

/// A function that works over one connection `S`, with an input `I` and a result `T`.
///
/// It is a function and not a closure, so a store can call it again after a connection broke.
pub type Work<S, I, T> = for<'t> fn(&'t mut S, &'t I) -> SqlFuture<'t, S, T>;

/// A function that takes the rows of a result one by one.
pub type RowVisitor<'t, S> = &'t mut (
            dyn for<'q, 'r> FnMut(
    &'q <S as Sql>::BorrowedRow<'r>,
) -> Result<ControlFlow<()>, <S as Sql>::Error>
                + Send
        );

/// A function that makes a value of a row.
pub(crate) type RowReader<S, T> = fn(&<S as Sql>::Row) -> Result<T, <S as Sql>::Error>;
