//! PostgreSQL when the connection, the server or the client fails.

use std::{fmt::Debug, pin::pin, sync::Arc};

use petstore_domain::{
    ApiKey, Deployment, NewKey, PageRequest, PetId, PetRef, Scope, idempotency::fingerprint,
};
use petstore_store::{CreationOutcome, OpenMode, StoreError};
use petstore_testing::{
    proxy::{Line, Proxy},
    stores::{AnyStore, act, at, create, new_pet, respond},
};
use rand::{SeedableRng, rngs::StdRng};
use tokio_postgres::Client;

use crate::{
    postgres::{fresh, next_id, open, sold},
    postgres_cluster::{Cluster, connect, fresh_url},
    postgres_connections::until_blocked,
    retries::{named, replayed},
    suite::count,
};

/// A store behind a proxy that can break connections. It has one animal.
pub(crate) async fn behind_a_line() -> (AnyStore, Proxy) {
    let line = Proxy::to(&fresh_url().await);
    let store = open(&line.url, OpenMode::CreateAndMigrate).await.unwrap();
    assert_eq!(next_id(&store).await, 1);
    (store, line)
}

pub(crate) fn new_key(seed: u64) -> NewKey {
    let key = ApiKey::generate(Deployment::Staging, &mut StdRng::seed_from_u64(seed));
    NewKey {
        digest: key.digest(),
        name: "test".to_owned(),
        scope: Scope::Read,
        deployment: Deployment::Staging,
        expires_at: None,
        rate_limit: None,
    }
}

#[tokio::test]
async fn a_create_whose_response_is_lost_is_done_once() {
    let (store, line) = behind_a_line().await;
    for number in 0..5 {
        line.set(Line::LosesAnswer {
            after: 0,
            then_up: true,
        });
        let created = create(&store, new_pet("Frank", number, sold().status)).await;
        assert_eq!(line.line(), Line::Up);
        assert_eq!(store.get_pet(created.id).await.unwrap(), Some(created));
        assert_eq!(count(&store).await, usize::try_from(number).unwrap() + 2);
    }
}

#[tokio::test]
async fn a_create_whose_request_is_lost_is_done_once() {
    let (store, line) = behind_a_line().await;
    line.set(Line::LosesRequest);
    let created = create(&store, sold()).await;
    assert_eq!(line.line(), Line::Up);
    assert_eq!(store.get_pet(created.id).await.unwrap(), Some(created));
    assert_eq!(count(&store).await, 2);
}

#[tokio::test]
async fn an_idempotent_create_is_done_once_whichever_response_is_lost() {
    let url = fresh_url().await;
    let line = Proxy::to(&url);
    let store = open(&line.url, OpenMode::CreateAndMigrate).await.unwrap();
    assert_eq!(next_id(&store).await, 1);
    let other = connect(&url).await;
    let mut after = 0;
    loop {
        line.set(Line::LosesAnswer {
            after,
            then_up: true,
        });
        let request = named(1, &format!("retry-{after}"), &sold(), 0);
        let first = match store
            .create_pet(sold(), request.clone(), respond)
            .await
            .unwrap()
        {
            CreationOutcome::New(pet) => replayed(&pet),
            again => again,
        };
        let lost_one = line.line() == Line::Up;
        assert_eq!(count(&store).await, 2);
        // What becomes of the animal does not matter to a repetition.
        for by_hand in [
            "UPDATE pets SET name = 'other'",
            "DELETE FROM pets WHERE id > 1",
        ] {
            other.batch_execute(by_hand).await.unwrap();
            line.set(Line::LosesAnswer {
                after,
                then_up: true,
            });
            let again = store
                .create_pet(sold(), request.clone(), respond)
                .await
                .unwrap();
            assert_eq!(again, first);
            line.set(Line::Up);
        }
        assert_eq!(count(&store).await, 1);
        if !lost_one {
            // All responses arrived.
            assert!(after > 0);
            return;
        }
        after += 1;
    }
}

