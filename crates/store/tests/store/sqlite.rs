//! SQLite: the suite, and tests of its files.

use std::{fs, path::Path, sync::Arc, thread};

use petstore_domain::{NewPet, PetId, PetName, PetStatus::Sold};
use petstore_store::{CreationOutcome, OpenError, OpenMode, StoreError};
use petstore_store_sqlite::SqliteStore;
use petstore_testing::stores::{AnyStore, act, create, respond};
use rusqlite::{Connection, StatementStatus};
use tempfile::TempDir;

use crate::{
    retries::{named, replayed},
    suite::suite,
};

suite!(fresh());

pub(crate) fn fresh() -> (AnyStore, TempDir) {
    let folder = TempDir::new().unwrap();
    (
        open(
            &folder.path().join("petstore.db"),
            OpenMode::CreateAndMigrate,
        )
        .unwrap(),
        folder,
    )
}

pub(crate) fn open(path: &Path, mode: OpenMode) -> Result<AnyStore, OpenError> {
    petstore_web::server::raise_open_files_limit();
    Ok(Arc::new(SqliteStore::open(path, mode)?))
}

pub(crate) fn sold() -> NewPet {
    NewPet {
        name: PetName::new("Frank".to_owned()).unwrap(),
        category_id: 1,
        status: Sold,
        is_listed: true,
    }
}

pub(crate) async fn next_id(store: &AnyStore) -> i64 {
    create(store, sold()).await.id.get()
}

#[tokio::test]
async fn created_animals_are_there_after_the_store_is_reopened() {
    let (store, directory) = fresh();
    let created = create(&store, sold()).await;
    drop(store);
    let store = open(&directory.path().join("petstore.db"), OpenMode::AsIs).unwrap();
    assert_eq!(store.get_pet(created.id).await.unwrap(), Some(created));
}

#[tokio::test]
async fn two_stores_on_one_file_see_each_other_at_once_and_share_the_ids() {
    let (one, directory) = fresh();
    let two = open(
        &directory.path().join("petstore.db"),
        OpenMode::CreateAndMigrate,
    )
    .unwrap();
    for id in 1..=20 {
        let (writer, reader) = if id % 2 == 0 {
            (&one, &two)
        } else {
            (&two, &one)
        };
        assert_eq!(next_id(writer).await, id);
        assert!(
            reader
                .get_pet(PetId::new(id).unwrap())
                .await
                .unwrap()
                .is_some()
        );
    }
}

