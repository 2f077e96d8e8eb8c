//! A store, as the code in this folder needs it: it lends a connection to work that every store shares.

use futures_util::{
    FutureExt,
    future::{self, BoxFuture},
};
use petstore_domain::store_area::JournalState;

use super::sql::{Parameter, RowReader, Sql, SqlFuture, Values, Work};
use crate::StoreError;

/// Work of a store, with the result `T`.
pub type StoreFuture<'s, T> = BoxFuture<'s, Result<T, StoreError>>;

/// A value that any thread may use and keep.
pub trait SharedValue: Send + Sync + 'static {}

impl<T: Send + Sync + 'static> SharedValue for T {}

/// A kind of reads that may take longer than a request may keep a runtime thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlowRead {
    LargePages,
    Searches,
    Followers,
    /// Reads of the public.
    Offers,
    /// Reads whose time grows with the number of all rows.
    Counts,
}

/// A store that runs [`Work`] over a connection of its own.
pub trait Database: Send + Sync {
    type Sql: Sql;

    /// The maximum size in bytes of the texts on a page that [`Self::read`] reads.
    const USUAL_PAGE: usize;

    /// See [`crate::Journal::journal_state`].
    fn log_state(&self) -> StoreFuture<'_, JournalState>;

    /// Forgets changes and acts before the first one whose time is kept. See
    /// [`crate::Journal::forget_changes`].
    ///
    /// `kept` has the first and the last time that are kept, in milliseconds.
    fn forget(&self, kept: [i64; 2], limit: i64) -> StoreFuture<'_, usize>;

    /// Gives every committed change its number, if its own transaction did not.
    fn assign_change_numbers(&self) -> StoreFuture<'_, ()>;

    /// Reads something that takes microseconds.
    fn read<I: SharedValue, T: SharedValue>(
        &self,
        input: I,
        work: Work<Self::Sql, I, T>,
    ) -> StoreFuture<'_, T>;

    /// Reads something that may take longer than microseconds.
    fn read_slowly<I: SharedValue, T: SharedValue>(
        &self,
        kind: SlowRead,
        input: I,
        work: Work<Self::Sql, I, T>,
    ) -> StoreFuture<'_, T>;

    /// Searches, with several statements that see the store at one moment.
    fn search<I: SharedValue, T: SharedValue>(
        &self,
        kind: SlowRead,
        input: I,
        work: Work<Self::Sql, I, T>,
    ) -> StoreFuture<'_, T>;

    /// Reads each row of a statement that takes microseconds with `read_row`.
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

    /// Reads the first row of a statement that takes microseconds with `read_row`, if there is a row.
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

    /// Writes in one transaction. After a connection broke, the work may run again although it was
    /// done, so its result must then be the same.
    fn write<I: SharedValue, T: SharedValue>(
        &self,
        input: I,
        work: Work<Self::Sql, I, T>,
    ) -> StoreFuture<'_, T>;

    /// Writes once, in one transaction.
    ///
    /// `work` returns a number with which `read_result` finds the result in the same transaction, even if an
    /// attempt whose connection broke did the work. A refusal `R` undoes the transaction.
    fn write_once<I: SharedValue, T: SharedValue, R: SharedValue>(
        &self,
        input: I,
        work: Work<Self::Sql, I, WorkOutcome<i64, R>>,
        read_result: Work<Self::Sql, i64, T>,
    ) -> StoreFuture<'_, WorkOutcome<T, R>>;
}

/// The outcome of work that can refuse to write. See [`Database::write_once`].
#[derive(Debug)]
pub enum WorkOutcome<T, R> {
    /// The work was done, in this attempt or an earlier one.
    Done(T),
    /// Nothing was written, for this reason.
    Refused(R),
}

impl<T, R> WorkOutcome<T, R> {
    /// Whether the work was done.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done(_))
    }
}

/// The number that work returns if [`no_result`] follows.
pub(super) const NO_RESULT: i64 = 0;

/// Reads no result, for a [`Database::write_once`] that has none.
pub(super) fn no_result<'t, S: Sql>(_: &'t mut S, _: &'t i64) -> SqlFuture<'t, S, ()> {
    future::ready(Ok(())).boxed()
}