#[tokio::test]
async fn a_key_is_created_and_rotated_once_whichever_response_is_lost() {
    let (store, line) = behind_a_line().await;
    let mut after = 0;
    loop {
        line.set(Line::LosesAnswer {
            after,
            then_up: true,
        });
        let old = store
            .create_key(new_key(after as u64), act(1_000))
            .await
            .unwrap();
        let lost_one = line.line() == Line::Up;
        line.set(Line::LosesAnswer {
            after,
            then_up: true,
        });
        let successor = new_key(1_000 + after as u64);
        let rotated = store
            .rotate_key(old.id, successor, at(5_000), act(1_000))
            .await
            .unwrap()
            .unwrap();
        let lost_one = line.line() == Line::Up || lost_one;
        line.set(Line::Up);
        let old = store.get_key(old.id).await.unwrap().unwrap();
        assert_eq!(
            (old.successor, old.expires_at),
            (Some(rotated.id), Some(at(5_000)))
        );
        assert_eq!(store.list_keys().await.unwrap().len(), 2 * (after + 1));
        if !lost_one {
            assert!(after > 3, "a rotation has several answers");
            return;
        }
        after += 1;
    }
}

#[tokio::test]
async fn a_page_is_read_again_even_after_a_part_of_it_arrived() {
    let (store, line) = behind_a_line().await;
    line.set(Line::LosesAnswer {
        after: 0,
        then_up: true,
    });
    assert_eq!(count(&store).await, 1);
    assert_eq!(line.line(), Line::Up);

    for _ in 0..20 {
        create(&store, new_pet(&"n".repeat(10_000), 1, sold().status)).await;
    }
    // The page has about 200 kB, more than one response.
    line.set(Line::LosesAnswer {
        after: 1,
        then_up: true,
    });
    let mut visited = Vec::new();
    let mut visit = |pet: PetRef<'_>| visited.push(pet.id.get());
    let last = store
        .list_pets(&PageRequest::default(), &mut visit)
        .await
        .unwrap();
    assert_eq!((visited, last), ((1..=20).collect(), PetId::new(20)));
    assert_eq!(line.line(), Line::Up);
}

#[tokio::test]
async fn the_outcome_of_a_create_is_known_when_the_database_is_back() {
    let (store, line) = behind_a_line().await;
    let request = named(1, "retry-1", &sold(), 0);
    line.set(Line::LosesAnswer {
        after: 3,
        then_up: false,
    });
    let unknown = store.create_pet(sold(), request.clone(), respond).await;
    assert!(
        matches!(unknown, Err(StoreError::OutcomeUnknown(_))),
        "{unknown:?}"
    );
    assert_eq!(line.line(), Line::Down);
    // An operation that never reached the database was not done.
    let refused = store.create_pet(sold(), act(0), respond).await;
    assert!(
        matches!(refused, Err(StoreError::Unavailable(_))),
        "{refused:?}"
    );
    line.set(Line::Up);
    let known = store.create_pet(sold(), request, respond).await.unwrap();
    assert!(matches!(known, CreationOutcome::Replayed(_)), "{known:?}");
    assert_eq!(count(&store).await, 2);
}

#[tokio::test]
async fn operations_fail_while_the_database_is_unreachable_and_succeed_afterwards() {
    let (store, line) = behind_a_line().await;
    let first = PetId::new(1).unwrap();
    for away in [Line::Down, Line::Frozen] {
        line.set(away);
        let reading = Arc::clone(&store);
        let read = tokio::spawn(async move { reading.get_pet(first).await });
        let created = store.create_pet(sold(), act(0), respond).await;
        let refused = matches!(
            created,
            Err(StoreError::Unavailable(_) | StoreError::OutcomeUnknown(_))
        );
        assert!(refused, "{created:?}");
        let read = read.await.unwrap();
        assert!(matches!(read, Err(StoreError::Unavailable(_))), "{read:?}");
        line.set(Line::Up);
        assert!(store.get_pet(first).await.unwrap().is_some());
        next_id(&store).await;
    }
}

#[tokio::test]
async fn operations_succeed_after_the_server_ends_its_connections() {
    let (store, url) = fresh().await;
    for _ in 0..3 {
        next_id(&store).await;
        let beside = connect(&url).await;
        let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE application_name = current_setting('application_name')
            AND pid <> pg_backend_pid()";
        assert!(beside.query_one(sql, &[]).await.is_ok());
        assert!(
            store
                .get_pet(PetId::new(1).unwrap())
                .await
                .unwrap()
                .is_some()
        );
    }
}

