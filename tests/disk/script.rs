//! The operations on a store while its disk fails, and the checks after them.

use std::{
    collections::{BTreeMap, BTreeSet},
    panic,
    path::Path,
    sync::Arc,
};

use faulty_vfs::{Disk, close_files_under};
use futures_util::future::join_all;
use jiff::Timestamp;
use petstore::{
    domain::{
        Actor, ApiKey, Deployment, IdempotencyKey, IdempotentRequest, KeyId, KeyUse, Limit, NewKey,
        NewPet, PageRequest, Pet, PetId, PetName, PetRef, PetStatus, Scope, StoredResponse,
        WriteContext, idempotency::fingerprint,
    },
    store::{Created, OpenError, OpenMode, Store, StoreError, sqlite::SqliteStore},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::faulty_store::{Fault, Faulty};

type AnyStore = Arc<dyn Store>;

fn open(path: &Path) -> Result<AnyStore, OpenError> {
    Ok(Arc::new(SqliteStore::open(path, OpenMode::CreateAndMigrate)?))
}

/// One run: a store that is used, closed, reopened and used again.
pub(crate) struct Run {
    // Declared before the directory, whose drop closes files that the store leaves open.
    store: Option<AnyStore>,
    pub(crate) disk: Disk,
    directory: Directory,
    next_name: usize,
    acknowledged: BTreeMap<i64, String>,
    rejected: BTreeSet<String>,
    /// Failed before the store was closed while its disk failed. Such a write may be complete in
    /// the WAL, and be there after the store is reopened.
    uncertain: BTreeSet<String>,
    /// Reported as not added, rather than as unknown.
    not_added: BTreeSet<String>,
    /// How many outcomes were reported as unknown.
    pub(crate) unknown: usize,
    /// Wraps the store in one that does not wait for its commits: see `proofs`.
    pub(crate) acknowledges_early: bool,
    early: Option<Arc<Faulty>>,
}

impl Run {
    pub(crate) fn new() -> Self {
        let directory = directory();
        let disk = Disk::under(directory.path()).unwrap();
        Self {
            disk,
            directory,
            store: None,
            next_name: 0,
            acknowledged: BTreeMap::new(),
            rejected: BTreeSet::new(),
            uncertain: BTreeSet::new(),
            not_added: BTreeSet::new(),
            unknown: 0,
            acknowledges_early: false,
            early: None,
        }
    }

    /// Does everything that a store does to its disk, whether or not it succeeds.
    pub(crate) async fn everything(&mut self) {
        self.open().await;
        self.create(1).await;
        self.create(1).await;
        self.keys().await;
        self.create(6).await;
        self.checkpoint();
        self.create(1).await;
        self.create(3).await;
        self.close().await;
        self.open().await;
        self.create(1).await;
        self.keys().await;
        self.create(4).await;
        if let Some(store) = &self.store {
            let _ = list(store).await;
        }
    }

    async fn open(&mut self) {
        self.store = open(&self.directory.path().join("petstore.db")).ok();
        if let Some(store) = self.store.take_if(|_| self.acknowledges_early) {
            let last = self.acknowledged.last_key_value().map_or(0, |(id, _)| *id);
            let early = Arc::new(Faulty::after(last, store, Fault::AcknowledgedEarly).await);
            self.store = Some(early.store());
            self.early = Some(early);
        }
    }

    async fn close(&mut self) {
        self.store = None;
        if let Some(early) = self.early.take() {
            early.settle().await;
        }
        self.uncertain.append(&mut self.rejected);
    }

    /// Creates this many animals concurrently, and records the results.
    pub(crate) async fn create(&mut self, count: usize) {
        let Some(store) = &self.store else { return };
        let names: Vec<String> = (self.next_name..self.next_name + count).map(name).collect();
        self.next_name += count;
        let created = join_all(names.iter().map(|name| create(store, name))).await;
        for (name, created) in names.into_iter().zip(created) {
            match created {
                Ok(id) => self.acknowledge(id, name),
                Err(error) => {
                    match error {
                        StoreError::OutcomeUnknown(_) => self.unknown += 1,
                        _ => drop(self.not_added.insert(name.clone())),
                    }
                    self.rejected.insert(name);
                }
            }
        }
    }

    fn acknowledge(&mut self, id: i64, name: String) {
        assert_eq!(self.acknowledged.insert(id, name), None, "{id} was given twice");
    }

    /// Creates, rotates and uses a key.
    async fn keys(&mut self) {
        let Some(store) = &self.store else { return };
        let Ok(key) = store.create_key(new_key(self.next_name), act()).await else { return };
        let (successor, until) = (new_key(self.next_name + 1), Timestamp::UNIX_EPOCH);
        let _ = store.rotate_key(key.id, successor, until, act()).await;
        let (id, used_at) = (KeyId(1), Timestamp::UNIX_EPOCH);
        let used = KeyUse { id, used_at, deprecated_call_at: Some(used_at) };
        let _ = store.record_key_uses(vec![used]).await;
        self.next_name += 2;
    }

    /// Runs a checkpoint, as another process might.
    fn checkpoint(&self) {
        if let Ok(other) = Connection::open(self.directory.path().join("petstore.db")) {
            let _ = other.execute_batch("PRAGMA wal_checkpoint(RESTART)");
        }
    }

    /// Kills the process. Another one opens what the operating system has.
    pub(crate) async fn kill(&mut self) {
        let directory = directory();
        let disk = self.disk.kill(directory.path()).unwrap();
        self.close().await;
        (self.directory, self.disk) = (directory, disk);
    }

    /// After the end of the fault, the store works at once. It has what it acknowledged, and
    /// nothing that it rejected. A retry of a rejected request adds its animal once.
    pub(crate) async fn continues(&mut self) {
        self.disk.heal();
        if self.store.is_none() {
            self.store = Some(open(&self.directory.path().join("petstore.db")).unwrap());
        }
        let rejected = self.rejected.len();
        self.create(1).await;
        assert_eq!(self.rejected.len(), rejected, "it does not recover");
        let store = self.store.clone().unwrap();
        let mut there = list(&store).await.unwrap();
        there.retain(|(_, name)| !self.uncertain.contains(name));
        assert!(there.into_iter().eq(self.acknowledged.clone()));
        for name in self.rejected.split_off("").into_iter().chain(self.uncertain.split_off("")) {
            let id = create(&store, &name).await.unwrap();
            self.acknowledge(id, name);
        }
        let there = list(&store).await.unwrap();
        assert!(there.into_iter().eq(self.acknowledged.clone()));
    }

    /// After a kill, no animal is there that was reported as not added.
    pub(crate) async fn reported_correctly(&mut self) {
        self.kill().await;
        self.disk.heal();
        self.open().await;
        for (id, name) in list(self.store.as_ref().unwrap()).await.unwrap() {
            assert!(!self.not_added.contains(&name), "{id} was added");
        }
    }

    /// Retries the rejected creates whose animals are in the WAL nevertheless, and are acknowledged
    /// without a commit. Returns their number.
    pub(crate) async fn acknowledges_recovered_animals(&mut self) -> usize {
        self.disk.heal();
        self.open().await;
        let store = self.store.clone().unwrap();
        let there = list(&store).await.unwrap();
        let left = there.into_iter().filter(|(_, name)| self.uncertain.contains(name));
        let left: Vec<(i64, String)> = left.collect();
        for (id, name) in &left {
            assert_eq!(create(&store, name).await.unwrap(), *id);
            self.acknowledge(*id, name.clone());
        }
        left.len()
    }

    /// After a power cut, the database opens, is undamaged, and has everything that was
    /// acknowledged, whichever unsynced sectors reached the disk.
    pub(crate) async fn survives_a_power_cut(&mut self, seed: u64) {
        self.disk.cut_power();
        self.close().await;
        let mut random = StdRng::seed_from_u64(seed);
        self.is_sound_with(|| false).await;
        self.is_sound_with(|| random.random()).await;
    }

    async fn is_sound_with(&self, keep: impl FnMut() -> bool) {
        let directory = directory();
        self.disk.salvage(directory.path(), keep).unwrap();
        let path = directory.path().join("petstore.db");
        let store = open(&path).unwrap();
        let other = Connection::open(&path).unwrap();
        let verdict: String =
            other.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(verdict, "ok");
        let there = list(&store).await.unwrap();
        for (id, name) in &self.acknowledged {
            assert!(there.contains(&(*id, name.clone())), "lost: {id}");
        }
        let names: BTreeSet<_> = there.iter().map(|(_, name)| name).collect();
        assert_eq!(names.len(), there.len(), "duplicates");
        let next = store.create_pet(pet("next"), act(), respond).await.unwrap();
        let Created::New(next) = next else { panic!("{next:?}") };
        let next = next.id.get();
        assert!(there.iter().all(|(id, _)| *id < next));
    }
}

/// In memory if possible: the model is the disk.
struct Directory(TempDir);

fn directory() -> Directory {
    Directory(TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap())
}

impl Directory {
    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        close_files_under(self.path());
    }
}

