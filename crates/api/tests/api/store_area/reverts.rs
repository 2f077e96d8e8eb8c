//! `revertChange`.

use petstore_domain::Scope;
use serde_json::{Value, json};

use super::{Reply, Store};

/// Reverts the change with this number.
async fn revert(store: &Store, seq: i64) -> Reply {
    store
        .send(&format!("POST /changes/{seq}/revert"), &[], "")
        .await
}

/// The number of the newest change.
async fn newest(store: &Store) -> i64 {
    let changes = store.get("/changes?after=start&limit=100").await.ok();
    changes.as_array().unwrap().last().unwrap()["seq"]
        .as_i64()
        .unwrap()
}

#[tokio::test]
async fn a_sale_is_reverted_by_either_of_its_changes_and_only_once() {
    let store = Store::open().await;
    let pet = store.add("Rex", "available").await;
    let placed = store
        .place(json!({ "petId": pet, "price": "95", "contact": "Anna" }))
        .await;
    let order = super::created(&placed);
    let before = store.order(order).await;
    for change_of_order in [true, false] {
        let complete = format!("POST /orders/{order}/complete");
        store
            .send(&complete, &[], json!({ "price": "80" }))
            .await
            .ok();
        let seq = newest(&store).await - i64::from(change_of_order);
        let reverted = revert(&store, seq).await.ok();
        let mut expected = before.clone();
        expected["version"] = store.order(order).await["version"].clone();
        // With its customer, as programs with this key see it.
        assert_eq!(reverted, json!([expected]));
        assert_eq!(store.order(order).await, expected);
        assert_eq!(store.state(pet).await.0, "pending");

        let again = revert(&store, seq).await;
        again.expect_message(409, "invalid_transition", "was reverted before");
        assert_eq!(again.json()["current"], store.pet(pet).await);
    }
    // The revert is a change like others.
    let seq = newest(&store).await;
    let reverted = revert(&store, seq).await.ok();
    assert_eq!(reverted[0]["status"], "completed");
    assert_eq!(reverted[0]["price"], "80");
}

#[tokio::test]
async fn a_batch_is_reverted_as_a_whole_or_not_at_all() {
    let store = Store::open().await;
    let (one, other) = (
        store.add("Rex", "available").await,
        store.add("Max", "available").await,
    );
    let batch = json!([
        { "command": "patchPet", "petId": one, "ifMatch": 1, "name": "Mia", "fields": { "colour": "red" } },
        { "command": "placeOrder", "petId": other, "status": "completed" },
        { "command": "patchPet", "petId": one, "ifMatch": 2, "name": "Tom" },
    ]);
    store.batch(batch.clone()).await.ok();
    let seq = newest(&store).await;
    let reverted = revert(&store, seq).await.ok();
    let seen: Vec<Value> = reverted
        .as_array()
        .unwrap()
        .iter()
        .map(|result| json!([result["id"], result["status"], result["version"]]))
        .collect();
    assert_eq!(
        json!(seen),
        json!([[one, "available", 4], [1, "cancelled", 3]])
    );
    let pet = store.pet(one).await;
    assert_eq!((&pet["name"], &pet["fields"]), (&json!("Rex"), &json!({})));
    assert_eq!(store.state(other).await.0, "available");

    let mut batch = batch;
    batch[0]["ifMatch"] = 4.into();
    batch[2]["ifMatch"] = 5.into();
    store.batch(batch).await.ok();
    let seq = newest(&store).await;
    store
        .change(&format!("PATCH /pets/{other}"), 5, json!({ "name": "Leo" }))
        .await
        .ok();
    let refused = revert(&store, seq).await;
    refused.expect_error(409, "invalid_transition");
    assert_eq!(refused.json()["current"], store.pet(other).await);
    assert_eq!(store.pet(one).await["name"], "Tom");
}

