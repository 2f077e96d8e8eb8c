//! PostgreSQL adds animals together that arrive while others are being added.

use std::{collections::BTreeSet, pin::pin, sync::Arc};

use futures_util::future::join_all;
use petstore_domain::{Pet, PetStatus::Available};
use petstore_store::{OpenMode, StoreError};
use petstore_testing::{
    proxy::Line,
    stores::{AnyStore, act, create, new_pet, respond},
};
use tokio::task::JoinHandle;
use tokio_postgres::Client;

use crate::{
    postgres::{fresh, next_id, open, sold},
    postgres_cluster::{connect, fresh_url},
    postgres_connections::until_blocked,
    postgres_faults::behind_a_line,
    suite::count,
};

/// A store with one animal, whose next create is blocked by a lock of the returned connection.
async fn with_a_blocked_create() -> (AnyStore, JoinHandle<Pet>, Client) {
    let url = fresh_url().await;
    let store = open(&url, OpenMode::CreateAndMigrate).await.unwrap();
    assert_eq!(next_id(&store).await, 1);
    let observer = connect(&url).await;
    let other = connect(&url.replace("application_name=", "application_name=other_than_")).await;
    other
        .batch_execute("BEGIN; LOCK TABLE pets IN SHARE MODE")
        .await
        .unwrap();
    let creating = Arc::clone(&store);
    let creating = tokio::spawn(async move { create(&creating, sold()).await });
    until_blocked(&observer).await;
    (store, creating, other)
}

/// Creates as many animals at the same time, and expects that each caller gets its own.
async fn create_together(store: &AnyStore, animals: i64) {
    let create_one = |number| create(store, new_pet(&format!("{number}"), number, Available));
    let created = join_all((0..animals).map(create_one)).await;
    let ids: BTreeSet<_> = created.iter().map(|pet| pet.id).collect();
    assert_eq!(ids.len(), created.len());
    for (number, pet) in (0..animals).zip(created) {
        assert_eq!(
            (pet.name.as_str(), pet.category_id),
            (&*number.to_string(), number)
        );
        assert_eq!(store.get_pet(pet.id).await.unwrap(), Some(pet));
    }
}

#[tokio::test]
async fn creates_that_wait_share_a_transaction_of_at_most_64() {
    let (store, url) = fresh().await;
    next_id(&store).await;
    create_together(&store, 100).await;
    for table in ["pets", "changes"] {
        let sql = format!("SELECT count(*), count(DISTINCT xmin::text) FROM {table} WHERE id > 1");
        let row = connect(&url).await.query_one(&sql, &[]).await.unwrap();
        assert_eq!((row.get(0), row.get(1)), (100_i64, 2_i64), "{table}");
    }
}

#[tokio::test]
async fn an_animal_that_the_database_rejects_does_not_affect_those_that_wait_with_it() {
    let (store, url) = fresh().await;
    let rejects = "ALTER TABLE pets ADD CHECK (name <> 'rejected')";
    connect(&url).await.batch_execute(rejects).await.unwrap();
    let add = async |number: i64| {
        let name = if number == 10 {
            "rejected".to_owned()
        } else {
            number.to_string()
        };
        store
            .create_pet(new_pet(&name, number, Available), act(0), respond)
            .await
    };
    let outcomes = join_all((0..20).map(add)).await;
    for (number, outcome) in outcomes.into_iter().enumerate() {
        match outcome {
            Ok(_) => assert_ne!(number, 10),
            Err(error) => {
                assert!(
                    number == 10 && matches!(error, StoreError::Internal(_)),
                    "{error}"
                );
            }
        }
    }
    assert_eq!(count(&store).await, 19);
}

#[tokio::test]
async fn creates_that_share_a_statement_are_done_once_whichever_message_is_lost() {
    let (store, line) = behind_a_line().await;
    for (lost, before) in [
        (
            Line::LosesAnswer {
                after: 0,
                then_up: true,
            },
            1,
        ),
        (Line::LosesRequest, 21),
        (
            Line::LosesAnswer {
                after: 0,
                then_up: true,
            },
            41,
        ),
    ] {
        assert_eq!(count(&store).await, before);
        line.set(lost);
        create_together(&store, 20).await;
        assert_eq!(line.line(), Line::Up);
        assert_eq!(count(&store).await, before + 20);
    }
}

#[tokio::test]
async fn a_create_that_waits_too_long_is_rejected_and_never_done() {
    let (store, creating, other) = with_a_blocked_create().await;
    let rejected = store.create_pet(sold(), act(0), respond).await;
    assert!(
        matches!(rejected, Err(StoreError::Overloaded)),
        "{rejected:?}"
    );
    other.batch_execute("COMMIT").await.unwrap();
    creating.await.unwrap();
    next_id(&store).await;
    assert_eq!(count(&store).await, 3);
}

#[tokio::test]
async fn a_create_whose_client_leaves_while_it_waits_is_not_done() {
    let (store, creating, other) = with_a_blocked_create().await;
    {
        let mut leaving = pin!(store.create_pet(sold(), act(0), respond));
        assert!(futures_util::poll!(&mut leaving).is_pending());
    }
    other.batch_execute("COMMIT").await.unwrap();
    creating.await.unwrap();
    next_id(&store).await;
    assert_eq!(count(&store).await, 3);
}
