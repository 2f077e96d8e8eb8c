//! What is the same in every store, written once over the transactions that each store gives:
//! administration, lists of the store area, and the log.

#![expect(missing_docs, reason = "a comment says what a name does not")]

pub(super) mod audit;
mod deliveries;
pub mod fields;
pub mod journal;
pub(super) mod keys;
pub(super) mod lists;
pub mod offers;
mod photos;
pub mod plans;
pub mod profile;
mod requests;
mod search;
mod search_blocks;
pub mod search_sets;
mod staff;
mod webhooks;
pub(super) mod word_blocks;

pub use self::{
    deliveries::KEPT_ATTEMPTS,
    fields::Fields,
    journal::Journal,
    keys::Keys,
    lists::Lists,
    offers::{Offers, Return},
    photos::PhotoFiles,
    profile::StoreProfile,
    requests::{Requests, WriteOutcome},
    staff::{Staff, StaffKey, StaffWriteOutcome},
    webhooks::Webhooks,
};

use std::{fmt::Display, ops::ControlFlow};

use futures_util::{
    FutureExt,
    future::{self, BoxFuture},
};
use petstore_domain::{
    WriteContext,
    store_area::{Act, JournalState},
};

use self::plans::Plans;
use super::{
    StoreError,
    columns::Columns,
    journal_rows::{Origin, written},
};

/// The value of a parameter in a statement.
pub trait Parameter: rusqlite::ToSql + Send + Sync {
    fn for_postgres(&self) -> &(dyn tokio_postgres::types::ToSql + Sync);
}

impl<T: rusqlite::ToSql + tokio_postgres::types::ToSql + Send + Sync> Parameter for T {
    fn for_postgres(&self) -> &(dyn tokio_postgres::types::ToSql + Sync) {
        self
    }
}

/// The values of all parameters, in the order of their numbers.
pub type Parameters<'v> = &'v [&'v dyn Parameter];

/// The same, where a statement runs with many of them.
pub type Values<'v> = Vec<Box<dyn Parameter + 'v>>;

macro_rules! values {
    ($($value:expr),*) => {
        vec![$(Box::new($value) as Box<dyn Parameter + '_>),*]
    };
}
use values;

/// Declares what a store promises together with the one way in which every store does it, so that each
/// method is written once.
macro_rules! promise {
    ($(#[$about:meta])* $promise:ident {
        $($(#[$doc:meta])*
        async fn $method:ident(
            &$store:ident $(, $value:ident: $type:ty)* $(,)?
        ) -> $result:ty { $($done:tt)* })+
    }) => {
        $(#[$about])*
        #[async_trait::async_trait]
        pub trait $promise: Send + Sync {
            $($(#[$doc])* async fn $method(&self, $($value: $type),*) -> Result<$result, StoreError>;)+
        }

        #[async_trait::async_trait]
        impl<D: Database> $promise for D {
            $(async fn $method(&$store, $($value: $type),*) -> Result<$result, StoreError> {
                $($done)*
            })+
        }
    };
}
use promise;

/// Runs statements, one after the other. Every store accepts the same statements, in which the
/// parameters `$1`, `$2` and so on stand in any order.
pub trait Sql: Send + Sized + 'static {
    type Error: Display + Into<StoreError> + Send;
    type Row: Columns<Error = Self::Error> + Send + Sync;
    /// A row that is read before the next one, without a copy of it.
    type BorrowedRow<'r>: Columns<Error = Self::Error>;

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
    const AUDIT_CHANGES: [&'static str; 2];
    /// At most $4 of the changes above $1 and up to $2, of the type $3 if it is not null.
    const CHANGES: &'static str;
    /// At most $3 of the changes of the animal $1 below $2, the newest first.
    const HISTORY: &'static str;
    /// The epoch of the log, and four numbers that change with what the public sees: how many changes there were,
    /// the versions of the fields and of the profile, and the start of the server.
    const PUBLIC_STATE: &'static str;
    /// The changes above $1 and up to $2 by which an animal became available again, the newest first.
    const RETURNS: &'static str;
    /// An identifier for a webhook.
    const DRAW_WEBHOOK_ID: &'static str;
    /// Forgets at most $2 requests that are older than $1 marks.
    const FORGET_REQUESTS: &'static str;
    /// The text from which [`Self::incarnation_from`] makes the incarnation of the database.
    const INCARNATION: &'static str;

    /// See [`PhotoFiles::incarnation`].
    fn incarnation_from(found: &str) -> Option<String>;

    /// The statements of lists.
    fn plans() -> &'static Plans;

    /// Calls `show` with each row of a result, until it breaks.
    fn visit<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
        show: RowVisitor<'t, Self>,
    ) -> SqlFuture<'t, Self, ()>;

    /// The rows of a result.
    fn rows<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
    ) -> SqlFuture<'t, Self, Vec<Self::Row>>;

    /// Writes, and returns how many rows.
    fn execute<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
    ) -> SqlFuture<'t, Self, u64>;

    /// Writes with each of these values, and returns how many rows each time.
    fn execute_each<'t>(
        &'t mut self,
        sql: &'static str,
        values: Vec<Values<'t>>,
    ) -> SqlFuture<'t, Self, Vec<u64>>;

    /// The rows of a result for each of these values.
    fn rows_each<'t>(
        &'t mut self,
        sql: &'static str,
        values: Vec<Values<'t>>,
    ) -> SqlFuture<'t, Self, Vec<Vec<Self::Row>>>;

    /// The error of a statement that must have a row and has none.
    fn no_row() -> Self::Error;

    /// The first row of a result, if it has one.
    fn row<'t>(
        &'t mut self,
        sql: &'static str,
        values: Parameters<'t>,
    ) -> SqlFuture<'t, Self, Option<Self::Row>> {
        self.rows(sql, values)
            .map(|rows| Ok(rows?.into_iter().next()))
            .boxed()
    }

    /// The number in the first column of the only row.
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

/// A statement that runs.
pub type SqlFuture<'t, S, T> = BoxFuture<'t, Result<T, <S as Sql>::Error>>;

/// Work with a value, over one connection.
pub type Work<S, W, T> = for<'t> fn(&'t mut S, &'t W) -> SqlFuture<'t, S, T>;

/// Takes the rows of a result.
pub type RowVisitor<'t, S> = &'t mut (
            dyn for<'q, 'r> FnMut(
    &'q <S as Sql>::BorrowedRow<'r>,
) -> Result<ControlFlow<()>, <S as Sql>::Error>
                + Send
        );

/// Reads a row.
pub(super) type RowReader<S, T> = fn(&<S as Sql>::Row) -> Result<T, <S as Sql>::Error>;

/// What a store does.
pub type StoreFuture<'s, T> = BoxFuture<'s, Result<T, StoreError>>;

/// A value that any thread may use, and keep.
pub trait SharedValue: Send + Sync + 'static {}

impl<T: Send + Sync + 'static> SharedValue for T {}

/// A kind of reads that may take longer than a request may keep a runtime thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlowRead {
    LargePages,
    Searches,
    Followers,
    /// Those of the public.
    Offers,
    /// The time that these take grows with the number of all rows.
    Counts,
}

