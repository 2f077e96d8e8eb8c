//! SQLite: who can empty the WAL, and when.

use std::{fs, thread, time::Duration};

use petstore_domain::{NewPet, PetId, PetName};
use petstore_store::{CreationOutcome, OpenMode};
use petstore_testing::stores::{act, respond};
use rusqlite::Connection;
use tempfile::TempDir;

use super::{
    sqlite::{fresh, next_id, open, sold},
    suite::count,
};

/// Another connection to the file, which waits for no lock.
fn other(directory: &TempDir) -> Connection {
    let other = Connection::open(directory.path().join("petstore.db")).unwrap();
    other.busy_timeout(Duration::ZERO).unwrap();
    other
}

/// Whether a checkpoint can empty the WAL now. This needs a moment without a reader.
fn can_empty_the_wal(other: &Connection) -> bool {
    other
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
            row.get::<_, bool>("busy")
        })
        .is_ok_and(|busy| !busy)
}

/// The number of pages in the WAL, from the WAL index (`mxFrame`).
fn pages_in_wal(directory: &TempDir) -> u32 {
    let shared = fs::read(directory.path().join("petstore.db-shm")).unwrap();
    u32::from_ne_bytes(shared[16..20].try_into().unwrap())
}

#[tokio::test]
async fn each_create_is_seen_even_when_the_wal_restarts_with_the_same_length() {
    let (writing, directory) = fresh();
    let file = directory.path().join("petstore.db");
    let other = Connection::open(&file).unwrap();
    assert_eq!(next_id(&writing).await, 1);
    for id in 2..=10 {
        // The checkpoint copies the whole WAL, so the next commit restarts it, even while another
        // process has a transaction that reads only from the database file.
        other.execute_batch("PRAGMA wal_checkpoint").unwrap();
        let reading = open(&file, OpenMode::AsIs).unwrap();
        assert_eq!(count(&reading).await, id - 1);
        let (pages, version) = (pages_in_wal(&directory), reading.version().await.unwrap());
        assert_eq!(next_id(&writing).await, i64::try_from(id).unwrap());
        // The first WAL also contained the schema.
        let is_as_long = pages_in_wal(&directory) == pages;
        assert!(is_as_long || id == 2, "the WAL did not restart");
        assert_ne!(reading.version().await.unwrap(), version);
        assert_eq!(count(&reading).await, id);
    }
}

#[tokio::test]
async fn continuous_reads_do_not_prevent_others_from_emptying_the_wal() {
    let (store, directory) = fresh();
    let first = PetId::new(next_id(&store).await).unwrap();
    let other = other(&directory);
    for _ in 0..3 {
        next_id(&store).await;
        while {
            store.get_pet(first).await.unwrap().unwrap();
            !can_empty_the_wal(&other)
        } {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn no_read_blocks_the_checkpoint_of_a_long_wal() {
    let (store, directory) = fresh();
    let other = other(&directory);
    other
        .execute_batch("BEGIN; SELECT count(*) FROM pets")
        .unwrap();
    let long = PetName::new("x".repeat(60_000)).unwrap();
    let mut last = None;
    for _ in 0..50 {
        let pet = NewPet {
            name: long.clone(),
            ..sold()
        };
        let CreationOutcome::New(created) = store.create_pet(pet, act(0), respond).await.unwrap()
        else {
            panic!()
        };
        last = Some(created.id);
    }
    other.execute_batch("COMMIT").unwrap();
    store.get_pet(last.unwrap()).await.unwrap().unwrap();
    // The writer may be at a checkpoint. No task runs meanwhile, so a transaction of the read would stay open.
    let can_empty = |_| can_empty_the_wal(&other);
    assert!((0..100_000).inspect(|_| thread::yield_now()).any(can_empty));
}

#[tokio::test]
async fn reads_leave_no_transaction_open_for_long() {
    let (store, directory) = fresh();
    let first = PetId::new(next_id(&store).await).unwrap();
    let other = other(&directory);
    assert!(can_empty_the_wal(&other));
    next_id(&store).await;
    store.get_pet(first).await.unwrap().unwrap();
    // Until this test awaits something, no other task runs.
    assert!(
        !can_empty_the_wal(&other),
        "the transaction stays open for the next read"
    );
    while !can_empty_the_wal(&other) {
        tokio::task::yield_now().await;
    }
}
