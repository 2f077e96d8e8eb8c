//! SQLite: what the writer knows of the newest rows, after others have written.

use petstore_domain::{PetStatus::Available, store_area::Command};
use petstore_store::{ExecutionOutcome, OpenMode};
use petstore_testing::{
    area::{add, respond, sell},
    stores::{AnyStore, act, new_pet},
};
use rusqlite::Connection;

use crate::{
    retries::named,
    sqlite::{fresh, open},
};

/// Sells a new animal at this time, with an idempotency key.
async fn sell_at(store: &AnyStore, second: i64) -> ExecutionOutcome {
    let new = new_pet("Rex", 1, Available);
    let context = named(1, &second.to_string(), &new, second);
    let command = Command::PlaceOrder(sell(add(store, new).await));
    store
        .execute(vec![command], context, respond)
        .await
        .unwrap()
}

#[tokio::test]
async fn an_order_comes_after_the_rows_that_another_process_has_added() {
    let (one, directory) = fresh();
    let path = directory.path().join("petstore.db");
    let two = open(&path, OpenMode::AsIs).unwrap();
    for (second, store) in [(10, &one), (20, &one), (100, &two), (30, &one), (40, &two)] {
        let sold = sell_at(store, second).await;
        assert!(matches!(sold, ExecutionOutcome::Done { .. }), "{sold:?}");
        if second == 100 {
            two.mark_idempotency_keys(Some(0)).await.unwrap();
        }
    }
    let rows = Connection::open(path).unwrap();
    let all = |select: &str| -> Vec<i64> {
        let mut statement = rows.prepare(select).unwrap();
        statement
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap()
    };
    assert_eq!(all("SELECT id FROM orders"), [1, 2, 3, 4, 5]);
    let latest = all("SELECT latest_at / 1000 FROM changes WHERE type = 'order.completed'");
    assert_eq!(latest, [10, 20, 100, 100, 100]);
    assert_eq!(
        all("SELECT mark FROM requests ORDER BY id"),
        [0, 0, 0, 1, 1]
    );
}

#[tokio::test]
async fn what_a_failed_write_had_added_is_forgotten() {
    let (store, directory) = fresh();
    let rows = Connection::open(directory.path().join("petstore.db")).unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE INSERT ON changes
        WHEN new.at = 9000 AND new.type <> 'order.completed'
        BEGIN SELECT RAISE(ABORT, 'no'); END";
    rows.execute_batch(refuse).unwrap();
    let id = add(&store, new_pet("Rex", 1, Available)).await;
    let command = || vec![Command::PlaceOrder(sell(id))];
    store.execute(command(), act(9), respond).await.unwrap_err();
    store.execute(command(), act(5), respond).await.unwrap();
    let latest: i64 = rows
        .query_row("SELECT max(latest_at) FROM changes", [], |row| row.get(0))
        .unwrap();
    assert_eq!(latest, 5_000);
}
