//! The work that every store shares, written once over the connections that each store lends:
//! administration, lists of the store area, and the log.

#![expect(missing_docs, reason = "a comment says what a name does not")]

mod acts;
mod audit;
mod audit_part;
mod database;
mod deliveries;
pub mod fields;
pub mod journal;
mod journal_acts;
pub(super) mod keys;
pub(super) mod lists;
mod notes;
pub mod offers;
mod pages;
mod photos;
pub mod plans;
pub mod profile;
mod requests;
mod search;
mod search_blocks;
mod search_rebuild;
pub mod search_sets;
mod sql;
mod staff;
mod staff_rows;
mod webhooks;
pub(super) mod word_blocks;
pub(super) mod word_rows;

pub use self::{
    acts::record_act,
    database::{Database, SharedValue, SlowRead, StoreFuture, WorkOutcome},
    deliveries::KEPT_ATTEMPTS,
    fields::Fields,
    journal::Journal,
    keys::Keys,
    lists::Lists,
    notes::Notes,
    offers::{Offers, PhotoAudience, Return},
    photos::PhotoFiles,
    profile::StoreProfile,
    requests::{Requests, WriteOutcome},
    sql::{Parameter, Parameters, RowVisitor, Sql, SqlFuture, Values, Work},
    staff::{Staff, StaffKey, StaffWriteOutcome},
    webhooks::Webhooks,
};

use self::{
    database::{NO_RESULT, no_result},
    sql::values,
};

/// Declares a trait of the promise, and implements it for every [`Database`], so that the signature of each method
/// is written once. A method returns a `Result` whose error is a [`StoreError`](crate::StoreError).
///
/// It is a macro because a trait with default methods would put the functions that the default needs, such as
/// [`Database::read`], into the promise.
///
/// ```ignore
/// promise! {
/// /// Counts.
/// Counter {
///     /// Counts all animals.
///     async fn count_pets(&self, now: Timestamp) -> u64 {
///         self.read(now, count_pets).await
///     }
/// }
/// }
/// // becomes
/// /// Counts.
/// #[async_trait]
/// pub trait Counter: Send + Sync {
///     /// Counts all animals.
///     async fn count_pets(&self, now: Timestamp) -> Result<u64, StoreError>;
/// }
///
/// #[async_trait]
/// impl<D: Database> Counter for D {
///     async fn count_pets(&self, now: Timestamp) -> Result<u64, StoreError> {
///         self.read(now, count_pets).await
///     }
/// }
/// ```
macro_rules! promise {
    ($(#[$about:meta])* $promise:ident {
        $($(#[$doc:meta])*
        async fn $method:ident(
            &$store:ident $(, $value:ident: $type:ty)* $(,)?
        ) -> $result:ty { $($body:tt)* })+
    }) => {
        $(#[$about])*
        #[async_trait::async_trait]
        pub trait $promise: Send + Sync {
            $($(#[$doc])* async fn $method(&self, $($value: $type),*) -> Result<$result, StoreError>;)+
        }

        #[async_trait::async_trait]
        impl<D: Database> $promise for D {
            $(async fn $method(&$store, $($value: $type),*) -> Result<$result, StoreError> {
                $($body)*
            })+
        }
    };
}
use promise;

/// Locks the same row for every table that has a maximum number of rows. A transaction that adds a row to such a
/// table runs this first, so it counts the rows of earlier transactions.
const LOCK_COUNTED_TABLES: &str = "UPDATE confirmed_time SET at = at";
