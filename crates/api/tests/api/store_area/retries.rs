//! `Idempotency-Key` of changes: repeated requests get the first response.

use std::{pin::pin, sync::Arc};

use futures_util::future::{Either, select};
use petstore_domain::Scope;
use petstore_store::StoreError;
use petstore_testing::{harness::soon, reply::Reply};
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    super::{errors::failing, idempotency::rotate},
    Setup, Store,
};

/// Sends a request twice with one idempotency key; between both, `change` is sent. The second
/// response must be the first one.
async fn repeated(
    store: &Store,
    call: &str,
    headers: &[(&str, &str)],
    body: Value,
    between: (&str, i64, Value),
) {
    let key = store.retry_key();
    let all = [headers, &[("idempotency-key", &*key)]].concat();
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let first = store.send(call, &all, &body).await;
    assert!(first.status.is_success(), "{call}: {}", first.json());
    let (other, version, change) = between;
    let changed = store.change(other, version, change).await;
    assert!(changed.status.is_success(), "{other}: {}", changed.json());
    let again = store.send(call, &all, &body).await;
    let seen = |reply: &Reply| {
        let fields = ["etag", "location", "content-type"];
        (
            reply.status,
            fields.map(|name| reply.header(name).map(str::to_owned)),
            reply.body.clone(),
        )
    };
    assert_eq!(seen(&again), seen(&first), "{call}");
}

#[tokio::test]
async fn every_write_is_replayed_byte_for_byte_after_the_resource_changed() {
    let store = Store::open().await;
    for _ in 0..2 {
        store.add("Rex", "available").await;
    }
    let tag = |version| format!("\"{version}\"");
    let name = |name: &str| json!({ "name": name });
    let pet = "PATCH /pets/1";
    repeated(
        &store,
        pet,
        &[("if-match", &tag(1))],
        name("a"),
        (pet, 2, name("b")),
    )
    .await;
    let withdraw = "POST /pets/1/withdraw";
    let died = json!({ "reason": "died" });
    let restore = "POST /pets/1/restore";
    let restored = (restore, 4, json!({}));
    repeated(&store, withdraw, &[("if-match", &tag(3))], died, restored).await;
    let withdrawn = (withdraw, 5, json!({ "reason": "other" }));
    store
        .change(withdrawn.0, withdrawn.1, withdrawn.2)
        .await
        .ok();
    repeated(
        &store,
        restore,
        &[("if-match", &tag(6))],
        Value::Null,
        (pet, 7, name("c")),
    )
    .await;

    let note = |note: &str| json!({ "note": note });
    let order = "PATCH /orders/1";
    let place = json!({ "petId": 1 });
    repeated(&store, "POST /orders", &[], place, (order, 1, note("a"))).await;
    repeated(
        &store,
        order,
        &[("if-match", &tag(2))],
        note("b"),
        (order, 3, note("c")),
    )
    .await;
    let complete = "POST /orders/1/complete";
    repeated(&store, complete, &[], Value::Null, (order, 5, note("d"))).await;
    let take_back = "POST /orders/1/return";
    repeated(&store, take_back, &[], json!({}), (order, 7, note("e"))).await;
    // PostgreSQL may leave out ids.
    let second = store.reserve(1).await;
    let (cancel, order) = (
        format!("POST /orders/{second}/cancel"),
        format!("PATCH /orders/{second}"),
    );
    let reason = json!({ "reason": "r" });
    repeated(&store, &cancel, &[], reason, (&order, 2, note("a"))).await;

    let label = |label: &str| json!({ "label": label });
    let put = "PUT /categories/1";
    repeated(
        &store,
        put,
        &[("if-none-match", "*")],
        label("a"),
        (put, 1, label("b")),
    )
    .await;
    repeated(
        &store,
        put,
        &[("if-match", &tag(2))],
        label("c"),
        (put, 3, label("d")),
    )
    .await;
    let deleted = [("if-match", &*tag(4))];
    repeated(
        &store,
        "DELETE /categories/1",
        &deleted,
        Value::Null,
        (pet, 13, name("d")),
    )
    .await;

    let commands = json!([{ "command": "placeOrder", "petId": 2 }]);
    repeated(&store, "POST /batch", &[], commands, (&order, 3, note("b"))).await;
    assert_eq!(store.get("/orders").await.ids().len(), 3);
}

