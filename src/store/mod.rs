//! What a store promises. One suite (`tests/store`) holds every backend to it.

pub mod bulk;
pub mod postgres;
pub mod sqlite;

use std::{num::NonZeroU32, sync::Arc};

use async_trait::async_trait;
use jiff::Timestamp;
use rand::Rng;

use crate::{
    config::DatabaseUrl,
    domain::{
        IdempotentRequest, KeyDigest, KeyId, KeyRecord, KeyUse, NewKey, NewPet, PageRequest, Pet,
        PetId, PetRef,
    },
    observe::metrics::Exposition,
};

/// Keeps the animals and the API keys.
///
/// Every method may fail with any [`StoreError`]; what it can mean beyond that
/// stands with the method. A row that is not there is `Ok(None)`, not an error.
/// What a method acknowledged is on disk, and every later call sees it. Every
/// future may be dropped at any time: the work is then done whole or not at all.
#[async_trait]
pub trait Store: Send + Sync {
    /// Reads the page that `request` asks for: calls `write` with each of its
    /// animals, in ascending order of identifier, and with `page`, to write it at
    /// the end. Returns the last of them if more follow: after it, the next page
    /// begins. An animal that stands throughout a walk from page to page is on
    /// exactly one of them. After an error, what was written counts for nothing.
    async fn list_pets(
        &self,
        request: &PageRequest,
        write: WritePet,
        page: &mut Vec<u8>,
    ) -> Result<Option<PetId>, StoreError>;

    /// A version of all that is stored: as long as it stays the same, nobody
    /// has written, in whatever process. What is read after it was told is at
    /// least as new. `None` if the store cannot tell without reading.
    async fn version(&self) -> Result<Option<Version>, StoreError>;

    /// The key for the hash in an `ETag`: 32 random bytes that belong to the
    /// database and never change.
    fn etag_key(&self) -> [u8; 32];

    /// Adds an animal under the next identifier, higher than all before it.
    ///
    /// With `retry`, adds it only once: what was added under the same lineage of
    /// API keys and the same idempotency key is replayed until it is forgotten,
    /// whether or not its response was ever received. The animal and the memory of the request
    /// are kept together or not at all, and a request that failed is not
    /// remembered.
    async fn create_pet(
        &self,
        pet: NewPet,
        retry: Option<IdempotentRequest>,
    ) -> Result<Created, StoreError>;

    /// Sets the next mark behind all requests that are remembered, if `seen` is
    /// still the newest mark, and returns the newest one. They are counted from 1;
    /// 0 says that there is none.
    async fn mark_idempotency_keys(&self, seen: Option<i64>) -> Result<i64, StoreError>;

    /// Forgets requests that came before the mark that is `marks` before the
    /// newest, the oldest first and at most `limit` of them, and returns how many.
    async fn forget_idempotency_keys(&self, marks: i64, limit: u32) -> Result<usize, StoreError>;

    /// The first key of the lineage of the key `id`: follows the rotations back
    /// from it. Never changes. Itself, if it is no key's successor.
    async fn first_of_lineage(&self, id: KeyId) -> Result<KeyId, StoreError>;

    /// The animal with this identifier.
    async fn get_pet(&self, id: PetId) -> Result<Option<Pet>, StoreError>;

    /// Adds a key.
    async fn create_key(&self, key: NewKey) -> Result<KeyRecord, StoreError>;

    /// The key with this digest, valid or not.
    async fn find_key(&self, digest: &KeyDigest) -> Result<Option<KeyRecord>, StoreError>;

    /// The digest of every key, valid or not, in any order.
    async fn key_digests(&self) -> Result<Vec<KeyDigest>, StoreError>;

    /// The key with this number, valid or not.
    async fn get_key(&self, id: KeyId) -> Result<Option<KeyRecord>, StoreError>;

    /// Every key, valid or not, in ascending order of number.
    async fn list_keys(&self) -> Result<Vec<KeyRecord>, StoreError>;

    /// Revokes a key as of `at`, and returns it as it now stands. One that was
    /// revoked before keeps its first date.
    async fn revoke_key(&self, id: KeyId, at: Timestamp) -> Result<Option<KeyRecord>, StoreError>;

    /// Adds `successor` and lets the key `id` expire at `until`, unless it
    /// expires sooner: both or neither. Returns the successor; `None`, and
    /// nothing is added, if there is no key `id` or it has a successor already.
    async fn rotate_key(
        &self,
        id: KeyId,
        successor: NewKey,
        until: Timestamp,
    ) -> Result<Option<KeyRecord>, StoreError>;

    /// Whether an animal could be added now.
    async fn check_ready(&self) -> Result<(), StoreError>;

    /// Shows what an operator may want to watch.
    fn expose(&self, page: &mut Exposition);

    /// Notes when keys were last used, and when they last called the deprecated
    /// operation. An earlier time than the one that is known changes nothing,
    /// nor does the number of no key.
    async fn record_key_uses(&self, uses: Vec<KeyUse>) -> Result<(), StoreError>;
}

/// What became of a request to add an animal. See [`Store::create_pet`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Created {
    /// It was added.
    New(Pet),
    /// This same request added it before.
    Replayed(Pet),
    /// Nothing was added: the same idempotency key came with another animal.
    Conflict,
}

