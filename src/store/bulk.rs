//! Whole catalogues at once: read in one snapshot, or filled in one
//! transaction. For the commands that import, export and copy.
//!
//! They do one thing after the other, so all of this blocks, and none of it
//! may be called on a runtime's thread. It takes the same memory however many
//! animals there are. Every method may fail with any [`StoreError`].

#![expect(clippy::missing_errors_doc, reason = "it stands above, once for all of them")]

use std::ops::ControlFlow;

use super::{OpenError, StoreError, postgres, sqlite};
use crate::{
    config::DatabaseUrl,
    domain::{IdempotentRequest, KeyDigest, KeyRecord, NewPet, PetId, PetRef, PetStatus},
};

/// All that a store held at one moment, whatever is written meanwhile.
///
/// A SQLite file cannot fold its log while this is open, so the log grows with
/// what others write.
pub trait Snapshot {
    /// How many animals there are, of this status or of all.
    fn count_pets(&mut self, status: Option<PetStatus>) -> Result<u64, StoreError>;

    /// Shows every animal, of this status or of all, in ascending order of
    /// identifier, until `show` breaks off.
    fn pets(
        &mut self,
        status: Option<PetStatus>,
        show: &mut dyn FnMut(PetRef<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// Every API key, valid or not, in ascending order of number.
    fn keys(&mut self) -> Result<Vec<StoredKey>, StoreError>;

    /// Shows every remembered request with an idempotency key, also those
    /// that count as forgotten, until `show` breaks off.
    fn requests(
        &mut self,
        show: &mut dyn FnMut(StoredRequest) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// The highest identifiers that were ever given.
    fn last_ids(&mut self) -> Result<LastIds, StoreError>;
}

/// Adds to a store, in one transaction: nothing of it is there before
/// [`Self::commit`], and nothing if this is dropped without.
pub trait Load {
    /// Begins. With [`Ids::Given`], and in SQLite always, nobody else can
    /// write until the end.
    fn begin(&mut self, ids: Ids) -> Result<(), StoreError>;

    /// Whether the store holds neither animals nor keys nor requests.
    fn is_empty(&mut self) -> Result<bool, StoreError>;

    /// Adds an animal: under the next identifier, or under `id` if identifiers
    /// are given, which fails if it is taken.
    fn add_pet(&mut self, id: Option<PetId>, pet: &NewPet) -> Result<(), StoreError>;

    /// Adds API keys under their numbers.
    fn add_keys(&mut self, keys: &[StoredKey]) -> Result<(), StoreError>;

    /// Adds the memory of a request with an idempotency key.
    fn add_request(&mut self, request: &StoredRequest) -> Result<(), StoreError>;

    /// Gives the next animal and the next key an identifier above these, and
    /// above all that were ever given.
    fn continue_after(&mut self, last: LastIds) -> Result<(), StoreError>;

    /// Ends: all of it is on disk when this returns.
    fn commit(&mut self) -> Result<(), CommitError>;
}

/// Why [`Load::commit`] failed.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Nothing of it is there.
    #[error(transparent)]
    NotDone(#[from] StoreError),
    /// The connection broke, or the disk failed, while it was being done.
    #[error("whether all of it is there or nothing is not known; look before you repeat it")]
    Unknown(#[source] StoreError),
}

/// Where the identifiers of animals that are added come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ids {
    /// The store gives the next ones.
    Next,
    /// They are given with the animals.
    Given,
}

/// An API key with what it is found by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredKey {
    /// What is kept of the secret.
    pub digest: KeyDigest,
    /// All else.
    pub record: KeyRecord,
}

/// A request with an idempotency key, and the animal that it added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRequest {
    /// The request; `now` is when it came.
    pub request: IdempotentRequest,
    /// What it added. Somebody may have deleted it by hand.
    pub pet: PetId,
}

/// The highest identifiers that were ever given; 0 where none was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LastIds {
    /// To an animal.
    pub pet: i64,
    /// To an API key.
    pub key: i64,
}

/// Reads what the database that `url` names holds now.
///
/// # Errors
///
/// See [`OpenError`]; a database that is not there is not made.
pub fn snapshot(url: &DatabaseUrl) -> Result<Box<dyn Snapshot>, OpenError> {
    Ok(match url {
        DatabaseUrl::Sqlite(path) => Box::new(sqlite::SqliteSnapshot::open(path)?),
        DatabaseUrl::Postgres(url) => Box::new(postgres::PostgresSnapshot::open(url)?),
    })
}

/// Opens the database that `url` names to add to it. One that is not there is
/// created; an older one is refused, since a service may run on it.
///
/// # Errors
///
/// See [`OpenError`]; nothing was changed then.
pub fn load(url: &DatabaseUrl) -> Result<Box<dyn Load>, OpenError> {
    Ok(match url {
        DatabaseUrl::Sqlite(path) => Box::new(sqlite::SqliteLoad::open(path)?),
        DatabaseUrl::Postgres(url) => Box::new(postgres::PostgresLoad::open(url)?),
    })
}
