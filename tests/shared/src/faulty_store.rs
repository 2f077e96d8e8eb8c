//! Stores with a planted fault: a harness that accepts them proves nothing.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use jiff::Timestamp;
use petstore_domain::{
    Actor, Limit, NewPet, PageRequest, Pet, PetId, PetName, PetRef, PetStatus, WriteContext,
    store_area::{Command, Decision, IfMatch, OrderId, Preconditions, Resource},
};
use petstore_store::{
    CreationOutcome, CreationRenderer, ExecutionOutcome, ExecutionRenderer, PetVisitor, Pets,
    Store, StoreError, Version,
};
use tokio::task::{self, JoinSet};

use crate::with_pets::{Commands, WithPets};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// None at all.
    Nothing,
    /// The version never changes, so that pages which are kept grow old.
    StalePage,
    /// The newest animal is acknowledged, and seen only once another one comes.
    AcknowledgedUnseen,
    /// Every eighth animal is acknowledged under the id of the one before.
    DoubledId,
    /// Every fourth animal becomes visible after some with higher ids.
    OutOfOrder,
    /// The first of several animals is left out of every page but the first.
    SkippedAnimal,
    /// No page is said to be followed by another.
    NoNextPage,
    /// Every eighth animal is acknowledged and forgotten.
    Lost,
    /// A request that is sent again is not known again.
    AddedAgain,
    /// Every animal is acknowledged first, and committed later.
    AcknowledgedEarly,
    /// An animal is shown as it was when it was added.
    StaleRead,
    /// An animal has the status that it was added with, and everything else as
    /// it is now.
    Torn,
    /// Removed animals stay on pages.
    StillListed,
    /// Every fourth read shows removed animals.
    Reappears,
    /// An animal whose status has changed is on no page by status.
    InNeitherStatus,
    /// An animal whose status has changed is on the pages of its first status, too.
    InBothStatuses,
    /// The version of an animal is compared before the transaction that changes it.
    ComparedBefore,
    /// What the commands of a batch did before one that is refused stays.
    HalfBatch,
    /// The version of a category is compared before the transaction that changes it.
    CategoryComparedBefore,
    /// A repeated order gets the order as it is now.
    ReplayedFromRow,
    /// No fault: another process adds an animal whenever a page was read.
    WrittenAfterRead,
}

pub struct Faulty {
    store: Arc<dyn Store>,
    fault: Fault,
    first_version: Option<Version>,
    /// An animal that nobody sees.
    hidden: AtomicI64,
    /// The animal that is acknowledged next, if early.
    next: AtomicI64,
    /// The animals as they were added.
    added: Mutex<BTreeMap<PetId, Pet>>,
    reads: AtomicU64,
    /// What was acknowledged early.
    committing: Mutex<JoinSet<Result<CreationOutcome, StoreError>>>,
}

impl Faulty {
    /// The fault begins after an animal.
    pub async fn after(last: i64, store: Arc<dyn Store>, fault: Fault) -> Self {
        Self {
            first_version: store.version().await.unwrap(),
            store,
            fault,
            hidden: AtomicI64::new(0),
            next: AtomicI64::new(last + 1),
            added: Mutex::default(),
            reads: AtomicU64::new(1),
            committing: Mutex::default(),
        }
    }

    /// The store with this fault.
    pub fn store(self: &Arc<Self>) -> Arc<dyn Store> {
        let (pets, area) = (Arc::<Self>::clone(self), Arc::<Self>::clone(self));
        Arc::new(WithPets {
            pets,
            area,
            rest: Arc::clone(&self.store),
            asked: Arc::default(),
        })
    }

    /// Waits until nothing is committed any more.
    pub async fn settle(&self) {
        let committing = std::mem::take(&mut *self.committing.lock().unwrap());
        committing.join_all().await;
    }

    fn hides(&self, id: PetId) -> bool {
        let forgotten = self.fault == Fault::Lost && id.get() % 8 == 0;
        forgotten || self.hidden.load(Ordering::SeqCst) == id.get()
    }
}

