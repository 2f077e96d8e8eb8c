//! Concurrent creates, changes, removals, reads and walks, checked against a sequential model:
//! what many clients see at once is what one after the other could have seen.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod agreement;
mod by_hand;
mod catalogue;
mod checker;
mod faults;
#[expect(dead_code, reason = "what is acknowledged early is of the disk's tests")]
#[path = "../shared/faulty_store.rs"]
mod faulty_store;
mod first_pages;
mod history;
mod order_proofs;
#[path = "../shared/postgres.rs"]
mod postgres_cluster;
#[expect(dead_code, reason = "here the program only serves")]
#[path = "../cli/program.rs"]
mod program;
mod proofs;
mod rules;
mod rules_proofs;
mod service;
mod simulated;
mod simulated_faults;
mod store_area;
#[path = "../shared/with_pets.rs"]
mod with_pets;
mod workload;

use std::{env, sync::Arc};

use petstore::store::{OpenMode, Store, sqlite::SqliteStore};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use self::{checker::Order, service::Place};

/// How many histories are made if nobody says, and for how many of them there is
/// one of processes on each kind of database.
const HISTORIES: u64 = 50;
const FOR_ONE_OF_PROCESSES: u64 = 10;

/// A fresh database, opened twice as by two processes.
fn sqlite() -> (Vec<Arc<dyn Store>>, TempDir) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("petstore.db");
    let open = || SqliteStore::open(&path, OpenMode::CreateAndMigrate).unwrap();
    let stores = (0..2).map(|_| -> Arc<dyn Store> { Arc::new(open()) }).collect();
    (stores, directory)
}

/// More threads than the machine has: the system may stop one anywhere.
fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(6).enable_all().build().unwrap()
}

fn number(variable: &str) -> Option<u64> {
    env::var(variable).ok().map(|text| text.parse().unwrap())
}

/// `HISTORIES` says how many histories, `HISTORIES_SEED` the seed of the first.
fn histories(kind: &str, share: u64, order: Order, place: impl AsyncFn(u64) -> (Place, TempDir)) {
    let histories = number("HISTORIES").unwrap_or(HISTORIES);
    let count = histories.div_ceil(share);
    let first = number("HISTORIES_SEED").unwrap_or(1);
    let runtime = runtime();
    let mut operations = 0;
    for seed in first..first + count {
        let history = runtime.block_on(async {
            let (place, _kept) = place(seed).await;
            workload::history(seed, &place).await
        });
        operations += history.len();
        if let Err(violation) = checker::check(&history, order) {
            panic!("{kind}, HISTORIES_SEED={seed} HISTORIES=1: {violation}");
        }
    }
    eprintln!(
        "{count} histories {kind}, from seed {first}: {operations} operations, all linearizable"
    );
}

#[test]
fn histories_of_concurrent_clients_are_linearizable() {
    histories("in one process", 1, Order::OfIds, async |seed| {
        // One store, or two on the same file.
        let (mut stores, directory) = sqlite();
        stores.truncate(if seed % 2 == 0 { 1 } else { 2 });
        (Place::here(&stores, &directory.path().join("petstore.db")).await, directory)
    });
}

#[test]
fn histories_of_two_processes_on_one_file_are_linearizable() {
    histories(
        "of two processes on a SQLite file",
        FOR_ONE_OF_PROCESSES,
        Order::OfIds,
        async |_| {
            let directory = TempDir::new().unwrap();
            let url = format!("sqlite:{}", directory.path().join("petstore.db").display());
            (Place::processes(directory.path(), &url).await, directory)
        },
    );
}

#[test]
fn histories_of_two_processes_over_postgres_are_linearizable() {
    histories("of two processes over PostgreSQL", FOR_ONE_OF_PROCESSES, Order::Any, async |_| {
        let directory = TempDir::new().unwrap();
        let url = postgres_cluster::fresh_url().await;
        (Place::processes(directory.path(), &url).await, directory)
    });
}