/// Another process is in the middle of the same request.
#[tokio::test]
async fn the_second_of_two_identical_requests_waits_for_the_first() {
    let of_this_release = "INSERT INTO requests
        VALUES (1, 'retry-1', 'createPet', $1, 201, '/pets/1', '{}', 0, 0)";
    let of_the_previous_one = "INSERT INTO idempotency_keys VALUES (1, 'retry-1', $1, 1, 0)";
    let firsts = [of_this_release, of_the_previous_one];
    for (sql, first_is_done) in firsts.iter().flat_map(|sql| [(sql, true), (sql, false)]) {
        let (store, url) = fresh().await;
        let request = named(1, "retry-1", &sold(), 0);
        let mut other = connect(&url).await;
        let first = other.transaction().await.unwrap();
        let fingerprint = &fingerprint(&sold())[..];
        first.execute(*sql, &[&fingerprint]).await.unwrap();
        let sql = "INSERT INTO pets (name, category_id, status) VALUES ('Frank', 1, 'sold')";
        first.execute(sql, &[]).await.unwrap();
        let second = tokio::spawn({
            let (store, request) = (Arc::clone(&store), request.clone());
            async move { store.create_pet(sold(), request, respond).await.unwrap() }
        });
        until_blocked(&connect(&url).await).await;
        if first_is_done {
            first.commit().await.unwrap();
            let replayed = second.await.unwrap();
            let CreationOutcome::Replayed(response) = replayed else {
                panic!("{replayed:?}")
            };
            assert_eq!(response.location.as_deref(), Some("/pets/1"));
        } else {
            first.rollback().await.unwrap();
            let added = second.await.unwrap();
            assert!(matches!(added, CreationOutcome::New(pet) if pet.id.get() == 2));
        }
        assert_eq!(count(&store).await, 1);
    }
}

/// Pairs of statements: one that prevents creates, and one that allows them again.
#[tokio::test]
async fn a_store_is_ready_only_while_creates_work() {
    let (owner, url) = fresh().await;
    assert_eq!(next_id(&owner).await, 1);
    let beside = connect(&url).await;
    let schema: String = beside
        .query_one("SELECT current_schema()", &[])
        .await
        .unwrap()
        .get(0);
    let role = format!("service_{schema}");
    beside
        .batch_execute(&format!(
            "CREATE ROLE {role} LOGIN;
             GRANT USAGE ON SCHEMA {schema} TO {role};
             GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role};
             GRANT USAGE ON SEQUENCE pets_ids, pets_token_series, change_ids TO {role}"
        ))
        .await
        .unwrap();
    let url = url.replace("postgres://petstore@", &format!("postgres://{role}@"));
    let store = open(&url, OpenMode::AsIs).await.unwrap();
    let ready = async || store.check_ready().await;
    ready().await.unwrap();
    for (broken, mended) in [
        (
            "REVOKE INSERT ON pets FROM ROLE",
            "GRANT INSERT ON pets TO ROLE",
        ),
        (
            "REVOKE INSERT ON idempotency_keys FROM ROLE",
            "GRANT INSERT ON idempotency_keys TO ROLE",
        ),
        (
            "REVOKE INSERT ON requests FROM ROLE",
            "GRANT INSERT ON requests TO ROLE",
        ),
        (
            "REVOKE SELECT ON requests FROM ROLE",
            "GRANT SELECT ON requests TO ROLE",
        ),
        (
            "REVOKE USAGE ON SEQUENCE pets_ids FROM ROLE",
            "GRANT USAGE ON SEQUENCE pets_ids TO ROLE",
        ),
        (
            "REVOKE USAGE ON SEQUENCE pets_token_series FROM ROLE",
            "GRANT USAGE ON SEQUENCE pets_token_series TO ROLE",
        ),
        (
            "REVOKE INSERT ON changes FROM ROLE",
            "GRANT INSERT ON changes TO ROLE",
        ),
        (
            "REVOKE USAGE ON SEQUENCE change_ids FROM ROLE",
            "GRANT USAGE ON SEQUENCE change_ids TO ROLE",
        ),
        ("BEGIN; LOCK TABLE pets IN SHARE MODE", "COMMIT"),
        ("BEGIN; LOCK TABLE idempotency_keys IN SHARE MODE", "COMMIT"),
        ("BEGIN; LOCK TABLE requests IN SHARE MODE", "COMMIT"),
    ] {
        beside
            .batch_execute(&broken.replace("ROLE", &role))
            .await
            .unwrap();
        assert!(ready().await.is_err(), "{broken}");
        beside
            .batch_execute(&mended.replace("ROLE", &role))
            .await
            .unwrap();
        ready()
            .await
            .unwrap_or_else(|error| panic!("{mended}: {error:?}"));
    }
    // The checks took no identifier, and no space in the table.
    assert_eq!(next_id(&store).await, 2);
    let place = "SELECT ctid::text FROM pets WHERE id = 2";
    assert_eq!(
        beside
            .query_one(place, &[])
            .await
            .unwrap()
            .get::<_, &str>(0),
        "(0,2)"
    );
}

