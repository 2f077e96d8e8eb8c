//! Concurrent creates, changes, orders, reads and walks, checked against a sequential model:
//! what many clients see at once is what one after the other could have seen.

mod agreement;
mod asks;
mod catalogue;
mod change_proofs;
mod checker;
mod clerk;
mod faults;
mod first_pages;
mod history;
mod kills;
mod messages;
mod numbering;
mod order_proofs;
mod proofs;
mod rules;
mod rules_proofs;
mod second_catalogue;
mod second_commands;
mod service;
mod simulated;
mod simulated_faults;
mod store_area;
mod workload;

use std::{env, path::Path};

use petstore_testing::{faulty_store, ledger, postgres_cluster};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use self::{
    checker::Order,
    service::{Place, open},
};
use crate::cli::program;

/// How many histories are made if nobody says, and for how many of them there is
/// one of processes on each kind of database.
const HISTORIES: u64 = 50;
const FOR_ONE_OF_PROCESSES: u64 = 10;

/// More threads than the machine has: the system may stop one anywhere.
fn runtime() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(6)
        .enable_all()
        .build()
        .unwrap()
}

fn number(variable: &str) -> Option<u64> {
    env::var(variable).ok().map(|text| text.parse().unwrap())
}

/// `HISTORIES` says how many histories, `HISTORIES_SEED` the seed of the first.
fn histories(kind: &str, share: u64, order: Order, place: &impl AsyncFn(u64, &Path) -> Place) {
    let histories = number("HISTORIES").unwrap_or(HISTORIES);
    let count = histories.div_ceil(share);
    let first = number("HISTORIES_SEED").unwrap_or(1);
    let runtime = runtime();
    let mut operations = 0;
    for seed in first..first + count {
        let directory = TempDir::new().unwrap();
        let history = runtime
            .block_on(async { workload::history(seed, place(seed, directory.path()).await).await });
        operations += history.len();
        if let Err(violation) = checker::check(&history, order) {
            panic!("{kind}, HISTORIES_SEED={seed} HISTORIES=1: {violation}");
        }
    }
    eprintln!(
        "{count} histories {kind}, from seed {first}: {operations} operations, all linearizable"
    );
}

fn sqlite_url(directory: &Path) -> String {
    format!("sqlite:{}", directory.join("petstore.db").display())
}

#[test]
fn histories_of_concurrent_clients_are_linearizable() {
    histories(
        "in one process",
        1,
        Order::OfIds,
        &async |seed, directory| {
            let path = directory.join("petstore.db");
            let url = sqlite_url(directory);
            // One store, or two on the same file.
            let mut stores = vec![open(&url).await, open(&url).await];
            stores.truncate(if seed.is_multiple_of(2) { 1 } else { 2 });
            Place::here(&stores, Some(&path)).await
        },
    );
}

#[test]
fn histories_of_concurrent_clients_over_postgres_are_linearizable() {
    histories(
        "in one process over PostgreSQL",
        1,
        Order::Any,
        &async |_, _| {
            let url = postgres_cluster::fresh_url().await;
            Place::here(&[open(&url).await, open(&url).await], None).await
        },
    );
}

#[test]
fn histories_of_two_processes_on_one_file_are_linearizable() {
    let kind = "of two processes on a SQLite file";
    histories(
        kind,
        FOR_ONE_OF_PROCESSES,
        Order::OfIds,
        &async |_, directory| Place::processes(directory, &sqlite_url(directory)).await,
    );
}

#[test]
fn histories_of_two_processes_over_postgres_are_linearizable() {
    let kind = "of two processes over PostgreSQL";
    histories(
        kind,
        FOR_ONE_OF_PROCESSES,
        Order::Any,
        &async |_, directory| {
            Place::processes(directory, &postgres_cluster::fresh_url().await).await
        },
    );
}
