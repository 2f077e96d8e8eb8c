//! SQLite: `petstore check` finds each disagreement in the store area.

use petstore::{
    domain::{
        PetStatus::{Available, Pending, Sold},
        store_area::{Command, Preconditions},
    },
    store::{self, DatabaseUrl},
};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{
    area::{add, change, label, place, reserve, sell, withdraw},
    sqlite::fresh,
    suite::new_pet,
};

/// Animals 1 (reserved by order 1), 2 (sold by order 2), 3 (sold by order 3 and withdrawn), 4 to 9,
/// and category 7, merged for the search except for animal 4, which changed, and animal 9.
async fn database() -> (Connection, TempDir) {
    let (store, directory) = fresh();
    let mut pets = Vec::new();
    for _ in 1..=8 {
        pets.push(add(&store, new_pet("Max", 7, Available)).await);
    }
    place(&store, reserve(pets[0])).await;
    place(&store, sell(pets[1])).await;
    place(&store, sell(pets[2])).await;
    change(&store, withdraw(pets[2])).await;
    let preconditions = Preconditions { if_match: None, if_absent: true };
    change(&store, Command::PutCategory { id: 7, label: label("cats"), preconditions }).await;
    while store.tend_search(0).await.unwrap() {}
    change(&store, withdraw(pets[3])).await;
    add(&store, new_pet("Max", 7, Pending)).await;
    add(&store, new_pet("Max", 7, Sold)).await;
    drop(store);
    let hand = Connection::open(directory.path().join("petstore.db")).unwrap();
    hand.execute_batch("PRAGMA ignore_check_constraints = ON").unwrap();
    (hand, directory)
}

fn problems(directory: &TempDir) -> Vec<String> {
    let path = directory.path().join("petstore.db");
    let url: DatabaseUrl = format!("sqlite:{}", path.display()).parse().unwrap();
    store::check(&url).unwrap().problems
}

#[tokio::test]
async fn orders_animals_and_the_search_agree() {
    let (_hand, directory) = database().await;
    assert_eq!(problems(&directory), [""; 0]);
}

#[tokio::test]
async fn each_disagreement_in_the_store_area_is_found() {
    for (by_hand, expected) in [
        (
            "UPDATE pets SET status = 'sold' WHERE id = 1",
            "order 1 is reserved, but its animal is not pending in the catalogue",
        ),
        (
            "UPDATE pets SET status = 'available' WHERE id = 2",
            "order 2 is completed and holds its animal, but the animal is not sold",
        ),
        (
            "UPDATE withdrawn_pets SET status = 'available' WHERE id = 3",
            "order 3 is completed and holds its animal, but the animal is not sold",
        ),
        (
            "UPDATE orders SET holds = 0, status = 'returned', pet_id = 99 WHERE id = 2",
            "order 2 is for an animal that is not there",
        ),
        (
            "INSERT INTO pets (id, name, category_id, status) VALUES (3, 'Max', 7, 'sold')",
            "animal 3 is withdrawn, and also in the catalogue",
        ),
        ("UPDATE pets SET version = 0 WHERE id = 5", "animal 5 has an invalid version"),
        (
            "UPDATE withdrawn_pets SET version = 0 WHERE id = 3",
            "withdrawn animal 3 has an invalid version",
        ),
        ("UPDATE orders SET version = 0 WHERE id = 1", "order 1 has an invalid version"),
        ("UPDATE categories SET version = 0", "category 7 has an invalid version"),
        (
            "UPDATE pets SET created_at = 1000000000000000000 WHERE id = 5",
            "animal 5 has an invalid time",
        ),
        (
            "UPDATE withdrawn_pets SET reason = 'eaten' WHERE id = 3",
            "withdrawn animal 3 is invalid: Invalid column type Text at index: 9, name: eaten",
        ),
        (
            "UPDATE orders SET reference = 'a' || char(0) WHERE id = 1",
            "order 1 is invalid: Invalid column type Text at index: 4, name: a\0",
        ),
        ("UPDATE categories SET label = ''", "category 7 is invalid"),
        ("UPDATE orders SET closed_at = 1 WHERE id = 1", "CHECK constraint failed in orders"),
        (
            "UPDATE sqlite_sequence SET seq = 2 WHERE name = 'orders'",
            "sqlite_sequence does not contain the last id of orders",
        ),
        (
            "UPDATE withdrawn_pets SET id = 99 WHERE id = 4",
            "sqlite_sequence does not contain the last id of pets",
        ),
        (
            "DELETE FROM search_by_name WHERE id = 5",
            "search_by_name does not agree with the animals",
        ),
        (
            "UPDATE search_by_category SET list = 1 WHERE id = 5",
            "search_by_category does not agree with the animals",
        ),
        (
            "UPDATE search_by_category_and_name SET key = 'min' WHERE id = 5",
            "search_by_category_and_name does not agree with the animals",
        ),
        ("DELETE FROM search_pending", "search_by_name does not agree with the animals"),
        ("DROP TRIGGER search_pet_changed", "search_pet_changed is missing"),
    ] {
        let (hand, directory) = database().await;
        hand.execute_batch(by_hand).unwrap();
        let found = problems(&directory);
        assert!(found.iter().any(|problem| problem.starts_with(expected)), "{by_hand}: {found:?}");
    }
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
