//! Stores with a planted fault: a harness that does not object to them proves
//! nothing.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicI64, Ordering},
};

use async_trait::async_trait;
use jiff::Timestamp;
use petstore::{
    domain::{
        IdempotentRequest, KeyDigest, KeyId, KeyRecord, KeyUse, NewKey, NewPet, PageRequest, Pet,
        PetId, PetName, PetRef, PetStatus,
    },
    observe::metrics::Exposition,
    store::{Created, Store, StoreError, Version, WritePet},
};
use tokio::task::JoinSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
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
    /// Every animal is acknowledged first, and committed later.
    AcknowledgedEarly,
    /// No fault: another process adds an animal whenever a page was read.
    WrittenAfterRead,
}

pub(crate) struct Faulty {
    store: Arc<dyn Store>,
    fault: Fault,
    first_version: Option<Version>,
    /// An animal that nobody sees.
    hidden: AtomicI64,
    /// The animal that is acknowledged next, if early.
    next: AtomicI64,
    /// What was acknowledged early.
    committing: Mutex<JoinSet<Result<Created, StoreError>>>,
}

impl Faulty {
    /// The fault begins after an animal.
    pub(crate) async fn after(last: i64, store: Arc<dyn Store>, fault: Fault) -> Self {
        Self {
            first_version: store.version().await.unwrap(),
            store,
            fault,
            hidden: AtomicI64::new(0),
            next: AtomicI64::new(last + 1),
            committing: Mutex::default(),
        }
    }

    /// Waits until nothing is committed any more.
    pub(crate) async fn settle(&self) {
        let committing = std::mem::take(&mut *self.committing.lock().unwrap());
        committing.join_all().await;
    }

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
        if self.fault == Fault::WrittenAfterRead {
            let name = PetName::new("late".to_owned()).unwrap();
            let late = NewPet { name, category_id: 1, status: PetStatus::Sold };
            self.store.create_pet(late, None).await?;
        }
        Ok(last.filter(|_| self.fault != Fault::NoNextPage))
    }

    fn etag_key(&self) -> [u8; 32] {
        self.store.etag_key()
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
        if self.fault == Fault::AcknowledgedEarly {
            let id = PetId::new(self.next.fetch_add(1, Ordering::SeqCst)).unwrap();
            let (store, later) = (Arc::clone(&self.store), pet.clone());
            let commit = async move { store.create_pet(later, retry).await };
            self.committing.lock().unwrap().spawn(commit);
            return Ok(Created::New(pet.with_id(id)));
        }
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

    async fn mark_idempotency_keys(&self, seen: Option<i64>) -> Result<i64, StoreError> {
        self.store.mark_idempotency_keys(seen).await
    }

    async fn forget_idempotency_keys(&self, marks: i64, limit: u32) -> Result<usize, StoreError> {
        self.store.forget_idempotency_keys(marks, limit).await
    }

    async fn first_of_lineage(&self, id: KeyId) -> Result<KeyId, StoreError> {
        self.store.first_of_lineage(id).await
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

    async fn key_digests(&self) -> Result<Vec<KeyDigest>, StoreError> {
        self.store.key_digests().await
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
