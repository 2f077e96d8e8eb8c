//! The log over PostgreSQL: transactions that end in any order, several stores on one database, and
//! a reader that looks at the numbers at every moment.

use std::{collections::HashMap, sync::Arc};

use futures_util::future::join_all;
use petstore::{
    domain::PetStatus::{Available, Pending},
    store::OpenMode,
};
use tokio_postgres::Client;

use crate::{
    area::{add, execute, to_status},
    log::log,
    postgres::{fresh, open},
    postgres_cluster::connect,
    suite::{AnyStore, create, new_pet},
};

/// A log as it must not be: a transaction takes the number itself.
const NUMBERED_BY_WRITERS: &str = "CREATE SEQUENCE drawn;
    CREATE FUNCTION draw() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO changes (seq, latest_at, at, type, subject_id, version, pet_id, actor)
        VALUES (nextval('drawn'), NEW.at, NEW.at, NEW.type, NEW.subject_id, 1, NEW.pet_id, NEW.actor);
        RETURN NULL;
    END $$;
    CREATE TRIGGER draw BEFORE INSERT ON unnumbered_changes FOR EACH ROW EXECUTE FUNCTION draw()";
const CHANGE: &str =
    "BEGIN; INSERT INTO unnumbered_changes (at, type, subject_id, version, pet_id, actor)
    VALUES (0, 'pet.added', 1000000, 1, 1000000, 'database')";

/// Whether the visible numbers have no gap. So none can appear below one that was visible before.
async fn has_no_gap(client: &Client) -> bool {
    let rows = client.query("SELECT seq FROM changes ORDER BY seq", &[]).await.unwrap();
    rows.iter().zip(1..).all(|(row, number)| row.get::<_, i64>(0) == number)
}

/// Ends transactions in another order than that in which they began, some by a rollback, while
/// stores add animals and number changes. Returns whether there never was a gap.
async fn stays_without_a_gap(stores: &[AnyStore], url: &str) -> bool {
    let reader = connect(url).await;
    for round in 0..12 {
        let mut open = Vec::new();
        for _ in 0..4 {
            let writer = connect(url).await;
            writer.batch_execute(CHANGE).await.unwrap();
            open.push(writer);
        }
        for step in 0..4 {
            let writer = open.remove([open.len() - 1, 0, open.len() / 2][(round + step) % 3]);
            let end = if (round + step) % 4 == 0 { "ROLLBACK" } else { "COMMIT" };
            writer.batch_execute(end).await.unwrap();
            let store = &stores[(round + step) % stores.len()];
            if step % 2 == 0 {
                create(store, new_pet("", 1, Available)).await;
            }
            store.log_state().await.unwrap();
            if !has_no_gap(&reader).await {
                return false;
            }
        }
    }
    true
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
async fn no_number_is_missing_or_late_whatever_the_order_in_which_transactions_end() {
    let (stores, url) = stores().await;
    assert!(stays_without_a_gap(&stores, &url).await);
    // 24 animals, and 36 of the 48 transactions.
    assert_eq!(log(&stores[0]).await.len(), 24 + 36);
}

#[tokio::test]
async fn numbers_that_writers_draw_themselves_are_detected() {
    let (stores, url) = stores().await;
    connect(&url).await.batch_execute(NUMBERED_BY_WRITERS).await.unwrap();
    assert!(!stays_without_a_gap(&stores, &url).await);
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
                let status = if (round + number) % 2 == 0 { Available } else { Pending };
                execute(&store, vec![to_status(id, status)]).await;
                store.log_state().await.unwrap();
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
