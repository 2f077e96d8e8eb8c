//! The animals of a store.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use async_trait::async_trait;
use petstore_domain::{NewPet, PageRequest, Pet, PetId, PetRef, StoredResponse, WriteContext};

use super::StoreError;

/// Reads and adds animals.
#[async_trait]
pub trait Pets: Send + Sync {
    /// Reads the requested page, and calls `visitor` with each of its animals, in ascending order of
    /// identifier. Returns the last animal of the page if more follow; the next page begins after
    /// it. An animal that exists during a whole walk is on exactly one of its pages. After an
    /// error, some of the animals may have been visited.
    async fn list_pets(
        &self,
        request: &PageRequest,
        visitor: PetVisitor<'_>,
    ) -> Result<Option<PetId>, StoreError>;

    /// Reads the animal with this identifier.
    async fn get_pet(&self, id: PetId) -> Result<Option<Pet>, StoreError>;

    /// Adds an animal under a new identifier, higher than all identifiers before it.
    ///
    /// If the client may repeat the request, adds it only once: later calls with the same lineage
    /// of API keys and the same idempotency key replay the first response, which `respond` renders,
    /// until it is forgotten, whether or not the client received it, and whatever became of the
    /// animal. The animal and the response are stored together or not at all. A failed request is
    /// not remembered.
    async fn create_pet(
        &self,
        pet: NewPet,
        context: WriteContext,
        respond: CreationRenderer,
    ) -> Result<CreationOutcome, StoreError>;

    /// Returns the version of the stored data. While it stays the same, no process has written. What a
    /// caller reads after it got a version is at least as new as that version. `None` if the store
    /// would have to read the database for it.
    async fn version(&self) -> Result<Option<Version>, StoreError>;

    /// Returns the number of writes of this process that have ended. It grows before a write returns, if
    /// [`Pets::version`] returns `None`.
    fn ended_writes(&self) -> u64 {
        0
    }

    /// Returns the key of the hash in an `ETag`: 32 random bytes that belong to the database and never
    /// change.
    fn etag_key(&self) -> [u8; 32];
}

/// The result of [`Pets::create_pet`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CreationOutcome {
    /// The animal was added.
    New(Pet),
    /// The same request added the animal before, with this response.
    Replayed(StoredResponse),
    /// Nothing was added: the idempotency key was used before, for another animal or operation.
    Conflict,
}

/// A function that takes the animals of a page one by one. See [`Pets::list_pets`].
pub type PetVisitor<'v> = &'v mut (dyn FnMut(PetRef<'_>) + Send + 'v);

/// A function that renders the response to the request that added an animal. See [`Pets::create_pet`].
pub type CreationRenderer = fn(&Pet) -> StoredResponse;

/// A version of the stored data, which is only compared with others. See [`Pets::version`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version([u8; Self::LENGTH]);

impl Version {
    /// The number of bytes that a store may need. Each response of a list copies and compares them.
    const LENGTH: usize = 48;

    /// Makes a version of at most `LENGTH` bytes.
    pub fn new<const N: usize>(bytes: [u8; N]) -> Self {
        const { assert!(N <= Self::LENGTH) };
        let mut version = [0; Self::LENGTH];
        version[..N].copy_from_slice(&bytes);
        Self(version)
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}
