//! PostgreSQL carries out single commands together that arrive while others are being carried out.

use std::{pin::pin, sync::Arc};

use futures_util::{
    future::join_all,
    stream::{FuturesUnordered, StreamExt},
};
use petstore_domain::{
    PetId,
    PetStatus::{Available, Sold},
    store_area::{Command, Preconditions, Refusal, Resource},
};
use petstore_store::{ExecutionOutcome, OpenMode, StoreError};
use petstore_testing::{
    area::{add, cancel, execute, label, pet, pet_id, reserve, respond, sell, to_status},
    proxy::Line,
    stores::{AnyStore, act, new_pet},
};
use tokio_postgres::Client;

use crate::{
    postgres::{fresh, open},
    postgres_area::repeatable,
    postgres_cluster::{Cluster, connect},
    postgres_connections::until_blocked,
    postgres_faults::{behind_a_line, without_a_standby},
};

async fn animals(store: &AnyStore, count: usize) -> Vec<PetId> {
    let mut ids = Vec::new();
    for _ in 0..count {
        ids.push(add(store, new_pet("Zoë", 1, Available)).await);
    }
    ids
}

/// Gives these commands at the same time, each in a request of its own.
async fn together(
    store: &AnyStore,
    commands: impl IntoIterator<Item = Command>,
) -> Vec<ExecutionOutcome> {
    join_all(
        commands
            .into_iter()
            .map(|command| execute(store, vec![command])),
    )
    .await
}

fn sale(id: PetId) -> Command {
    Command::PlaceOrder(sell(id))
}

#[track_caller]
fn assert_done(executed: &ExecutionOutcome) {
    assert!(
        matches!(executed, ExecutionOutcome::Done { .. }),
        "{executed:?}"
    );
}

/// How many rows of a table meet a condition, and how many transactions wrote them.
async fn rows(observer: &Client, table: &str, condition: &str) -> (i64, i64) {
    let sql = format!("SELECT count(*), count(DISTINCT xmin::text) FROM {table} WHERE {condition}");
    let row = observer.query_one(&sql, &[]).await.unwrap();
    (row.get(0), row.get(1))
}

#[tokio::test]
async fn commands_that_wait_share_a_transaction_of_at_most_64() {
    let (store, url) = fresh().await;
    let ids = animals(&store, 100).await;
    for (id, done) in ids
        .iter()
        .zip(together(&store, ids.iter().map(|&id| sale(id))).await)
    {
        let ExecutionOutcome::Done { changes, .. } = done else {
            panic!("{done:?}")
        };
        let Some(Resource::Order(order)) = &changes[0].after else {
            panic!("{changes:?}")
        };
        assert_eq!(order.pet_id, *id);
        assert_eq!(
            (
                pet(&store, *id).await.version,
                pet(&store, *id).await.status
            ),
            (2, Sold)
        );
    }
    let observer = connect(&url).await;
    for (table, condition, count) in [
        ("pets", "TRUE", 100),
        ("orders", "TRUE", 100),
        ("changes", "version = 2", 100),
    ] {
        assert_eq!(
            rows(&observer, table, condition).await,
            (count, 2),
            "{table}"
        );
    }
}

#[tokio::test]
async fn a_refusal_concerns_one_command_of_its_group_and_shows_what_those_before_it_did() {
    let (store, url) = fresh().await;
    let ids = animals(&store, 3).await;
    let commands = [
        sale(ids[0]),
        sale(ids[1]),
        sale(ids[0]),
        sale(ids[2]),
        sale(pet_id(9)),
    ];
    let done = together(&store, commands).await;
    for number in [0, 1, 3] {
        assert_done(&done[number]);
    }
    let ExecutionOutcome::Refused {
        index: 0,
        refusal: Refusal::InvalidTransition(conflict),
    } = &done[2]
    else {
        panic!("{:?}", done[2]);
    };
    assert_eq!(conflict.current, Resource::Pet(pet(&store, ids[0]).await));
    assert_eq!(
        conflict.message,
        format!("Animal {} is sold and cannot be sold again.", ids[0])
    );
    assert!(matches!(
        done[4],
        ExecutionOutcome::Refused {
            refusal: Refusal::NotFound(_),
            ..
        }
    ));
    let observer = connect(&url).await;
    assert_eq!(rows(&observer, "orders", "TRUE").await, (3, 1));
    assert_eq!(rows(&observer, "changes", "version = 2").await, (3, 1));
}

