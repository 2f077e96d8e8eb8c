//! The contact of an order: who sees it, and for how long.

use std::time::Duration;

use jiff::SignedDuration;
use petstore_domain::{Clock, Scope};
use serde_json::{Value, json};

use super::{Reply, Store, created};

const ANNA: &str = "Anna Miller, 0171 555 01 23";
const BOB: &str = "Bob \"the\" Müller\n\\ 犬";
const DAY: Duration = Duration::from_hours(24);

/// Reserves a new animal for somebody, and returns the order's id.
async fn reserve_for(store: &Store, contact: &str) -> i64 {
    let pet = store.add("Rex", "available").await;
    created(
        &store
            .place(json!({ "petId": pet, "contact": contact }))
            .await,
    )
}

async fn contact(store: &Store, order: i64) -> Value {
    store.order(order).await["contact"].clone()
}

/// Changes the contact of an order of this version.
async fn set(store: &Store, order: i64, version: i64, contact: Value) -> Reply {
    let patch = json!({ "contact": contact });
    store
        .change(&format!("PATCH /orders/{order}"), version, patch)
        .await
}

#[tokio::test]
async fn an_order_has_a_contact_of_1_to_500_characters_that_changes_in_any_state() {
    let store = Store::open().await;
    let longest = "犬".repeat(500);
    let order = reserve_for(&store, &longest).await;
    assert_eq!(contact(&store, order).await, longest);
    for invalid in [
        json!(""),
        json!("犬".repeat(501)),
        json!("a\u{0}"),
        json!(7),
    ] {
        let message = "contact must be a string of 1 to 500 characters";
        set(&store, order, 1, invalid.clone())
            .await
            .expect_message(400, "invalid_body", message);
        let pet = store.add("Max", "available").await;
        let placed = store
            .place(json!({ "petId": pet, "contact": invalid }))
            .await;
        placed.expect_message(400, "invalid_body", message);
    }
    assert_eq!(
        set(&store, order, 1, json!(ANNA)).await.ok()["contact"],
        ANNA
    );
    assert_eq!(set(&store, order, 2, json!(ANNA)).await.ok()["version"], 2);
    let completed = store
        .send(&format!("POST /orders/{order}/complete"), &[], "")
        .await
        .ok();
    assert_eq!(completed["contact"], ANNA);
    assert_eq!(set(&store, order, 3, json!(BOB)).await.ok()["contact"], BOB);
    // The row is a batch's, too, and one without a contact.
    let pets = [
        store.add("Max", "available").await,
        store.add("Tom", "available").await,
    ];
    let placed = store
        .batch(json!([
            { "command": "placeOrder", "petId": pets[0] },
            { "command": "patchPet", "petId": pets[1], "ifMatch": 1, "name": "\"contact\":null" },
            { "command": "placeOrder", "petId": pets[1], "contact": BOB, "status": "completed" },
        ]))
        .await
        .ok();
    let shown = [
        &placed[0]["contact"],
        &placed[1]["contact"],
        &placed[2]["contact"],
    ];
    assert_eq!(shown, [&Value::Null, &Value::Null, &json!(BOB)]);
    let returned = format!("POST /orders/{}/return", placed[2]["id"]);
    assert_eq!(store.send(&returned, &[], "").await.ok()["contact"], BOB);
}

#[tokio::test]
async fn only_keys_that_may_change_orders_see_contacts() {
    let mut store = Store::open().await;
    let order = reserve_for(&store, ANNA).await;
    let may_write = std::mem::take(&mut store.key);
    let may_read = store.server.new_key(Scope::StoreRead, None).await.0;
    let may_administer = store.server.new_key(Scope::StoreAdmin, None).await.0;
    for (key, seen) in [
        (may_write, json!(ANNA)),
        (may_administer, json!(ANNA)),
        (may_read, Value::Null),
    ] {
        store.key = key;
        let one = store.get(&format!("/orders/{order}")).await;
        let all = store.get("/orders").await;
        assert_eq!(
            (&one.ok()["contact"], &all.ok()[0]["contact"]),
            (&seen, &seen)
        );
        for reply in [one, all] {
            assert_eq!(reply.header("vary"), Some("Authorization"));
            let known = [("if-none-match", reply.header("etag").unwrap())];
            let path = if reply.json().is_array() {
                "/orders"
            } else {
                &format!("/orders/{order}")
            };
            let same = store.send(&format!("GET {path}"), &known, "").await;
            assert_eq!(same.status, 304);
            let varies: Vec<_> = same.headers.get_all("vary").iter().collect();
            assert!(
                varies.contains(&&"Authorization".parse().unwrap()),
                "{varies:?}"
            );
        }
        // The log has it for nobody.
        let log = store.get("/changes?after=start").await;
        assert_eq!(log.ok()[1]["after"]["contact"], Value::Null);
        assert_eq!(log.ok()[1]["type"], "order.placed");
    }
}

#[tokio::test]
async fn a_long_list_of_orders_is_compressed_and_varies_by_both() {
    let store = Store::open().await;
    for _ in 0..10 {
        reserve_for(&store, ANNA).await;
    }
    let list = store
        .send("GET /orders", &[("accept-encoding", "gzip")], "")
        .await;
    assert_eq!(list.header("content-encoding"), Some("gzip"));
    let varies: Vec<_> = list.headers.get_all("vary").iter().collect();
    assert_eq!(varies, ["Authorization", "Accept-Encoding"]);
}