#[tokio::test]
async fn the_etag_key_belongs_to_the_database() {
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

#[tokio::test]
async fn a_database_behind_a_symbolic_link_is_the_same_one() {
    let (one, directory) = fresh();
    let link = directory.path().join("link.db");
    std::os::unix::fs::symlink(directory.path().join("petstore.db"), &link).unwrap();
    // A decoy: SQLite uses the `-shm` file of the real path.
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
    let other = Connection::open(directory.path().join("petstore.db")).unwrap();
    other.execute("DELETE FROM pets", []).unwrap();
    assert_eq!(next_id(&store).await, 3);
}

#[tokio::test]
async fn ids_stay_below_2_to_the_53() {
    let (store, directory) = fresh();
    assert_eq!(next_id(&store).await, 1);
    let other = Connection::open(directory.path().join("petstore.db")).unwrap();
    other
        .execute("UPDATE sqlite_sequence SET seq = ?1", [PetId::MAX - 1])
        .unwrap();
    assert_eq!(next_id(&store).await, PetId::MAX);
    let rejected = store.create_pet(sold(), act(0), respond).await;
    assert!(
        matches!(rejected, Err(StoreError::Internal(_))),
        "{rejected:?}"
    );
}

#[tokio::test]
async fn a_failed_request_is_not_remembered() {
    let (store, directory) = fresh();
    assert_eq!(next_id(&store).await, 1);
    let other = Connection::open(directory.path().join("petstore.db")).unwrap();
    let continue_after = |id: i64| {
        other
            .execute("UPDATE sqlite_sequence SET seq = ?1", [id])
            .unwrap()
    };
    let repeated = named(1, "retry-1", &sold(), 0);
    continue_after(PetId::MAX);
    store
        .create_pet(sold(), repeated.clone(), respond)
        .await
        .unwrap_err();
    continue_after(1);
    let added = store.create_pet(sold(), repeated, respond).await.unwrap();
    assert!(matches!(added, CreationOutcome::New(_)), "{added:?}");
}

#[tokio::test]
async fn a_request_is_remembered_after_the_store_is_reopened() {
    let (store, directory) = fresh();
    let repeated = named(1, "retry-1", &sold(), 0);
    let CreationOutcome::New(pet) = store
        .create_pet(sold(), repeated.clone(), respond)
        .await
        .unwrap()
    else {
        panic!("it was new");
    };
    drop(store);
    let store = open(&directory.path().join("petstore.db"), OpenMode::AsIs).unwrap();
    let again = store.create_pet(sold(), repeated, respond).await.unwrap();
    assert_eq!(again, replayed(&pet));
}

/// Such a request is only in the table of that release.
#[tokio::test]
async fn a_request_of_the_previous_release_without_its_animal_adds_it_again() {
    let (store, directory) = fresh();
    let repeated = named(1, "retry-1", &sold(), 0);
    store
        .create_pet(sold(), repeated.clone(), respond)
        .await
        .unwrap();
    let other = Connection::open(directory.path().join("petstore.db")).unwrap();
    other
        .execute_batch("DELETE FROM pets; DELETE FROM requests")
        .unwrap();
    let again = store.create_pet(sold(), repeated, respond).await.unwrap();
    assert!(matches!(again, CreationOutcome::New(pet) if pet.id.get() == 2));
}

#[test]
fn to_forget_old_requests_reads_no_more_than_the_oldest() {
    let (_store, directory) = fresh();
    let other = Connection::open(directory.path().join("petstore.db")).unwrap();
    let remember =
        "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 999)
        INSERT INTO requests (caller, key, operation, fingerprint, status, body, created_at, mark)
        SELECT 1, i, 'placeOrder', zeroblob(32), 201, x'', 0, i FROM n";
    other.execute(remember, []).unwrap();
    let forget = "DELETE FROM requests WHERE id IN
        (SELECT id FROM (SELECT id, mark FROM requests ORDER BY id LIMIT 10) WHERE mark < 5)";
    let mut forget = other.prepare(forget).unwrap();
    assert_eq!(forget.execute([]).unwrap(), 4);
    assert!(forget.get_status(StatementStatus::FullscanStep) <= 20);
}

#[tokio::test]
async fn reads_continue_while_another_process_holds_the_lock() {
    let (store, directory) = fresh();
    assert_eq!(next_id(&store).await, 1);
    let mut other = Connection::open(directory.path().join("petstore.db")).unwrap();
    let holding = other
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .unwrap();
    let creating = tokio::spawn({
        let store = Arc::clone(&store);
        async move { next_id(&store).await }
    });
    let first = PetId::new(1).unwrap();
    assert!(store.get_pet(first).await.unwrap().is_some());
    drop(holding);
    assert_eq!(creating.await.unwrap(), 2);
}

#[tokio::test]
async fn nothing_is_added_while_the_directory_is_missing_and_then_writes_continue() {
    let above = TempDir::new().unwrap();
    let (here, away) = (above.path().join("here"), above.path().join("away"));
    fs::create_dir(&here).unwrap();
    let store = open(&here.join("petstore.db"), OpenMode::CreateAndMigrate).unwrap();
    for id in 1..=20 {
        assert_eq!(next_id(&store).await, id);
        fs::rename(&here, &away).unwrap();
        let rejected = store.create_pet(sold(), act(0), respond).await;
        assert!(
            matches!(rejected, Err(StoreError::Unavailable(_))),
            "{rejected:?}"
        );
        assert!(
            store
                .get_pet(PetId::new(id).unwrap())
                .await
                .unwrap()
                .is_some()
        );
        fs::rename(&away, &here).unwrap();
    }
}

#[tokio::test]
async fn a_store_that_cannot_add_animals_is_not_ready() {
    let (store, directory) = fresh();
    let other = Connection::open(directory.path().join("petstore.db")).unwrap();
    store.check_ready().await.unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE INSERT ON pets BEGIN SELECT RAISE(ABORT, 'no'); END";
    other.execute_batch(refuse).unwrap();
    store.check_ready().await.unwrap_err();
    store.create_pet(sold(), act(0), respond).await.unwrap_err();
    other.execute_batch("DROP TRIGGER refuse").unwrap();
    store.check_ready().await.unwrap();
    assert_eq!(next_id(&store).await, 1, "the check adds nothing");
}

#[test]
fn ten_stores_that_open_a_missing_database_together_all_succeed() {
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
async fn the_file_has_durable_settings_and_our_application_id() {
    let (store, directory) = fresh();
    next_id(&store).await;
    let other = Connection::open(directory.path().join("petstore.db")).unwrap();
    let pragma = |name: &str| -> String {
        other
            .pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0))
            .map(|value| format!("{value:?}"))
            .unwrap()
    };
    assert_eq!(pragma("journal_mode"), r#"Text("wal")"#);
    let migrations = concat!(env!("CARGO_MANIFEST_DIR"), "/../store-sqlite/migrations");
    let step_count = std::fs::read_dir(migrations).unwrap().count();
    assert_eq!(pragma("user_version"), format!("Integer({step_count})"));
    assert_eq!(pragma("application_id"), "Integer(1885697139)");
    assert_eq!(pragma("integrity_check"), r#"Text("ok")"#);
}

#[test]
fn a_missing_database_is_created_only_on_request() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("petstore.db");
    let rejected = open(&path, OpenMode::AsIs).err().unwrap();
    assert!(matches!(rejected, OpenError::Absent(_)), "{rejected}");
    assert!(!path.exists());
    open(&path, OpenMode::CreateAndMigrate).unwrap();
    open(&path, OpenMode::AsIs).unwrap();
}

/// The message of failing to open the file, in both modes. The file must stay unchanged.
fn rejection(path: &Path) -> String {
    let before = fs::read(path).unwrap();
    let [one, two] =
        [OpenMode::CreateAndMigrate, OpenMode::AsIs].map(|mode| open(path, mode).err().unwrap());
    assert_eq!(one.to_string(), two.to_string());
    assert_eq!(fs::read(path).unwrap(), before);
    one.to_string()
}

#[test]
fn a_file_that_is_not_a_database_is_rejected_and_unchanged() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("notes.txt");
    fs::write(
        &path,
        "not a database, but long enough to be taken for one: ".repeat(100),
    )
    .unwrap();
    assert!(rejection(&path).contains("notes.txt is not a SQLite database: "));
}

#[test]
fn a_database_of_another_program_is_rejected_and_unchanged() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("other.db");
    let other = Connection::open(&path).unwrap();
    other.execute("CREATE TABLE pets (name TEXT)", []).unwrap();
    drop(other);
    assert!(rejection(&path).contains("other.db is a SQLite database of another program"));
}

#[test]
fn a_database_of_a_newer_version_is_rejected_and_unchanged() {
    let (store, directory) = fresh();
    drop(store);
    let path = directory.path().join("petstore.db");
    let newer = Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    let message = rejection(&path);
    assert!(
        message.contains("schema version 99") && message.contains("newer release"),
        "{message}"
    );
}

#[test]
fn the_error_names_a_path_that_cannot_be_opened() {
    let directory = TempDir::new().unwrap();
    for path in [
        directory.path().to_owned(),
        directory.path().join("absent/petstore.db"),
    ] {
        let message = open(&path, OpenMode::CreateAndMigrate)
            .err()
            .unwrap()
            .to_string();
        assert!(
            message.starts_with("cannot open the database "),
            "{message}"
        );
    }
}
