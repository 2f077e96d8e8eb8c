//! Migrations of a PostgreSQL database that others use meanwhile.

use petstore_domain::{
    PetStatus::{Available, Sold},
    store_area::{NamePrefix, PetQuery, compact_key, whole_key},
};
use petstore_store::{CreationOutcome, OpenMode};
use petstore_testing::{
    area::{change, pet_id, to_status, withdraw},
    stores::{AnyStore, create, new_pet, respond},
};
use tokio_postgres::Client;

use crate::{
    labels::{self, LABELLED},
    postgres::{fresh, open},
    postgres_cluster::{connect, fresh_url},
    retries::named as named_request,
    spellings, twins,
};

/// A database with the schema before the store area.
async fn before_the_store_area() -> (Client, String) {
    let url = fresh_url().await;
    let other = connect(&url).await;
    let steps = [
        include_str!("../../../store-postgres/migrations/0001_catalogue.sql"),
        include_str!("../../../store-postgres/migrations/0002_deprecated_calls.sql"),
        include_str!("../../../store-postgres/migrations/0003_idempotency_marks.sql"),
        include_str!("../../../store-postgres/migrations/0004_etag_key.sql"),
        include_str!("../../../store-postgres/migrations/0005_requests.sql"),
        "CREATE TABLE petstore_schema (
            only_row BOOLEAN PRIMARY KEY CHECK (only_row), version BIGINT NOT NULL);
         INSERT INTO petstore_schema VALUES (TRUE, 5)",
    ];
    other.batch_execute(&steps.join(";")).await.unwrap();
    (other, url)
}

const ADD: &str = "INSERT INTO pets (name, category_id, status) VALUES ('Zoë', 7, 'available')";

/// The identifiers of the animals whose name begins with this.
async fn named(store: &AnyStore, name: &str) -> Vec<i64> {
    let query = PetQuery {
        name: NamePrefix::new(name),
        ..PetQuery::default()
    };
    let (found, _) = store.list_store_pets(&query).await.unwrap();
    found.iter().map(|pet| pet.id.get()).collect()
}

/// The migrated database, with the indexes of the search.
async fn migrated(url: &str) -> AnyStore {
    let store = open(url, OpenMode::CreateAndMigrate).await.unwrap();
    while store.tend_search(0).await.unwrap() {}
    store
}

#[tokio::test]
async fn an_animal_of_the_previous_release_is_found_whether_it_came_before_or_after_the_migration()
{
    let (other, url) = before_the_store_area().await;
    other.batch_execute(ADD).await.unwrap();
    let store = migrated(&url).await;
    assert_eq!(named(&store, "ZOE").await, [1]);
    other.batch_execute(ADD).await.unwrap();
    assert_eq!(named(&store, "zoe").await, [1, 2]);
    let found = store.get_store_pet(pet_id(2)).await.unwrap().unwrap();
    assert_eq!(
        (found.version, found.created_at, found.updated_at),
        (1, None, None)
    );
    other.batch_execute(ADD).await.unwrap();
    let long = "INSERT INTO pets (name, category_id, status)
        VALUES ('Bzo' || repeat(U&'\\0301', 30000) || 'ë', 1, 'sold')";
    other.batch_execute(long).await.unwrap();
    for _ in 0..2 {
        assert_eq!(named(&store, "zoe").await, [1, 2, 3]);
        assert_eq!(
            (named(&store, "bzo").await, named(&store, "bzoe").await),
            (vec![4], vec![])
        );
        while store.tend_search(0).await.unwrap() {}
    }
}

#[tokio::test]
async fn a_create_of_the_previous_release_gets_its_first_response_after_its_animal_was_changed() {
    let (other, url) = before_the_store_area().await;
    let store = open(&url, OpenMode::CreateAndMigrate).await.unwrap();
    let frank = new_pet("Frank", 1, Available);
    let context = named_request(1, "k", &frank, 0);
    // Only that release's table has the request.
    let fingerprint = context.idempotency.as_ref().unwrap().fingerprint.to_vec();
    let add =
        "INSERT INTO pets (id, name, category_id, status) VALUES (1, 'Frank', 1, 'available')";
    other.batch_execute(add).await.unwrap();
    let remember = "INSERT INTO idempotency_keys VALUES (1, 'k', $1, 1, 0)";
    other.execute(remember, &[&fingerprint]).await.unwrap();
    for command in [to_status(pet_id(1), Sold), withdraw(pet_id(1))] {
        change(&store, command).await;
        let again = store
            .create_pet(frank.clone(), context.clone(), respond)
            .await
            .unwrap();
        let CreationOutcome::Replayed(response) = again else {
            panic!("{again:?}")
        };
        let body = r#"{"id":1,"name":"Frank","categoryId":1,"status":"available"}"#;
        assert_eq!(response.body, body.as_bytes());
    }
}

