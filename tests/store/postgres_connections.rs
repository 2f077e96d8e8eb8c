//! PostgreSQL: what becomes of connections when clients leave, when there are
//! too few of them, and when another server takes the writes.

use std::{fs, num::NonZeroU32, sync::Arc};

use petstore::{
    domain::{PageRequest, PetId},
    store::{self, OpenMode, StoreError},
};
use rand::{SeedableRng, rngs::StdRng};
use tokio::task;
use tokio_postgres::Client;

use crate::{
    postgres::{next_id, open, sold},
    postgres_cluster::{Cluster, connect, fresh_url},
    postgres_tls::place,
    proxy::{Line, Proxy},
    suite::{AnyStore, at, count, create},
};

/// A store with one connection, and beside it one that looks on and one that
/// is in its way.
async fn with_one_connection() -> (AnyStore, Client, Client) {
    with_connections(1).await
}

async fn with_connections(connections: u32) -> (AnyStore, Client, Client) {
    let url = fresh_url().await;
    let parsed = url.parse().unwrap();
    let mut random = StdRng::seed_from_u64(1);
    let mode = OpenMode::CreateAndMigrate;
    let connections = NonZeroU32::new(connections).unwrap();
    let store = store::open(&parsed, mode, connections, &mut random).await.unwrap();
    assert_eq!(next_id(&store).await, 1);
    let other = url.replace("application_name=", "application_name=other_than_");
    (store, connect(&url).await, connect(&other).await)
}

/// Waits until so many connections of the store, which has one, are like this.
async fn until(beside: &Client, count: i64, state: &str) {
    let sql = format!(
        "SELECT count(*) FROM pg_stat_activity
         WHERE application_name = current_setting('application_name')
         AND {state}"
    );
    while beside.query_one(&sql, &[]).await.unwrap().get::<_, i64>(0) != count {}
}

/// Waits until the store waits for a lock.
pub(crate) async fn until_blocked(beside: &Client) {
    until(beside, 1, "wait_event_type = 'Lock'").await;
}

/// Waits until the store's connection does nothing, nor is in a transaction.
async fn until_at_rest(beside: &Client) {
    until(beside, 0, "(wait_event_type = 'Lock' OR state LIKE 'idle in%')").await;
}

/// Does a part of `operation`, until it waits for a lock, and leaves.
async fn leave_when_blocked<T>(operation: impl Future<Output = T>, beside: &Client) {
    tokio::select! {
        _ = operation => panic!("it did not wait"),
        () = until_blocked(beside) => {}
    }
}

#[tokio::test]
async fn a_create_whose_client_leaves_is_whole_and_its_connection_is_used_again() {
    let (store, beside, other) = with_one_connection().await;
    other.batch_execute("BEGIN; LOCK TABLE pets IN SHARE MODE").await.unwrap();
    leave_when_blocked(store.create_pet(sold(), None), &beside).await;
    // It is the only connection, and the statement that runs on it goes on.
    let (created, ()) = tokio::join!(create(&store, sold()), async {
        until_blocked(&beside).await;
        other.batch_execute("COMMIT").await.unwrap();
    });
    assert_eq!(created.id.get(), 3);
    assert_eq!(count(&store).await, 3);
}

#[tokio::test]
async fn whoever_comes_after_a_client_that_left_does_not_wait_behind_its_statement() {
    let (store, beside, other) = with_connections(2).await;
    other.batch_execute("BEGIN; LOCK TABLE pets IN SHARE MODE").await.unwrap();
    leave_when_blocked(store.create_pet(sold(), None), &beside).await;
    assert!(store.get_pet(PetId::new(1).unwrap()).await.unwrap().is_some());
    until_blocked(&beside).await;
    other.batch_execute("COMMIT").await.unwrap();
}

