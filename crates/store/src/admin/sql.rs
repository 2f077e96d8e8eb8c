//! The abstraction over connections that lets SQLite and PostgreSQL share statements.

use std::{fmt::Display, ops::ControlFlow};

use futures_util::{FutureExt, future::BoxFuture};

use super::plans::Plans;
use crate::{StoreError, columns::Columns};

/// The value of a statement parameter, for either database.
pub trait Parameter: rusqlite::ToSql + Send + Sync {
    /// Returns the value as the PostgreSQL driver takes it.
    fn for_postgres(&self) -> &(dyn tokio_postgres::types::ToSql + Sync);
}

impl<T: rusqlite::ToSql + tokio_postgres::types::ToSql + Send + Sync> Parameter for T {
    fn for_postgres(&self) -> &(dyn tokio_postgres::types::ToSql + Sync) {
        self
    }
}

/// The borrowed values of all parameters of a statement, beginning with `$1`.
pub type Parameters<'v> = &'v [&'v dyn Parameter];

/// The owned values of all parameters of a statement, beginning with `$1`. The macro `values!`
/// makes them. A statement that runs several times takes one such list for each run.
pub type Values<'v> = Vec<Box<dyn Parameter + 'v>>;

/// Makes [`Values`]. This is a macro because each value has its own type.
///
/// ```ignore
/// values![id, name.as_str()]
/// // expands to
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

/// The future of one or more statements that run on a connection `S`, with the result `T`.
pub type SqlFuture<'t, S, T> = BoxFuture<'t, Result<T, <S as Sql>::Error>>;

/// A function that runs statements on one connection `S`, with an input `I` and a result `T`.
///
/// It is a function pointer and not a closure, so that a store can call it again if a connection
/// breaks.
pub type Work<S, I, T> = for<'t> fn(&'t mut S, &'t I) -> SqlFuture<'t, S, T>;

/// A callback that receives the rows of a result one by one. If the callback breaks, the query
/// stops.
pub type RowVisitor<'t, S> = &'t mut (
            dyn for<'q, 'r> FnMut(
    &'q <S as Sql>::BorrowedRow<'r>,
) -> Result<ControlFlow<()>, <S as Sql>::Error>
                + Send
        );

/// A function that converts a row to a value.
pub(crate) type RowReader<S, T> = fn(&<S as Sql>::Row) -> Result<T, <S as Sql>::Error>;

/// A connection that runs statements one after the other.
///
/// Both stores accept the same SQL, with parameters `$1`, `$2` and so on in any order. The
/// constants are the few statements that differ between the stores.
pub trait Sql: Send + Sized + 'static {
    /// The error of the database driver.
    type Error: Display + Into<StoreError> + Send;
    /// A row that was copied from the result.
    type Row: Columns<Error = Self::Error> + Send + Sync;
    /// A row that is not copied, so it is valid only until the next one is read.
    type BorrowedRow<'r>: Columns<Error = Self::Error>;

    /// Inserts an act. The parameters are its time, type, subject, kind of actor, id and name of
    /// the actor, request, and details.
    const RECORD: &'static str;

    /// Sets the confirmed time to the time of the newest change, or to $1 if there is no change.
    const CONFIRM_FIRST: &'static str;
    /// Selects the numbers of the first and the last change of the log.
    const LOG_BOUNDS: &'static str;
    /// Selects the last change above $1 and below $2 such that all changes up to it are older than
    /// $3. If there is no such change, the result is $1.
    const LAST_OLDER: &'static str;
    /// Selects the change from which a search for changes that are older than $3 goes backwards. It
    /// is the change that [`Self::LAST_OLDER`] selects, or a later one.
    const NEWEST_OLDER: &'static str;
    /// Selects whether any change above $1 and up to $2 is older than $3.
    const HAS_OLDER: &'static str;
    /// Select changes for the audit trail. The first statement has the oldest changes first, and
    /// the second one has the newest changes first.
    const AUDIT_CHANGES: [&'static str; 2];
    /// Selects at most $4 changes above $1 and up to $2, of the type $3 unless it is null.
    const CHANGES: &'static str;
    /// Selects at most $3 changes of the animal $1 below $2, newest first.
    const HISTORY: &'static str;
    /// Selects the values that identify the state of the public data.
    ///
    /// They are the epoch of the log, the number of changes so far, the version of the fields, the
    /// version of the profile, and the start of the database server (0 in SQLite).
    const PUBLIC_STATE: &'static str;
    /// Selects the changes above $1 and up to $2 that made an animal available again, newest first.
    const RETURNS: &'static str;
    /// Selects a new identifier for a webhook.
    const DRAW_WEBHOOK_ID: &'static str;
    /// Deletes at most $2 remembered requests that are older than $1 marks. See
    /// [`crate::Requests`].
    const FORGET_REQUESTS: &'static str;
    /// Selects the text that [`Self::incarnation_from`] converts to the incarnation of the
    /// database.
    const INCARNATION: &'static str;

    /// Returns the incarnation for the text that [`Self::INCARNATION`] selects. Returns `None` if
    /// the text is invalid. See [`crate::PhotoFiles::incarnation`].
    fn incarnation_from(text: &str) -> Option<String>;

    /// Returns the statements of list queries, tuned for this store.
    fn plans() -> &'static Plans;

    /// Calls `visitor` with each row of a result until it breaks.
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

    /// Runs a statement that writes. Returns the number of affected rows.
    fn execute<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
    ) -> SqlFuture<'t, Self, u64>;

    /// Runs a statement once for each item of `values`. Returns the number of affected rows of each
    /// run.
    fn execute_each<'t>(
        &'t mut self,
        sql: &'static str,
        values: Vec<Values<'t>>,
    ) -> SqlFuture<'t, Self, Vec<u64>>;

    /// Runs a statement once for each item of `values`. Returns the rows of each run.
    fn rows_each<'t>(
        &'t mut self,
        sql: &'static str,
        values: Vec<Values<'t>>,
    ) -> SqlFuture<'t, Self, Vec<Vec<Self::Row>>>;

    /// Returns the error for a result without a row, where there always is one.
    fn no_row() -> Self::Error;

    /// Reads the first row of a result, if there is one. The statement should select at most one
    /// row, because all of its rows are read.
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

    /// Reads the number in the first column of a result that always has a row.
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
