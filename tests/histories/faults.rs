//! Stores with a planted fault: a checker that does not object to them proves
//! nothing.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use async_trait::async_trait;
use jiff::Timestamp;
use petstore::{
    domain::{
        IdempotentRequest, KeyDigest, KeyId, KeyRecord, KeyUse, NewKey, NewPet, PageRequest, Pet,
        PetId, PetRef,
    },
    metrics::Exposition,
    store::{Created, Store, StoreError, Version, WritePet},
};

use super::{checker, runtime, sqlite, workload};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The version never changes, so that pages which are kept grow old.
    StalePage,
    /// The newest animal is acknowledged, and seen only once another one comes.
    AcknowledgedUnseen,
    /// Every eighth animal is acknowledged under the id of the one before.
    DoubledId,
    /// Every eighth animal becomes visible after some with higher ids.
    OutOfOrder,
    /// The first animal of every page but the first is left out.
    SkippedAnimal,
    /// No page is said to be followed by another.
    NoNextPage,
    /// Every eighth animal is acknowledged and forgotten.
    Lost,
    /// A request that is sent again is not known again.
    AddedAgain,
}

struct Faulty {
    store: Arc<dyn Store>,
    fault: Fault,
    first_version: Option<Version>,
    /// An animal that nobody sees.
    hidden: AtomicI64,
}

impl Faulty {
    fn hides(&self, id: PetId) -> bool {
        let forgotten = self.fault == Fault::Lost && id.get() % 8 == 0;
        forgotten || self.hidden.load(Ordering::SeqCst) == id.get()
    }
}

fn write_id(page: &mut Vec<u8>, pet: PetRef<'_>) {
    page.extend(pet.id.get().to_be_bytes());
}

#[async_trait]
impl Store for Faulty {
    async fn list_pets(
        &self,
        request: &PageRequest,
        write: WritePet,
        page: &mut Vec<u8>,
    ) -> Result<Option<PetId>, StoreError> {
        let mut ids = Vec::new();
        let last = self.store.list_pets(request, write_id, &mut ids).await?;
        let skips = self.fault == Fault::SkippedAnimal && request.after.is_some();
        for id in ids.as_chunks().0.iter().skip(skips.into()) {
            let id = PetId::new(i64::from_be_bytes(*id)).unwrap();
            if let Some(pet) = self.store.get_pet(id).await?.filter(|_| !self.hides(id)) {
                write(page, pet.borrowed());
            }
        }
        Ok(last.filter(|_| self.fault != Fault::NoNextPage))
    }

    async fn version(&self) -> Result<Option<Version>, StoreError> {
        match self.fault {
            Fault::StalePage => Ok(self.first_version),
            Fault::AcknowledgedUnseen | Fault::OutOfOrder => Ok(None),
            _ => self.store.version().await,
        }
    }

    async fn create_pet(
        &self,
        pet: NewPet,
        retry: Option<IdempotentRequest>,
    ) -> Result<Created, StoreError> {
        let retry = retry.filter(|_| self.fault != Fault::AddedAgain);
        let created = self.store.create_pet(pet.clone(), retry).await?;
        let Created::New(Pet { id, .. }) = created else {
            return Ok(created);
        };
        let eighth = id.get() % 8 == 0;
        match self.fault {
            Fault::AcknowledgedUnseen => self.hidden.store(id.get(), Ordering::SeqCst),
            Fault::DoubledId if eighth => {
                let before = PetId::new(id.get() - 1).unwrap_or(id);
                return Ok(Created::New(pet.with_id(before)));
            }
            Fault::OutOfOrder if eighth => {
                self.hidden.store(id.get(), Ordering::SeqCst);
                for _ in 0..200 {
                    tokio::task::yield_now().await;
                }
                self.hidden.store(0, Ordering::SeqCst);
            }
            _ => {}
        }
        Ok(created)
    }

    async fn forget_idempotency_keys(
        &self,
        before: Timestamp,
        limit: u32,
    ) -> Result<usize, StoreError> {
        self.store.forget_idempotency_keys(before, limit).await
    }

    async fn get_pet(&self, id: PetId) -> Result<Option<Pet>, StoreError> {
        if self.hides(id) {
            return Ok(None);
        }
        self.store.get_pet(id).await
    }

    async fn create_key(&self, key: NewKey) -> Result<KeyRecord, StoreError> {
        self.store.create_key(key).await
    }

    async fn find_key(&self, digest: &KeyDigest) -> Result<Option<KeyRecord>, StoreError> {
        self.store.find_key(digest).await
    }

    async fn get_key(&self, id: KeyId) -> Result<Option<KeyRecord>, StoreError> {
        self.store.get_key(id).await
    }

    async fn list_keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.store.list_keys().await
    }

    async fn revoke_key(&self, id: KeyId, at: Timestamp) -> Result<Option<KeyRecord>, StoreError> {
        self.store.revoke_key(id, at).await
    }

    async fn rotate_key(
        &self,
        id: KeyId,
        successor: NewKey,
        until: Timestamp,
    ) -> Result<Option<KeyRecord>, StoreError> {
        self.store.rotate_key(id, successor, until).await
    }

    async fn check_ready(&self) -> Result<(), StoreError> {
        self.store.check_ready().await
    }

    fn expose(&self, page: &mut Exposition) {
        self.store.expose(page);
    }

    async fn record_key_uses(&self, uses: Vec<KeyUse>) -> Result<(), StoreError> {
        self.store.record_key_uses(uses).await
    }
}

/// What the checker says of the first history that it objects to.
fn objection(fault: Fault) -> String {
    let runtime = runtime();
    for seed in 1..=10 {
        let (stores, _kept) = sqlite();
        let store = Arc::clone(&stores[0]);
        let history = runtime.block_on(async {
            let first_version = store.version().await.unwrap();
            let faulty = Faulty { store, fault, first_version, hidden: AtomicI64::new(0) };
            workload::history(seed, &[Arc::new(faulty)]).await
        });
        if let Err(violation) = checker::check(&history) {
            return violation;
        }
    }
    panic!("ten histories over a store with the fault {fault:?}, and no objection");
}

#[test]
fn a_stale_page_from_the_kept_ones_is_recognised() {
    assert!(objection(Fault::StalePage).contains("not yet when this was called later"));
}

#[test]
fn an_animal_that_is_acknowledged_before_it_can_be_seen_is_recognised() {
    objection(Fault::AcknowledgedUnseen);
}

#[test]
fn an_id_that_is_given_twice_is_recognised() {
    assert!(objection(Fault::DoubledId).contains("one id for two animals"));
}

#[test]
fn an_id_that_becomes_visible_after_a_higher_one_is_recognised() {
    objection(Fault::OutOfOrder);
}

#[test]
fn an_animal_that_a_walk_skips_is_recognised() {
    assert!(objection(Fault::SkippedAnimal).contains("is not the next one"));
}

#[test]
fn a_missing_link_to_the_next_page_is_recognised() {
    assert!(objection(Fault::NoNextPage).contains("not yet when this was called later"));
}

#[test]
fn an_acknowledged_animal_that_is_lost_is_recognised() {
    objection(Fault::Lost);
}

#[test]
fn a_request_that_is_sent_again_and_adds_again_is_recognised() {
    assert!(objection(Fault::AddedAgain).contains("one create gave two animals"));
}
