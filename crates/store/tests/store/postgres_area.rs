//! The store area over PostgreSQL: when connections break, and the plans of its lists.

use petstore_domain::{
    IdempotentRequest, Limit,
    PetStatus::{Available, Pending},
    WriteContext,
    store_area::{Command, OrderPatch, OrderQuery, OrderStatus, Patch, PetQuery, Reference},
};
use petstore_store::{ExecutionOutcome, OpenMode, StoreError};
use petstore_testing::{
    area::{
        add, any, cancel, change, complete, execute, now, order, order_id, pet, pet_id, place,
        reserve, respond, restore, sell, to_status, withdraw,
    },
    proxy::{Line, Proxy},
    stores::{act, create, new_pet},
};
use tokio_postgres::Client;

use crate::{
    area::{expect_one_owner_of_each_chip, expect_one_with_each_chip},
    postgres::{fresh, open},
    postgres_cluster::{Cluster, connect, fresh_url},
    postgres_connections::until_blocked,
    postgres_faults::{behind_a_line, without_a_standby},
    retries::named,
    suite::count,
};

/// A context of a request that may be repeated.
pub(crate) fn repeatable(key: &str) -> WriteContext {
    let named = named(1, key, &new_pet("", 1, Available), 0)
        .idempotency
        .unwrap();
    let idempotency = Some(IdempotentRequest {
        operation: "batch",
        ..named
    });
    WriteContext {
        now: now(),
        idempotency,
        ..act(0)
    }
}

