//! The parts of a store that both backends share: administration, lists of the store area, the
//! search, and the log. They are written once, for the connections that each backend provides
//! ([`Database`], [`Sql`]).

mod acts;
mod audit;
mod audit_part;
mod confirmed_time;
mod database;
mod deliveries;
pub mod fields;
pub mod journal;
mod journal_acts;
pub(super) mod keys;
pub(super) mod lists;
mod log_bounds;
mod notes;
pub mod offers;
mod pages;
pub(super) mod pet_sets;
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
    offers::{Offers, PhotoAudience, ReturnToOffer},
    photos::PhotoFiles,
    profile::{StoreProfile, StoredLogo},
    requests::{Requests, WriteOutcome},
    sql::{Parameter, Parameters, RowVisitor, Sql, SqlFuture, Values, Work},
    staff::{Staff, StaffKey, StaffWriteOutcome},
    webhooks::Webhooks,
};

use self::{
    database::{NO_RESULT, no_result},
    sql::values,
};

/// Declares a trait of the store interface and implements it for every [`Database`], so that each
/// method signature is written only once. In the bodies, `D` is the implementing type.
///
/// This is a macro because a trait with default methods would make the helpers that these methods
/// need, such as [`Database::read`], part of the interface.
///
/// ```ignore
/// store_trait! {
/// /// Counts.
/// Counter {
///     /// Counts all animals.
///     async fn count_pets(&self, now: Timestamp) -> Result<u64, StoreError> {
///         self.read(now, count_pets).await
///     }
/// }
/// }
/// // expands to
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
macro_rules! store_trait {
    ($(#[$trait_doc:meta])* $trait_name:ident {
        $($(#[$doc:meta])*
        async fn $method:ident(
            &$store:ident $(, $value:ident: $type:ty)* $(,)?
        ) -> $result:ty { $($body:tt)* })+
    }) => {
        $(#[$trait_doc])*
        #[async_trait::async_trait]
        pub trait $trait_name: Send + Sync {
            $($(#[$doc])* async fn $method(&self, $($value: $type),*) -> $result;)+
        }

        #[async_trait::async_trait]
        impl<D: Database> $trait_name for D {
            $(async fn $method(&$store, $($value: $type),*) -> $result {
                $($body)*
            })+
        }
    };
}
use store_trait;

/// Serializes the transactions that add a row to a table with a maximum number of rows: each of
/// them locks the same row. A transaction runs this before it counts the rows, so that it also
/// counts the rows of earlier transactions.
const LOCK_COUNTED_TABLES: &str = "UPDATE confirmed_time SET at = at";
