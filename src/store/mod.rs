//! The contract of a store. The tests in `tests/store` run against every backend.

pub mod bulk;
mod database_url;
pub mod postgres;
pub mod sqlite;

use std::{num::NonZeroU32, sync::Arc};

use async_trait::async_trait;
use jiff::Timestamp;
use rand::Rng;

pub use self::database_url::DatabaseUrl;
use crate::{
    domain::{
        IdempotentRequest, KeyDigest, KeyId, KeyRecord, KeyUse, NewKey, NewPet, PageRequest, Pet,
        PetId, PetRef, StoredResponse,
    },
    observe::metrics::Exposition,
};

/// Stores the animals and the API keys.
///
/// Every method may fail with any [`StoreError`]. A missing row is `Ok(None)`, not an error. When a
/// method returns success, its changes are on disk, and every later call sees them. Every future
/// may be dropped at any time: then the work is done completely or not at all.
#[async_trait]
pub trait Store: Send + Sync {
    /// Reads the requested page: calls `write` with each of its animals, in ascending order of
    /// identifier, and with `page`, to append them to. Returns the last animal of the page if more
    /// follow; the next page begins after it. An animal that exists during a whole walk is on
    /// exactly one of its pages. After an error, the content of `page` is undefined.
    async fn list_pets(
        &self,
        request: &PageRequest,
        write: WritePet,
        page: &mut Vec<u8>,
    ) -> Result<Option<PetId>, StoreError>;

    /// The version of the stored data. While it stays the same, no process has written. What a
    /// caller reads after it got a version is at least as new as that version. `None` if the store
    /// would have to read the database for it.
    async fn version(&self) -> Result<Option<Version>, StoreError>;

    /// The key of the hash in an `ETag`: 32 random bytes that belong to the database and never
    /// change.
    fn etag_key(&self) -> [u8; 32];

    /// Adds an animal under a new identifier, higher than all before it.
    ///
    /// With `retry`, adds it only once: later calls with the same lineage of API keys and the same
    /// idempotency key replay the first response until it is forgotten, whether or not the client
    /// received it, and whatever became of the animal. The animal and the response are stored
    /// together or not at all. A failed request is not remembered.
    async fn create_pet(
        &self,
        pet: NewPet,
        retry: Option<IdempotentRequest>,
    ) -> Result<Created, StoreError>;

    /// Adds a mark after all remembered requests, if `seen` is still the newest mark, and returns
    /// the newest mark. Marks count from 1; 0 means that there is no mark.
    async fn mark_idempotency_keys(&self, seen: Option<i64>) -> Result<i64, StoreError>;

    /// Forgets requests older than the mark that is `marks` before the newest one: the oldest
    /// first, and at most `limit`. Returns how many.
    async fn forget_idempotency_keys(&self, marks: i64, limit: u32) -> Result<usize, StoreError>;

    /// The first key of the lineage of the key `id`, found by following its rotations back. It
    /// never changes. It is `id` itself if that key is not a successor.
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

    /// Revokes a key as of `at`, and returns its new state. An earlier revocation keeps its date.
    async fn revoke_key(&self, id: KeyId, at: Timestamp) -> Result<Option<KeyRecord>, StoreError>;

    /// Adds `successor` and lets the key `id` expire at `until`, unless it expires sooner: both or
    /// neither. Returns the successor. Returns `None` and changes nothing if there is no key `id`,
    /// or it already has a successor.
    async fn rotate_key(
        &self,
        id: KeyId,
        successor: NewKey,
        until: Timestamp,
    ) -> Result<Option<KeyRecord>, StoreError>;

    /// Succeeds if an animal could be added now.
    async fn check_ready(&self) -> Result<(), StoreError>;

    /// Writes the store's metrics.
    fn expose(&self, page: &mut Exposition);

    /// Records when keys were last used, and when they last called the deprecated operation.
    /// Ignores times earlier than the recorded ones, and unknown keys.
    async fn record_key_uses(&self, uses: Vec<KeyUse>) -> Result<(), StoreError>;
}

/// The result of [`Store::create_pet`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Created {
    /// It was added.
    New(Pet),
    /// The same request added it before. This was the response.
    Replayed(StoredResponse),
    /// Nothing was added: the idempotency key was used before, for another animal or operation.
    Conflict,
}

