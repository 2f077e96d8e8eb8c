//! The contract of a store. The tests in `tests/store` run against every backend.

pub mod bulk;
mod database_url;
mod errors;
mod open;
pub mod postgres;
pub mod sqlite;

use async_trait::async_trait;
use jiff::Timestamp;

pub use self::{
    database_url::DatabaseUrl,
    errors::{Cause, OpenError, StoreError},
    open::{Checkup, OpenMode, check, open},
};
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