#[tokio::test]
async fn another_body_path_method_or_condition_is_422_and_another_spelling_the_same() {
    let store = Store::open().await;
    for _ in 0..2 {
        store.add("Rex", "available").await;
    }
    let headers = [("idempotency-key", "k"), ("if-match", "\"1\"")];
    let body = r#"{"name": "Zoë", "categoryId": 10}"#;
    let first = store.send("PATCH /pets/1", &headers, body).await;
    first.ok();
    let spelt = r#"{ "categoryId":1e1, "name":"Zo\u00eb" }"#;
    assert_eq!(
        store.send("PATCH /pets/1", &headers, spelt).await.body,
        first.body
    );
    let other_key = [("idempotency-key", "k"), ("if-match", "\"2\"")];
    for (call, headers, body) in [
        (
            "PATCH /pets/1",
            &headers,
            r#"{"name": "Zoe", "categoryId": 10}"#,
        ),
        ("PATCH /pets/1", &headers, r#"{"name": "Zoë"}"#),
        ("PATCH /pets/2", &headers, body),
        ("PATCH /pets/1", &other_key, body),
        ("POST /pets/1/restore", &headers, ""),
    ] {
        let reply = store.send(call, headers, body).await;
        reply.expect_error(422, "idempotency_conflict");
    }
    assert_eq!(store.pet(2).await["version"], 1);
}

#[tokio::test]
async fn place_and_batch_without_an_idempotency_key_are_400() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    for (call, body) in [
        ("POST /orders", json!({ "petId": id })),
        (
            "POST /batch",
            json!([{ "command": "placeOrder", "petId": id }]),
        ),
    ] {
        let reply = store.send(call, &[], &body).await;
        reply.expect_message(400, "missing_idempotency_key", "Idempotency-Key");
        let reply = store.send(call, &[("idempotency-key", "a b")], &body).await;
        reply.expect_message(400, "invalid_parameter", "Idempotency-Key");
    }
    assert_eq!(store.state(id).await, ("available".to_owned(), 1));
}

#[tokio::test]
async fn an_error_is_not_remembered() {
    let store = Store::open().await;
    let id = store.add("Rex", "sold").await;
    let headers = [("idempotency-key", "k")];
    let order = json!({ "petId": id });
    store
        .send("POST /orders", &headers, &order)
        .await
        .expect_error(409, "invalid_transition");
    store
        .change(
            &format!("PATCH /pets/{id}"),
            1,
            json!({ "status": "available" }),
        )
        .await
        .ok();
    assert_eq!(
        store.send("POST /orders", &headers, &order).await.status,
        201
    );
}

#[tokio::test]
async fn a_replay_works_after_its_expires_at_has_passed() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let order = json!({ "petId": id, "expiresAt": "2026-12-01T13:00:00Z" });
    let headers = [("idempotency-key", "k")];
    let first = store.send("POST /orders", &headers, &order).await;
    store
        .server
        .clock
        .set("2026-12-01T14:00:00Z".parse().unwrap());
    let again = store.send("POST /orders", &headers, &order).await;
    assert_eq!((again.status.as_u16(), again.body), (201, first.body));
    store
        .place(order)
        .await
        .expect_message(400, "invalid_body", "in the future");
}