#[tokio::test]
async fn each_command_of_a_group_sees_the_effect_of_those_before_it() {
    let (store, url) = fresh().await;
    let id = animals(&store, 1).await[0];
    let put = |text: &str, preconditions| Command::PutCategory {
        id: 7,
        label: label(text),
        preconditions,
    };
    let absent = || Preconditions {
        if_absent: true,
        ..Preconditions::default()
    };
    let delete = Command::DeleteCategory {
        id: 7,
        preconditions: Preconditions::version(2),
    };
    let done = together(
        &store,
        [
            put("cats", absent()),
            put("dogs", absent()),
            put("dogs", Preconditions::version(1)),
            delete,
            put("birds", absent()),
            sale(id),
            // The order no longer holds the animal.
            to_status(id, Available),
            sale(id),
        ],
    )
    .await;
    assert!(matches!(
        &done[1],
        ExecutionOutcome::Refused {
            refusal: Refusal::PreconditionFailed(Some(_)),
            ..
        }
    ));
    for number in [0, 2, 3, 4, 5, 6, 7] {
        assert_done(&done[number]);
    }
    assert_eq!(pet(&store, id).await.version, 4);
    let observer = connect(&url).await;
    assert_eq!(
        rows(&observer, "changes", "version > 1 OR type <> 'pet.added'").await,
        (9, 1)
    );
    assert_eq!(
        rows(&observer, "categories", "label = 'birds'").await,
        (1, 1)
    );
    assert_eq!(rows(&observer, "orders", "holds").await, (1, 1));
    assert_eq!(rows(&observer, "orders", "NOT holds").await, (1, 1));
}

#[tokio::test]
async fn two_requests_with_one_key_in_a_group_have_one_effect() {
    let (store, _) = fresh().await;
    let ids = animals(&store, 2).await;
    let send = |id, key| store.execute(vec![sale(id)], repeatable(key), respond);
    let done = join_all([send(ids[0], "a"), send(ids[0], "a"), send(ids[1], "b")]).await;
    let done: Vec<_> = done.into_iter().map(Result::unwrap).collect();
    let ExecutionOutcome::Done { response, .. } = &done[0] else {
        panic!("{:?}", done[0])
    };
    assert_eq!(done[1], ExecutionOutcome::Replayed(response.clone()));
    assert_done(&done[2]);
}

#[tokio::test]
async fn an_order_its_change_and_its_remembered_request_share_a_transaction() {
    let (store, url) = fresh().await;
    let ids = animals(&store, 1).await;
    let executed = store.execute(vec![sale(ids[0])], repeatable("a"), respond);
    assert_done(&executed.await.unwrap());

    let observer = connect(&url).await;
    let written = "(SELECT xmin FROM orders
        UNION ALL SELECT xmin FROM changes WHERE version = 2
        UNION ALL SELECT xmin FROM requests) AS written";
    assert_eq!(rows(&observer, written, "TRUE").await, (3, 1));
}

#[tokio::test]
async fn a_group_is_decided_again_if_one_of_its_animals_changes_after_it_was_read() {
    let (store, url) = fresh().await;
    let ids = animals(&store, 8).await;
    let mut other = connect(&url).await;
    let first = other.transaction().await.unwrap();
    let sold = "UPDATE pets SET status = 'sold', version = 2 WHERE id = $1";
    first.execute(sold, &[&ids[3].get()]).await.unwrap();
    let (done, ()) = tokio::join!(together(&store, ids.iter().map(|&id| sale(id))), async {
        until_blocked(&connect(&url).await).await;
        first.commit().await.unwrap();
    });
    for (number, done) in done.iter().enumerate() {
        assert_eq!(
            matches!(done, ExecutionOutcome::Refused { .. }),
            number == 3,
            "{done:?}"
        );
        assert_eq!(pet(&store, ids[number]).await.version, 2);
    }
    assert_eq!(rows(&connect(&url).await, "orders", "TRUE").await.0, 7);
}

#[tokio::test]
async fn an_animal_that_stays_locked_holds_up_no_other_of_its_group_and_nothing_is_done_twice() {
    let (store, url) = fresh().await;
    let ids = animals(&store, 20).await;
    let mut other = connect(&url).await;
    let lock = other.transaction().await.unwrap();
    lock.execute(
        "SELECT FROM pets WHERE id = $1 FOR UPDATE",
        &[&ids[19].get()],
    )
    .await
    .unwrap();
    let (done, ()) = tokio::join!(together(&store, ids.iter().map(|&id| sale(id))), async {
        let observer = connect(&url).await;
        while rows(&observer, "orders", "TRUE").await.0 < 19 {}
        lock.commit().await.unwrap();
    });
    for (id, done) in ids.iter().zip(&done) {
        assert_done(done);
        assert_eq!(pet(&store, *id).await.version, 2);
    }
    let observer = connect(&url).await;
    assert_eq!(rows(&observer, "orders", "TRUE").await.0, 20);
    assert_eq!(rows(&observer, "changes", "version = 2").await.0, 20);
}

#[tokio::test]
async fn a_command_whose_client_leaves_while_it_waits_is_not_done() {
    let (store, _) = fresh().await;
    let ids = animals(&store, 2).await;
    {
        let mut leaving = pin!(execute(&store, vec![sale(ids[0])]));
        assert!(futures_util::poll!(&mut leaving).is_pending());
    }
    assert_done(&execute(&store, vec![sale(ids[1])]).await);
    assert_eq!(pet(&store, ids[0]).await.version, 1);
}