/// Every fourth name is so long that it needs its own pages.
fn name(number: usize) -> String {
    format!("{number}{}", "-".repeat(if number % 4 == 3 { 9_000 } else { 20 }))
}

fn pet(name: &str) -> NewPet {
    let name = PetName::new(name.to_owned()).unwrap();
    NewPet { name, category_id: 1, status: PetStatus::Sold }
}

/// Adds an animal with an idempotency key, so that it can be retried.
async fn create(store: &AnyStore, name: &str) -> Result<i64, StoreError> {
    let pet = pet(name);
    let number: String = name.chars().take_while(char::is_ascii_digit).collect();
    let request = IdempotentRequest {
        api_key: KeyId(1),
        lineage: KeyId(1),
        operation: "createPet",
        key: IdempotencyKey::new(number).unwrap(),
        fingerprint: fingerprint(&pet),
    };
    let context = WriteContext { idempotency: Some(request), ..act() };
    match store.create_pet(pet, context, respond).await? {
        Created::New(pet) => Ok(pet.id.get()),
        Created::Replayed(response) => Ok(str::from_utf8(&response.body).unwrap().parse().unwrap()),
        Created::Conflict => panic!("it was the same animal"),
    }
}

fn act() -> WriteContext {
    WriteContext::new(Actor::Command, Timestamp::UNIX_EPOCH)
}

