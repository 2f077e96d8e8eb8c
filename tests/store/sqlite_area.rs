//! SQLite: the suite of the store area, and tests of its search and of several stores on one file.

use std::sync::Arc;

use futures_util::future::join_all;
use petstore::{
    domain::{
        NewPet,
        PetStatus::Available,
        PetStatus::Sold,
        idempotency::fingerprint,
        store_area::{Command, NamePrefix, PetPosition, PetQuery},
    },
    store::{self, DatabaseUrl, Executed, OpenMode, StoreError, bulk::Ids},
};
use rusqlite::{Connection, params};
use tempfile::TempDir;

use crate::{
    area::{
        add, area_suite, change, complete, execute, order, order_id, pet, pet_id, place, reserve,
        sell, withdraw,
    },
    audit::{expect_a_row_for_an_import_without_animals, expect_one_row_for_an_import},
    log::log_suite,
    retries::{named, replayed},
    sqlite::{fresh, open},
    staff::staff_suite,
    suite::{AnyStore, new_pet},
    webhooks::webhook_suite,
};

area_suite!(fresh());
webhook_suite!(fresh());
staff_suite!(fresh());
log_suite!(fresh());

#[tokio::test]
async fn an_import_leaves_one_row_with_its_ids() {
    let (store, directory) = fresh();
    let path = directory.path().join("petstore.db");
    expect_one_row_for_an_import(&store, &format!("sqlite:{}", path.display())).await;
}

#[tokio::test]
async fn an_import_without_animals_leaves_one_row_too_and_cursors_stay_valid() {
    let (store, directory) = fresh();
    let path = directory.path().join("petstore.db");
    let url = format!("sqlite:{}", path.display());
    expect_a_row_for_an_import_without_animals(&store, &url).await;
}

/// Another connection to the file, as a service of the previous release or an operator has it.
fn by_hand(directory: &TempDir) -> Connection {
    Connection::open(directory.path().join("petstore.db")).unwrap()
}

/// The identifiers of the animals whose name begins with this.
async fn found(store: &AnyStore, prefix: &str) -> Vec<i64> {
    let query = PetQuery { name: NamePrefix::new(prefix), ..PetQuery::default() };
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
        let placing =
            [(&one, reserve(id)), (&two, sell(id)), (&one, sell(id)), (&two, reserve(id))].map(
                |(store, new)| {
                    let store = Arc::clone(store);
                    tokio::spawn(
                        async move { execute(&store, vec![Command::PlaceOrder(new)]).await },
                    )
                },
            );
        let ended = join_all(placing).await.into_iter().map(Result::unwrap);
        let placed = ended.filter(|one| matches!(one, Executed::Done { .. })).count();
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
    assert_eq!((pet(&store, id).await, order(&store, reserved).await), before);
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
        assert_eq!(found(&store, "max").await, [4, 5, 1]);
        assert_eq!(found(&store, "z").await, [3]);
        merge_all(&store).await;
    }
}

#[tokio::test]
async fn an_import_between_animals_that_are_merged_is_found() {
    let (store, directory) = fresh();
    let url: DatabaseUrl =
        format!("sqlite:{}", directory.path().join("petstore.db").display()).parse().unwrap();
    let import = |ids: [i64; 2]| {
        let mut load = store::load(&url, OpenMode::AsIs).unwrap();
        load.begin(Ids::Given, crate::suite::at(0)).unwrap();
        for id in ids {
            load.add_pet(Some(pet_id(id)), &new_pet("Max", 1, Sold)).unwrap();
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

#[tokio::test]
async fn with_too_many_animals_that_are_not_merged_a_search_is_rejected_until_they_are() {
    let (store, directory) = fresh();
    let many = "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 15001)
        INSERT INTO pets (name, category_id, status) SELECT 'Max ' || i, i, 'sold' FROM n";
    by_hand(&directory).execute(many, []).unwrap();
    let query = PetQuery { name: NamePrefix::new("max 15000"), ..PetQuery::default() };
    let rejected = store.list_store_pets(&query).await;
    assert!(matches!(rejected, Err(StoreError::Overloaded)), "{rejected:?}");
    // Other lists do not need the search.
    assert_eq!(store.list_store_pets(&PetQuery::default()).await.unwrap().0.len(), 20);
    assert!(store.tend_search(0).await.unwrap());
    assert_eq!(found(&store, "max 15000").await, [15_000]);
    merge_all(&store).await;
    assert_eq!(found(&store, "max 1500").await, [1_500, 15_000, 15_001]);
    // Nothing is left to do.
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
    let replay = store.create_pet(frank.clone(), context, crate::retries::respond).await.unwrap();
    assert_eq!(replay, replayed(&frank.with_id(pet_id(1))));
    assert_eq!(store.get_store_pet(pet_id(2)).await.unwrap(), None);
}

#[tokio::test]
async fn a_page_of_a_search_is_in_order_over_several_blocks() {
    let (store, directory) = fresh();
    // The order of the names is the opposite of that of the identifiers.
    let many = "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
        INSERT INTO pets (name, category_id, status)
        SELECT printf('n%05d', 40000 - i), i % 2, 'sold' FROM n";
    by_hand(&directory).execute(many, []).unwrap();
    merge_all(&store).await;
    let list = async |category_id, name, after| {
        let query =
            PetQuery { category_id, name: NamePrefix::new(name), after, ..PetQuery::default() };
        let query = PetQuery { name: query.name.filter(|_| !name.is_empty()), ..query };
        let (pets, _) = store.list_store_pets(&query).await.unwrap();
        pets.iter().map(|pet| pet.id.get()).collect::<Vec<_>>()
    };
    let from = |first: i64, step: i64| (0..20).map(|n| first + n * step).collect::<Vec<_>>();
    let behind = |key: Option<String>, id| Some(PetPosition { key, id: pet_id(id) });
    assert_eq!(list(None, "N", None).await, from(40_000, -1));
    let named = Some(format!("n{:05}", 40_000 - 16_390));
    assert_eq!(list(None, "n", behind(named.clone(), 16_390)).await, from(16_389, -1));
    assert_eq!(list(Some(1), "n2", behind(named.clone(), 16_390)).await, from(16_389, -2));
    assert_eq!(list(Some(0), "", behind(named, 16_390)).await, from(16_388, -2));
}
