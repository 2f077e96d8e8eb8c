//! Concurrent creates, reads and walks, checked against a sequential model:
//! what many clients see at once is what one after the other could have seen.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod checker;
mod faults;
mod history;
mod proofs;
mod workload;

use std::{env, sync::Arc};

use petstore::store::{OpenMode, Store, sqlite::SqliteStore};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// How many histories are made if nobody says.
const HISTORIES: u64 = 50;

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
#[test]
fn what_concurrent_clients_see_is_what_one_after_the_other_could_have_seen() {
    let count = number("HISTORIES").unwrap_or(HISTORIES);
    let first = number("HISTORIES_SEED").unwrap_or(1);
    let runtime = runtime();
    let mut operations = 0;
    for seed in first..first + count {
        // One process, or two on the same database.
        let (mut stores, _kept) = sqlite();
        stores.truncate(if seed % 2 == 0 { 1 } else { 2 });
        let history = runtime.block_on(workload::history(seed, &stores));
        operations += history.len();
        if let Err(violation) = checker::check(&history) {
            panic!("HISTORIES_SEED={seed} HISTORIES=1: {violation}");
        }
    }
    eprintln!("{count} histories from seed {first}, {operations} operations, all linearizable");
}