#[tokio::test]
async fn a_change_of_only_the_contact_is_a_new_version_and_an_order_changed_without_it() {
    let store = Store::open().await;
    let order = reserve_for(&store, ANNA).await;
    let changed = set(&store, order, 1, json!(BOB)).await;
    assert_eq!(
        (&changed.ok()["version"], changed.header("etag")),
        (&json!(2), Some("\"2\""))
    );
    let erased = set(&store, order, 2, Value::Null).await.ok();
    assert_eq!(
        (&erased["version"], &erased["contact"]),
        (&json!(3), &Value::Null)
    );
    assert_eq!(store.server.count_rows("order_contacts").await, 0);
    let log = store
        .get("/changes?after=start&type=order.changed")
        .await
        .ok();
    let log = log.as_array().unwrap();
    assert_eq!(
        log.iter()
            .map(|change| &change["version"])
            .collect::<Vec<_>>(),
        [2, 3]
    );
    for change in log {
        assert_eq!(
            [&change["before"]["contact"], &change["after"]["contact"]],
            [&Value::Null; 2]
        );
    }
}

#[tokio::test]
async fn an_error_shows_the_order_as_it_is_with_its_contact() {
    let store = Store::open().await;
    let order = reserve_for(&store, ANNA).await;
    let stale = set(&store, order, 7, json!(BOB)).await;
    stale.expect_error(412, "precondition_failed");
    let back = store
        .send(&format!("POST /orders/{order}/return"), &[], "")
        .await;
    back.expect_error(409, "invalid_transition");
    for reply in [stale, back] {
        assert_eq!(reply.json()["current"]["contact"], ANNA);
    }
}

#[tokio::test]
async fn a_replayed_response_has_the_contact_of_that_moment() {
    let store = Store::open().await;
    let pets = [
        store.add("Rex", "available").await,
        store.add("Max", "available").await,
    ];
    let one = ("POST /orders", json!({ "petId": pets[0], "contact": ANNA }));
    let two = (
        "POST /batch",
        json!([{ "command": "placeOrder", "petId": pets[1], "contact": ANNA }]),
    );
    for (at, (call, body)) in [one, two].into_iter().enumerate() {
        let key = format!("\"key-{at}\"");
        let again = async || {
            let reply = store.send(call, &[("idempotency-key", &key)], &body).await;
            assert!(reply.status.is_success(), "{}", reply.json());
            let shown = reply.json();
            if shown.is_array() {
                shown[0].clone()
            } else {
                shown
            }
        };
        let first = again().await;
        assert_eq!(again().await, first);
        let order = first["id"].as_i64().unwrap();
        for (version, now) in (1..).zip([json!(BOB), Value::Null, json!(ANNA)]) {
            set(&store, order, version, now.clone()).await.ok();
            let mut replayed = first.clone();
            replayed["contact"] = now;
            assert_eq!(again().await, replayed);
        }
    }
    // Also of a command that changes nothing.
    let complete = format!("POST /orders/{}/complete", 1);
    for _ in 0..2 {
        assert_eq!(store.send(&complete, &[], "").await.ok()["contact"], ANNA);
    }
}

#[tokio::test]
async fn a_contact_is_erased_30_days_after_the_order_closed() {
    let store = Store::open().await;
    let closed = reserve_for(&store, ANNA).await;
    let open = reserve_for(&store, BOB).await;
    let end = json!({ "expiresAt": "2027-12-01T00:00:00Z" });
    store
        .change(&format!("PATCH /orders/{open}"), 1, end)
        .await
        .ok();
    let without = store.sell(store.add("Max", "available").await).await;
    let cancel = store
        .send(&format!("POST /orders/{closed}/cancel"), &[], "")
        .await
        .ok();
    assert_eq!(cancel["contact"], ANNA);
    let of_closed = async || {
        while store.server.app.erase_contacts().await.unwrap() {}
        contact(&store, closed).await
    };
    assert_eq!(of_closed().await, ANNA);
    store
        .server
        .clock
        .advance(Duration::from_secs(30 * 24 * 60 * 60 - 1));
    assert_eq!(of_closed().await, ANNA);
    store.server.clock.advance(Duration::from_secs(1));
    assert_eq!(of_closed().await, Value::Null);
    assert_eq!(contact(&store, open).await, BOB);
    assert_eq!(store.server.count_rows("order_contacts").await, 1);
    // Followers learn of it.
    let log = store
        .get("/changes?after=start&type=order.changed")
        .await
        .ok();
    let last = log.as_array().unwrap().last().unwrap();
    assert_eq!(
        (&last["subject"]["id"], &last["version"]),
        (&json!(closed), &json!(3))
    );
    assert_eq!(store.order(without).await["version"], 1);
}

#[tokio::test]
async fn a_contact_is_not_erased_because_the_clock_jumps() {
    let store = Store::open().await;
    let order = reserve_for(&store, ANNA).await;
    store
        .send(&format!("POST /orders/{order}/cancel"), &[], "")
        .await
        .ok();
    store.server.app.erase_contacts().await.unwrap();
    let now = store.server.clock.now();
    store
        .server
        .clock
        .set(now + SignedDuration::from_hours(31 * 24));
    store.server.app.erase_contacts().await.unwrap();
    assert_eq!(contact(&store, order).await, ANNA);
}

#[tokio::test]
async fn of_many_old_contacts_each_is_erased() {
    let store = Store::open().await;
    for _ in 0..101 {
        let pet = store.add("Rex", "available").await;
        let sale = json!({ "petId": pet, "contact": ANNA, "status": "completed" });
        created(&store.place(sale).await);
    }
    store.server.clock.advance(31 * DAY);
    assert!(store.server.app.erase_contacts().await.unwrap());
    assert!(!store.server.app.erase_contacts().await.unwrap());
    assert_eq!(store.server.count_rows("order_contacts").await, 0);
}