/// Appends an animal to a text. See [`Store::list_pets`].
pub type WritePet = fn(&mut Vec<u8>, PetRef<'_>);

/// See [`Store::version`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version(pub(crate) [u8; 48]);

/// Why a store failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The store has reached a limit. Nothing was done, and the same request may succeed in a
    /// moment.
    #[error("the store is overloaded")]
    Overloaded,
    /// The store cannot work at the moment: for example the disk is full or fails, or another
    /// process holds a lock.
    #[error("the store is unavailable")]
    Unavailable(#[source] Cause),
    /// The store became unavailable during a write. The write may or may not have been done.
    #[error("the store became unavailable during a write, and the outcome is unknown")]
    OutcomeUnknown(#[source] Cause),
    /// The store found an invalid state, in itself or in its data.
    #[error("the store failed")]
    Internal(#[source] Cause),
}

/// The cause of an error: for the log, never for a client.
pub type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// How to treat a database that does not exist, or has an older schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// Create a missing database, and migrate an older one. Only `petstore serve` does this:
    /// otherwise a command could change the schema under a running service.
    CreateAndMigrate,
    /// Create a missing database, and reject an older one.
    Create,
    /// Reject a missing database, and an older one.
    AsIs,
}

/// Why a database could not be opened, in one line for the operator.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The database does not exist, and was not to be created.
    #[error(
        "there is no database at {0}; name the right one with --database, or create it with \
         `petstore serve`, or with --create (`keys create` and `import`)"
    )]
    Absent(String),
    /// The settings cannot work.
    #[error("cannot open the database {path}: {what}")]
    BadSetting {
        /// The path or URL of the database.
        path: String,
        /// What is wrong, and what to do.
        what: String,
    },
    /// The file is something else.
    #[error("{0} is not a SQLite database: it is another file, or its beginning is damaged")]
    NotADatabase(String),
    /// The user has no write permission.
    #[error(
        "this user has no permission to write to the database {0}; run the command as the user \
         that owns it"
    )]
    ReadOnly(String),
    /// The database is not a file.
    #[error(
        "petstore can check only SQLite files, and {0} is not one; for PostgreSQL, use pg_amcheck"
    )]
    NotAFile(String),
    /// The database belongs to another program.
    #[error("{0} is a SQLite database of another program; use another file")]
    OfAnotherProgram(String),
    /// The database has an object of another program, with a name that petstore needs.
    #[error("{path} contains objects of another program ({what}); use another database or schema")]
    NameTaken {
        /// The URL of the database.
        path: String,
        /// The object.
        what: String,
    },
    /// A newer release migrated the database.
    #[error(
        "{path} has schema version {found}, but this release supports only versions up to {known}; \
         use the newer release that migrated it"
    )]
    TooNew {
        /// The path or URL of the database.
        path: String,
        /// The version of its schema.
        found: u32,
        /// The highest version that this release supports.
        known: u32,
    },
    /// The database has the schema of an older release, and only `petstore serve` migrates.
    #[error(
        "{path} has schema version {found}, but this release needs version {known}; \
         `petstore serve` migrates it"
    )]
    TooOld {
        /// The path or URL of the database.
        path: String,
        /// The version of its schema.
        found: u32,
        /// The version that this release needs.
        known: u32,
    },
    /// Another process has the database open, with another `-shm` file.
    #[error(
        "another process has the database {0} open, but the file {0}-shm, which coordinates the \
         processes, was removed or replaced; stop that process first"
    )]
    OtherShmFile(String),
    /// The content of the database is damaged.
    #[error("the database {path} is damaged ({what}); for details, run `petstore check`")]
    Damaged {
        /// The path of the database.
        path: String,
        /// The first problem.
        what: String,
    },
    /// Reading or writing failed.
    #[error("cannot open the database {path}: {cause}")]
    Io {
        /// The path or URL of the database.
        path: String,
        /// The cause.
        cause: Cause,
    },
}

impl OpenError {
    /// Whether the error stays until the operator changes something.
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        !matches!(self, Self::OtherShmFile(_) | Self::Damaged { .. } | Self::Io { .. })
    }
}

/// Opens the store at `url`, and migrates it if `mode` allows. Opening a SQLite file blocks. For
/// PostgreSQL, `connections` is the maximum number of open connections, and `random` spreads
/// retries.
///
/// # Errors
///
/// See [`OpenError`]. After an error, nothing was changed.
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

/// Reads everything in the database at `url`, without changes. Blocks until it is done.
///
/// # Errors
///
/// See [`OpenError`]. Damage to a database that can be opened is not an error, but a result.
pub fn check(url: &DatabaseUrl) -> Result<Checkup, OpenError> {
    match url {
        DatabaseUrl::Sqlite(path) => sqlite::check(path),
        DatabaseUrl::Postgres(url) => Err(OpenError::NotAFile(url.to_string())),
    }
}

/// The result of [`check`].
#[derive(Debug, PartialEq, Eq)]
pub struct Checkup {
    /// How many animals were read.
    pub animals: u64,
    /// How many API keys there are.
    pub keys: u64,
    /// All problems, one per line.
    pub problems: Vec<String>,
}
