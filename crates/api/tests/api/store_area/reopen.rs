//! `reopenOrder`, and `If-Match` on every command of an order.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Reply, Store, created};

const DAY: Duration = Duration::from_hours(24);

/// Sends a command about an order.
async fn act(store: &Store, order: i64, command: &str, body: Value) -> Reply {
    store
        .send(&format!("POST /orders/{order}/{command}"), &[], body)
        .await
}

/// An order with a contact, for a new animal, and that animal.
async fn reserved(store: &Store) -> (i64, i64) {
    let pet = store.add("Rex", "available").await;
    let order = json!({ "petId": pet, "price": "95", "contact": "Anna", "reference": "R" });
    (created(&store.place(order).await), pet)
}

#[tokio::test]
async fn a_closed_order_reserves_its_animal_again_as_it_did() {
    let store = Store::open().await;
    let (order, pet) = reserved(&store).await;
    let mut before = store.order(order).await;
    for (steps, version) in [
        (&["complete"][..], 3),
        (&["cancel"], 5),
        (&["complete", "return"], 8),
    ] {
        for step in steps {
            act(&store, order, step, json!({})).await.ok();
        }
        let reopened = act(&store, order, "reopen", json!({})).await;
        before["version"] = version.into();
        assert_eq!(reopened.ok(), before, "{steps:?}");
        assert_eq!(reopened.header("etag"), Some(&*format!("\"{version}\"")));
        assert_eq!(store.order(order).await, before);
        assert_eq!(store.pet(pet).await["orderId"], order);
        assert_eq!(store.state(pet).await.0, "pending");
    }
    let log = store.get("/changes?after=start").await.ok();
    let types: Vec<_> = log
        .as_array()
        .unwrap()
        .iter()
        .map(|change| &change["type"])
        .collect();
    assert_eq!(types[5..7], ["order.reopened", "pet.changed"]);
    let reopened = store
        .get("/changes?after=start&type=order.reopened")
        .await
        .ok();
    assert_eq!(reopened.as_array().unwrap().len(), 3);
    assert_eq!(reopened[0]["before"]["status"], "completed");
    let again = act(&store, order, "reopen", json!({})).await;
    again.expect_message(
        409,
        "invalid_transition",
        "Only a closed order can be reopened.",
    );
    assert_eq!(again.json()["current"], before);
    act(&store, 99, "reopen", json!({}))
        .await
        .expect_error(404, "not_found");
}

#[tokio::test]
async fn an_order_is_not_reopened_once_its_animal_has_another_status() {
    let store = Store::open().await;
    let (order, pet) = reserved(&store).await;
    act(&store, order, "cancel", json!({})).await.ok();
    let set = async |version: i64, status: &str| {
        store
            .change(
                &format!("PATCH /pets/{pet}"),
                version,
                json!({ "status": status }),
            )
            .await
            .ok()
    };
    set(3, "pending").await;
    let refused = act(&store, order, "reopen", json!({})).await;
    refused.expect_message(409, "invalid_transition", "Its animal is pending.");
    set(4, "available").await;
    store.withdraw(pet, 5).await;
    let refused = act(&store, order, "reopen", json!({})).await;
    refused.expect_message(409, "invalid_transition", "Its animal is withdrawn.");
    store
        .change(&format!("POST /pets/{pet}/restore"), 6, "{}")
        .await
        .ok();
    act(&store, order, "reopen", json!({})).await.ok();
    act(&store, order, "complete", json!({})).await.ok();
    set(9, "available").await;
    let refused = act(&store, order, "reopen", json!({})).await;
    refused.expect_message(
        409,
        "invalid_transition",
        "can no longer be returned or reopened.",
    );
}

#[tokio::test]
async fn a_reopened_order_has_a_new_end_if_its_own_has_passed_or_another_is_given() {
    let store = Store::open().await;
    let (order, _) = reserved(&store).await;
    let end = |reply: Reply| reply.ok()["expiresAt"].as_str().unwrap()[..10].to_owned();
    act(&store, order, "cancel", json!({})).await.ok();
    for invalid in [
        json!(null),
        json!("2026-11-01T00:00:00Z"),
        json!("2028-12-01T00:00:00Z"),
    ] {
        let reply = act(&store, order, "reopen", json!({ "expiresAt": invalid })).await;
        reply.expect_message(400, "invalid_body", "expiresAt must be");
    }
    let given = json!({ "expiresAt": "2026-12-05T00:00:00Z" });
    assert_eq!(end(act(&store, order, "reopen", given).await), "2026-12-05");
    act(&store, order, "cancel", json!({})).await.ok();
    store.server.clock.advance(5 * DAY);
    assert_eq!(
        end(act(&store, order, "reopen", json!({})).await),
        "2026-12-20"
    );
    let sale = store.sell(store.add("Max", "available").await).await;
    assert_eq!(
        end(act(&store, sale, "reopen", json!({})).await),
        "2026-12-20"
    );
}

