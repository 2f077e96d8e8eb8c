//! PostgreSQL: the suite, and tests of the cluster.

use std::num::NonZeroU32;

use petstore_databases::{self as databases, DatabaseUrl};
use petstore_domain::{NewPet, PageRequest, PetId, PetName, PetStatus::Sold};
use petstore_store::{CreationOutcome, OpenError, OpenMode, StoreError};
use petstore_testing::stores::{AnyStore, act, create, respond};
use rand::{SeedableRng, rngs::StdRng};

use crate::{
    area::area_suite,
    audit::{expect_a_row_for_an_import_without_animals, expect_one_row_for_an_import},
    journal::journal_suite,
    postgres_cluster::{connect, fresh_url},
    retries::named,
    staff::staff_suite,
    suite::suite,
    test_messages::test_message_suite,
    webhooks::webhook_suite,
};

suite!(fresh().await);
area_suite!(fresh().await);
journal_suite!(fresh().await);
webhook_suite!(fresh().await);
test_message_suite!(fresh().await);
staff_suite!(fresh().await);

const CONNECTIONS: NonZeroU32 = NonZeroU32::new(8).unwrap();

pub(crate) async fn open(url: &str, mode: OpenMode) -> Result<AnyStore, OpenError> {
    let url: DatabaseUrl = url.parse().unwrap();
    databases::open(&url, mode, CONNECTIONS, &mut StdRng::seed_from_u64(1)).await
}

