//! SQLite: the suite, and what concerns its file.

use std::{fs, path::Path, sync::Arc, thread, time::Duration};

use petstore::{
    domain::{NewPet, PetId, PetName, PetStatus::Sold},
    store::{Created, OpenError, OpenMode, StoreError, sqlite::SqliteStore},
};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{
    retries::named,
    suite::{AnyStore, count, create, suite},
};

suite!(fresh());

pub(crate) fn fresh() -> (AnyStore, TempDir) {
    let directory = TempDir::new().unwrap();
    let store = open(&directory.path().join("petstore.db"), OpenMode::CreateAndMigrate).unwrap();
    (store, directory)
}

fn open(path: &Path, mode: OpenMode) -> Result<AnyStore, OpenError> {
    Ok(Arc::new(SqliteStore::open(path, mode)?))
}

fn sold() -> NewPet {
    NewPet { name: PetName::new("Frank".to_owned()).unwrap(), category_id: 1, status: Sold }
}

async fn next_id(store: &AnyStore) -> i64 {
    create(store, sold()).await.id.get()
}

#[tokio::test]
async fn what_was_created_is_there_after_the_store_is_opened_again() {
    let (store, directory) = fresh();
    let created = create(&store, sold()).await;
    drop(store);
    let store = open(&directory.path().join("petstore.db"), OpenMode::AsIs).unwrap();
    assert_eq!(store.get_pet(created.id).await.unwrap(), Some(created));
}