#[tokio::test]
async fn many_readiness_checks_leave_connections_to_others() {
    let (store, url) = fresh().await;
    let other = connect(&url).await;
    other
        .batch_execute("BEGIN; LOCK TABLE pets IN SHARE MODE")
        .await
        .unwrap();
    let asking: Vec<_> = (0..64)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.check_ready().await })
        })
        .collect();
    let beside = connect(&url).await;
    let blocked = async || -> i64 {
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'
            AND application_name = current_setting('application_name')";
        beside.query_one(sql, &[]).await.unwrap().get(0)
    };
    while blocked().await == 0 {}
    // With all 8 connections in use, this would be rejected.
    assert!(
        store
            .get_pet(PetId::new(1).unwrap())
            .await
            .unwrap()
            .is_none()
    );
    assert!(blocked().await <= 1);
    other.batch_execute("COMMIT").await.unwrap();
    for asked in asking {
        drop(asked.await.unwrap());
    }
    store.check_ready().await.unwrap();
}

/// Makes every commit wait for this standby, or for none if the name is empty.
pub(crate) async fn set_synchronous_standby(cluster: &Cluster, name: &str) {
    let beside = connect(&cluster.url).await;
    let set = format!("ALTER SYSTEM SET synchronous_standby_names = '{name}'");
    for command in [&set, "SELECT pg_reload_conf()"] {
        beside.batch_execute(command).await.unwrap();
    }
    let show = "SHOW synchronous_standby_names";
    let seen = async || -> String {
        connect(&cluster.url)
            .await
            .query_one(show, &[])
            .await
            .unwrap()
            .get(0)
    };
    while seen().await != name {}
    // The checkpointer tells commits what to wait for, before its next checkpoint.
    beside.batch_execute("CHECKPOINT").await.unwrap();
}

/// The process of a commit, other than `known`, that waits for a standby.
async fn waiting_for_standby(beside: &Client, known: i32) -> i32 {
    let sql = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid <> $1";
    loop {
        if let Some(row) = beside.query_opt(sql, &[&known]).await.unwrap() {
            return row.get(0);
        }
    }
}

/// Does `operation` while there is no standby, and ends the server's process that
/// waits for one. What it committed is then visible, but a failover would lose it.
/// The operation must wait again when it finds that, until there is a standby.
pub(crate) async fn without_a_standby<T: Debug>(
    cluster: &Cluster,
    operation: impl Future<Output = T>,
) -> T {
    set_synchronous_standby(cluster, "missing").await;
    let beside = connect(&cluster.url).await;
    // Writes the next ids to the WAL, so that only commits of rows wait.
    let draw = "SET synchronous_commit = local; SELECT nextval('pets_ids'), nextval('orders_ids')";
    beside.batch_execute(draw).await.unwrap();
    let mut operation = pin!(operation);
    let mut process = 0;
    for end in [true, false] {
        process = tokio::select! {
            done = &mut operation => panic!("acknowledged without a standby: {done:?}"),
            process = waiting_for_standby(&beside, process) => process,
        };
        if end {
            beside
                .query_one("SELECT pg_terminate_backend($1)", &[&process])
                .await
                .unwrap();
        }
    }
    set_synchronous_standby(cluster, "").await;
    operation.await
}

#[tokio::test]
async fn what_no_standby_has_is_not_acknowledged_either_when_a_retry_finds_it() {
    let cluster = Cluster::start();
    let store = open(&cluster.url, OpenMode::CreateAndMigrate)
        .await
        .unwrap();
    assert_eq!(next_id(&store).await, 1);
    let created = without_a_standby(&cluster, create(&store, sold())).await;
    assert_eq!(store.get_pet(created.id).await.unwrap(), Some(created));
    let request = named(1, "retry-1", &sold(), 0);
    let repeated = without_a_standby(&cluster, store.create_pet(sold(), request, respond)).await;
    assert!(
        matches!(repeated, Ok(CreationOutcome::Replayed(_))),
        "{repeated:?}"
    );
    assert_eq!(count(&store).await, 3);
    let old = without_a_standby(&cluster, store.create_key(new_key(1), act(1_000)))
        .await
        .unwrap();
    let rotating = store.rotate_key(old.id, new_key(2), at(5_000), act(1_000));
    let successor = without_a_standby(&cluster, rotating)
        .await
        .unwrap()
        .unwrap();
    let keys: Vec<_> = store
        .list_keys()
        .await
        .unwrap()
        .iter()
        .map(|key| key.id)
        .collect();
    assert_eq!(keys, [old.id, successor.id]);
}