/// Writes an animal at the end of a text. See [`Store::list_pets`].
pub type WritePet = fn(&mut Vec<u8>, PetRef<'_>);

/// See [`Store::version`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version(pub(crate) [u8; 48]);

/// Why a store could not do what it was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// More is asked than the store can do; nothing was done, and the same
    /// request may succeed in a moment.
    #[error("the store has more to do than it can")]
    Overloaded,
    /// Something around the store is out of order (a full disk, a lock held
    /// by another process, a failing device); it may pass.
    #[error("the store is unavailable")]
    Unavailable(#[source] Cause),
    /// The store became unavailable in the middle of a write, which may have
    /// been done.
    #[error("the store became unavailable, and it is not known what was done")]
    OutcomeUnknown(#[source] Cause),
    /// The store found something that cannot be, in itself or in its data.
    #[error("the store failed")]
    Internal(#[source] Cause),
}

/// What lay behind an error: for the log, never for a client.
pub type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// What to do about a database that is not there, or has an older schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// Create an absent database, and migrate an older one. Only `petstore serve`
    /// does this: a migration by another command would change the schema under
    /// a service that runs.
    CreateAndMigrate,
    /// Create an absent database, and refuse an older one.
    Create,
    /// Refuse an absent database, and an older one.
    AsIs,
}

/// Why a database could not be opened. Each reads as one line for the operator.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Nothing is there, and nothing was to be created.
    #[error("there is no database at {0}; `petstore serve` and `petstore keys create` make one")]
    Absent(String),
    /// It is something else.
    #[error("{0} is not a SQLite database")]
    NotADatabase(String),
    /// It may not be written.
    #[error("the database {0} may not be written by this user")]
    ReadOnly(String),
    /// It is not on a disk of ours.
    #[error("{0} is no file that petstore could check; PostgreSQL has pg_amcheck for that")]
    NotAFile(String),
    /// It belongs to another program.
    #[error("{0} is a SQLite database, but not one of petstore")]
    NotOurs(String),
    /// Another program keeps something there under a name that petstore needs.
    #[error("{path} is not petstore's ({what}): give it a database or schema of its own")]
    NameTaken {
        /// Where it is.
        path: String,
        /// What is there.
        what: String,
    },
    /// It was written by a newer release.
    #[error(
        "{path} has schema version {found}, and this petstore knows versions up to {known}: \
         it was written by a newer release, use that one"
    )]
    TooNew {
        /// Where it is.
        path: String,
        /// The version that it has.
        found: u32,
        /// The highest version that this release knows.
        known: u32,
    },
    /// It has the schema of an older release, and only `petstore serve` migrates.
    #[error(
        "{path} has schema version {found}, and this petstore needs {known}: \
         `petstore serve` migrates it"
    )]
    TooOld {
        /// Where it is.
        path: String,
        /// The version that it has.
        found: u32,
        /// The version that this release needs.
        known: u32,
    },
    /// Another process has it open, with another `-shm` file.
    #[error(
        "another process has the database {0} open, and the file {0}-shm, by which processes \
         exclude each other, was removed or replaced meanwhile: stop that process first"
    )]
    SharedApart(String),
    /// It is not as it was left.
    #[error("the database {path} is damaged ({what}): `petstore check` tells more")]
    Damaged {
        /// Where it is.
        path: String,
        /// What was found first.
        what: String,
    },
    /// It cannot be read or written.
    #[error("cannot open the database {path}: {cause}")]
    Io {
        /// Where it is.
        path: String,
        /// What lay behind it.
        cause: Cause,
    },
}

/// Opens the store that `url` names, and brings its schema up to date if `mode`
/// says so. Blocks while a SQLite file is opened; for PostgreSQL, up to
/// `connections` connections will be open at once, and `random` spreads retries.
///
/// # Errors
///
/// See [`OpenError`]; nothing was changed then.
pub async fn open(
    url: &DatabaseUrl,
    mode: OpenMode,
    connections: NonZeroU32,
    random: &mut impl Rng,
) -> Result<Arc<dyn Store>, OpenError> {
    Ok(match url {
        DatabaseUrl::Sqlite(path) => Arc::new(sqlite::SqliteStore::open(path, mode)?),
        DatabaseUrl::Postgres(url) => {
            Arc::new(postgres::PostgresStore::open(url, mode, connections, random).await?)
        }
    })
}

/// Reads everything in the database that `url` names, and changes nothing.
/// Blocks for as long as that takes.
///
/// # Errors
///
/// See [`OpenError`]; a database that is open to reading but damaged is none.
pub fn check(url: &DatabaseUrl) -> Result<Checkup, OpenError> {
    match url {
        DatabaseUrl::Sqlite(path) => sqlite::check(path),
        DatabaseUrl::Postgres(url) => Err(OpenError::NotAFile(url.to_string())),
    }
}

/// What [`check`] found.
#[derive(Debug, PartialEq, Eq)]
pub struct Checkup {
    /// How many animals could be read.
    pub animals: u64,
    /// How many API keys there are.
    pub keys: u64,
    /// All that is wrong, a line each.
    pub problems: Vec<String>,
}