#[tokio::test]
async fn right_after_a_migration_a_search_finds_all_animals() {
    let (other, url) = before_the_store_area().await;
    other.batch_execute(ADD).await.unwrap();
    // It began before the migration.
    let before = "SELECT setval('pets_ids', 5)";
    let _ = other.batch_execute(before).await;
    let store = open(&url, OpenMode::CreateAndMigrate).await.unwrap();
    let late = "INSERT INTO pets (id, name, category_id, status) VALUES (3, 'Zoë', 7, 'sold')";
    other.batch_execute(late).await.unwrap();
    let of_category = PetQuery {
        category_id: Some(7),
        ..PetQuery::default()
    };
    for _ in 0..2 {
        assert_eq!(named(&store, "zoe").await, [1, 3]);
        assert_eq!(
            store.list_store_pets(&of_category).await.unwrap().0.len(),
            2
        );
        while store.tend_search(0).await.unwrap() {}
    }
    change(&store, to_status(pet_id(1), Sold)).await;
    let sold = PetQuery {
        status: Some(Sold),
        ..PetQuery::default()
    };
    assert_eq!(store.list_store_pets(&sold).await.unwrap().0.len(), 2);
}

#[tokio::test]
async fn creates_of_the_previous_release_go_on_while_a_migration_waits_for_a_long_read() {
    let (other, url) = before_the_store_area().await;
    let reader = connect(&url).await;
    reader
        .batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM pets")
        .await
        .unwrap();
    let migrating = tokio::spawn({
        let url = url.clone();
        async move { open(&url, OpenMode::CreateAndMigrate).await }
    });
    let waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'
        AND application_name = current_setting('application_name')";
    other
        .batch_execute("SET statement_timeout = '5s'")
        .await
        .unwrap();
    for _ in 0..3 {
        while other.query(waits, &[]).await.unwrap().is_empty() {}
        other.batch_execute(ADD).await.unwrap();
    }
    assert!(!migrating.is_finished());
    reader.batch_execute("COMMIT").await.unwrap();
    let store = migrating.await.unwrap().unwrap();
    while store.tend_search(0).await.unwrap() {}
    assert_eq!(create(&store, new_pet("", 1, Available)).await.id.get(), 4);
    assert_eq!(named(&store, "zoë").await, [1, 2, 3]);
}

#[tokio::test]
async fn processes_that_migrate_at_the_same_time_all_succeed() {
    let (other, url) = before_the_store_area().await;
    other.batch_execute(ADD).await.unwrap();
    let opening: Vec<_> = (0..5)
        .map(|_| {
            let url = url.clone();
            tokio::spawn(async move { migrated(&url).await })
        })
        .collect();
    for opened in opening {
        assert_eq!(named(&opened.await.unwrap(), "zoe").await, [1]);
    }
}

const UNIQUE_TEXTS: &str = include_str!("../../../store-postgres/migrations/0024_unique_texts.sql");
const UNIQUE_VALUES_BEFORE: &str = "DROP VIEW shared_values; DELETE FROM unique_values; DROP INDEX unique_twins;
    ALTER TABLE unique_values DROP COLUMN twin; ALTER TABLE unique_values ADD PRIMARY KEY (field, key)";

/// Takes back the steps that let animals be off the website and have notes, the store a contract, and photos be lost.
const WITHOUT_NEWEST_STEPS: &str =
    "ALTER TABLE pets DROP COLUMN listed; ALTER TABLE withdrawn_pets DROP COLUMN listed;
    DROP TABLE notes, lost_photos; DROP SEQUENCE notes_ids; ALTER TABLE profile DROP COLUMN contract";

