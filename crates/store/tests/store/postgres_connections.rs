//! PostgreSQL connections when clients leave, when all are in use, and when another server becomes
//! the primary.

use std::{fs, num::NonZeroU32, pin::pin, sync::Arc};

use petstore_databases as databases;
use petstore_domain::{NewPet, PageRequest, PetId, PetStatus, store_area::Command};
use petstore_store::{ExecutionOutcome, OpenMode, StoreError};
use petstore_testing::{
    area,
    proxy::{Line, Proxy},
    stores::{AnyStore, act, at, create, respond},
};
use rand::{SeedableRng, rngs::StdRng};
use tokio::task;
use tokio_postgres::Client;

use crate::{
    postgres::{next_id, open, sold},
    postgres_cluster::{Cluster, connect, fresh_url},
    postgres_faults::{new_key, set_synchronous_standby},
    postgres_tls::folder_and_port,
    suite::count,
};

/// A store with one connection, a connection that observes it, and one that blocks it.
async fn with_one_connection() -> (AnyStore, Client, Client) {
    with_connections(1).await
}

async fn with_connections(connections: u32) -> (AnyStore, Client, Client) {
    let url = fresh_url().await;
    let parsed = url.parse().unwrap();
    let mut random = StdRng::seed_from_u64(1);
    let mode = OpenMode::CreateAndMigrate;
    let connections = NonZeroU32::new(connections).unwrap();
    let store = databases::open(&parsed, mode, connections, &mut random)
        .await
        .unwrap();
    assert_eq!(next_id(&store).await, 1);
    let other = url.replace("application_name=", "application_name=other_than_");
    (store, connect(&url).await, connect(&other).await)
}

/// Waits until this many connections of the store have this state.
async fn until(observer: &Client, count: i64, state: &str) {
    let sql = format!(
        "SELECT count(*) FROM pg_stat_activity
         WHERE application_name = current_setting('application_name')
         AND {state}"
    );
    while observer
        .query_one(&sql, &[])
        .await
        .unwrap()
        .get::<_, i64>(0)
        != count
    {}
}

/// Waits until the store waits for a lock.
pub(crate) async fn until_blocked(observer: &Client) {
    until(observer, 1, "wait_event_type = 'Lock'").await;
}

/// Waits until the store's connection is idle and outside a transaction.
async fn until_idle(observer: &Client) {
    until(
        observer,
        0,
        "(wait_event_type = 'Lock' OR state LIKE 'idle in%')",
    )
    .await;
}

/// Runs `operation` until it waits for a lock, then drops it.
async fn leave_when_blocked<T>(operation: impl Future<Output = T>, observer: &Client) {
    tokio::select! {
        _ = operation => panic!("it did not wait"),
        () = until_blocked(observer) => {}
    }
}

#[tokio::test]
async fn a_create_whose_client_leaves_is_completed_and_its_connection_is_reused() {
    let (store, observer, other) = with_one_connection().await;
    other
        .batch_execute("BEGIN; LOCK TABLE pets IN SHARE MODE")
        .await
        .unwrap();
    leave_when_blocked(store.create_pet(sold(), act(0), respond), &observer).await;
    // The only connection is still busy with the first statement.
    let (created, ()) = tokio::join!(create(&store, sold()), async {
        until_blocked(&observer).await;
        other.batch_execute("COMMIT").await.unwrap();
    });
    assert_eq!(created.id.get(), 3);
    assert_eq!(count(&store).await, 3);
}

#[tokio::test]
async fn a_request_does_not_wait_for_the_statement_of_a_client_that_left() {
    let (store, observer, other) = with_connections(2).await;
    other
        .batch_execute("BEGIN; LOCK TABLE pets IN SHARE MODE")
        .await
        .unwrap();
    leave_when_blocked(store.create_pet(sold(), act(0), respond), &observer).await;
    assert!(
        store
            .get_pet(PetId::new(1).unwrap())
            .await
            .unwrap()
            .is_some()
    );
    until_blocked(&observer).await;
    other.batch_execute("COMMIT").await.unwrap();
}