#[tokio::test]
async fn a_repetition_with_the_same_key_gets_the_first_response() {
    let store = Store::open().await;
    let pet = store.add("Rex", "available").await;
    store.sell(pet).await;
    let call = format!("POST /changes/{}/revert", newest(&store).await);
    let key = [("idempotency-key", "\"undo\"")];
    let first = store.send(&call, &key, "").await.ok();
    assert_eq!(store.send(&call, &key, "{}").await.ok(), first);
    let other = format!("POST /changes/{}/revert", newest(&store).await);
    store
        .send(&other, &key, "")
        .await
        .expect_error(422, "idempotency_conflict");
}

#[tokio::test]
async fn of_many_reverts_at_once_one_is_made() {
    let store = Store::open().await;
    let pet = store.add("Rex", "available").await;
    store.sell(pet).await;
    let seq = newest(&store).await;
    let replies = futures_util::future::join_all((0..6).map(|_| revert(&store, seq))).await;
    let done = replies.iter().filter(|reply| reply.status == 200).count();
    assert_eq!(done, 1);
    for refused in replies.iter().filter(|reply| reply.status != 200) {
        refused.expect_error(409, "invalid_transition");
        assert_eq!(refused.json()["current"]["status"], "available");
    }
}

#[tokio::test]
async fn what_cannot_be_reverted_is_404_or_409() {
    let store = Store::open().await;
    let pet = store.add("Rex", "available").await;
    for unknown in [
        "0",
        "-1",
        "99",
        "9223372036854775807",
        "9223372036854775808",
        "x",
        "%FF",
    ] {
        let reply = store
            .send(&format!("POST /changes/{unknown}/revert"), &[], "")
            .await;
        reply.expect_error(404, "not_found");
    }
    revert(&store, 1)
        .await
        .expect_error(409, "invalid_transition");
    let order = store.reserve(pet).await;
    let contact = json!({ "contact": "Bo" });
    store
        .change(&format!("PATCH /orders/{order}"), 1, contact)
        .await
        .ok();
    let seq = newest(&store).await;
    revert(&store, seq)
        .await
        .expect_message(409, "invalid_transition", "no difference");
    let body = store
        .send(
            &format!("POST /changes/{seq}/revert"),
            &[],
            json!({ "a": 1 }),
        )
        .await;
    body.expect_error(400, "unknown_member");
}

#[tokio::test]
async fn categories_are_reverted_too() {
    let store = Store::open().await;
    let put = [("if-none-match", "*")];
    store
        .send("PUT /categories/5", &put, json!({ "label": "Dogs" }))
        .await;
    let added = newest(&store).await;
    store
        .change("PUT /categories/5", 1, json!({ "label": "Cats" }))
        .await
        .ok();
    let renamed = newest(&store).await;
    let reverted = revert(&store, renamed).await.ok();
    assert_eq!(
        reverted,
        json!([{ "id": 5, "label": "Dogs", "version": 3 }])
    );
    revert(&store, added)
        .await
        .expect_error(409, "invalid_transition");
    // Of a category without a label, there is nothing to show.
    store.change("DELETE /categories/5", 3, "").await;
    let deleted = newest(&store).await;
    revert(&store, deleted).await.ok();
    let made_again = newest(&store).await;
    assert_eq!(revert(&store, made_again).await.ok(), json!([]));
}

#[tokio::test]
async fn a_key_that_may_only_read_reverts_nothing() {
    let mut store = Store::open().await;
    let pet = store.add("Rex", "available").await;
    store.sell(pet).await;
    let seq = newest(&store).await;
    for scope in [Scope::Read, Scope::Write, Scope::StoreRead] {
        let writing_key = store.key.clone();
        (store.key, _) = store.server.new_key(scope, None).await;
        let refused = revert(&store, seq).await;
        refused.expect_error(403, "insufficient_scope");
        store.key = writing_key;
    }
    assert_eq!(store.state(pet).await.0, "sold");
}
