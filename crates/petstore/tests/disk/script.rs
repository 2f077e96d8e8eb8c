//! The operations on a store while its disk fails, and the checks after them.

use std::{mem::take, path::Path, sync::Arc};

use faulty_vfs::{Disk, close_files_under};
use futures_util::future::join_all;
use jiff::Timestamp;
use petstore_databases::check;
use petstore_domain::{ApiKey, Deployment, KeyId, KeyUse, NewKey, Scope, store_area::OrderId};
use petstore_store::{CreationOutcome, OpenError, OpenMode, StoreError};
use petstore_store_sqlite::SqliteStore;
use petstore_testing::{
    faulty_store::{Fault, Faulty},
    ledger::Ledger,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use crate::changes::{
    Act, AnyStore, Change, Shown, What, about, act, name, pet, respond_to_create, there,
};

fn open(path: &Path) -> Result<AnyStore, OpenError> {
    Ok(Arc::new(SqliteStore::open(
        path,
        OpenMode::CreateAndMigrate,
    )?))
}

/// One run: a store that is used, closed, reopened and used again.
pub(crate) struct Run {
    // Declared before the directory, whose drop closes files that the store leaves open.
    store: Option<AnyStore>,
    pub(crate) disk: Disk,
    directory: Directory,
    next_number: usize,
    ledger: Ledger,
    /// What was acknowledged, with the responses.
    acknowledged: Vec<(Change, Vec<u8>)>,
    rejected: Vec<Change>,
    /// Failed before the store was closed while its disk failed. Such a write may be complete in
    /// the WAL, and be there after the store is reopened.
    uncertain: Vec<Change>,
    /// Reported as not done, rather than as unknown.
    not_done: Vec<Change>,
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
            next_number: 0,
            ledger: Ledger::default(),
            acknowledged: Vec::new(),
            rejected: Vec::new(),
            uncertain: Vec::new(),
            not_done: Vec::new(),
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
        self.change(&[Act::Reserve, Act::Sell, Act::Rename, Act::Withdraw])
            .await;
        self.checkpoint().await;
        self.change(&[Act::Complete, Act::Return, Act::Reserve, Act::Restore])
            .await;
        self.create(3).await;
        self.close().await;
        self.open().await;
        self.change(&[Act::Return, Act::Reopen]).await;
        self.keys().await;
        self.change(&[Act::Withdraw, Act::Reserve, Act::Cancel, Act::Rename])
            .await;
        self.create(4).await;
        if let Some(store) = &self.store {
            let _ = there(store).await;
        }
    }

    async fn open(&mut self) {
        self.store = open(&self.directory.path().join("petstore.db")).ok();
        if let Some(store) = self.store.take_if(|_| self.acknowledges_early) {
            let last = self.ledger.newest_pets().last().map_or(0, |pet| pet.id);
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

    /// Creates this many animals concurrently.
    pub(crate) async fn create(&mut self, count: usize) {
        let numbers = self.next_number..self.next_number + count;
        self.next_number += count;
        let create = |number| Change {
            number,
            what: What::Create(name(number)),
        };
        self.carry_out(numbers.map(create).collect()).await;
    }

    /// Does these acts concurrently, each with one of the first acknowledged animals. An act that
    /// needs an order is left out if there is none.
    async fn change(&mut self, acts: &[Act]) {
        let mut changes = Vec::new();
        for (act, pet) in acts.iter().zip(self.ledger.newest_pets()) {
            let order = self
                .ledger
                .newest_orders()
                .rfind(|order| order.pet == pet.id);
            let order = order.map(|order| OrderId::new(order.id).unwrap());
            let number = self.next_number;
            if let Some(command) = act.command(pet, order, number) {
                changes.push(Change {
                    number,
                    what: What::Command(pet.id, command),
                });
                self.next_number += 1;
            }
        }
        self.carry_out(changes).await;
    }

    /// Carries out changes concurrently, and records the results.
    async fn carry_out(&mut self, changes: Vec<Change>) {
        let Some(store) = self.store.clone() else {
            return;
        };
        let done = join_all(changes.iter().map(|change| change.carry_out(&store))).await;
        for (change, done) in changes.into_iter().zip(done) {
            match done {
                Ok(Some((body, _))) => self.acknowledge(change, body),
                // Refused, so it has no effect.
                Ok(None) => {}
                Err(error) => {
                    match error {
                        StoreError::OutcomeUnknown(_) => self.unknown += 1,
                        // People are told.
                        StoreError::Unavailable(cause) if cause.to_string().contains("full") => {
                            panic!("a full disk is only unavailable: {cause}")
                        }
                        _ => self.not_done.push(change.clone()),
                    }
                    self.rejected.push(change);
                }
            }
        }
    }

    fn acknowledge(&mut self, change: Change, body: Vec<u8>) {
        match serde_json::from_slice(&body).unwrap() {
            Shown::Pet(pet) => self.ledger.add_pet(&pet),
            Shown::Order(order) => self.ledger.add_order(&order),
        }
        self.acknowledged.push((change, body));
    }

    /// Creates, rotates and uses a key.
    async fn keys(&mut self) {
        let Some(store) = &self.store else { return };
        let Ok(key) = store.create_key(new_key(self.next_number), act()).await else {
            return;
        };
        let (successor, until) = (new_key(self.next_number + 1), Timestamp::UNIX_EPOCH);
        let _ = store.rotate_key(key.id, successor, until, act()).await;
        let (id, used_at) = (KeyId(1), Timestamp::UNIX_EPOCH);
        let used = KeyUse {
            id,
            used_at,
            deprecated_call_at: Some(used_at),
        };
        let _ = store.record_key_uses(vec![used]).await;
        self.next_number += 2;
    }

    /// Runs a checkpoint, as another process might. It waits for the store's readers, so they go on
    /// meanwhile.
    async fn checkpoint(&self) {
        let path = self.directory.path().join("petstore.db");
        let checkpoint = move || {
            if let Ok(other) = Connection::open(path) {
                let _ = other.execute_batch("PRAGMA wal_checkpoint(RESTART)");
            }
        };
        spawn_blocking(checkpoint).await.unwrap();
    }

    /// Kills the process. Another one opens what the operating system has.
    pub(crate) async fn kill(&mut self) {
        let directory = directory();
        let disk = self.disk.kill(directory.path()).unwrap();
        self.close().await;
        (self.directory, self.disk) = (directory, disk);
    }

    /// After the end of the fault, the store works at once. It has what it acknowledged, and
    /// nothing that it rejected. A retry of a rejected request takes effect once.
    pub(crate) async fn continues(&mut self) {
        self.disk.heal();
        if self.store.is_none() {
            self.store = Some(open(&self.directory.path().join("petstore.db")).unwrap());
        }
        let rejected = self.rejected.len();
        self.create(1).await;
        assert_eq!(self.rejected.len(), rejected, "it does not recover");
        let store = self.store.clone().unwrap();
        self.ledger.compare(&there(&store).await.unwrap(), |pet| {
            about(&self.uncertain, pet)
        });
        for change in [take(&mut self.uncertain), take(&mut self.rejected)].concat() {
            if let Some((body, _)) = change.carry_out(&store).await.unwrap() {
                self.acknowledge(change, body);
            }
        }
        self.ledger.compare(&there(&store).await.unwrap(), |_| 0);
        self.are_replayed(&store).await;
    }

    /// Each of the newest requests gets its first response again.
    async fn are_replayed(&self, store: &AnyStore) {
        for (change, first) in self.acknowledged.iter().rev().take(4) {
            let (again, is_replay) = change.carry_out(store).await.unwrap().unwrap();
            assert!(is_replay && again == *first, "{change:?}");
        }
    }

    /// After a kill, nothing is there that was reported as not done.
    pub(crate) async fn reported_correctly(&mut self) {
        let mut unknown = [&self.uncertain[..], &self.rejected].concat();
        unknown.retain(|change| !self.not_done.contains(change));
        self.kill().await;
        self.disk.heal();
        self.open().await;
        let there = there(self.store.as_ref().unwrap()).await.unwrap();
        self.ledger.compare(&there, |pet| about(&unknown, pet));
    }

    /// Retries the rejected changes that are in the WAL nevertheless, and are acknowledged without
    /// a commit. Returns their number.
    pub(crate) async fn acknowledges_recovered_changes(&mut self) -> usize {
        self.disk.heal();
        self.open().await;
        let store = self.store.clone().unwrap();
        let there = there(&store).await.unwrap();
        let mut unexplained = self.ledger.unexplained(&there);
        unexplained.retain(|(_, more)| *more != [0, 0]);
        let (left, lost) = take(&mut self.uncertain)
            .into_iter()
            .partition(|change| unexplained.iter().any(|(pet, _)| change.is_about(pet)));
        let left: Vec<Change> = left;
        self.uncertain = lost;
        let count = left.len();
        for change in left {
            let (body, is_replay) = change.carry_out(&store).await.unwrap().unwrap();
            assert!(is_replay, "{change:?}");
            self.acknowledge(change, body);
        }
        count
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
        let problems = check(&format!("sqlite:{}", path.display()).parse().unwrap())
            .unwrap()
            .problems;
        assert!(problems.is_empty(), "{problems:?}");
        let there = there(&store).await.unwrap();
        let unknown = [&self.uncertain[..], &self.rejected].concat();
        self.ledger.compare(&there, |pet| about(&unknown, pet));
        let next = store
            .create_pet(pet("next"), act(), respond_to_create)
            .await
            .unwrap();
        let CreationOutcome::New(next) = next else {
            panic!("{next:?}")
        };
        assert!(there.pets.keys().all(|id| *id < next.id.get()));
        self.are_replayed(&store).await;
    }
}

/// In memory if possible: the model is the disk.
struct Directory(TempDir);

fn directory() -> Directory {
    Directory(
        TempDir::new_in("/dev/shm")
            .or_else(|_| TempDir::new())
            .unwrap(),
    )
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
