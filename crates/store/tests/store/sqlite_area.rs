//! SQLite: the suite of the store area, and tests of its search and of several stores on one file.

use std::{fs, sync::Arc};

use futures_util::{future::join_all, poll};
use petstore_databases::{self as databases, DatabaseUrl};
use petstore_domain::{
    NewPet,
    PetStatus::{Available, Sold},
    idempotency::fingerprint,
    store_area::{Command, FieldValues, NamePrefix, PetQuery},
};
use petstore_store::{ExecutionOutcome, OpenMode, StoreError, bulk::IdSource};
use petstore_testing::{
    area::{
        add, change, complete, execute, order, order_id, pet, pet_id, place, reserve, respond,
        restore, sell, withdraw,
    },
    stores::{AnyStore, act, new_pet},
};
use rusqlite::{Connection, params};
use tempfile::TempDir;

use crate::{
    area::area_suite,
    audit::{expect_a_row_for_an_import_without_animals, expect_one_row_for_an_import},
    journal::journal_suite,
    retries::{named, replayed},
    sqlite::{fresh, open},
    staff::staff_suite,
    test_messages::test_message_suite,
    webhooks::webhook_suite,
};

area_suite!(fresh());
webhook_suite!(fresh());
test_message_suite!(fresh());
staff_suite!(fresh());
journal_suite!(fresh());

#[tokio::test]
async fn an_import_leaves_one_row_with_its_ids() {
    let (store, directory) = fresh();
    expect_one_row_for_an_import(&store, &url(&directory).to_string()).await;
}

#[tokio::test]
async fn an_import_without_animals_leaves_one_row_too_and_cursors_stay_valid() {
    let (store, directory) = fresh();
    expect_a_row_for_an_import_without_animals(&store, &url(&directory).to_string()).await;
}

fn url(directory: &TempDir) -> DatabaseUrl {
    DatabaseUrl::Sqlite(directory.path().join("petstore.db"))
}

/// Another connection to the file, as a service of the previous release or an operator has it.
fn by_hand(directory: &TempDir) -> Connection {
    Connection::open(directory.path().join("petstore.db")).unwrap()
}

#[tokio::test]
async fn a_refused_batch_writes_nothing() {
    let (store, directory) = fresh();
    let id = add(&store, new_pet("Rex", 1, Available)).await;
    let wal = || std::fs::read(directory.path().join("petstore.db-wal")).unwrap();
    let before = wal();
    let add_one = Command::add(new_pet("Max", 1, Available));
    let refused = vec![add_one, withdraw(id), withdraw(id)];
    let refused = execute(&store, refused).await;
    assert!(
        matches!(refused, ExecutionOutcome::Refused { index: 2, .. }),
        "{refused:?}"
    );
    assert!(wal() == before);
}

#[tokio::test]
async fn a_refused_batch_does_not_wait_for_the_writer() {
    let (store, directory) = fresh();
    let id = add(&store, new_pet("Rex", 1, Available)).await;
    let other = by_hand(&directory);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = execute(&store, vec![withdraw(id), withdraw(id)]).await;
    assert!(
        matches!(refused, ExecutionOutcome::Refused { index: 1, .. }),
        "{refused:?}"
    );
}

#[tokio::test]
async fn batches_wait_outside_of_the_queue_of_the_writer_and_too_many_are_rejected() {
    let (store, _directory) = fresh();
    let id = add(&store, new_pet("Rex", 1, Available)).await;
    let batch = || vec![withdraw(id), restore(id)];
    let execute = || store.execute(batch(), act(0), respond);
    // One has its turn, and 256 wait.
    let mut waiting: Vec<_> = (0..257).map(|_| execute()).collect();
    for one in &mut waiting {
        let _ = poll!(one.as_mut());
    }
    assert!(matches!(execute().await, Err(StoreError::Overloaded)));
    drop(waiting);
    let done = execute().await.unwrap();
    assert!(matches!(done, ExecutionOutcome::Done { .. }), "{done:?}");
}

/// The animals whose name begins with this.
async fn found(store: &AnyStore, prefix: &str) -> Vec<i64> {
    let query = PetQuery {
        name: NamePrefix::new(prefix),
        ..PetQuery::default()
    };
    let (pets, _) = store.list_store_pets(&query).await.unwrap();
    pets.iter().map(|pet| pet.id.get()).collect()
}

async fn merge_all(store: &AnyStore) {
    while store.tend_search(0).await.unwrap() {}
}

