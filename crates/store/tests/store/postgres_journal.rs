//! The log over PostgreSQL: several stores on one database, and a reader that looks at the numbers at
//! every moment.

use std::{collections::HashMap, sync::Arc};

use futures_util::future::join_all;
use petstore_domain::PetStatus::{Available, Pending};
use petstore_store::OpenMode;
use petstore_testing::{
    area::{add, execute, to_status},
    stores::{AnyStore, new_pet},
};
use tokio_postgres::Client;

use crate::{
    journal::log,
    postgres::{fresh, open},
    postgres_cluster::connect,
};

/// Whether the visible numbers have no gap. So none can appear below one that was visible before.
async fn has_no_gap(client: &Client) -> bool {
    let runs = client
        .query("SELECT seq, length FROM change_numbers ORDER BY seq", &[])
        .await;
    let mut next = 1;
    runs.unwrap().iter().all(|run| {
        let (seq, length): (i64, i64) = (run.get(0), run.get(1));
        next += length;
        seq + length == next
    })
}

async fn stores() -> (Vec<AnyStore>, String) {
    let (first, url) = fresh().await;
    let mut stores = vec![first];
    for _ in 0..2 {
        stores.push(open(&url, OpenMode::AsIs).await.unwrap());
    }
    (stores, url)
}

#[tokio::test]
async fn changes_of_one_animal_by_many_stores_are_in_order_and_complete() {
    let (stores, url) = stores().await;
    let mut pets = Vec::new();
    for _ in 0..4 {
        pets.push(add(&stores[0], new_pet("", 1, Available)).await);
    }
    let changes = (0..12_usize).map(|number| {
        let (store, id) = (Arc::clone(&stores[number % 3]), pets[number % 4]);
        async move {
            for round in 0..20 {
                let status = if (round + number) % 2 == 0 {
                    Available
                } else {
                    Pending
                };
                execute(&store, vec![to_status(id, status)]).await;
                store.journal_state().await.unwrap();
            }
        }
    });
    let reader = connect(&url).await;
    let mut changing = Box::pin(join_all(changes));
    while futures_util::poll!(changing.as_mut()).is_pending() {
        assert!(has_no_gap(&reader).await);
    }
    let mut versions = HashMap::new();
    for change in log(&stores[0]).await {
        let version = versions.entry(change.pet).or_insert(0);
        *version += 1;
        assert_eq!(change.version, Some(*version), "{change:?}");
    }
    for id in pets {
        let version = stores[0].get_store_pet(id).await.unwrap().unwrap().version;
        assert_eq!(versions[&Some(id.get())], version);
    }
}

#[tokio::test]
async fn reading_the_state_takes_no_lock_once_all_changes_have_numbers() {
    let (store, url) = fresh().await;
    let id = add(&store, new_pet("Rex", 1, Available)).await;
    let state = store.journal_state().await.unwrap();
    let other = connect(&url).await;
    // Giving numbers takes both locks.
    let locks = "BEGIN; SELECT pg_advisory_xact_lock(8099991); SELECT FROM change_log FOR UPDATE";
    other.batch_execute(locks).await.unwrap();
    assert_eq!(store.journal_state().await.unwrap().last, state.last);
    assert_eq!(store.history(id, i64::MAX, 10).await.unwrap().len(), 1);
    other.batch_execute("COMMIT").await.unwrap();
}