#[tokio::test]
async fn a_read_whose_client_leaves_is_cancelled_if_it_takes_long() {
    let (store, beside, other) = with_one_connection().await;
    other.batch_execute("BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let (request, mut page) = (PageRequest::default(), Vec::new());
    leave_when_blocked(store.list_pets(&request, |_, _| (), &mut page), &beside).await;
    // The lock is still held, and the server says why it waits no longer.
    let name: String = beside.query_one("SHOW application_name", &[]).await.unwrap().get(0);
    let ended = format!("{name}: ERROR:  canceling statement due to ");
    let log = || fs::read_to_string(place().0.join("log")).unwrap();
    while !log().contains(&ended) {
        task::yield_now().await;
    }
    assert!(log().contains(&format!("{ended}user request")));
    other.batch_execute("COMMIT").await.unwrap();
    assert_eq!(count(&store).await, 1);
}

#[tokio::test]
async fn a_rotation_whose_client_leaves_leaves_no_transaction_open() {
    let (store, beside, other) = with_one_connection().await;
    let key = crate::postgres_faults::new_key(1);
    let id = store.create_key(key).await.unwrap().id;
    other.batch_execute("BEGIN; LOCK TABLE api_keys IN SHARE MODE").await.unwrap();
    leave_when_blocked(
        store.rotate_key(id, crate::postgres_faults::new_key(2), at(5_000)),
        &beside,
    )
    .await;
    other.batch_execute("COMMIT").await.unwrap();
    until_at_rest(&beside).await;
    assert_eq!(store.list_keys().await.unwrap().len(), 1);
    let successor = crate::postgres_faults::new_key(3);
    assert!(store.rotate_key(id, successor, at(5_000)).await.unwrap().is_some());
}

#[tokio::test]
async fn while_all_connections_are_in_use_one_more_operation_is_too_much() {
    let (store, beside, other) = with_one_connection().await;
    other.batch_execute("BEGIN; LOCK TABLE pets IN SHARE MODE").await.unwrap();
    let creating = Arc::clone(&store);
    let creating = tokio::spawn(async move { create(&creating, sold()).await });
    until_blocked(&beside).await;
    let refused = store.get_pet(PetId::new(1).unwrap()).await;
    assert!(matches!(refused, Err(StoreError::Overloaded)), "{refused:?}");
    other.batch_execute("COMMIT").await.unwrap();
    assert_eq!(creating.await.unwrap().id.get(), 2);
    assert!(store.get_pet(PetId::new(1).unwrap()).await.unwrap().is_some());
}

#[tokio::test]
async fn a_write_that_waits_too_long_is_given_up_and_not_done_later() {
    let (store, beside, other) = with_one_connection().await;
    other.batch_execute("BEGIN; LOCK TABLE pets IN SHARE MODE").await.unwrap();
    let refused = store.create_pet(sold(), None).await;
    // The server ends it at the same moment: the store has seen that, or not.
    let is_given_up = |error: &StoreError| {
        matches!(error, StoreError::OutcomeUnknown(_) | StoreError::Unavailable(_))
    };
    assert!(refused.as_ref().is_err_and(is_given_up), "{refused:?}");
    until_at_rest(&beside).await;
    other.batch_execute("COMMIT").await.unwrap();
    assert_eq!(count(&store).await, 1);
}

/// The connection breaks after the INSERT was sent, and from then on another
/// operation has the only one that there is.
#[tokio::test]
async fn a_create_that_was_sent_and_then_finds_no_free_connection_has_an_unknown_outcome() {
    let url = fresh_url().await;
    let line = Proxy::to(&url);
    let (mode, one) = (OpenMode::CreateAndMigrate, NonZeroU32::MIN);
    let mut random = StdRng::seed_from_u64(1);
    let store = store::open(&line.url.parse().unwrap(), mode, one, &mut random).await.unwrap();
    assert_eq!(next_id(&store).await, 1);
    let other = url.replace("application_name=", "application_name=other_than_");
    let other = connect(&other).await;
    other.batch_execute("BEGIN; LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE").await.unwrap();
    line.set(Line::LosesAnswer { after: 0, then_up: true });
    let (unknown, reading) = tokio::join!(store.create_pet(sold(), None), store.list_keys());
    assert_eq!(line.line(), Line::Up, "no answer was lost");
    assert!(reading.is_err(), "the connection was free");
    assert!(matches!(unknown, Err(StoreError::OutcomeUnknown(_))), "{unknown:?}");
    other.batch_execute("COMMIT").await.unwrap();
    // It had been done.
    assert_eq!(count(&store).await, 2);
}

/// Makes a server a standby, as far as a client can tell, or no longer one.
async fn set_standby(server: &Client, standby: bool) {
    let setting = if standby { "on" } else { "off" };
    let sql = format!("ALTER SYSTEM SET default_transaction_read_only = {setting}");
    server.batch_execute(&sql).await.unwrap();
    server.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    let sql = "SHOW default_transaction_read_only";
    while server.query_one(sql, &[]).await.unwrap().get::<_, &str>(0) != setting {}
}

#[tokio::test]
async fn a_server_that_hangs_does_not_keep_the_others_from_being_asked() {
    let url = fresh_url().await;
    let hanging = Proxy::to(&url);
    hanging.set(Line::Frozen);
    let host = |url: &str| url.split(['@', '/']).nth(3).unwrap().to_owned();
    let both = format!("{},{}", host(&hanging.url), host(&url));
    let store = open(&url.replace(&host(&url), &both), OpenMode::CreateAndMigrate).await.unwrap();
    assert_eq!(next_id(&store).await, 1);
}

#[tokio::test]
async fn of_several_servers_the_one_that_takes_writes_is_used_also_when_it_changes() {
    let clusters = [Cluster::start(), Cluster::start()];
    let beside = [connect(&clusters[0].url).await, connect(&clusters[1].url).await];
    for cluster in &clusters {
        drop(open(&cluster.url, OpenMode::CreateAndMigrate).await.unwrap());
    }
    let hosts: Vec<&str> =
        clusters.iter().map(|cluster| cluster.url.split(['@', '/']).nth(3).unwrap()).collect();
    let url = format!("postgres://petstore@{}/postgres", hosts.join(","));
    set_standby(&beside[0], true).await;
    let store = open(&url, OpenMode::AsIs).await.unwrap();
    let animals = async |server: &Client| -> i64 {
        server.query_one("SELECT count(*) FROM pets", &[]).await.unwrap().get(0)
    };
    for (round, primary) in [1, 0, 1].into_iter().enumerate() {
        set_standby(&beside[1 - primary], true).await;
        set_standby(&beside[primary], false).await;
        let before = animals(&beside[primary]).await;
        create(&store, sold()).await;
        assert_eq!(animals(&beside[primary]).await, before + 1, "{round}");
    }
}

#[tokio::test]
async fn a_read_whose_client_leaves_does_not_make_the_pool_leave_its_server() {
    let clusters = [Cluster::start(), Cluster::start()];
    for cluster in &clusters {
        drop(open(&cluster.url, OpenMode::CreateAndMigrate).await.unwrap());
    }
    let hosts: Vec<&str> =
        clusters.iter().map(|cluster| cluster.url.split(['@', '/']).nth(3).unwrap()).collect();
    let url = format!("postgres://petstore@{}/postgres", hosts.join(","));
    let store = open(&url, OpenMode::AsIs).await.unwrap();
    let beside = connect(&format!("{}?application_name=petstore", clusters[0].url)).await;
    let other = connect(&clusters[0].url).await;
    for animals in 1..=3 {
        assert_eq!(next_id(&store).await, animals);
        other.batch_execute("BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE").await.unwrap();
        leave_when_blocked(store.get_pet(PetId::new(1).unwrap()), &beside).await;
        // It is cancelled: the lock is still held.
        until_at_rest(&beside).await;
        other.batch_execute("COMMIT").await.unwrap();
    }
    // On the second server it would have been the first one.
    assert_eq!(next_id(&store).await, 4);
}

/// Two servers that both take writes: the first was the primary, and nobody has
/// told it that it is none any more.
#[tokio::test]
async fn a_server_that_hangs_is_left_also_when_it_wakes_and_still_takes_writes() {
    let clusters = [Cluster::start(), Cluster::start()];
    for cluster in &clusters {
        drop(open(&cluster.url, OpenMode::CreateAndMigrate).await.unwrap());
    }
    let former = Proxy::to(&clusters[0].url);
    let host = |url: &str| url.split(['@', '/']).nth(3).unwrap().to_owned();
    let hosts = format!("{},{}", host(&former.url), host(&clusters[1].url));
    let url = format!("postgres://petstore@{hosts}/postgres");
    let store = open(&url, OpenMode::AsIs).await.unwrap();
    let at_once: Vec<_> = (0..8).map(|_| create(&store, sold())).collect();
    futures_util::future::join_all(at_once).await;
    former.set(Line::Frozen);
    let animal = PetId::new(1).unwrap();
    let mut hung = 0;
    while store.get_pet(animal).await.is_err() {
        hung += 1;
    }
    // The second may have begun before the first was given up.
    assert!((1..=2).contains(&hung), "{hung}");
    former.set(Line::Up);
    for animals in 1..=8 {
        create(&store, sold()).await;
        let now = connect(&clusters[1].url).await;
        let sql = "SELECT count(*) FROM pets";
        assert_eq!(now.query_one(sql, &[]).await.unwrap().get::<_, i64>(0), animals);
    }
}
