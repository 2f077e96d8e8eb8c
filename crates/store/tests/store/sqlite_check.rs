//! SQLite: `petstore check` finds each disagreement in the store area.

use petstore_databases::{self as databases, DatabaseUrl};
use petstore_store::OpenMode;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{
    area_check::{DISAGREEMENTS, POISON, fill, use_poisoned},
    sqlite::{fresh, open},
};

async fn database() -> (Connection, TempDir) {
    let (store, directory) = fresh();
    fill(&store).await;
    drop(store);
    let hand = Connection::open(directory.path().join("petstore.db")).unwrap();
    hand.execute_batch("PRAGMA ignore_check_constraints = ON")
        .unwrap();
    (hand, directory)
}

fn url(directory: &TempDir) -> DatabaseUrl {
    DatabaseUrl::Sqlite(directory.path().join("petstore.db"))
}

fn problems(directory: &TempDir) -> Vec<String> {
    databases::check(&url(directory)).unwrap().problems
}

#[tokio::test]
async fn orders_animals_and_the_search_agree() {
    let (_hand, directory) = database().await;
    assert_eq!(problems(&directory), [""; 0]);
}

#[tokio::test]
async fn each_disagreement_in_the_store_area_is_found() {
    let of_sqlite = [
        (
            "UPDATE orders SET reference = 'a' || char(0) WHERE id = 1",
            "order 1 is invalid: Invalid column type Text at index: 4, name: a\0",
        ),
        (
            "UPDATE orders SET holds = 2 WHERE id = 1",
            "CHECK constraint failed in orders",
        ),
        (
            "UPDATE sqlite_sequence SET seq = 2 WHERE name = 'orders'",
            "sqlite_sequence does not contain the last id of orders",
        ),
        (
            "UPDATE withdrawn_pets SET id = 99 WHERE id = 4",
            "sqlite_sequence does not contain the last id of pets",
        ),
        (
            "UPDATE sqlite_sequence SET seq = 9007199254740991 WHERE name = 'pets'",
            "the last id of pets is above 9006649498927104",
        ),
        (
            "UPDATE word_blocks SET words = x'00'",
            "word_blocks is invalid",
        ),
        (
            "UPDATE value_blocks SET pets = x'00'",
            "value_blocks is invalid",
        ),
        ("DROP TRIGGER search_changed", "search_changed is missing"),
    ];
    for (by_hand, expected) in DISAGREEMENTS.into_iter().chain(of_sqlite) {
        let (hand, directory) = database().await;
        hand.execute_batch(by_hand).unwrap();
        let found = problems(&directory);
        assert!(
            found.iter().any(|problem| problem.starts_with(expected)),
            "{by_hand}: {found:?}"
        );
    }
}

#[tokio::test]
async fn a_database_with_times_that_could_not_be_read_is_used_as_before() {
    let (hand, directory) = database().await;
    hand.execute_batch(POISON).unwrap();
    assert_eq!(problems(&directory), [""; 0]);
    use_poisoned(&url(&directory)).await;
    assert_eq!(problems(&directory), [""; 0]);
}

#[tokio::test]
async fn many_disagreements_of_one_kind_are_counted() {
    let (hand, directory) = database().await;
    let many = "WITH RECURSIVE n (i) AS (VALUES (100) UNION ALL SELECT i + 1 FROM n WHERE i < 149)
        INSERT INTO orders (pet_id, status, holds, created_at, closed_at, version)
        SELECT i, 'returned', 0, 0, 0, 1 FROM n";
    hand.execute(many, []).unwrap();
    let found = problems(&directory);
    assert_eq!(found.len(), 21, "{found:?}");
    assert_eq!(found[20], "more of this kind: 30");
}

#[tokio::test]
async fn a_file_that_is_opened_again_is_the_same_incarnation_and_one_at_another_path_is_not() {
    let (one, directory) = fresh();
    let before = one.incarnation().await.unwrap();
    drop(one);
    let path = directory.path().join("petstore.db");
    let again = open(&path, OpenMode::AsIs).unwrap();
    assert_eq!(again.incarnation().await.unwrap(), before);
    drop(again);
    // A snapshot of a file system has the same inodes and times of birth at another path.
    let moved = directory.path().join("moved.db");
    std::fs::rename(path, &moved).unwrap();
    let moved = open(&moved, OpenMode::AsIs).unwrap();
    assert_ne!(moved.incarnation().await.unwrap(), before);
}
