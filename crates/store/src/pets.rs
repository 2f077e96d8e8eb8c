//! Animals as the contract shows them.

use async_trait::async_trait;
use petstore_domain::{NewPet, PageRequest, Pet, PetId, PetRef, StoredResponse, WriteContext};

use super::StoreError;

/// Reads and adds animals.
#[async_trait]
pub trait Pets: Send + Sync {
    /// Reads the requested page, and calls `visitor` with each of its animals in ascending order of
    /// identifier.
    ///
    /// Returns the last animal of the page if more follow; the next page begins after it. An animal
    /// that exists while a client reads all pages is on exactly one of them. If this fails, the
    /// visitor may have seen some of the animals.
    async fn list_pets(
        &self,
        request: &PageRequest,
        visitor: PetVisitor<'_>,
    ) -> Result<Option<PetId>, StoreError>;

    /// Reads the animal with this identifier.
    async fn get_pet(&self, id: PetId) -> Result<Option<Pet>, StoreError>;

    /// Adds an animal under a new identifier, higher than all earlier ones.
    ///
    /// If the request has an idempotency key, this is idempotent. The response that `respond`
    /// renders is stored atomically with the animal. Later calls with the same idempotency key, by
    /// the same API key or by one that succeeds it, get that response. They get it even if the
    /// client never received it, and whatever has happened to the animal since, but only as long as
    /// the store remembers the request. A failed request is not remembered.
    async fn create_pet(
        &self,
        pet: NewPet,
        context: WriteContext,
        respond: CreationRenderer,
    ) -> Result<CreationOutcome, StoreError>;

    /// Returns the version of the stored data, for caches. Returns `None` if the store could only
    /// find out by reading the database.
    ///
    /// While the version stays the same, no process has written. Data that a caller reads after it
    /// got a version is at least as new as that version.
    async fn version(&self) -> Result<Option<Version>, StoreError>;

    /// Returns the number of writes of this process that have ended, successfully or not.
    ///
    /// Caches use this number if the store has no [`Pets::version`]. Such a store increments the
    /// number before a write returns. No cache asks for the number of any other store, so such a
    /// store does not count, and returns 0.
    fn ended_writes(&self) -> u64 {
        0
    }

    /// Returns the key of the keyed hash in `ETag` headers: 32 random bytes that belong to the
    /// database and never change.
    fn etag_key(&self) -> [u8; 32];
}

/// The result of [`Pets::create_pet`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CreationOutcome {
    /// The animal was added.
    New(Pet),
    /// An earlier attempt of the same request added the animal, with this response.
    Replayed(StoredResponse),
    /// Nothing was added: the idempotency key was used before for another animal or operation.
    Conflict,
}

/// A callback that receives the animals of a page one by one. See [`Pets::list_pets`].
pub type PetVisitor<'v> = &'v mut (dyn FnMut(PetRef<'_>) + Send + 'v);

/// A function that renders the response to the request that added an animal. See
/// [`Pets::create_pet`].
pub type CreationRenderer = fn(&Pet) -> StoredResponse;

/// An opaque version of the stored data, which can only be compared with another one. See
/// [`Pets::version`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version([u8; Self::LENGTH]);

impl Version {
    /// The length of a version in bytes, including its padding. It is small, because each response
    /// of a list copies and compares a version.
    const LENGTH: usize = 48;

    /// Makes a version from at most `LENGTH` bytes, padded with zeros. A store always passes the
    /// same number of bytes, so two of its versions differ after the padding if they differed
    /// before.
    pub fn new<const N: usize>(bytes: [u8; N]) -> Self {
        const { assert!(N <= Self::LENGTH) };
        let mut version = [0; Self::LENGTH];
        version[..N].copy_from_slice(&bytes);
        Self(version)
    }

    /// Returns the bytes of the version, with its padding.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}