#[tokio::test]
async fn each_command_of_a_group_has_its_own_outcome_whichever_response_is_lost() {
    let (store, line) = behind_a_line().await;
    // The first command can be carried out alone, and then it depends on the moment which commands
    // the lost response is for. So the responses are lost in turn until one was for a group.
    let (mut after, mut most, mut unknown) = (0, 0, 0);
    for round in 0..200 {
        let ids = animals(&store, 6).await;
        line.set(Line::LosesAnswer {
            after,
            then_up: true,
        });
        let send = |(number, id): (usize, &PetId)| {
            let context = match number % 2 {
                0 => repeatable(&format!("{round}-{number}")),
                _ => act(1_000_000),
            };
            store.execute(vec![sale(*id)], context, respond)
        };
        let done = join_all(ids.iter().enumerate().map(send)).await;
        let lost_one = line.line() == Line::Up;
        line.set(Line::Up);
        for (number, (id, done)) in ids.iter().zip(done).enumerate() {
            let version = pet(&store, *id).await.version;
            match done {
                Ok(ExecutionOutcome::Done { .. } | ExecutionOutcome::Replayed(_)) => {
                    assert_eq!(version, 2);
                }
                Err(StoreError::OutcomeUnknown(_)) if number % 2 == 1 => unknown += 1,
                other => panic!("{other:?}"),
            }
        }
        if !lost_one && unknown > 0 && most > 1 {
            return;
        }
        after = if lost_one { after + 1 } else { 0 };
        most = most.max(after);
    }
    panic!("{unknown} unknown outcomes, {most} responses lost in turn");
}

#[tokio::test]
async fn no_command_of_a_group_is_acknowledged_before_a_standby_has_the_commit() {
    let cluster = Cluster::start();
    let store = open(&cluster.url, OpenMode::CreateAndMigrate)
        .await
        .unwrap();
    let ids = animals(&store, 3).await;
    // Also a refusal can be due to what no standby has.
    let commands = [sale(ids[0]), sale(ids[0]), sale(ids[1]), sale(ids[2])].into_iter();
    let mut done: FuturesUnordered<_> = commands
        .enumerate()
        .map(|(number, command)| {
            let context = repeatable(&number.to_string());
            store.execute(vec![command], context, respond)
        })
        .collect();
    let first = without_a_standby(&cluster, done.next()).await;
    let rest = done.collect::<Vec<_>>().await;
    for done in first.into_iter().chain(rest).map(Result::unwrap) {
        let is_known = matches!(
            done,
            ExecutionOutcome::Replayed(_) | ExecutionOutcome::Refused { .. }
        );
        assert!(is_known, "{done:?}");
    }
}

/// In two processes, so that groups also conflict.
#[tokio::test]
async fn many_clients_of_one_animal_all_get_their_turn_and_hold_up_no_others() {
    const ROUNDS: usize = 5;
    let (store, url) = fresh().await;
    let second = open(&url, OpenMode::AsIs).await.unwrap();
    let ids = animals(&store, 9).await;
    let client = |number: usize, id: PetId| {
        let store = Arc::clone([&store, &second][number % 2]);
        tokio::spawn(async move {
            let give = async |command| {
                // One that waits for more than 5 seconds is an error.
                execute(&store, vec![command]).await
            };
            let mut placed = 0;
            for _ in 0..ROUNDS {
                if let ExecutionOutcome::Done { changes, .. } =
                    give(Command::PlaceOrder(reserve(id))).await
                {
                    let Some(Resource::Order(order)) = &changes[0].after else {
                        panic!()
                    };
                    assert_done(&give(cancel(order.id)).await);
                    placed += 1;
                }
            }
            placed
        })
    };
    let hot = (0..64).map(|number| client(number, ids[0]));
    let others = ids[1..]
        .iter()
        .enumerate()
        .map(|(number, id)| client(number, *id));
    let placed = join_all(hot.chain(others).collect::<Vec<_>>()).await;
    let placed: Vec<usize> = placed.into_iter().map(Result::unwrap).collect();
    assert!(placed[..64].iter().sum::<usize>() > 0);
    assert_eq!(placed[64..], [ROUNDS; 8]);
    // Every reservation and its end changed its animal once.
    let mut versions = 0;
    for id in &ids {
        versions += pet(&store, *id).await.version - 1;
    }
    assert_eq!(
        versions,
        2 * i64::try_from(placed.iter().sum::<usize>()).unwrap()
    );
    let observer = connect(&url).await;
    let groups = rows(&observer, "changes", "type = 'order.placed'").await;
    assert!(groups.1 < groups.0, "groups of more than one: {groups:?}");
}