#[tokio::test]
async fn of_orders_by_two_stores_for_one_animal_one_is_placed() {
    let (one, directory) = fresh();
    let two = open(&directory.path().join("petstore.db"), OpenMode::AsIs).unwrap();
    for _ in 0..20 {
        let id = add(&one, new_pet("", 1, Available)).await;
        let placing = [
            (&one, reserve(id)),
            (&two, sell(id)),
            (&one, sell(id)),
            (&two, reserve(id)),
        ]
        .map(|(store, new)| {
            let store = Arc::clone(store);
            tokio::spawn(async move { execute(&store, vec![Command::PlaceOrder(new)]).await })
        });
        let ended = join_all(placing).await.into_iter().map(Result::unwrap);
        let placed = ended
            .filter(|one| matches!(one, ExecutionOutcome::Done { .. }))
            .count();
        assert_eq!(placed, 1);
        assert_eq!(pet(&two, id).await, pet(&one, id).await);
    }
}

#[tokio::test]
async fn orders_and_the_search_are_there_after_the_store_is_reopened() {
    let (store, directory) = fresh();
    let id = add(&store, new_pet("Max", 1, Available)).await;
    merge_all(&store).await;
    let reserved = place(&store, reserve(id)).await;
    let before = (pet(&store, id).await, order(&store, reserved).await);
    drop(store);
    let store = open(&directory.path().join("petstore.db"), OpenMode::AsIs).unwrap();
    assert_eq!(
        (pet(&store, id).await, order(&store, reserved).await),
        before
    );
    assert_eq!(found(&store, "max").await, [1]);
    change(&store, complete(reserved)).await;
    let other = add(&store, new_pet("Max", 1, Available)).await;
    assert_eq!(place(&store, sell(other)).await, order_id(2));
}

#[tokio::test]
async fn a_search_finds_what_the_previous_release_adds_and_what_an_operator_changes() {
    let (store, directory) = fresh();
    let hand = by_hand(&directory);
    let insert = "INSERT INTO pets (name, category_id, status) VALUES ('Max', 1, 'sold')";
    for _ in 0..4 {
        hand.execute(insert, []).unwrap();
    }
    assert_eq!(found(&store, "max").await, [1, 2, 3, 4]);
    merge_all(&store).await;
    hand.execute(insert, []).unwrap();
    hand.execute_batch(
        "UPDATE pets SET name = 'Maxine' WHERE id = 1; DELETE FROM pets WHERE id = 2;
         UPDATE pets SET name = 'Zoe' WHERE id = 3",
    )
    .unwrap();
    for _ in 0..2 {
        assert_eq!(found(&store, "max").await, [1, 4, 5]);
        assert_eq!(found(&store, "z").await, [3]);
        merge_all(&store).await;
    }
}

#[tokio::test]
async fn an_import_between_animals_that_are_merged_is_found() {
    let (store, directory) = fresh();
    let url = url(&directory);
    let import = |ids: [i64; 2]| {
        let mut load = databases::open_load(&url, OpenMode::AsIs).unwrap();
        load.begin(IdSource::Given, petstore_testing::stores::at(0))
            .unwrap();
        for id in ids {
            load.add_pet(
                Some(pet_id(id)),
                &new_pet("Max", 1, Sold),
                &FieldValues::NONE,
            )
            .unwrap();
        }
        load.commit().unwrap();
    };
    import([10, 30]);
    merge_all(&store).await;
    import([20, 5]);
    for _ in 0..2 {
        assert_eq!(found(&store, "max").await, [5, 10, 20, 30]);
        merge_all(&store).await;
    }
}

/// Adds animals whose names begin with their identifier.
fn add_named(hand: &Connection, count: i64, rest: &str) {
    let many = "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
        INSERT INTO pets (name, category_id, status) SELECT i || ?2, 1, 'sold' FROM n";
    hand.execute(many, params![count, rest]).unwrap();
}