/// A store, as what is here needs it.
pub trait Database: Send + Sync {
    type Sql: Sql;

    /// The maximum size in bytes of the texts on a page that [`Self::read`] reads.
    const USUAL_PAGE: usize;

    /// See [`Journal::journal_state`].
    fn log_state(&self) -> StoreFuture<'_, JournalState>;

    /// See [`Journal::forget_changes`]. The times are in milliseconds.
    fn forget(&self, kept: [i64; 2], limit: i64) -> StoreFuture<'_, usize>;

    /// Gives every committed change its number, if its own transaction did not.
    fn number_changes(&self) -> StoreFuture<'_, ()>;

    /// Reads what takes microseconds.
    fn read<W: SharedValue, T: SharedValue>(
        &self,
        what: W,
        work: Work<Self::Sql, W, T>,
    ) -> StoreFuture<'_, T>;

    /// Reads what may take longer.
    fn read_slowly<W: SharedValue, T: SharedValue>(
        &self,
        kind: SlowRead,
        what: W,
        work: Work<Self::Sql, W, T>,
    ) -> StoreFuture<'_, T>;

    /// Searches, with several statements that see the store at one moment.
    fn search<W: SharedValue, T: SharedValue>(
        &self,
        kind: SlowRead,
        what: W,
        work: Work<Self::Sql, W, T>,
    ) -> StoreFuture<'_, T>;

    /// What `make` makes of each row of a statement that takes microseconds.
    fn list<T: SharedValue>(
        &self,
        sql: &'static str,
        values: Values<'static>,
        make: RowReader<Self::Sql, T>,
    ) -> StoreFuture<'_, Vec<T>> {
        self.read((sql, values, make), |connection, (sql, values, make)| {
            async move {
                let values: Vec<&dyn Parameter> = values.iter().map(|value| &**value).collect();
                connection
                    .rows(sql, &values)
                    .await?
                    .iter()
                    .map(make)
                    .collect()
            }
            .boxed()
        })
    }

    /// The same of its first row, if it has one.
    fn find<T: SharedValue>(
        &self,
        sql: &'static str,
        values: Values<'static>,
        make: RowReader<Self::Sql, T>,
    ) -> StoreFuture<'_, Option<T>> {
        self.list(sql, values, make)
            .map(|found| Ok(found?.into_iter().next()))
            .boxed()
    }

    /// Writes in one transaction. After a connection broke, the work may run again although it was
    /// done, so its result must then be the same.
    fn write<W: SharedValue, T: SharedValue>(
        &self,
        what: W,
        work: Work<Self::Sql, W, T>,
    ) -> StoreFuture<'_, T>;

    /// Writes once, in one transaction. `work` returns a number with which `show` finds the result
    /// in the same transaction, even if the work was done by an attempt whose connection broke. A
    /// refusal undoes the transaction.
    fn once<W: SharedValue, T: SharedValue, R: SharedValue>(
        &self,
        what: W,
        work: Work<Self::Sql, W, Result<i64, R>>,
        show: Work<Self::Sql, i64, T>,
    ) -> StoreFuture<'_, Result<T, R>>;
}

/// Shows nothing of a write.
fn nothing<'t, S: Sql>(_: &'t mut S, _: &'t i64) -> SqlFuture<'t, S, ()> {
    future::ready(Ok(())).boxed()
}

/// Locks the same row for everything of which there may be only so many. So each one that is added
/// counts those before it.
const ONE_ADDS: &str = "UPDATE confirmed_time SET at = at";

/// Records an act of administration. It is in the audit trail behind the changes that have a number.
/// So those before it get theirs first, by [`Database::number_changes`].
pub async fn record<S: Sql>(
    connection: &mut S,
    act: &Act,
    context: &WriteContext,
) -> Result<(), S::Error> {
    let Origin {
        at,
        actor,
        request_id,
    } = context.into();
    let (kind, name, details) = (act.kind.as_str(), actor.name.as_deref(), written(act));
    let (by, number) = (actor.actor.kind(), actor.actor.id());
    connection
        .execute(
            S::RECORD,
            &[
                &at,
                &kind,
                &act.subject.id,
                &by,
                &number,
                &name,
                &request_id,
                &details,
            ],
        )
        .await?;
    Ok(())
}