fn owned(pet: PetRef<'_>) -> Pet {
    let PetRef {
        id,
        name,
        category_id,
        status,
    } = pet;
    let name = PetName::new(name.to_owned()).unwrap();
    NewPet {
        name,
        category_id,
        status,
        is_listed: true,
    }
    .with_id(id)
}

impl Faulty {
    fn added(&self, id: PetId) -> Option<Pet> {
        self.added.lock().unwrap().get(&id).cloned()
    }

    /// The animal as it is shown in place of what it is.
    fn shown(&self, pet: Pet) -> Pet {
        match (self.fault, self.added(pet.id)) {
            (Fault::StaleRead, Some(added)) => added,
            (Fault::Torn, Some(added)) => Pet {
                status: added.status,
                ..pet
            },
            _ => pet,
        }
    }

    fn is_fourth_read(&self) -> bool {
        self.reads.fetch_add(1, Ordering::SeqCst).is_multiple_of(4)
    }

    /// The animals that do not belong on a page that ends with `last`, and are
    /// on it.
    async fn wrongly_listed(&self, request: &PageRequest, last: Option<PetId>) -> Vec<Pet> {
        let shows_removed = self.fault == Fault::StillListed
            || self.fault == Fault::Reappears && self.is_fourth_read();
        let candidates: Vec<Pet> = self.added.lock().unwrap().values().cloned().collect();
        let mut wrong = Vec::new();
        for added in candidates {
            let is_due = request.after.is_none_or(|after| added.id > after)
                && last.is_none_or(|last| added.id < last)
                && request.status.is_none_or(|status| status == added.status);
            let now = self.store.get_pet(added.id).await.unwrap();
            let is_wrong = match &now {
                None => shows_removed,
                Some(now) => self.fault == Fault::InBothStatuses && now.status != added.status,
            };
            if is_due && is_wrong && (now.is_none() || request.status.is_some()) {
                wrong.push(added);
            }
        }
        wrong
    }
}