#[tokio::test]
async fn a_read_whose_client_leaves_is_cancelled_if_it_takes_long() {
    let (store, observer, other) = with_one_connection().await;
    other
        .batch_execute("BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE")
        .await
        .unwrap();
    let request = PageRequest::default();
    leave_when_blocked(store.list_pets(&request, &mut |_| ()), &observer).await;
    // The lock is still held, and the server's log tells why the statement ended.
    let name: String = observer
        .query_one("SHOW application_name", &[])
        .await
        .unwrap()
        .get(0);
    let ended = format!("{name}: ERROR:  canceling statement due to ");
    let log = || fs::read_to_string(folder_and_port().0.join("log")).unwrap();
    while !log().contains(&ended) {
        task::yield_now().await;
    }
    assert!(log().contains(&format!("{ended}user request")));
    other.batch_execute("COMMIT").await.unwrap();
    assert_eq!(count(&store).await, 1);
}

#[tokio::test]
async fn a_rotation_whose_client_leaves_leaves_no_transaction_open() {
    let (store, observer, other) = with_one_connection().await;
    let key = new_key(1);
    let id = store.create_key(key, act(1_000)).await.unwrap().id;
    other
        .batch_execute("BEGIN; LOCK TABLE api_keys IN SHARE MODE")
        .await
        .unwrap();
    leave_when_blocked(
        store.rotate_key(id, new_key(2), at(5_000), act(1_000)),
        &observer,
    )
    .await;
    other.batch_execute("COMMIT").await.unwrap();
    until_idle(&observer).await;
    assert_eq!(store.list_keys().await.unwrap().len(), 1);
    let successor = new_key(3);
    assert!(
        store
            .rotate_key(id, successor, at(5_000), act(1_000))
            .await
            .unwrap()
            .is_some()
    );
}

#[tokio::test]
async fn an_operation_is_rejected_while_all_connections_are_in_use() {
    let (store, observer, other) = with_one_connection().await;
    other
        .batch_execute("BEGIN; LOCK TABLE pets IN SHARE MODE")
        .await
        .unwrap();
    let creating = Arc::clone(&store);
    let creating = tokio::spawn(async move { create(&creating, sold()).await });
    until_blocked(&observer).await;
    let rejected = store.get_pet(PetId::new(1).unwrap()).await;
    assert!(
        matches!(rejected, Err(StoreError::Overloaded)),
        "{rejected:?}"
    );
    other.batch_execute("COMMIT").await.unwrap();
    assert_eq!(creating.await.unwrap().id.get(), 2);
    assert!(
        store
            .get_pet(PetId::new(1).unwrap())
            .await
            .unwrap()
            .is_some()
    );
}

/// How many requests of others are made while commands wait: enough for the commands to try to take
/// all connections.
const OTHER_REQUESTS: u32 = 80;

#[tokio::test]
async fn commands_that_wait_for_one_animal_leave_connections_to_others() {
    let (store, observer, other) = with_connections(8).await;
    let pet = create(
        &store,
        NewPet {
            status: PetStatus::Available,
            ..sold()
        },
    )
    .await;
    other
        .batch_execute("BEGIN; SELECT id FROM pets FOR UPDATE")
        .await
        .unwrap();
    let reserve = Command::PlaceOrder(area::reserve(pet.id));
    let placing: Vec<_> = (0..16)
        .map(|_| {
            let (store, reserve) = (Arc::clone(&store), reserve.clone());
            tokio::spawn(async move { store.execute(vec![reserve], act(0), area::respond).await })
        })
        .collect();
    let blocked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'
        AND application_name = current_setting('application_name')";
    let blocked = async || {
        observer
            .query_one(blocked, &[])
            .await
            .unwrap()
            .get::<_, i64>(0)
    };
    while blocked().await < 6 {}
    // The commands go on to look for connections, because their group is split again and again.
    // With all 8 connections in use, these requests would be rejected.
    for _ in 0..OTHER_REQUESTS {
        create(&store, sold()).await;
        assert_eq!(store.get_pet(pet.id).await.unwrap(), Some(pet.clone()));
        assert!(blocked().await <= 6);
    }
    other.batch_execute("COMMIT").await.unwrap();
    let mut done = 0;
    for placed in placing {
        done += u32::from(matches!(
            placed.await.unwrap(),
            Ok(ExecutionOutcome::Done { .. })
        ));
    }
    // On a busy machine, all commands can reach their limit of five seconds first.
    assert!(done <= 1);
}