/// How many new animals are not merged, and how many changed ones.
fn unmerged(hand: &Connection) -> (i64, i64) {
    let counts = "SELECT (SELECT count(*) FROM pets WHERE id > merged),
        (SELECT count(*) FROM value_changes) FROM search_state";
    hand.query_row(counts, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
}

#[tokio::test]
async fn animals_with_long_names_are_merged_before_a_search_reads_many_of_them() {
    let (store, directory) = fresh();
    let hand = by_hand(&directory);
    let tend = async || {
        while store.tend_search(2_048).await.unwrap() {}
        let bytes = "SELECT coalesce(sum(octet_length(name)), 0) FROM pets, search_state
            WHERE id > merged OR id IN (SELECT pet_id FROM value_changes)";
        let bytes: i64 = hand.query_row(bytes, [], |row| row.get(0)).unwrap();
        assert!(bytes <= 1 << 20, "{bytes}");
    };
    add_named(&hand, 600, " Max");
    tend().await;
    assert_eq!(unmerged(&hand), (600, 0));
    add_named(&hand, 512, &"\u{301}".repeat(3_000));
    tend().await;
    assert!(unmerged(&hand).0 < 600);
    merge_all(&store).await;
    hand.execute("UPDATE pets SET status = 'pending' WHERE id <= 600", [])
        .unwrap();
    tend().await;
    assert_eq!(unmerged(&hand), (0, 600));
    hand.execute("UPDATE pets SET status = 'pending' WHERE id > 600", [])
        .unwrap();
    tend().await;
    assert!(unmerged(&hand).1 < 600);
    merge_all(&store).await;
    // Also names that become long while they wait.
    hand.execute("UPDATE pets SET status = 'available' WHERE id <= 600", [])
        .unwrap();
    tend().await;
    assert_eq!(unmerged(&hand), (0, 600));
    hand.execute(
        "UPDATE pets SET name = name || printf('%2000d', 0) WHERE id <= 600",
        [],
    )
    .unwrap();
    tend().await;
    assert!(unmerged(&hand).1 < 600);
    assert_eq!(found(&store, "512").await, [512, 1_112]);
}

#[tokio::test]
async fn a_step_merges_a_bounded_number_of_bytes_of_names() {
    let (store, directory) = fresh();
    let hand = by_hand(&directory);
    add_named(&hand, 512 + 257, &"\u{301}".repeat(4_000));
    assert_eq!(found(&store, "769").await, [769]);
    assert!(store.tend_search(8_192).await.unwrap());
    assert_eq!(unmerged(&hand), (257, 0));
    assert_eq!(found(&store, "769").await, [769]);
    merge_all(&store).await;
    hand.execute("UPDATE pets SET status = 'pending'", [])
        .unwrap();
    // 64 at a time, until they have 2 MiB.
    assert!(store.tend_search(0).await.unwrap());
    assert_eq!(unmerged(&hand), (0, 769 - 5 * 64));
    assert_eq!(found(&store, "769").await, [769]);
}

#[tokio::test]
async fn an_animal_that_an_operator_added_below_all_others_is_merged_when_it_changes() {
    let (store, directory) = fresh();
    let hand = by_hand(&directory);
    let insert = "INSERT INTO pets (id, name, category_id, status) VALUES (?1, 'Max', 1, 'sold')";
    hand.execute(insert, [10]).unwrap();
    merge_all(&store).await;
    hand.execute(insert, [5]).unwrap();
    hand.execute("UPDATE pets SET name = 'Maxine'", []).unwrap();
    for _ in 0..2 {
        assert_eq!(found(&store, "max").await, [5, 10]);
        merge_all(&store).await;
    }
    assert_eq!(unmerged(&hand), (0, 0));
    assert_eq!(
        databases::check(&url(&directory)).unwrap().problems,
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn many_animals_that_an_operator_added_below_all_others_are_merged_when_they_change() {
    let (store, directory) = fresh();
    let hand = by_hand(&directory);
    add_named(&hand, 1, "Max");
    hand.execute_batch("UPDATE pets SET id = 90000").unwrap();
    merge_all(&store).await;
    add_named(&hand, 20_000, " of a very great many");
    let below =
        "UPDATE pets SET id = id - 90000 WHERE id > 90000; UPDATE pets SET status = 'pending'";
    hand.execute_batch(below).unwrap();
    merge_all(&store).await;
    assert_eq!(unmerged(&hand), (0, 0));
    assert_eq!(found(&store, "1max").await, [90_000]);
    assert_eq!(found(&store, "7777").await, [7_777]);
    assert_eq!(
        databases::check(&url(&directory)).unwrap().problems,
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn animals_of_an_older_schema_are_found_right_after_the_migration() {
    let (store, directory) = fresh();
    drop(store);
    let path = directory.path().join("petstore.db");
    fs::remove_file(&path).unwrap();
    let hand = by_hand(&directory);
    let mut steps: Vec<_> = fs::read_dir("../store-sqlite/migrations")
        .unwrap()
        .map(|step| step.unwrap().path())
        .collect();
    steps.sort_unstable();
    for step in &steps[..20] {
        hand.execute_batch(&fs::read_to_string(step).unwrap())
            .unwrap();
    }
    let long = format!("a{}bcd", "\u{301}".repeat(300));
    let add = "INSERT INTO pets (name, category_id, status) VALUES (?1, 1, 'sold')";
    hand.execute(add, [&long]).unwrap();
    hand.execute(add, ["Old Abby"]).unwrap();
    hand.execute_batch("PRAGMA user_version = 20; PRAGMA application_id = 1885697139")
        .unwrap();
    drop(hand);
    let store = open(&path, OpenMode::CreateAndMigrate).unwrap();
    for _ in 0..2 {
        assert_eq!(
            (found(&store, "a").await, found(&store, "ab").await),
            (vec![1, 2], vec![2])
        );
        let query = PetQuery {
            category_id: Some(1),
            ..PetQuery::default()
        };
        assert_eq!(store.list_store_pets(&query).await.unwrap().0.len(), 2);
        merge_all(&store).await;
    }
    assert_eq!(
        databases::check(&url(&directory)).unwrap().problems,
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn many_animals_that_are_not_merged_are_found_and_nothing_is_left_to_do_when_they_are() {
    let (store, directory) = fresh();
    let many = "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 15001)
        INSERT INTO pets (name, category_id, status) SELECT 'Max ' || i, i, 'sold' FROM n";
    by_hand(&directory).execute(many, []).unwrap();
    assert_eq!(found(&store, "max 15000").await, [15_000]);
    assert!(store.tend_search(0).await.unwrap());
    assert_eq!(found(&store, "max 15000").await, [15_000]);
    merge_all(&store).await;
    assert_eq!(found(&store, "max 1500").await, [1_500, 15_000, 15_001]);
    let version = store.version().await.unwrap();
    merge_all(&store).await;
    assert_eq!(store.version().await.unwrap(), version);
}

#[tokio::test]
async fn a_create_of_the_previous_release_is_replayed_as_it_was_after_a_change() {
    let (store, directory) = fresh();
    let hand = by_hand(&directory);
    let frank: NewPet = new_pet("Frank", 1, Available);
    hand.execute(
        "INSERT INTO pets (name, category_id, status) VALUES ('Frank', 1, 'available')",
        [],
    )
    .unwrap();
    hand.execute(
        "INSERT INTO idempotency_keys VALUES (7, 'a', ?1, 1, 0)",
        params![fingerprint(&frank)],
    )
    .unwrap();
    change(&store, Command::PlaceOrder(sell(pet_id(1)))).await;
    change(&store, withdraw(pet_id(1))).await;
    let context = named(7, "a", &frank, 0);
    let replay = store
        .create_pet(frank.clone(), context, crate::retries::respond)
        .await
        .unwrap();
    assert_eq!(replay, replayed(&frank.with_id(pet_id(1))));
    assert_eq!(store.get_store_pet(pet_id(2)).await.unwrap(), None);
}

#[tokio::test]
async fn a_page_of_a_search_is_in_order_over_several_blocks() {
    let (store, directory) = fresh();
    let many = "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
        INSERT INTO pets (name, category_id, status)
        SELECT printf('n%06d', 200000 - i), i % 2, 'sold' FROM n";
    by_hand(&directory).execute(many, []).unwrap();
    merge_all(&store).await;
    let list = async |category_id, name, newest_first, after| {
        let name = NamePrefix::new(name);
        let after = Some(pet_id(after));
        let query = PetQuery {
            category_id,
            name,
            newest_first,
            after,
            ..PetQuery::default()
        };
        let (pets, _) = store.list_store_pets(&query).await.unwrap();
        pets.iter().map(|pet| pet.id.get()).collect::<Vec<_>>()
    };
    let from = |first: i64, step: i64| (0..20).map(|n| first + n * step).collect::<Vec<_>>();
    assert_eq!(list(None, "N", false, 65_530).await, from(65_531, 1));
    assert_eq!(list(None, "N", true, 65_540).await, from(65_539, -1));
    assert_eq!(list(Some(1), "n0", false, 65_530).await, from(100_001, 2));
    assert_eq!(list(Some(1), "n1", true, 200_000).await, from(99_999, -2));
    assert_eq!(list(Some(0), "", true, 65_541).await, from(65_540, -2));
    assert_eq!(list(None, "n134470", false, 1).await, [65_530]);
}