#[async_trait]
impl Pets for Faulty {
    async fn list_pets(
        &self,
        request: &PageRequest,
        visit: PetVisitor<'_>,
    ) -> Result<Option<PetId>, StoreError> {
        let mut pets = Vec::new();
        let last = self
            .store
            .list_pets(request, &mut |pet| pets.push(owned(pet)))
            .await?;
        let skips = self.fault == Fault::SkippedAnimal && request.after.is_some();
        if skips && pets.len() > 1 {
            pets.remove(0);
        }
        pets.retain(|pet| {
            let is_as_added = self
                .added(pet.id)
                .is_none_or(|added| added.status == pet.status);
            let is_omitted = self.fault == Fault::InNeitherStatus && request.status.is_some();
            !self.hides(pet.id) && (is_as_added || !is_omitted)
        });
        pets.extend(self.wrongly_listed(request, last).await);
        pets.sort_by_key(|pet| pet.id);
        for pet in pets {
            visit(self.shown(pet).as_pet_ref());
        }
        if self.fault == Fault::WrittenAfterRead {
            let name = PetName::new("late".to_owned()).unwrap();
            let late = NewPet {
                name,
                category_id: 1,
                status: PetStatus::Sold,
                is_listed: true,
            };
            let context = WriteContext::new(Actor::Clock, Timestamp::UNIX_EPOCH);
            self.store
                .create_pet(late, context, |_| unreachable!())
                .await?;
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
        mut context: WriteContext,
        respond: CreationRenderer,
    ) -> Result<CreationOutcome, StoreError> {
        if self.fault == Fault::AddedAgain {
            context.idempotency = None;
        }
        if self.fault == Fault::AcknowledgedEarly {
            let id = PetId::new(self.next.fetch_add(1, Ordering::SeqCst)).unwrap();
            let (store, later) = (Arc::clone(&self.store), pet.clone());
            let commit = async move { store.create_pet(later, context, respond).await };
            self.committing.lock().unwrap().spawn(commit);
            return Ok(CreationOutcome::New(pet.with_id(id)));
        }
        let created = self.store.create_pet(pet.clone(), context, respond).await?;
        let CreationOutcome::New(Pet { id, .. }) = created else {
            return Ok(created);
        };
        self.added
            .lock()
            .unwrap()
            .insert(id, pet.clone().with_id(id));
        let eighth = id.get() % 8 == 0;
        match self.fault {
            Fault::AcknowledgedUnseen => self.hidden.store(id.get(), Ordering::SeqCst),
            Fault::DoubledId if eighth => {
                let before = PetId::new(id.get() - 1).unwrap_or(id);
                return Ok(CreationOutcome::New(pet.with_id(before)));
            }
            Fault::OutOfOrder if id.get() % 4 == 0 => {
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

    async fn get_pet(&self, id: PetId) -> Result<Option<Pet>, StoreError> {
        if self.hides(id) {
            return Ok(None);
        }
        let found = self.store.get_pet(id).await?;
        if found.is_none() && self.fault == Fault::Reappears && self.is_fourth_read() {
            return Ok(self.added(id));
        }
        Ok(found.map(|pet| self.shown(pet)))
    }
}

impl Faulty {
    /// Compares the version of an animal now, and no more when the command is
    /// carried out.
    async fn compare_before(&self, command: &mut Command) {
        let (Command::PatchPet {
            id, preconditions, ..
        }
        | Command::WithdrawPet {
            id, preconditions, ..
        }
        | Command::RestorePet { id, preconditions }) = command
        else {
            return;
        };
        let found = self.store.get_store_pet(*id).await.unwrap();
        if found.is_some_and(|pet| *preconditions == Preconditions::version(pet.version)) {
            preconditions.if_match = Some(IfMatch::Any);
            for _ in 0..20 {
                task::yield_now().await;
            }
        }
    }
}

impl Faulty {
    /// The same for a category.
    async fn compare_category_before(&self, command: &mut Command) {
        let (Command::PutCategory {
            id, preconditions, ..
        }
        | Command::DeleteCategory { id, preconditions }) = command
        else {
            return;
        };
        let (page, _) = self
            .store
            .list_categories(Some(*id - 1), Limit::new(1).unwrap())
            .await
            .unwrap();
        let found = page.first().filter(|category| category.id == *id);
        if found.is_some_and(|found| *preconditions == Preconditions::version(found.version)) {
            preconditions.if_match = Some(IfMatch::Any);
            for _ in 0..200 {
                task::yield_now().await;
            }
        }
    }
}

#[async_trait]
impl Commands for Faulty {
    async fn execute(
        &self,
        mut commands: Vec<Command>,
        mut context: WriteContext,
        respond: ExecutionRenderer,
    ) -> Result<ExecutionOutcome, StoreError> {
        match self.fault {
            Fault::AddedAgain => context.idempotency = None,
            Fault::ComparedBefore => self.compare_before(&mut commands[0]).await,
            Fault::CategoryComparedBefore => self.compare_category_before(&mut commands[0]).await,
            _ => {}
        }
        let (mut before, by) = (commands.clone(), context.actor.clone());
        let now = context.now;
        let executed = self.store.execute(commands, context, respond).await?;
        match executed {
            ExecutionOutcome::Refused { index, refusal }
                if self.fault == Fault::HalfBatch && index > 0 =>
            {
                before.truncate(index);
                self.store
                    .execute(before, WriteContext::new(by, now), respond)
                    .await?;
                Ok(ExecutionOutcome::Refused { index, refusal })
            }
            ExecutionOutcome::Replayed(response) if self.fault == Fault::ReplayedFromRow => {
                let shown: serde_json::Value = serde_json::from_slice(&response.body).unwrap();
                // The response to a batch is an array, and stays as it is.
                let Some(id) = shown["id"].as_i64().and_then(OrderId::new) else {
                    return Ok(ExecutionOutcome::Replayed(response));
                };
                let order = self
                    .store
                    .get_order(id)
                    .await?
                    .filter(|_| shown["petId"].is_i64());
                let now = order.map(|order| Decision {
                    changes: Vec::new(),
                    releases: None,
                    photo: None,
                    result: Some(Resource::Order(order)),
                });
                Ok(ExecutionOutcome::Replayed(
                    now.map_or(response, |now| respond(&[now])),
                ))
            }
            executed => Ok(executed),
        }
    }
}