#[tokio::test]
async fn two_stores_on_one_file_see_each_other_at_once_and_share_the_ids() {
    let (one, directory) = fresh();
    let two = open(&directory.path().join("petstore.db"), OpenMode::CreateAndMigrate).unwrap();
    for id in 1..=20 {
        let (writer, reader) = if id % 2 == 0 { (&one, &two) } else { (&two, &one) };
        assert_eq!(next_id(writer).await, id);
        assert!(reader.get_pet(PetId::new(id).unwrap()).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn the_key_of_etags_belongs_to_the_database() {
    let (one, directory) = fresh();
    let two = open(&directory.path().join("petstore.db"), OpenMode::AsIs).unwrap();
    assert_eq!(one.etag_key(), two.etag_key());
    assert_ne!(one.etag_key(), fresh().0.etag_key());
}

#[tokio::test]
async fn a_write_of_another_process_changes_the_version() {
    let (one, directory) = fresh();
    let two = open(&directory.path().join("petstore.db"), OpenMode::AsIs).unwrap();
    for _ in 0..20 {
        let before = one.version().await.unwrap();
        next_id(&two).await;
        assert_ne!(one.version().await.unwrap(), before);
    }
}

/// The number of pages in the WAL, from the WAL index (`mxFrame`).
fn pages_in_log(directory: &TempDir) -> u32 {
    let shared = fs::read(directory.path().join("petstore.db-shm")).unwrap();
    u32::from_ne_bytes(shared[16..20].try_into().unwrap())
}

#[tokio::test]
async fn each_create_is_seen_also_when_the_log_begins_again_and_is_as_long_as_before() {
    let (writing, directory) = fresh();
    let file = directory.path().join("petstore.db");
    let beside = Connection::open(&file).unwrap();
    assert_eq!(next_id(&writing).await, 1);
    for id in 2..=10 {
        // All of the log is in the file, so the next commit begins it again,
        // also while somebody keeps a transaction that needs the file only.
        beside.execute_batch("PRAGMA wal_checkpoint").unwrap();
        let reading = open(&file, OpenMode::AsIs).unwrap();
        assert_eq!(count(&reading).await, id - 1);
        let (pages, version) = (pages_in_log(&directory), reading.version().await.unwrap());
        assert_eq!(next_id(&writing).await, i64::try_from(id).unwrap());
        // The first log held the schema, too.
        let is_as_long = pages_in_log(&directory) == pages;
        assert!(is_as_long || id == 2, "the log did not begin again");
        assert_ne!(reading.version().await.unwrap(), version);
        assert_eq!(count(&reading).await, id);
    }
}

#[tokio::test]
async fn a_database_behind_a_symbolic_link_is_the_same_one() {
    let (one, directory) = fresh();
    let link = directory.path().join("link.db");
    std::os::unix::fs::symlink(directory.path().join("petstore.db"), &link).unwrap();
    // Not what SQLite uses.
    std::fs::write(directory.path().join("link.db-shm"), vec![0; 32 << 10]).unwrap();
    let two = open(&link, OpenMode::AsIs).unwrap();
    for (writing, reading) in [(&one, &two), (&two, &one)] {
        let before = reading.version().await.unwrap();
        let id = next_id(writing).await;
        assert_ne!(reading.version().await.unwrap(), before);
        let pet = reading.get_pet(PetId::new(id).unwrap()).await.unwrap();
        assert!(pet.is_some());
    }
}

#[tokio::test]
async fn an_id_is_never_given_again_even_when_its_animal_was_deleted_by_hand() {
    let (store, directory) = fresh();
    assert_eq!(next_id(&store).await, 1);
    assert_eq!(next_id(&store).await, 2);
    let beside = Connection::open(directory.path().join("petstore.db")).unwrap();
    beside.execute("DELETE FROM pets", []).unwrap();
    assert_eq!(next_id(&store).await, 3);
}

#[tokio::test]
async fn ids_stay_below_2_to_the_53() {
    let (store, directory) = fresh();
    assert_eq!(next_id(&store).await, 1);
    let beside = Connection::open(directory.path().join("petstore.db")).unwrap();
    beside.execute("UPDATE sqlite_sequence SET seq = ?1", [PetId::MAX - 1]).unwrap();
    assert_eq!(next_id(&store).await, PetId::MAX);
    let refused = store.create_pet(sold(), None).await;
    assert!(matches!(refused, Err(StoreError::Internal(_))), "{refused:?}");
}

#[tokio::test]
async fn a_request_that_failed_is_not_remembered() {
    let (store, directory) = fresh();
    assert_eq!(next_id(&store).await, 1);
    let beside = Connection::open(directory.path().join("petstore.db")).unwrap();
    let continue_after =
        |id: i64| beside.execute("UPDATE sqlite_sequence SET seq = ?1", [id]).unwrap();
    let repeated = named(1, "retry-1", &sold(), 0);
    continue_after(PetId::MAX);
    store.create_pet(sold(), Some(repeated.clone())).await.unwrap_err();
    continue_after(1);
    let added = store.create_pet(sold(), Some(repeated)).await.unwrap();
    assert!(matches!(added, Created::New(_)), "{added:?}");
}

#[tokio::test]
async fn a_request_is_known_again_after_the_store_is_opened_again() {
    let (store, directory) = fresh();
    let repeated = named(1, "retry-1", &sold(), 0);
    let Created::New(pet) = store.create_pet(sold(), Some(repeated.clone())).await.unwrap() else {
        panic!("it was new");
    };
    drop(store);
    let store = open(&directory.path().join("petstore.db"), OpenMode::AsIs).unwrap();
    let again = store.create_pet(sold(), Some(repeated)).await.unwrap();
    assert_eq!(again, Created::Replayed(pet));
}

#[tokio::test]
async fn a_request_whose_animal_was_deleted_by_hand_adds_it_anew() {
    let (store, directory) = fresh();
    let repeated = named(1, "retry-1", &sold(), 0);
    store.create_pet(sold(), Some(repeated.clone())).await.unwrap();
    let beside = Connection::open(directory.path().join("petstore.db")).unwrap();
    beside.execute("DELETE FROM pets", []).unwrap();
    let again = store.create_pet(sold(), Some(repeated)).await.unwrap();
    assert!(matches!(again, Created::New(pet) if pet.id.get() == 2));
}

#[test]
fn requests_to_be_forgotten_are_found_without_looking_at_others() {
    let (_store, directory) = fresh();
    let beside = Connection::open(directory.path().join("petstore.db")).unwrap();
    let mut plan = beside
        .prepare(
            "EXPLAIN QUERY PLAN DELETE FROM idempotency_keys WHERE (api_key_id, key) IN
             (SELECT api_key_id, key FROM idempotency_keys WHERE pet_id <=
                 (SELECT last_pet_id FROM idempotency_marks
                  WHERE number = (SELECT max(number) FROM idempotency_marks) - 1)
              ORDER BY pet_id LIMIT 1)",
        )
        .unwrap();
    let steps: Vec<String> =
        plan.query_map([], |row| row.get("detail")).unwrap().map(Result::unwrap).collect();
    assert!(steps.iter().all(|step| !step.contains("SCAN") && !step.contains("SORT")), "{steps:?}");
    assert!(steps.iter().any(|step| step.contains("idempotency_keys_by_pet")), "{steps:?}");
}

#[tokio::test]
async fn while_another_process_holds_the_lock_reads_go_on() {
    let (store, directory) = fresh();
    assert_eq!(next_id(&store).await, 1);
    let mut beside = Connection::open(directory.path().join("petstore.db")).unwrap();
    let holding =
        beside.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    let creating = tokio::spawn({
        let store = Arc::clone(&store);
        async move { next_id(&store).await }
    });
    let first = PetId::new(1).unwrap();
    assert!(store.get_pet(first).await.unwrap().is_some());
    drop(holding);
    assert_eq!(creating.await.unwrap(), 2);
}

/// Whether a checkpoint can empty the WAL now, which needs a moment without a reader.
fn can_empty_the_log(beside: &Connection) -> bool {
    beside
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>("busy"))
        .is_ok_and(|busy| !busy)
}

#[tokio::test]
async fn reads_leave_nothing_open_for_long() {
    let (store, directory) = fresh();
    let first = PetId::new(next_id(&store).await).unwrap();
    let beside = Connection::open(directory.path().join("petstore.db")).unwrap();
    beside.busy_timeout(Duration::ZERO).unwrap();
    assert!(can_empty_the_log(&beside));
    next_id(&store).await;
    store.get_pet(first).await.unwrap().unwrap();
    // Nothing else runs before this test waits for something.
    assert!(!can_empty_the_log(&beside), "the transaction is kept for the next read");
    while !can_empty_the_log(&beside) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn reads_without_a_pause_do_not_keep_others_from_emptying_the_log() {
    let (store, directory) = fresh();
    let first = PetId::new(next_id(&store).await).unwrap();
    let beside = Connection::open(directory.path().join("petstore.db")).unwrap();
    beside.busy_timeout(Duration::ZERO).unwrap();
    for _ in 0..3 {
        next_id(&store).await;
        while {
            store.get_pet(first).await.unwrap().unwrap();
            !can_empty_the_log(&beside)
        } {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn no_read_is_in_the_way_while_a_long_log_is_to_be_folded() {
    let (store, directory) = fresh();
    let beside = Connection::open(directory.path().join("petstore.db")).unwrap();
    beside.busy_timeout(Duration::ZERO).unwrap();
    beside.execute_batch("BEGIN; SELECT count(*) FROM pets").unwrap();
    let long = PetName::new("x".repeat(60_000)).unwrap();
    let mut last = None;
    for _ in 0..50 {
        let pet = NewPet { name: long.clone(), ..sold() };
        let Created::New(created) = store.create_pet(pet, None).await.unwrap() else { panic!() };
        last = Some(created.id);
    }
    beside.execute_batch("COMMIT").unwrap();
    store.get_pet(last.unwrap()).await.unwrap().unwrap();
    assert!(can_empty_the_log(&beside));
}

#[tokio::test]
async fn while_its_directory_is_away_nothing_is_added_and_then_it_goes_on() {
    let above = TempDir::new().unwrap();
    let (here, away) = (above.path().join("here"), above.path().join("away"));
    fs::create_dir(&here).unwrap();
    let store = open(&here.join("petstore.db"), OpenMode::CreateAndMigrate).unwrap();
    for id in 1..=20 {
        assert_eq!(next_id(&store).await, id);
        fs::rename(&here, &away).unwrap();
        let refused = store.create_pet(sold(), None).await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        assert!(store.get_pet(PetId::new(id).unwrap()).await.unwrap().is_some());
        fs::rename(&away, &here).unwrap();
    }
}

#[tokio::test]
async fn while_no_animal_can_be_added_the_store_is_not_ready() {
    let (store, directory) = fresh();
    let beside = Connection::open(directory.path().join("petstore.db")).unwrap();
    store.check_ready().await.unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE INSERT ON pets BEGIN SELECT RAISE(ABORT, 'no'); END";
    beside.execute_batch(refuse).unwrap();
    store.check_ready().await.unwrap_err();
    store.create_pet(sold(), None).await.unwrap_err();
    beside.execute_batch("DROP TRIGGER refuse").unwrap();
    store.check_ready().await.unwrap();
    assert_eq!(next_id(&store).await, 1, "to look adds nothing");
}

#[test]
fn ten_that_start_at_once_on_an_absent_database_all_open_it() {
    for _ in 0..10 {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("petstore.db");
        thread::scope(|scope| {
            let opening: Vec<_> = (0..10)
                .map(|_| scope.spawn(|| open(&path, OpenMode::CreateAndMigrate).map(drop)))
                .collect();
            for opened in opening {
                opened.join().unwrap().unwrap();
            }
        });
    }
}

#[tokio::test]
async fn the_file_is_durable_and_recognised_as_ours() {
    let (store, directory) = fresh();
    next_id(&store).await;
    let beside = Connection::open(directory.path().join("petstore.db")).unwrap();
    let pragma = |name: &str| -> String {
        beside
            .pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0))
            .map(|value| format!("{value:?}"))
            .unwrap()
    };
    assert_eq!(pragma("journal_mode"), r#"Text("wal")"#);
    assert_eq!(pragma("user_version"), "Integer(7)");
    assert_eq!(pragma("application_id"), "Integer(1885697139)");
    assert_eq!(pragma("integrity_check"), r#"Text("ok")"#);
}

#[test]
fn an_absent_database_is_created_only_where_that_was_asked_for() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("petstore.db");
    let refused = open(&path, OpenMode::AsIs).err().unwrap();
    assert!(matches!(refused, OpenError::Absent(_)), "{refused}");
    assert!(!path.exists());
    open(&path, OpenMode::CreateAndMigrate).unwrap();
    open(&path, OpenMode::AsIs).unwrap();
}

/// Fails to open the file, in either mode, and finds it as it was.
fn refusal(path: &Path) -> String {
    let before = fs::read(path).unwrap();
    let [one, two] =
        [OpenMode::CreateAndMigrate, OpenMode::AsIs].map(|mode| open(path, mode).err().unwrap());
    assert_eq!(one.to_string(), two.to_string());
    assert_eq!(fs::read(path).unwrap(), before);
    one.to_string()
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_as_it_was() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("notes.txt");
    fs::write(&path, "not a database, but long enough to be taken for one: ".repeat(100)).unwrap();
    assert!(refusal(&path).ends_with("notes.txt is not a SQLite database"));
}

#[test]
fn a_database_of_another_program_is_refused_and_left_as_it_was() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("other.db");
    let other = Connection::open(&path).unwrap();
    other.execute("CREATE TABLE pets (name TEXT)", []).unwrap();
    drop(other);
    assert!(refusal(&path).contains("other.db is a SQLite database of another program"));
}

#[test]
fn a_database_of_a_newer_version_is_refused_and_left_as_it_was() {
    let (store, directory) = fresh();
    drop(store);
    let path = directory.path().join("petstore.db");
    let newer = Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    let message = refusal(&path);
    assert!(
        message.contains("schema version 99") && message.contains("newer release"),
        "{message}"
    );
}

#[test]
fn a_path_that_cannot_be_opened_is_said_so() {
    let directory = TempDir::new().unwrap();
    for path in [directory.path().to_owned(), directory.path().join("absent/petstore.db")] {
        let message = open(&path, OpenMode::CreateAndMigrate).err().unwrap().to_string();
        assert!(message.starts_with("cannot open the database "), "{message}");
    }
}
