//! A store with the animals of a double, which has to implement only [`Pets`].

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use petstore::{
    domain::{
        KeyDigest, KeyId, KeyRecord, KeyUse, Limit, NewKey, NewPet, PageRequest, Pet, PetId,
        WriteContext,
        store_area::{
            Act, Category, Command, LogState, Order, OrderId, OrderQuery, PetPosition, PetQuery,
            Reservations, StorePet,
        },
    },
    observe::metrics::Exposition,
    store::{
        Changes, Created, Executed, Health, Keys, Pets, Requests, Respond, RespondTo, Staff, Store,
        StoreArea, StoreError, Version, Visit, Webhooks,
    },
};

/// The animals of `pets`, the commands of `area`, and everything else of `rest`.
pub(crate) struct WithPets {
    pub(crate) pets: Arc<dyn Pets>,
    pub(crate) area: Arc<dyn StoreArea>,
    pub(crate) rest: Arc<dyn Store>,
}

#[async_trait]
impl Pets for WithPets {
    async fn list_pets(
        &self,
        request: &PageRequest,
        visit: Visit<'_>,
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
        respond: Respond,
    ) -> Result<Created, StoreError> {
        self.pets.create_pet(pet, context, respond).await
    }

    async fn version(&self) -> Result<Option<Version>, StoreError> {
        self.pets.version().await
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

#[async_trait]
impl Changes for WithPets {
    async fn log_state(&self) -> Result<LogState, StoreError> {
        self.rest.log_state().await
    }

    async fn confirmed_time(&self, now: Timestamp) -> Result<Timestamp, StoreError> {
        self.rest.confirmed_time(now).await
    }

    async fn confirm_time(
        &self,
        seen: Timestamp,
        now: Timestamp,
        act: Option<(Act, WriteContext)>,
    ) -> Result<bool, StoreError> {
        self.rest.confirm_time(seen, now, act).await
    }
}

impl Webhooks for WithPets {}

impl Staff for WithPets {}

#[async_trait]
impl StoreArea for WithPets {
    async fn execute(
        &self,
        commands: Vec<Command>,
        context: WriteContext,
        respond: RespondTo,
    ) -> Result<Executed, StoreError> {
        self.area.execute(commands, context, respond).await
    }

    async fn get_store_pet(&self, id: PetId) -> Result<Option<StorePet>, StoreError> {
        self.rest.get_store_pet(id).await
    }

    async fn list_store_pets(
        &self,
        query: &PetQuery,
    ) -> Result<(Vec<StorePet>, Option<PetPosition>), StoreError> {
        self.rest.list_store_pets(query).await
    }

    async fn get_order(&self, id: OrderId) -> Result<Option<Order>, StoreError> {
        self.rest.get_order(id).await
    }

    async fn list_orders(
        &self,
        query: &OrderQuery,
    ) -> Result<(Vec<Order>, Option<OrderId>), StoreError> {
        self.rest.list_orders(query).await
    }

    async fn list_categories(
        &self,
        after: Option<i64>,
        limit: Limit,
    ) -> Result<(Vec<Category>, Option<i64>), StoreError> {
        self.rest.list_categories(after, limit).await
    }

    async fn due_orders(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(OrderId, Timestamp)>, StoreError> {
        self.rest.due_orders(now, limit).await
    }

    async fn reservations(&self) -> Result<Reservations, StoreError> {
        self.rest.reservations().await
    }

    async fn tend_search(&self, few: u64) -> Result<bool, StoreError> {
        self.rest.tend_search(few).await
    }
}

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

    fn expose(&self, page: &mut Exposition) {
        self.rest.expose(page);
    }
}