#[tokio::test]
async fn two_animals_with_one_unique_value_keep_it_after_the_migration() {
    let (store, url) = fresh().await;
    twins::fill(&store).await;
    let steps = [UNIQUE_VALUES_BEFORE, twins::BEFORE, UNIQUE_TEXTS];
    connect(&url)
        .await
        .batch_execute(&steps.join(";"))
        .await
        .unwrap();
    twins::expect_both(&store, &url).await;
}

#[tokio::test]
async fn what_a_spreadsheet_made_of_a_chip_is_the_chip_after_the_migration() {
    let (store, url) = fresh().await;
    twins::fill_from_spreadsheet(&store).await;
    // The steps after it add columns.
    let before = [
        twins::BEFORE_OF_SPREADSHEET,
        "ALTER TABLE profile DROP COLUMN time_zone",
        spellings::BEFORE,
        WITHOUT_NEWEST_STEPS,
        "UPDATE petstore_schema SET version = 33",
    ];
    connect(&url)
        .await
        .batch_execute(&before.join(";"))
        .await
        .unwrap();
    let migrated = open(&url, OpenMode::CreateAndMigrate).await.unwrap();
    twins::expect_one_chip(&migrated, &url).await;
}

#[tokio::test]
async fn the_migration_removes_the_same_characters_from_unique_values_as_the_service() {
    let (_store, url) = fresh().await;
    let other = connect(&url).await;
    other.batch_execute(UNIQUE_VALUES_BEFORE).await.unwrap();
    // The step after the one of spreadsheets lets the service make the keys.
    let of_spreadsheets = ['\'', '"', '=', ',', '*'];
    let is_kept =
        |character: &char| !whole_key(&character.to_string()).contains(of_spreadsheets.as_slice());
    let all: Vec<char> = ('\u{1}'..=char::MAX).filter(is_kept).collect();
    let keys: Vec<String> = all
        .chunks(64)
        .map(|some| whole_key(&some.iter().collect::<String>()))
        .collect();
    let add = "INSERT INTO unique_values SELECT 'microchip', number || 'n' || key, number
        FROM unnest($1::text[]) WITH ORDINALITY AS of (key, number)";
    other.execute(add, &[&keys]).await.unwrap();
    other.batch_execute(UNIQUE_TEXTS).await.unwrap();
    let select = "SELECT key FROM unique_values ORDER BY pet_id";
    let found = other.query(select, &[]).await.unwrap();
    assert_eq!(found.len(), keys.len());
    for (at, (row, key)) in found.iter().zip(keys).enumerate() {
        let expected = compact_key(format!("{}n{key}", at + 1));
        assert_eq!(row.get::<_, String>(0), expected, "{:x}", at * 64);
    }
}

#[tokio::test]
async fn names_are_found_in_all_spellings_after_the_migration_and_after_a_step_back() {
    let (store, url) = fresh().await;
    spellings::fill(&store).await;
    let hand = connect(&url).await;
    let before = [
        spellings::BEFORE,
        WITHOUT_NEWEST_STEPS,
        "UPDATE petstore_schema SET version = 35",
    ];
    hand.batch_execute(&before.join(";")).await.unwrap();
    let migrated = open(&url, OpenMode::CreateAndMigrate).await.unwrap();
    spellings::expect_all(&migrated, &url).await;
    hand.batch_execute(spellings::MERGED_BEFORE).await.unwrap();
    spellings::expect_all(&migrated, &url).await;
}

#[tokio::test]
async fn a_check_names_what_an_earlier_release_made_equal_in_any_case() {
    let (store, url) = fresh().await;
    let hand = connect(&url).await;
    hand.batch_execute(spellings::TWINS).await.unwrap();
    spellings::expect_named_twins(&store, &url).await;
}

#[tokio::test]
async fn only_a_database_that_is_created_gets_the_labels() {
    let url = fresh_url().await;
    labels::expect(&open(&url, LABELLED).await.unwrap(), true).await;
    labels::expect(&open(&url, OpenMode::CreateAndMigrate).await.unwrap(), true).await;
    let (store, url) = fresh().await;
    drop(store);
    labels::expect(&open(&url, LABELLED).await.unwrap(), false).await;
}