#[tokio::test]
async fn the_contact_is_erased_30_days_after_the_order_last_closed() {
    let store = Store::open().await;
    let (order, _) = reserved(&store).await;
    let contact = async || {
        while store.server.app.erase_contacts().await.unwrap() {}
        store.order(order).await["contact"].clone()
    };
    act(&store, order, "cancel", json!({})).await.ok();
    store.server.clock.advance(20 * DAY);
    assert_eq!(contact().await, "Anna");
    act(&store, order, "reopen", json!({})).await.ok();
    act(&store, order, "complete", json!({})).await.ok();
    store.server.clock.advance(29 * DAY);
    assert_eq!(contact().await, "Anna");
    store.server.clock.advance(DAY);
    assert_eq!(contact().await, Value::Null);
    assert_eq!(
        act(&store, order, "reopen", json!({})).await.ok()["contact"],
        Value::Null
    );
}

#[tokio::test]
async fn a_repetition_with_the_same_key_gets_the_first_response() {
    let store = Store::open().await;
    let (order, _) = reserved(&store).await;
    act(&store, order, "cancel", json!({})).await.ok();
    let call = format!("POST /orders/{order}/reopen");
    let key = [("idempotency-key", "\"undo\"")];
    let first = store.send(&call, &key, "{}").await.ok();
    assert_eq!(store.send(&call, &key, "{}").await.ok(), first);
    assert_eq!(store.order(order).await, first);
}

#[tokio::test]
async fn each_command_with_an_old_version_is_412_even_if_it_would_be_a_repetition() {
    let store = Store::open().await;
    let (order, _) = reserved(&store).await;
    for (command, version) in [("complete", 1), ("return", 2), ("reopen", 3), ("cancel", 4)] {
        let call = format!("POST /orders/{order}/{command}");
        let stale =
            json!([{ "command": format!("{command}Order"), "orderId": order, "ifMatch": 9 }]);
        let in_batch = store.batch(stale).await;
        in_batch.expect_message(412, "precondition_failed", &format!("ifMatch {version}"));
        assert_eq!(in_batch.json()["current"], store.order(order).await);
        let done = store.change(&call, version, "{}").await.ok();
        // Also a repetition, which would be 200 without it.
        let again = store.change(&call, version, "{}").await;
        again.expect_error(412, "precondition_failed");
        assert_eq!(again.json()["current"], done);
    }
    let batch = json!([
        { "command": "reopenOrder", "orderId": order, "ifMatch": 5, "expiresAt": "2026-12-09T00:00:00Z" },
        { "command": "completeOrder", "orderId": order, "ifMatch": "\"6\"", "price": "80" },
    ]);
    let results = store.batch(batch).await.ok();
    assert_eq!(results[0]["expiresAt"], "2026-12-09T00:00:00.000Z");
    assert_eq!(
        (&results[1]["price"], &results[1]["status"]),
        (&json!("80"), &json!("completed"))
    );
}

#[tokio::test]
async fn a_negative_price_from_before_is_read_and_sent_again_and_becomes_no_new_order() {
    let store = Store::open().await;
    let (order, pet) = reserved(&store).await;
    store.server.execute("UPDATE orders SET price = '-5'").await;
    assert_eq!(store.order(order).await["price"], "-5");
    let call = format!("PATCH /orders/{order}");
    let same = store
        .change(&call, 1, json!({ "price": "-5", "note": "N" }))
        .await
        .ok();
    assert_eq!((&same["price"], &same["note"]), (&json!("-5"), &json!("N")));
    let other = store.change(&call, 2, json!({ "price": "-6" })).await;
    other.expect_message(400, "invalid_body", "price must have no minus.");
    act(&store, order, "cancel", json!({})).await.ok();
    let fields = r#"UPDATE pets SET fields = '{"price":"-5"}'"#;
    store.server.execute(fields).await;
    let next = created(&store.place(json!({ "petId": pet })).await);
    assert_eq!(store.order(next).await["price"], Value::Null);
}