/// The server goes on with a commit that waits for a standby, whether or not anybody waits for it.
#[tokio::test]
async fn commits_that_no_standby_confirms_leave_few_connections_behind() {
    let cluster = Cluster::start();
    let url = cluster.url.parse().unwrap();
    let (mode, two) = (OpenMode::CreateAndMigrate, NonZeroU32::new(2).unwrap());
    let store = databases::open(&url, mode, two, &mut StdRng::seed_from_u64(1))
        .await
        .unwrap();
    set_synchronous_standby(&cluster, "missing").await;
    let observer = connect(&cluster.url).await;
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    let waiting = async || {
        observer
            .query_one(waiting, &[])
            .await
            .unwrap()
            .get::<_, i64>(0)
    };
    // Two writes take the connections, two others take those that replace them, and then nobody gets
    // one. To be rejected takes a second, and to abandon a connection takes five.
    let (mut number, mut rejected) = (0, 0);
    while rejected < 8 {
        number += 1;
        match store.create_key(new_key(number), act(1_000)).await {
            Err(StoreError::Overloaded) => rejected += u32::from(waiting().await == 4),
            Err(StoreError::OutcomeUnknown(_)) => assert!(waiting().await <= 4),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(waiting().await, 4);
    set_synchronous_standby(&cluster, "").await;
    while waiting().await > 0 {}
    store.check_ready().await.unwrap();
}

#[tokio::test]
async fn a_write_that_waits_too_long_fails_and_is_not_done_later() {
    let (store, observer, other) = with_one_connection().await;
    other
        .batch_execute("BEGIN; LOCK TABLE pets IN SHARE MODE")
        .await
        .unwrap();
    let rejected = store.create_pet(sold(), act(0), respond).await;
    // The server cancels the statement at about the same time, so the store may or may not see
    // that.
    let is_given_up = |error: &StoreError| {
        matches!(
            error,
            StoreError::OutcomeUnknown(_) | StoreError::Unavailable(_)
        )
    };
    assert!(rejected.as_ref().is_err_and(is_given_up), "{rejected:?}");
    until_idle(&observer).await;
    other.batch_execute("COMMIT").await.unwrap();
    assert_eq!(count(&store).await, 1);
}

/// The connection breaks after the INSERT was sent, and another operation then takes the only
/// connection.
#[tokio::test]
async fn a_create_that_was_sent_and_then_finds_no_free_connection_has_an_unknown_outcome() {
    let url = fresh_url().await;
    let line = Proxy::to(&url);
    let (mode, one) = (OpenMode::CreateAndMigrate, NonZeroU32::MIN);
    let mut random = StdRng::seed_from_u64(1);
    let store = databases::open(&line.url.parse().unwrap(), mode, one, &mut random)
        .await
        .unwrap();
    assert_eq!(next_id(&store).await, 1);
    let observer = connect(&url).await;
    let url = url.replace("application_name=", "application_name=other_than_");
    let (other, blocking) = (connect(&url).await, connect(&url).await);
    other
        .batch_execute("BEGIN; LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE")
        .await
        .unwrap();
    blocking
        .batch_execute("BEGIN; LOCK TABLE pets IN SHARE MODE")
        .await
        .unwrap();
    line.set(Line::LosesAnswer {
        after: 0,
        then_up: true,
    });
    let (unknown, reading) = tokio::join!(store.create_pet(sold(), act(0), respond), async {
        until_blocked(&observer).await;
        let mut reading = pin!(store.list_keys());
        assert!(
            futures_util::poll!(&mut reading).is_pending(),
            "the connection was free"
        );
        blocking.batch_execute("COMMIT").await.unwrap();
        reading.await
    });
    assert_eq!(line.line(), Line::Up, "no response was lost");
    assert!(reading.is_err(), "the connection was free");
    assert!(
        matches!(unknown, Err(StoreError::OutcomeUnknown(_))),
        "{unknown:?}"
    );
    other.batch_execute("COMMIT").await.unwrap();
    // The animal had been added.
    assert_eq!(count(&store).await, 2);
}

/// Makes a server look like a standby to clients, or no longer.
async fn set_standby(server: &Client, standby: bool) {
    let setting = if standby { "on" } else { "off" };
    let sql = format!("ALTER SYSTEM SET default_transaction_read_only = {setting}");
    server.batch_execute(&sql).await.unwrap();
    server
        .batch_execute("SELECT pg_reload_conf()")
        .await
        .unwrap();
    let sql = "SHOW default_transaction_read_only";
    while server.query_one(sql, &[]).await.unwrap().get::<_, &str>(0) != setting {}
}

#[tokio::test]
async fn a_server_that_hangs_does_not_prevent_a_connection_to_another() {
    let url = fresh_url().await;
    let hanging = Proxy::to(&url);
    hanging.set(Line::Frozen);
    let host = |url: &str| url.split(['@', '/']).nth(3).unwrap().to_owned();
    let both = format!("{},{}", host(&hanging.url), host(&url));
    let store = open(&url.replace(&host(&url), &both), OpenMode::CreateAndMigrate)
        .await
        .unwrap();
    assert_eq!(next_id(&store).await, 1);
}

#[tokio::test]
async fn the_server_that_accepts_writes_is_used_even_after_it_changes() {
    let clusters = [Cluster::start(), Cluster::start()];
    let observer = [
        connect(&clusters[0].url).await,
        connect(&clusters[1].url).await,
    ];
    for cluster in &clusters {
        drop(
            open(&cluster.url, OpenMode::CreateAndMigrate)
                .await
                .unwrap(),
        );
    }
    let hosts: Vec<&str> = clusters
        .iter()
        .map(|cluster| cluster.url.split(['@', '/']).nth(3).unwrap())
        .collect();
    let url = format!("postgres://petstore@{}/postgres", hosts.join(","));
    set_standby(&observer[0], true).await;
    let store = open(&url, OpenMode::AsIs).await.unwrap();
    let animals = async |server: &Client| -> i64 {
        server
            .query_one("SELECT count(*) FROM pets", &[])
            .await
            .unwrap()
            .get(0)
    };
    for (round, primary) in [1, 0, 1].into_iter().enumerate() {
        set_standby(&observer[1 - primary], true).await;
        set_standby(&observer[primary], false).await;
        let before = animals(&observer[primary]).await;
        create(&store, sold()).await;
        assert_eq!(animals(&observer[primary]).await, before + 1, "{round}");
    }
}

#[tokio::test]
async fn a_read_whose_client_leaves_does_not_make_the_pool_leave_its_server() {
    let clusters = [Cluster::start(), Cluster::start()];
    for cluster in &clusters {
        drop(
            open(&cluster.url, OpenMode::CreateAndMigrate)
                .await
                .unwrap(),
        );
    }
    let hosts: Vec<&str> = clusters
        .iter()
        .map(|cluster| cluster.url.split(['@', '/']).nth(3).unwrap())
        .collect();
    let url = format!("postgres://petstore@{}/postgres", hosts.join(","));
    let store = open(&url, OpenMode::AsIs).await.unwrap();
    let observer = connect(&format!("{}?application_name=petstore", clusters[0].url)).await;
    let other = connect(&clusters[0].url).await;
    for animals in 1..=3 {
        assert_eq!(next_id(&store).await, animals);
        other
            .batch_execute("BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE")
            .await
            .unwrap();
        leave_when_blocked(store.get_pet(PetId::new(1).unwrap()), &observer).await;
        // The statement was cancelled: the lock is still held.
        until_idle(&observer).await;
        other.batch_execute("COMMIT").await.unwrap();
    }
    // On the second server, the id would have been 1.
    assert_eq!(next_id(&store).await, 4);
}

/// Two servers that both accept writes: the first is a former primary that was not told about the
/// failover.
#[tokio::test]
async fn a_server_that_hung_is_not_used_again_even_if_it_still_accepts_writes() {
    let clusters = [Cluster::start(), Cluster::start()];
    for cluster in &clusters {
        drop(
            open(&cluster.url, OpenMode::CreateAndMigrate)
                .await
                .unwrap(),
        );
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
    // The second attempt may have begun before the first one failed.
    assert!((1..=2).contains(&hung), "{hung}");
    former.set(Line::Up);
    for animals in 1..=8 {
        create(&store, sold()).await;
        let now = connect(&clusters[1].url).await;
        let sql = "SELECT count(*) FROM pets";
        assert_eq!(
            now.query_one(sql, &[]).await.unwrap().get::<_, i64>(0),
            animals
        );
    }
}
