//! A store with the animals and commands of a double, which has to implement only those.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use jiff::Timestamp;
use petstore_domain::{
    KeyDigest, KeyId, KeyRecord, KeyUse, NewKey, NewPet, PageRequest, Pet, PetId, WriteContext,
    store_area::Command,
};
use petstore_observe::metrics::Exposition;
use petstore_store::{
    CreationOutcome, CreationRenderer, ExecutionOutcome, ExecutionRenderer, Health, Keys,
    PetVisitor, Pets, Requests, Store, StoreError, Version,
};

use crate::double::double;

/// The animals of `pets`, the commands of `area`, and everything else of `rest`.
pub struct WithPets {
    pub pets: Arc<dyn Pets>,
    pub area: Arc<dyn Commands>,
    pub rest: Arc<dyn Store>,
    /// How often the rest was asked.
    pub asked: Arc<AtomicUsize>,
}

#[async_trait]
pub trait Commands: Send + Sync {
    /// See [`petstore_store::StoreArea::execute`].
    async fn execute(
        &self,
        commands: Vec<Command>,
        context: WriteContext,
        respond: ExecutionRenderer,
    ) -> Result<ExecutionOutcome, StoreError>;
}

#[async_trait]
impl Pets for WithPets {
    async fn list_pets(
        &self,
        request: &PageRequest,
        visit: PetVisitor<'_>,
    ) -> Result<Option<PetId>, StoreError> {
        self.pets.list_pets(request, visit).await
    }

    async fn get_pet(&self, id: PetId) -> Result<Option<Pet>, StoreError> {
        self.pets.get_pet(id).await
    }

    async fn create_pet(
        &self,
        pet: NewPet,
        context: WriteContext,
        respond: CreationRenderer,
    ) -> Result<CreationOutcome, StoreError> {
        self.pets.create_pet(pet, context, respond).await
    }

    async fn version(&self) -> Result<Option<Version>, StoreError> {
        self.pets.version().await
    }

    fn ended_writes(&self) -> u64 {
        self.pets.ended_writes()
    }

    fn etag_key(&self) -> [u8; 32] {
        self.pets.etag_key()
    }
}

#[async_trait]
impl Keys for WithPets {
    async fn create_key(
        &self,
        key: NewKey,
        context: WriteContext,
    ) -> Result<KeyRecord, StoreError> {
        self.rest.create_key(key, context).await
    }

    async fn find_key(&self, digest: &KeyDigest) -> Result<Option<KeyRecord>, StoreError> {
        self.rest.find_key(digest).await
    }

    async fn key_digests(&self) -> Result<Vec<KeyDigest>, StoreError> {
        self.rest.key_digests().await
    }

    async fn get_key(&self, id: KeyId) -> Result<Option<KeyRecord>, StoreError> {
        self.rest.get_key(id).await
    }

    async fn list_keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.rest.list_keys().await
    }

    async fn revoke_key(
        &self,
        id: KeyId,
        context: WriteContext,
    ) -> Result<Option<KeyRecord>, StoreError> {
        self.rest.revoke_key(id, context).await
    }

    async fn rotate_key(
        &self,
        id: KeyId,
        successor: NewKey,
        until: Timestamp,
        context: WriteContext,
    ) -> Result<Option<KeyRecord>, StoreError> {
        self.rest.rotate_key(id, successor, until, context).await
    }

    async fn first_of_lineage(&self, id: KeyId) -> Result<KeyId, StoreError> {
        self.rest.first_of_lineage(id).await
    }

    async fn record_key_uses(&self, uses: Vec<KeyUse>) -> Result<(), StoreError> {
        self.rest.record_key_uses(uses).await
    }
}

/// Asks the rest of the store.
macro_rules! ask {
    ($this:expr, $method:ident, $($argument:expr),*) => {
        {
            $this.asked.fetch_add(1, Ordering::Relaxed);
            $this.rest.$method($($argument),*).await
        }
    };
}
macro_rules! execute {
    ($this:expr, $method:ident, $($argument:expr),*) => {
        $this.area.$method($($argument),*).await
    };
}
double!(WithPets, ask, execute);

#[async_trait]
impl Requests for WithPets {
    async fn mark_idempotency_keys(&self, seen: Option<i64>) -> Result<i64, StoreError> {
        self.rest.mark_idempotency_keys(seen).await
    }

    async fn forget_idempotency_keys(&self, marks: i64, limit: u32) -> Result<usize, StoreError> {
        self.rest.forget_idempotency_keys(marks, limit).await
    }
}

#[async_trait]
impl Health for WithPets {
    async fn check_ready(&self) -> Result<(), StoreError> {
        self.rest.check_ready().await
    }

    async fn wait_for_fatal_error(&self) -> StoreError {
        self.rest.wait_for_fatal_error().await
    }

    fn expose(&self, page: &mut Exposition) {
        self.rest.expose(page);
    }
}