#[tokio::test]
async fn a_repeatable_command_is_done_once_whichever_response_is_lost() {
    let (store, line) = behind_a_line().await;
    let mut after = 0;
    loop {
        let id = add(&store, new_pet("Zoë", 1, Available)).await;
        let commands = || {
            vec![
                Command::PlaceOrder(sell(id)),
                Command::add(new_pet("", 1, Pending)),
            ]
        };
        let before = count(&store).await;
        line.set(Line::LosesAnswer {
            after,
            then_up: true,
        });
        let context = repeatable(&format!("retry-{after}"));
        let done = store
            .execute(commands(), context.clone(), respond)
            .await
            .unwrap();
        let lost_one = line.line() == Line::Up;
        let first = match done {
            ExecutionOutcome::Done { response, .. } | ExecutionOutcome::Replayed(response) => {
                response
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(
            (pet(&store, id).await.version, count(&store).await),
            (2, before + 1)
        );
        line.set(Line::LosesAnswer {
            after,
            then_up: true,
        });
        let again = store.execute(commands(), context, respond).await.unwrap();
        assert_eq!(again, ExecutionOutcome::Replayed(first));
        line.set(Line::Up);
        assert_eq!(count(&store).await, before + 1);
        if !lost_one {
            assert!(after > 3, "each phase has an answer");
            return;
        }
        after += 1;
    }
}

#[tokio::test]
async fn of_many_animals_with_one_unique_value_two_processes_add_one() {
    let (store, url) = fresh().await;
    let second = open(&url, OpenMode::AsIs).await.unwrap();
    expect_one_with_each_chip(&[&store, &second]).await;
    expect_one_owner_of_each_chip(&[&store, &second]).await;
}

#[tokio::test]
async fn a_command_whose_commit_is_lost_is_not_repeated_and_its_outcome_is_unknown() {
    let (store, line) = behind_a_line().await;
    let (mut after, mut unknown) = (0, 0);
    loop {
        let id = add(&store, new_pet("", 1, Available)).await;
        let patch = to_status(id, Pending);
        line.set(Line::LosesAnswer {
            after,
            then_up: true,
        });
        let done = store.execute(vec![patch], act(0), respond).await;
        let lost_one = line.line() == Line::Up;
        line.set(Line::Up);
        let found = pet(&store, id).await;
        match done {
            Ok(ExecutionOutcome::Done { changes, .. }) => {
                assert_eq!((changes.len(), found.version), (1, 2));
            }
            Err(StoreError::OutcomeUnknown(_)) => {
                unknown += 1;
                // The connection may break before the server has the whole transaction.
                let found = (found.version, found.status);
                assert!([(1, Available), (2, Pending)].contains(&found), "{found:?}");
            }
            other => panic!("{other:?}"),
        }
        if !lost_one {
            assert!(unknown > 0 && after > 1, "{unknown} of {after}");
            return;
        }
        after += 1;
    }
}

#[tokio::test]
async fn a_command_whose_request_is_lost_is_done_once_or_not_at_all() {
    let (store, line) = behind_a_line().await;
    let id = pet_id(1);
    line.set(Line::LosesRequest);
    change(&store, to_status(id, Pending)).await;
    assert_eq!((line.line(), pet(&store, id).await.version), (Line::Up, 2));
}

#[tokio::test]
async fn a_repeated_create_finds_its_animal_even_after_it_was_withdrawn() {
    let url = fresh_url().await;
    let line = Proxy::to(&url);
    let store = open(&line.url, OpenMode::CreateAndMigrate).await.unwrap();
    create(&store, new_pet("", 1, Available)).await;
    let second = open(&url, OpenMode::AsIs).await.unwrap();
    // The connection breaks, and the next one is made after the withdrawal.
    line.set(Line::LosesAnswer {
        after: 0,
        then_up: false,
    });
    let creating = create(&store, new_pet("Frank", 1, Available));
    let withdrawing = async {
        while second.get_pet(pet_id(2)).await.unwrap().is_none() {}
        change(&second, withdraw(pet_id(2))).await;
        line.set(Line::Up);
    };
    let (created, ()) = tokio::join!(creating, withdrawing);
    assert_eq!(created.id, pet_id(2));
    assert_eq!(count(&second).await, 1);
    // The token comes back with the animal.
    change(&second, restore(pet_id(2))).await;
    let token = "SELECT count(token) FROM pets WHERE id = 2";
    assert_eq!(
        connect(&url)
            .await
            .query_one(token, &[])
            .await
            .unwrap()
            .get::<_, i64>(0),
        1
    );
}

#[tokio::test]
async fn what_no_standby_has_is_not_acknowledged_by_a_command_that_finds_it() {
    let cluster = Cluster::start();
    let store = open(&cluster.url, OpenMode::CreateAndMigrate)
        .await
        .unwrap();
    let id = add(&store, new_pet("", 1, Available)).await;
    let order = place(&store, reserve(id)).await;
    // The first attempt completes the order, and the second one finds it completed.
    let context = repeatable("complete");
    let done = store.execute(vec![complete(order)], context, respond);
    let done = without_a_standby(&cluster, done).await.unwrap();
    assert!(matches!(done, ExecutionOutcome::Replayed(_)), "{done:?}");
    let unknown = store.execute(
        vec![Command::PlaceOrder(sell(id))],
        repeatable("no"),
        respond,
    );
    assert!(matches!(
        unknown.await,
        Ok(ExecutionOutcome::Refused { .. })
    ));
}

/// Another program changes what was read, before it is written.
#[tokio::test]
async fn a_command_is_decided_again_if_its_animal_changes_after_it_was_read() {
    let (store, url) = fresh().await;
    let id = add(&store, new_pet("", 1, Available)).await;
    let mut other = connect(&url).await;
    let first = other.transaction().await.unwrap();
    first
        .execute(
            "UPDATE pets SET status = 'sold', version = 2 WHERE id = $1",
            &[&id.get()],
        )
        .await
        .unwrap();
    let (done, ()) = tokio::join!(
        execute(&store, vec![Command::PlaceOrder(sell(id))]),
        async {
            until_blocked(&connect(&url).await).await;
            first.commit().await.unwrap();
        }
    );
    assert!(matches!(done, ExecutionOutcome::Refused { .. }), "{done:?}");
    assert_eq!(
        store.list_orders(&OrderQuery::default()).await.unwrap(),
        (vec![], None)
    );
}

/// A command that changes nothing depends on a row that no statement of its batch writes.
#[tokio::test]
async fn a_batch_is_decided_again_if_what_it_leaves_as_it_is_changes_before_the_commit() {
    let (store, url) = fresh().await;
    let written = add(&store, new_pet("", 1, Available)).await;
    let unwritten = add(&store, new_pet("", 1, Available)).await;
    let earlier = place(&store, sell(add(&store, new_pet("", 1, Available)).await)).await;
    for (other_change, unchanged) in [
        (
            "UPDATE pets SET status = 'sold', version = 9 WHERE id = $1",
            to_status(unwritten, Available),
        ),
        (
            "UPDATE orders SET status = 'returned', holds = FALSE, version = 9 WHERE id = $1",
            complete(earlier),
        ),
    ] {
        let mut other = connect(&url).await;
        let held = other.transaction().await.unwrap();
        held.execute(
            "SELECT FROM pets WHERE id = $1 FOR UPDATE",
            &[&written.get()],
        )
        .await
        .unwrap();
        let batch = vec![Command::PlaceOrder(reserve(written)), unchanged.clone()];
        let (done, ()) = tokio::join!(execute(&store, batch), async {
            let third = connect(&url).await;
            until_blocked(&third).await;
            let subject = if matches!(unchanged, Command::PatchPet { .. }) {
                unwritten.get()
            } else {
                earlier.get()
            };
            third.execute(other_change, &[&subject]).await.unwrap();
            held.commit().await.unwrap();
        });
        match done {
            // The animal is no longer sold.
            ExecutionOutcome::Done { changes, .. } => assert_eq!(changes.len(), 3, "{changes:?}"),
            ExecutionOutcome::Refused { index, .. } => assert_eq!(index, 1),
            other => panic!("{other:?}"),
        }
        let reserved = store
            .list_orders(&OrderQuery::default())
            .await
            .unwrap()
            .0
            .into_iter();
        for order in reserved.filter(|order| order.status == OrderStatus::Reserved) {
            change(&store, cancel(order.id)).await;
        }
    }
}

/// A change of the status by hand lets the order go, which then keeps its version.
#[tokio::test]
async fn an_order_that_let_its_animal_go_after_it_was_read_does_not_hold_it_again() {
    let (store, url) = fresh().await;
    let id = add(&store, new_pet("", 1, Available)).await;
    let sale = place(&store, sell(id)).await;
    let mut other = connect(&url).await;
    let by_hand = other.transaction().await.unwrap();
    let statements =
        "UPDATE orders SET holds = FALSE; UPDATE pets SET status = 'pending', version = 3";
    by_hand.batch_execute(statements).await.unwrap();
    let reference = Patch::Set(Reference::new("r7".to_owned()).unwrap());
    let patch = OrderPatch {
        reference,
        ..OrderPatch::default()
    };
    let patch = Command::PatchOrder {
        id: sale,
        patch,
        preconditions: any(),
    };
    let (changes, ()) = tokio::join!(change(&store, patch), async {
        until_blocked(&connect(&url).await).await;
        by_hand.commit().await.unwrap();
    });
    assert_eq!(changes.len(), 1);
    let found = order(&store, sale).await;
    assert_eq!((found.version, found.holds), (2, false));
}

/// The plan that the store's last statement gets for any parameters.
async fn plan(observer: &Client, parameters: usize) -> String {
    let sql = "SELECT query FROM pg_stat_activity
        WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()";
    let text: String = observer.query_one(sql, &[]).await.unwrap().get(0);
    let values = vec!["NULL"; parameters].join(", ");
    let explain = format!("DEALLOCATE ALL; PREPARE list AS {text}");
    observer.batch_execute(&explain).await.unwrap();
    let rows = observer
        .simple_query(&format!("EXPLAIN EXECUTE list ({values})"))
        .await
        .unwrap();
    rows.iter()
        .filter_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// Statistics that would lead to other plans: nearly all animals and orders are alike.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
#[tokio::test]
async fn each_range_of_a_list_is_one_search_of_an_index_whatever_the_statistics_are() {
    let (store, url) = fresh().await;
    let observer = connect(&url).await;
    observer
        .batch_execute(
            "INSERT INTO pets (name, category_id, status)
                SELECT 'Max', 1, 'available' FROM generate_series(1, 50000);
            INSERT INTO withdrawn_pets
                (id, name, category_id, status, version, updated_at, withdrawn_at, reason)
                SELECT n, 'Max', 1, 'available', 2, 0, 0, 'died' FROM generate_series(1, 50000) AS n;
            INSERT INTO orders (id, pet_id, status, holds, reference, created_at, closed_at, version)
                SELECT n, n, 'completed', TRUE, 'r' || n, 0, 0, 1 FROM generate_series(1, 50000) AS n;
            ANALYZE pets, withdrawn_pets, orders; SET plan_cache_mode = force_generic_plan",
        )
        .await
        .unwrap();
    store
        .list_on_offer(None, Limit::default(), false)
        .await
        .unwrap();
    let of_offers = plan(&observer, 2).await;
    let index = "Index Scan Backward using pets_by_status";
    assert_eq!(of_offers.matches(index).count(), 2, "{of_offers}");
    assert!(
        !of_offers.contains("Seq Scan") && !of_offers.contains("Filter:"),
        "{of_offers}"
    );
    for number in 0..16 {
        let has = |bit: u32| number & bit != 0;
        let query = PetQuery {
            is_withdrawn: has(1),
            status: has(2).then_some(Pending),
            is_on_offer: has(4),
            newest_first: has(8),
            ..PetQuery::default()
        };
        let ranges = match (has(2), has(4)) {
            (true, true) => continue,
            (false, true) => 2,
            _ => 1,
        };
        store.list_store_pets(&query).await.unwrap();
        let plan = plan(&observer, 2).await;
        let scan = if has(8) {
            "Index Scan Backward"
        } else {
            "Index Scan"
        };
        let table = if has(1) { "withdrawn_pets" } else { "pets" };
        let index = if has(2) || has(4) {
            "by_status"
        } else {
            "pkey"
        };
        let index = format!("{scan} using {table}_{index} ");
        assert_eq!(plan.matches(&index).count(), ranges, "{query:?}: {plan}");
        for forbidden in ["Seq Scan", "Bitmap", "Sort  "] {
            assert!(!plan.contains(forbidden), "{query:?}: {plan}");
        }
        let mut filters = plan
            .lines()
            .filter(|line| line.trim().starts_with("Filter:"));
        assert!(
            filters.all(|line| line.contains("holds")),
            "{query:?}: {plan}"
        );
    }
    let reference = Reference::new("r7".to_owned());
    for (query, parameters, index) in [
        (OrderQuery::default(), 2, "orders_pkey"),
        (
            OrderQuery {
                status: Some(OrderStatus::Reserved),
                ..OrderQuery::default()
            },
            3,
            "orders_by_status",
        ),
        (
            OrderQuery {
                pet_id: Some(pet_id(7)),
                ..OrderQuery::default()
            },
            5,
            "orders_by_pet",
        ),
        (
            OrderQuery {
                reference,
                ..OrderQuery::default()
            },
            4,
            "orders_by_reference",
        ),
    ] {
        store.list_orders(&query).await.unwrap();
        let forwards = plan(&observer, parameters).await;
        assert!(
            forwards.contains(&format!("Index Scan using {index}")),
            "{query:?}: {forwards}"
        );
        store
            .list_orders(&OrderQuery {
                newest_first: true,
                ..query.clone()
            })
            .await
            .unwrap();
        let backwards = plan(&observer, parameters).await;
        let scan = format!("Index Scan Backward using {index}");
        assert!(backwards.contains(&scan), "{query:?}: {backwards}");
    }
}

#[tokio::test]
async fn a_command_reads_no_whole_table_although_it_was_planned_when_the_tables_were_small() {
    let (store, url) = fresh().await;
    let observer = connect(&url).await;
    // Not those of other tests, with whose indexes this could deadlock.
    let tables = "SELECT string_agg(relid::regclass::text, ', ') FROM pg_stat_user_tables
        WHERE schemaname = current_schema()";
    let tables: String = observer.query_one(tables, &[]).await.unwrap().get(0);
    let analyze = format!("ANALYZE {tables}");
    for number in 0..20 {
        let id = add(&store, new_pet("Zoë", 1, Available)).await;
        let context = repeatable(&number.to_string());
        let commands = vec![Command::PlaceOrder(reserve(id))];
        let ExecutionOutcome::Done { .. } =
            store.execute(commands, context, respond).await.unwrap()
        else {
            panic!("{number}");
        };
        change(&store, complete(order_id(number + 1))).await;
        observer.batch_execute(&analyze).await.unwrap();
    }
    drop(store);
    // Each session reports its reads before it ends.
    let others = "SELECT FROM pg_stat_activity WHERE pid <> pg_backend_pid()
        AND application_name = current_setting('application_name')";
    while !observer.query(others, &[]).await.unwrap().is_empty() {}
    let read_whole = "SELECT relname::text FROM pg_stat_user_tables WHERE seq_tup_read > 100
        AND schemaname = current_schema()
        AND relname IN ('requests', 'orders', 'idempotency_keys', 'withdrawn_pets')";
    let read_whole = observer.query(read_whole, &[]).await.unwrap();
    let names: Vec<String> = read_whole.iter().map(|row| row.get(0)).collect();
    assert_eq!(names, [""; 0]);
}