fn respond(pet: &Pet) -> StoredResponse {
    let body = pet.id.get().to_string().into_bytes();
    StoredResponse { status: 201, location: None, etag: None, body }
}

fn new_key(seed: usize) -> NewKey {
    let mut random = StdRng::seed_from_u64(seed as u64);
    NewKey {
        digest: ApiKey::generate(Deployment::Production, &mut random).digest(),
        name: "key".to_owned(),
        scope: Scope::Write,
        deployment: Deployment::Production,
        expires_at: None,
        rate_limit: None,
    }
}

/// Everything in the store, read page by page.
async fn list(store: &AnyStore) -> Result<Vec<(i64, String)>, StoreError> {
    let mut all: Vec<(i64, String)> = Vec::new();
    loop {
        let after = all.last().map(|(id, _)| PetId::new(*id).unwrap());
        let request = PageRequest { limit: Limit::new(10).unwrap(), status: None, after };
        let mut visit = |pet: PetRef<'_>| {
            let (id, before) = (pet.id.get(), all.last().map_or(0, |(id, _)| *id));
            assert!(id > before, "the walk does not advance: {id} comes after {before}");
            all.push((id, pet.name.to_owned()));
        };
        let last = store.list_pets(&request, &mut visit).await?;
        if last.is_none() {
            return Ok(all);
        }
    }
}
