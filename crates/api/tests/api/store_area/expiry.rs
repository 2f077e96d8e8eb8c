//! Reservations end by the clock.

use std::time::Duration;

use petstore_domain::Clock;
use serde_json::json;

use super::{Store, created};

const MINUTE: Duration = Duration::from_mins(1);

/// Reserves an animal until so many minutes after noon, when the tests begin.
async fn reserve_for(store: &Store, pet: i64, minutes: u8) -> i64 {
    let end = format!("2026-12-01T12:{minutes:02}:00Z");
    created(&store.place(json!({ "petId": pet, "expiresAt": end })).await)
}

/// Lets the clock run for a minute, and then the task.
async fn after_a_minute(store: &Store) {
    store.server.clock.advance(MINUTE);
    store.server.app.expire_orders().await.unwrap();
}

async fn status(store: &Store, order: i64) -> String {
    store.order(order).await["status"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn an_order_is_reserved_until_the_clock_expires_it_and_nothing_else() {
    let store = Store::open().await;
    let (due, later) = (
        store.add("due", "available").await,
        store.add("later", "available").await,
    );
    let (first, second) = (
        reserve_for(&store, due, 2).await,
        reserve_for(&store, later, 3).await,
    );
    after_a_minute(&store).await;
    store.server.clock.advance(MINUTE);
    // Its end has come, but nothing says so before the change is committed.
    assert_eq!(status(&store, first).await, "reserved");
    store.server.app.expire_orders().await.unwrap();

    let order = store.order(first).await;
    assert_eq!(
        (
            &order["status"],
            &order["closedAt"],
            &order["expiresAt"],
            &order["version"]
        ),
        (
            &json!("expired"),
            &json!("2026-12-01T12:02:00.000Z"),
            &json!("2026-12-01T12:02:00.000Z"),
            &json!(2)
        )
    );
    assert_eq!(store.state(due).await, ("available".to_owned(), 3));
    assert_eq!(status(&store, second).await, "reserved");
    assert_eq!(store.state(later).await, ("pending".to_owned(), 2));
}

#[tokio::test]
async fn a_complete_that_comes_before_the_clock_wins() {
    let store = Store::open().await;
    let pet = store.add("Rex", "available").await;
    let order = reserve_for(&store, pet, 1).await;
    store.server.clock.advance(2 * MINUTE);
    let reply = store
        .send(&format!("POST /orders/{order}/complete"), &[], "")
        .await;
    assert_eq!(reply.status, 200);
    after_a_minute(&store).await;
    assert_eq!(status(&store, order).await, "completed");
    assert_eq!(store.state(pet).await.0, "sold");
}

#[tokio::test]
async fn an_extended_reservation_stays() {
    let store = Store::open().await;
    let pet = store.add("Rex", "available").await;
    let order = reserve_for(&store, pet, 1).await;
    let extended = json!({ "expiresAt": "2026-12-01T13:00:00Z" });
    assert_eq!(
        store
            .change(&format!("PATCH /orders/{order}"), 1, extended)
            .await
            .status,
        200
    );
    after_a_minute(&store).await;
    after_a_minute(&store).await;
    assert_eq!(status(&store, order).await, "reserved");
}

#[tokio::test]
async fn a_clock_that_is_23_hours_ahead_for_a_moment_expires_nothing() {
    let store = Store::open().await;
    let order = reserve_for(&store, store.add("Rex", "available").await, 30).await;
    after_a_minute(&store).await;
    let right = petstore_domain::Clock::now(&*store.server.clock);
    store
        .server
        .clock
        .set(right + jiff::SignedDuration::from_hours(23));
    store.server.app.expire_orders().await.unwrap();
    store.server.clock.set(right);
    after_a_minute(&store).await;
    assert_eq!(status(&store, order).await, "reserved");

    // A clock that stays ahead counts after a minute.
    store
        .server
        .clock
        .set(right + jiff::SignedDuration::from_hours(23));
    store.server.app.expire_orders().await.unwrap();
    assert_eq!(status(&store, order).await, "reserved");
    after_a_minute(&store).await;
    assert_eq!(status(&store, order).await, "expired");
}

#[tokio::test]
async fn two_processes_expire_each_order_once() {
    let store = Store::open().await;
    let mut orders = Vec::new();
    for number in 0..30 {
        let pet = store.add(&format!("animal {number}"), "available").await;
        orders.push(reserve_for(&store, pet, 1).await);
    }
    store.server.clock.advance(2 * MINUTE);
    let app = &store.server.app;
    let (first, second) = tokio::join!(app.expire_orders(), app.expire_orders());
    assert_eq!((first.unwrap(), second.unwrap()), (false, false));
    for order in orders {
        let order = store.order(order).await;
        assert_eq!(
            (&order["status"], &order["version"]),
            (&json!("expired"), &json!(2))
        );
    }
    let metrics = store.server.api.metrics();
    for line in [
        "petstore_changes_total{type=\"order.expired\"} 30",
        "petstore_reservations 0",
        "petstore_expiry_lag_seconds 0",
    ] {
        assert!(
            metrics.lines().any(|found| found == line),
            "{line}: {metrics}"
        );
    }
}

#[tokio::test]
async fn more_reservations_than_one_run_takes_all_expire() {
    let store = Store::open().await;
    for number in 0..101 {
        let pet = store.add(&format!("animal {number}"), "available").await;
        reserve_for(&store, pet, 1).await;
    }
    store.server.clock.advance(2 * MINUTE);
    let app = &store.server.app;
    assert!(app.expire_orders().await.unwrap(), "one is left");
    assert!(!app.expire_orders().await.unwrap());
    assert_eq!(store.get("/orders?status=reserved").await.json(), json!([]));
}

#[tokio::test]
async fn reservations_that_cannot_expire_do_not_keep_later_ones_from_it() {
    let store = Store::open().await;
    for number in 0..100 {
        let pet = store.add(&format!("animal {number}"), "available").await;
        reserve_for(&store, pet, 1).await;
    }
    let last = reserve_for(&store, store.add("Rex", "available").await, 2).await;
    store
        .server
        .execute("DELETE FROM pets WHERE id <= 100")
        .await;
    store.server.clock.advance(3 * MINUTE);
    let app = &store.server.app;
    while app.expire_orders().await.unwrap() {}
    assert_eq!(status(&store, last).await, "expired");

    // They are not forgotten.
    let restore =
        "INSERT INTO pets (id, name, category_id, status, version, created_at, updated_at)
        SELECT pet_id, 'found again', 1, 'pending', 2, 0, 0 FROM orders WHERE pet_id <= 100";
    store.server.execute(restore).await;
    while app.expire_orders().await.unwrap() {}
    assert_eq!(store.get("/orders?status=reserved").await.json(), json!([]));
}

#[tokio::test]
async fn changes_are_forgotten_after_400_days_but_not_because_the_clock_jumps() {
    let store = Store::open().await;
    store.add("Rex", "available").await;
    store.add("Tom", "available").await;
    let first = async || {
        while store.server.app.forget_old_changes().await.unwrap() {}
        store.server.store.journal_state().await.unwrap().first
    };
    let day = Duration::from_hours(24);
    assert_eq!(first().await, 1);
    store.server.clock.advance(399 * day);
    assert_eq!(first().await, 1);
    let now = store.server.clock.now();
    store
        .server
        .clock
        .set(now + jiff::SignedDuration::from_hours(24 * 24));
    assert_eq!(first().await, 1);
    store.server.clock.set(now);
    assert_eq!(first().await, 1);
    store.server.clock.advance(2 * day);
    // The newest one stays.
    assert_eq!(first().await, 2);
}
