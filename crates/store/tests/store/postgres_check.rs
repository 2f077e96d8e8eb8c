//! PostgreSQL: `petstore check` finds each disagreement in the store area.

use petstore_databases::{self as databases, DatabaseUrl};
use petstore_store::Checkup;
use tokio::task::spawn_blocking;
use tokio_postgres::Client;

use crate::{
    area_check::{DISAGREEMENTS, POISON, fill, use_poisoned},
    postgres::fresh,
    postgres_cluster::connect,
};

/// A connection for changes by hand, which the constraints do not prevent, and the URL.
async fn database() -> (Client, String) {
    let (store, url) = fresh().await;
    fill(&store).await;
    let hand = connect(&url).await;
    hand.batch_execute(
        "ALTER TABLE withdrawn_pets DROP CONSTRAINT withdrawn_pets_reason_check;
         ALTER TABLE categories DROP CONSTRAINT categories_label_check",
    )
    .await
    .unwrap();
    (hand, url)
}

async fn check(url: &str) -> Checkup {
    let url: DatabaseUrl = url.parse().unwrap();
    spawn_blocking(move || databases::check(&url))
        .await
        .unwrap()
        .unwrap()
}

#[tokio::test]
async fn a_database_without_a_problem_is_counted() {
    let (_hand, url) = database().await;
    assert_eq!(
        check(&url).await,
        Checkup {
            animals: 9,
            keys: 1,
            ..Checkup::default()
        }
    );
}

#[tokio::test]
async fn each_disagreement_in_the_store_area_is_found() {
    let of_postgres = [
        (
            "SELECT setval('orders_ids', 2)",
            "the sequence of ids does not contain the last id of orders",
        ),
        (
            "UPDATE withdrawn_pets SET id = 99 WHERE id = 4",
            "the sequence of ids does not contain the last id of pets",
        ),
        (
            "UPDATE orders SET closed_at = 1 WHERE id = 1",
            "order 1 has a status that its times or its animal contradict",
        ),
        (
            "UPDATE orders SET expires_at = NULL WHERE id = 1",
            "order 1 has a status that its times or its animal contradict",
        ),
        (
            "UPDATE pets SET status = 'lost' WHERE id = 5",
            "animal 5 is invalid",
        ),
        (
            "UPDATE orders SET status = 'lost' WHERE id = 2",
            "order 2 is invalid",
        ),
        (
            "UPDATE orders SET reference = repeat('x', 256) WHERE id = 2",
            "order 2 is invalid",
        ),
        (
            "SELECT setval('pets_ids', 9007199254740991)",
            "the last id of pets_ids is above 9006649498927104",
        ),
        (
            "DROP INDEX orders_one_holds",
            "the index orders_one_holds is missing or incomplete",
        ),
        (
            "UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = 'pets_by_status'::regclass",
            "the index pets_by_status is missing or incomplete",
        ),
        (
            "UPDATE word_blocks SET words = '\\x00'",
            "word_blocks is invalid",
        ),
        (
            "UPDATE value_blocks SET pets = '\\x00'",
            "value_blocks is invalid",
        ),
    ];
    for (by_hand, expected) in DISAGREEMENTS.into_iter().chain(of_postgres) {
        let (hand, url) = database().await;
        hand.batch_execute(by_hand).await.unwrap();
        let found = check(&url).await.problems;
        assert!(
            found.iter().any(|problem| problem.starts_with(expected)),
            "{by_hand}: {found:?}"
        );
    }
}

#[tokio::test]
async fn a_database_with_times_that_could_not_be_read_is_used_as_before() {
    let (hand, url) = database().await;
    hand.batch_execute(POISON).await.unwrap();
    use_poisoned(&url.parse().unwrap()).await;
    assert_eq!(check(&url).await.problems, [""; 0]);
}

#[tokio::test]
async fn many_disagreements_of_one_kind_are_counted() {
    let (hand, url) = database().await;
    let many = "INSERT INTO orders (id, pet_id, status, holds, created_at, closed_at, version)
        SELECT nextval('orders_ids'), i, 'returned', FALSE, 0, 0, 1
        FROM generate_series(100, 149) AS i";
    hand.batch_execute(many).await.unwrap();
    let found = check(&url).await.problems;
    assert_eq!(found.len(), 21, "{found:?}");
    assert_eq!(found[20], "more of this kind: 30");
}
