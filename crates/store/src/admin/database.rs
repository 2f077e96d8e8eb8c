//! The abstraction over stores on which the code in this folder is built: a store runs shared work
//! on one of its connections.

use futures_util::{
    FutureExt,
    future::{self, BoxFuture},
};
use petstore_domain::store_area::JournalState;

use super::sql::{Parameter, RowReader, Sql, SqlFuture, Values, Work};
use crate::StoreError;

/// A pending operation of a store, with the result `T`.
pub type StoreFuture<'s, T> = BoxFuture<'s, Result<T, StoreError>>;

/// A value that can be moved to and shared between threads.
pub trait SharedValue: Send + Sync + 'static {}

impl<T: Send + Sync + 'static> SharedValue for T {}

/// A kind of read that may block a runtime thread for too long. SQLite runs one read of each kind
/// at a time, so that no kind can starve another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlowRead {
    /// Reads of pages whose texts are too long for [`Database::read`].
    LargePages,
    /// Searches, and reads of the history and of the audit trail, for the staff and for programs.
    Searches,
    /// Reads of clients that follow the log of changes.
    Followers,
    /// Reads for the public.
    Offers,
    /// Counts, and other reads that take time in proportion to the size of a table.
    Counts,
}

/// A store that runs [`Work`] on its own connections.
pub trait Database: Send + Sync {
    /// The connection that the work runs on.
    type Sql: Sql;

    /// The maximum number of bytes of the texts on a page that may be read with [`Self::read`].
    /// Larger pages must use [`Self::read_slowly`].
    const MAX_FAST_PAGE_BYTES: usize;

    /// See [`crate::Journal::journal_state`].
    fn log_state(&self) -> StoreFuture<'_, JournalState>;

    /// Deletes changes and acts that are old enough. See [`crate::Journal::forget_changes`].
    /// `kept_from` and `kept_until` are the first and the last time to keep, in milliseconds.
    fn forget(&self, kept_from: i64, kept_until: i64, limit: i64) -> StoreFuture<'_, usize>;

    /// Numbers every committed change that has no number yet. In PostgreSQL, a change can be
    /// committed without one.
    fn assign_change_numbers(&self) -> StoreFuture<'_, ()>;

    /// Runs a read that takes microseconds.
    fn read<I: SharedValue, T: SharedValue>(
        &self,
        input: I,
        work: Work<Self::Sql, I, T>,
    ) -> StoreFuture<'_, T>;

    /// Runs a read that may take longer than microseconds.
    fn read_slowly<I: SharedValue, T: SharedValue>(
        &self,
        kind: SlowRead,
        input: I,
        work: Work<Self::Sql, I, T>,
    ) -> StoreFuture<'_, T>;

    /// Runs a search, whose statements all see the same snapshot of the store.
    fn search<I: SharedValue, T: SharedValue>(
        &self,
        kind: SlowRead,
        input: I,
        work: Work<Self::Sql, I, T>,
    ) -> StoreFuture<'_, T>;

    /// Reads all rows of a statement that takes microseconds, and converts each with `read_row`.
    fn list<T: SharedValue>(
        &self,
        sql: &'static str,
        values: Values<'static>,
        read_row: RowReader<Self::Sql, T>,
    ) -> StoreFuture<'_, Vec<T>> {
        self.read(
            (sql, values, read_row),
            |connection, (sql, values, read_row)| {
                async move {
                    let values: Vec<&dyn Parameter> = values.iter().map(|value| &**value).collect();
                    let rows = connection.rows(sql, &values).await?;
                    rows.iter().map(read_row).collect()
                }
                .boxed()
            },
        )
    }

    /// Reads the first row of a statement that takes microseconds, if there is one, and converts it
    /// with `read_row`.
    fn find<T: SharedValue>(
        &self,
        sql: &'static str,
        values: Values<'static>,
        read_row: RowReader<Self::Sql, T>,
    ) -> StoreFuture<'_, Option<T>> {
        self.list(sql, values, read_row)
            .map(|items| Ok(items?.into_iter().next()))
            .boxed()
    }

    /// Writes in one transaction. The work must be idempotent and return the same result each time:
    /// if a connection breaks, it may run again although it was already committed.
    fn write<I: SharedValue, T: SharedValue>(
        &self,
        input: I,
        work: Work<Self::Sql, I, T>,
    ) -> StoreFuture<'_, T>;

    /// Writes exactly once, in one transaction, for work that is not idempotent.
    ///
    /// `work` returns a number, such as the id of a new row. From this number, `read_result` reads
    /// the result in the same transaction. If the connection of an earlier attempt broke after its
    /// commit, `work` does not run again, and `read_result` gets the number of that attempt. A
    /// refusal `R` rolls back the transaction.
    fn write_once<I: SharedValue, T: SharedValue, R: SharedValue>(
        &self,
        input: I,
        work: Work<Self::Sql, I, WorkOutcome<i64, R>>,
        read_result: Work<Self::Sql, i64, T>,
    ) -> StoreFuture<'_, WorkOutcome<T, R>>;
}

/// The outcome of work that may refuse to write. See [`Database::write_once`].
///
/// Inside the transaction, `T` is the number that the work returns: 0 if there is nothing to read.
/// `R` is the reason for the refusal: `()` if there is only one reason, and
/// [`Infallible`](std::convert::Infallible) if the work never refuses.
#[derive(Debug)]
pub enum WorkOutcome<T, R> {
    /// The work was done, in this attempt or an earlier one.
    Done(T),
    /// Nothing was written, for the given reason.
    Refused(R),
}

impl<T, R> WorkOutcome<T, R> {
    /// Whether the work was done.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done(_))
    }
}

/// The number that work returns if there is no result to read: its `read_result` is [`no_result`].
pub(super) const NO_RESULT: i64 = 0;

/// Reads nothing: the `read_result` of a [`Database::write_once`] without a result.
pub(super) fn no_result<'t, S: Sql>(_: &'t mut S, _: &'t i64) -> SqlFuture<'t, S, ()> {
    future::ready(Ok(())).boxed()
}