/// A fresh store, and its URL.
pub(crate) async fn fresh() -> (AnyStore, String) {
    let url = fresh_url().await;
    (open(&url, OpenMode::CreateAndMigrate).await.unwrap(), url)
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
async fn an_import_leaves_one_row_with_its_ids() {
    let (store, url) = fresh().await;
    expect_one_row_for_an_import(&store, &url).await;
}

#[tokio::test]
async fn an_import_without_animals_leaves_one_row_too_and_cursors_stay_valid() {
    let (store, url) = fresh().await;
    expect_a_row_for_an_import_without_animals(&store, &url).await;
}

#[tokio::test]
async fn two_stores_on_one_database_see_each_other_at_once_and_share_the_ids() {
    let (one, url) = fresh().await;
    let two = open(&url, OpenMode::AsIs).await.unwrap();
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
    let (one, url) = fresh().await;
    let two = open(&url, OpenMode::AsIs).await.unwrap();
    assert_eq!(one.etag_key(), two.etag_key());
    assert_ne!(one.etag_key(), fresh().await.0.etag_key());
}

#[tokio::test]
async fn created_animals_are_there_after_the_store_is_reopened() {
    let (store, url) = fresh().await;
    let created = create(&store, sold()).await;
    drop(store);
    let store = open(&url, OpenMode::AsIs).await.unwrap();
    assert_eq!(store.get_pet(created.id).await.unwrap(), Some(created));
}

#[tokio::test]
async fn an_id_is_never_given_again_even_when_its_animal_was_deleted_by_hand() {
    let (store, url) = fresh().await;
    assert_eq!(next_id(&store).await, 1);
    connect(&url)
        .await
        .execute("DELETE FROM pets", &[])
        .await
        .unwrap();
    assert_eq!(next_id(&store).await, 2);
}

#[tokio::test]
async fn ids_stay_below_2_to_the_53() {
    let (store, url) = fresh().await;
    let sql = format!("SELECT setval('pets_ids', {})", PetId::MAX - 1);
    connect(&url).await.query_one(&sql, &[]).await.unwrap();
    assert_eq!(next_id(&store).await, PetId::MAX);
    let rejected = store.create_pet(sold(), act(0), respond).await;
    assert!(
        matches!(rejected, Err(StoreError::Internal(_))),
        "{rejected:?}"
    );
}

/// Such a request is only in the table of that release.
#[tokio::test]
async fn a_request_of_the_previous_release_without_its_animal_adds_it_again() {
    let (store, url) = fresh().await;
    let repeated = named(1, "retry-1", &sold(), 0);
    store
        .create_pet(sold(), repeated.clone(), respond)
        .await
        .unwrap();
    let sql = "DELETE FROM pets; DELETE FROM requests";
    connect(&url).await.batch_execute(sql).await.unwrap();
    let again = store.create_pet(sold(), repeated, respond).await.unwrap();
    assert!(matches!(again, CreationOutcome::New(pet) if pet.id.get() > 1));
}

#[tokio::test]
async fn ten_stores_that_open_an_empty_database_together_all_succeed() {
    for _ in 0..5 {
        let url = fresh_url().await;
        let opening: Vec<_> = (0..10)
            .map(|_| {
                let url = url.clone();
                tokio::spawn(async move { open(&url, OpenMode::CreateAndMigrate).await })
            })
            .collect();
        for (id, opened) in (1..).zip(opening) {
            assert_eq!(next_id(&opened.await.unwrap().unwrap()).await, id);
        }
    }
}

/// The message of failing to open the database, in both modes. Its tables must stay unchanged.
async fn rejection(url: &str) -> String {
    let other = connect(url).await;
    let tables = async || -> Vec<String> {
        let sql = "SELECT relname::text FROM pg_class
            WHERE relnamespace = current_schema()::regnamespace ORDER BY relname";
        other
            .query(sql, &[])
            .await
            .unwrap()
            .iter()
            .map(|row| row.get(0))
            .collect()
    };
    let before = tables().await;
    let one = open(url, OpenMode::CreateAndMigrate).await.err().unwrap();
    open(url, OpenMode::AsIs).await.err().unwrap();
    assert_eq!(tables().await, before);
    one.to_string()
}

#[tokio::test]
async fn an_empty_database_is_migrated_only_on_request() {
    let url = fresh_url().await;
    let rejected = open(&url, OpenMode::AsIs).await.err().unwrap();
    assert!(matches!(rejected, OpenError::Empty(_)), "{rejected}");
    open(&url, OpenMode::CreateAndMigrate).await.unwrap();
    open(&url, OpenMode::AsIs).await.unwrap();
}

#[tokio::test]
async fn a_table_of_another_program_is_rejected_and_unchanged() {
    let url = fresh_url().await;
    connect(&url)
        .await
        .batch_execute("CREATE TABLE pets (name TEXT)")
        .await
        .unwrap();
    let message = rejection(&url).await;
    assert!(
        message.contains("relation \"pets\" already exists"),
        "{message}"
    );
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_rejected_and_unchanged() {
    let (store, url) = fresh().await;
    drop(store);
    let newer = "UPDATE petstore_schema SET version = 99";
    connect(&url).await.execute(newer, &[]).await.unwrap();
    let message = rejection(&url).await;
    assert!(
        message.contains("schema version 99") && message.contains("newer"),
        "{message}"
    );
}

#[tokio::test]
async fn an_unreachable_database_is_reported_in_one_line_without_the_password() {
    for (url, reason) in [
        ("postgres://me:s3cret@%2Fnowhere/pets", "No such file"),
        (
            "postgres://me:s3cret@127.0.0.1:1,127.0.0.1:2/pets",
            "127.0.0.1: error connecting",
        ),
        (
            "postgres://me@127.0.0.1:1/pets?sslmode=verify-ca&sslrootcert=/no/root.crt",
            "/no/root",
        ),
    ] {
        let message = open(url, OpenMode::AsIs).await.err().unwrap().to_string();
        assert!(
            message.starts_with("cannot open the database postgres://me@"),
            "{message}"
        );
        assert!(
            message.contains(reason) && !message.contains("s3cret"),
            "{message}"
        );
        assert_eq!(message.lines().count(), 1);
    }
}

/// The plan of a page by status, after the statistics say that nearly all animals are available.
#[tokio::test]
async fn a_page_by_status_is_one_search_of_its_index_whatever_the_statistics_are() {
    let (store, url) = fresh().await;
    let request = PageRequest {
        status: Some(Sold),
        ..PageRequest::default()
    };
    store.list_pets(&request, &mut |_| ()).await.unwrap();
    let other = connect(&url).await;
    // The last statement of the store's connection.
    let sql = "SELECT query FROM pg_stat_activity
        WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()";
    let page: String = other.query_one(sql, &[]).await.unwrap().get(0);
    other
        .batch_execute(&format!(
            "INSERT INTO pets (name, category_id, status)
             SELECT 'Frank', 1, CASE WHEN n < 50000 THEN 'available' ELSE 'sold' END
             FROM generate_series(1, 50010) AS n;
             ANALYZE pets;
             PREPARE page AS {page}"
        ))
        .await
        .unwrap();
    // After five plans for specific values, PostgreSQL chooses the generic plan.
    for _ in 0..6 {
        other
            .batch_execute("EXECUTE page (0, 21, 'sold')")
            .await
            .unwrap();
    }
    for status in ["available", "sold"] {
        let sql = format!("EXPLAIN EXECUTE page (0, 21, '{status}')");
        let plan = other.query(&sql, &[]).await.unwrap();
        let plan: Vec<String> = plan.iter().map(|row| row.get(0)).collect();
        let plan = plan.join("\n");
        assert!(plan.contains("Index Scan using pets_by_status"), "{plan}");
        assert!(
            plan.contains("Index Cond: ((status = $3) AND (id > $1))"),
            "{plan}"
        );
        assert!(!plan.contains("Sort"), "{plan}");
    }
}
