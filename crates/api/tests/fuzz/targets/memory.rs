//! An in-memory store of thirty animals and the last added one, because a fuzzer is too fast for a
//! disk and must not fill memory.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use jiff::Timestamp;
use petstore_domain::{
    KeyDigest, KeyId, KeyRecord, KeyUse, NewKey, NewPet, PageRequest, Pet, PetId, PetName,
    PetStatus, WriteContext,
};
use petstore_observe::metrics::Exposition;
use petstore_store::{
    CreationOutcome, CreationRenderer, Health, Keys, PetVisitor, Pets, Requests, StoreError,
    Version,
};
use petstore_testing::double::double;

/// The number of fixed animals, with ids from 1.
pub(super) const ANIMALS: i64 = 30;

pub(super) struct Memory {
    pets: Mutex<Vec<Pet>>,
    keys: Vec<(KeyDigest, KeyRecord)>,
}

/// The fixed animal with this id.
pub(super) fn animal(id: i64) -> Option<Pet> {
    let id = PetId::new(id).filter(|id| id.get() <= ANIMALS)?;
    let status = PetStatus::ALL[usize::try_from(id.get()).ok()? % 3];
    let name = PetName::new(format!("animal {}", id.get()))?;
    Some(
        NewPet {
            name,
            category_id: -id.get(),
            status,
            is_listed: true,
        }
        .with_id(id),
    )
}

impl Memory {
    /// A store with one key.
    pub(super) fn new(key: NewKey, created_at: Timestamp) -> Self {
        let record = KeyRecord {
            id: KeyId(1),
            name: key.name,
            scope: key.scope,
            deployment: key.deployment,
            created_at,
            expires_at: None,
            rate_limit: None,
            last_used_at: None,
            last_deprecated_call_at: None,
            revoked_at: None,
            successor: None,
        };
        let pets = (1..=ANIMALS).filter_map(animal).collect();
        Self {
            pets: Mutex::new(pets),
            keys: vec![(key.digest, record)],
        }
    }
}

#[async_trait]
impl Pets for Memory {
    async fn list_pets(
        &self,
        request: &PageRequest,
        visit: PetVisitor<'_>,
    ) -> Result<Option<PetId>, StoreError> {
        let pets = self.pets.lock().unwrap_or_else(PoisonError::into_inner);
        let mut due = pets
            .iter()
            .take(usize::try_from(ANIMALS).unwrap())
            .filter(|pet| {
                request.status.is_none_or(|status| status == pet.status)
                    && request.after.is_none_or(|after| after < pet.id)
            });
        let mut last = None;
        for pet in due.by_ref().take(request.limit.get().into()) {
            visit(pet.as_pet_ref());
            last = Some(pet.id);
        }
        Ok(due.next().and(last))
    }

    fn etag_key(&self) -> [u8; 32] {
        [7; 32]
    }

    async fn version(&self) -> Result<Option<Version>, StoreError> {
        Ok(None)
    }

    async fn create_pet(
        &self,
        pet: NewPet,
        _: WriteContext,
        _: CreationRenderer,
    ) -> Result<CreationOutcome, StoreError> {
        let pet = pet.with_id(PetId::new(ANIMALS + 1).unwrap());
        let mut pets = self.pets.lock().unwrap_or_else(PoisonError::into_inner);
        pets.truncate(usize::try_from(ANIMALS).unwrap());
        pets.push(pet.clone());
        Ok(CreationOutcome::New(pet))
    }

    async fn get_pet(&self, id: PetId) -> Result<Option<Pet>, StoreError> {
        let pets = self.pets.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(pets.iter().find(|pet| pet.id == id).cloned())
    }
}

#[async_trait]
impl Keys for Memory {
    async fn find_key(&self, digest: &KeyDigest) -> Result<Option<KeyRecord>, StoreError> {
        let known = self.keys.iter().find(|(known, _)| known == digest);
        Ok(known.map(|(_, record)| record.clone()))
    }

    async fn key_digests(&self) -> Result<Vec<KeyDigest>, StoreError> {
        Ok(self.keys.iter().map(|(digest, _)| *digest).collect())
    }

    async fn first_of_lineage(&self, id: KeyId) -> Result<KeyId, StoreError> {
        Ok(id)
    }

    async fn create_key(&self, _: NewKey, _: WriteContext) -> Result<KeyRecord, StoreError> {
        Err(StoreError::Overloaded)
    }

    async fn get_key(&self, _: KeyId) -> Result<Option<KeyRecord>, StoreError> {
        Err(StoreError::Overloaded)
    }

    async fn list_keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        Err(StoreError::Overloaded)
    }

    async fn revoke_key(&self, _: KeyId, _: WriteContext) -> Result<Option<KeyRecord>, StoreError> {
        Err(StoreError::Overloaded)
    }

    async fn rotate_key(
        &self,
        _: KeyId,
        _: NewKey,
        _: Timestamp,
        _: WriteContext,
    ) -> Result<Option<KeyRecord>, StoreError> {
        Err(StoreError::Overloaded)
    }

    async fn record_key_uses(&self, _: Vec<KeyUse>) -> Result<(), StoreError> {
        Ok(())
    }
}

#[async_trait]
impl Requests for Memory {
    async fn mark_idempotency_keys(&self, _: Option<i64>) -> Result<i64, StoreError> {
        Ok(0)
    }

    async fn forget_idempotency_keys(&self, _: i64, _: u32) -> Result<usize, StoreError> {
        Ok(0)
    }
}

/// No fuzzer gets there.
macro_rules! fail {
    ($this:expr, $method:ident, $($argument:expr),*) => {{
        let _ = ($this, $($argument),*);
        Err(StoreError::Overloaded)
    }};
}
double!(Memory, fail, fail);

#[async_trait]
impl Health for Memory {
    async fn check_ready(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn wait_for_fatal_error(&self) -> StoreError {
        std::future::pending().await
    }

    fn expose(&self, _: &mut Exposition) {}
}