#[tokio::test]
async fn a_reservation_without_expires_at_is_the_same_request_at_any_time() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let headers = [("idempotency-key", "k")];
    let first = store
        .send("POST /orders", &headers, json!({ "petId": id }))
        .await;
    store
        .server
        .clock
        .set("2026-12-01T14:00:00Z".parse().unwrap());
    let again = store
        .send("POST /orders", &headers, json!({ "petId": id }))
        .await;
    assert_eq!((again.status.as_u16(), again.body), (201, first.body));
}

#[tokio::test]
async fn equal_keys_of_two_programs_are_independent() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let (other, _) = store.server.new_key(Scope::StoreWrite, None).await;
    let bearer = format!("Bearer {other}");
    let headers = [("idempotency-key", "k")];
    let order = json!({ "petId": id });
    assert_eq!(
        store.send("POST /orders", &headers, &order).await.status,
        201
    );
    let headers = [
        ("authorization", &*bearer),
        ("content-type", "application/json"),
        ("idempotency-key", "k"),
    ];
    let target = "/v1/store/orders";
    let reply = store
        .server
        .send(Method::POST, target, &headers, order.to_string())
        .await;
    reply.expect_error(409, "invalid_transition");
}

#[tokio::test]
async fn a_successor_of_the_api_key_gets_the_first_response_again() {
    let mut store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let (key, number) = store.server.new_key(Scope::StoreWrite, None).await;
    store.key = key;
    let headers = [("idempotency-key", "k")];
    let first = store
        .send("POST /orders", &headers, json!({ "petId": id }))
        .await;
    store.key = rotate(&store.server, number, Scope::StoreWrite, 101)
        .await
        .0;
    let again = store
        .send("POST /orders", &headers, json!({ "petId": id }))
        .await;
    assert_eq!((again.status.as_u16(), again.body), (201, first.body));
}

#[tokio::test]
async fn a_key_that_a_create_used_is_422_for_a_change_and_the_other_way_round() {
    let store = Store::open().await;
    let bearer = format!("Bearer {}", store.key);
    let headers = |key| {
        [
            ("authorization", &*bearer),
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ]
    };
    let animal = r#"{"name": "Rex", "categoryId": 1}"#;
    let create = async |key| {
        store
            .server
            .send(Method::POST, "/v1/pets", &headers(key), animal)
            .await
    };
    assert_eq!(create("k").await.status, 201);
    let order = json!({ "petId": 1 });
    let place = async |key| {
        store
            .send("POST /orders", &[("idempotency-key", key)], &order)
            .await
    };
    place("k").await.expect_error(422, "idempotency_conflict");
    assert_eq!(place("l").await.status, 201);
    create("l").await.expect_error(422, "idempotency_conflict");
}

#[tokio::test]
async fn a_retry_in_flight_is_409() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let headers = [("idempotency-key", "k")];
    let order = json!({ "petId": id });
    let held = store.server.hold_writes().await;
    let send = || store.send("POST /orders", &headers, &order);
    let (first, second) = (pin!(send()), pin!(send()));
    let (early, late) = match soon(select(first, second)).await {
        Either::Left((early, late)) | Either::Right((early, late)) => (early, late),
    };
    early.expect_error(409, "idempotency_in_progress");
    assert_eq!(early.header("retry-after"), Some("1"));
    drop(held);
    assert_eq!(soon(late).await.status, 201);
    assert_eq!(store.get("/orders").await.ids(), [1]);
}

#[derive(Debug, thiserror::Error)]
#[error("the connection was lost")]
struct Lost;

#[tokio::test]
async fn an_unknown_outcome_is_503_and_says_that_the_change_may_have_been_made() {
    let store = Store::open_with(Setup {
        wrap: |store| failing(store, |_| StoreError::OutcomeUnknown(Arc::new(Lost))),
        ..Setup::default()
    })
    .await;
    let reply = store.place(json!({ "petId": 1 })).await;
    reply.expect_message(503, "unavailable", "may or may not have been made");
    assert_eq!(reply.header("retry-after"), Some("1"));
}
