//! Webhooks: what a request can register, read and change.

use petstore_domain::{Scope, store_area::WebhookId};
use serde_json::{Value, json};

use super::{Reply, Store};

/// A program that may administer.
async fn open() -> Store {
    let mut store = Store::open().await;
    store.key = store.server.new_key(Scope::StoreAdmin, None).await.0;
    store
}

const NEW: &str = r#"{"url": "https://shop.example/hooks", "types": ["pet.changed"]}"#;

async fn post(store: &Store, path: &str, body: impl ToString) -> Reply {
    store
        .send(&format!("POST /webhooks{path}"), &[], body)
        .await
}

/// Adds a webhook, and returns it with its secret.
async fn add(store: &Store) -> Value {
    let added = post(store, "", NEW).await;
    assert_eq!(added.status, 201, "{}", added.json());
    added.json()
}

fn without_secret(mut webhook: Value) -> Value {
    assert!(webhook["secret"].as_str().unwrap().starts_with("whsec_"));
    webhook.as_object_mut().unwrap().remove("secret");
    webhook
}

#[tokio::test]
async fn a_webhook_is_added_with_a_secret_that_is_never_shown_again() {
    let store = open().await;
    let added = post(&store, "", NEW).await;
    assert_eq!(added.status, 201);
    let webhook = without_secret(added.json());
    assert_eq!(webhook["types"], json!(["pet.changed"]));
    assert_eq!(
        (&webhook["enabled"], &webhook["version"]),
        (&json!(true), &json!(1))
    );
    assert_eq!(added.header("location"), Some("/v1/store/webhooks/1"));
    let read = store.get("/webhooks/1").await;
    assert_eq!(read.header("etag"), Some("\"1\""));
    assert_eq!(read.json(), webhook);
    assert_eq!(store.get("/webhooks").await.json(), json!([webhook]));
    // It starts with the changes after its creation.
    let stored = store.server.store.list_webhooks().await.unwrap();
    let last = store.server.store.journal_state().await.unwrap().last;
    assert_eq!(stored[0].progress.cursor, last);
    // Neither the database nor the key file has it as it is.
    assert_ne!(stored[0].secrets.current.len(), 32);
}

#[tokio::test]
async fn a_webhook_keeps_the_types_of_a_later_release() {
    let store = open().await;
    add(&store).await;
    store
        .server
        .execute("UPDATE webhooks SET types = 'photo.added pet.changed'")
        .await;
    let changed = store
        .send("PATCH /webhooks/1", &[], json!({ "description": "Shop" }))
        .await;
    for webhook in [changed.ok(), store.get("/webhooks/1").await.ok()] {
        assert_eq!(webhook["types"], json!(["photo.added", "pet.changed"]));
        assert_eq!(webhook["description"], "Shop");
    }
}

#[tokio::test]
async fn a_forbidden_url_and_every_invalid_member_is_400_and_adds_nothing() {
    let store = open().await;
    let id = add(&store).await["id"].clone();
    for (body, says) in [
        (json!({}), "url is missing"),
        (json!({ "url": 7 }), "url must be"),
        (json!({ "url": "http://shop.example/" }), "https://"),
        (json!({ "url": "https://10.0.0.1/" }), "--webhook-allow"),
        (
            json!({ "url": "https://[::ffff:127.0.0.1]/" }),
            "--webhook-allow",
        ),
        (
            json!({ "url": "https://me:pass@shop.example/" }),
            "user name",
        ),
        (json!({ "url": "https://shop.example/#a" }), "fragment"),
        (
            json!({ "url": "https://shop.example/", "types": [] }),
            "types must be",
        ),
        (
            json!({ "url": "https://shop.example/", "types": ["pet.sold"] }),
            "types must be",
        ),
        (
            json!({ "url": "https://shop.example/", "types": ["pet.added", "pet.added"] }),
            "types",
        ),
        (
            json!({ "url": "https://shop.example/", "types": null }),
            "types must be",
        ),
        (
            json!({ "url": "https://shop.example/", "description": "" }),
            "description must be",
        ),
    ] {
        let rejected = post(&store, "", &body).await;
        rejected.expect_error(400, "invalid_body");
        let message = rejected.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains(says), "{body}: {message}");
        // The same in a change.
        if !body["url"].is_null() && body["types"] != json!(null) {
            let path = format!("PATCH /webhooks/{id}");
            store
                .send(&path, &[], &body)
                .await
                .expect_error(400, "invalid_body");
        }
    }
    post(
        &store,
        "",
        r#"{"url": "https://a.example/", "secret": "x"}"#,
    )
    .await
    .expect_error(400, "unknown_member");
    for body in [
        r#"{"enabled": true}"#,
        r#"{"enabled": null}"#,
        r#"{"url": null}"#,
    ] {
        let path = format!("PATCH /webhooks/{id}");
        store
            .send(&path, &[], body)
            .await
            .expect_error(400, "invalid_body");
    }
    assert_eq!(
        store
            .get("/webhooks")
            .await
            .json()
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn a_patch_changes_a_webhook_of_any_version_or_of_that_of_if_match() {
    let store = open().await;
    let webhook = without_secret(add(&store).await);
    let patch = async |fields: &[(&str, &str)], body: Value| {
        store.send("PATCH /webhooks/1", fields, body).await
    };
    let changed = patch(&[], json!({ "types": null, "description": "The web shop" })).await;
    assert_eq!(changed.header("etag"), Some("\"2\""));
    assert_eq!(
        (&changed.json()["types"], &changed.json()["version"]),
        (&Value::Null, &json!(2))
    );
    let stale = patch(&[("if-match", "\"1\"")], json!({ "description": null })).await;
    stale.expect_error(412, "precondition_failed");
    assert_eq!(stale.json()["current"], changed.json());
    let changed = patch(&[("if-match", "\"2\"")], json!({ "description": null })).await;
    assert_eq!(changed.json()["description"], Value::Null);
    // A patch that changes nothing.
    let same = patch(&[("if-match", "*")], json!({ "url": webhook["url"] })).await;
    assert_eq!(
        (same.header("etag"), same.json()),
        (Some("\"3\""), changed.json())
    );
    let disabled = patch(&[], json!({ "enabled": false })).await.json();
    assert_eq!(disabled["disabledReason"], "request");
    assert_eq!(
        patch(&[], json!({ "enabled": false })).await.json(),
        disabled
    );
    for (from, version) in [("resume", 5), ("now", 5)] {
        // Once more, it is enabled already.
        let enabled = post(&store, "/1/enable", json!({ "from": from })).await;
        assert_eq!(
            (enabled.status.as_u16(), &enabled.json()["version"]),
            (200, &json!(version))
        );
        assert_eq!(enabled.json()["enabled"], true);
    }
    post(&store, "/1/enable", "{}")
        .await
        .expect_error(400, "invalid_body");
    let stale = store
        .send("DELETE /webhooks/1", &[("if-match", "\"1\"")], "")
        .await;
    stale.expect_error(412, "precondition_failed");
    assert_eq!(store.send("DELETE /webhooks/1", &[], "").await.status, 204);
    for call in [
        "GET /webhooks/1",
        "DELETE /webhooks/1",
        "GET /webhooks/1/attempts",
    ] {
        store
            .send(call, &[], "")
            .await
            .expect_error(404, "not_found");
    }
    for path in ["/1/test", "/1/rotate-secret", "/x/test"] {
        post(&store, path, "").await.expect_error(404, "not_found");
    }
}

#[tokio::test]
async fn a_repeated_request_gets_the_same_secret() {
    let store = open().await;
    let once = async |call: &str, key: &str, body: &str| {
        store.send(call, &[("idempotency-key", key)], body).await
    };
    let added = once("POST /webhooks", "\"a\"", NEW).await;
    let again = once("POST /webhooks", "\"a\"", NEW).await;
    assert_eq!((again.status, &again.body), (added.status, &added.body));
    assert_eq!(again.header("location"), added.header("location"));
    assert_eq!(again.header("etag"), added.header("etag"));
    let other = once(
        "POST /webhooks",
        "\"a\"",
        r#"{"url": "https://till.example/"}"#,
    )
    .await;
    other.expect_error(422, "idempotency_conflict");
    let rotated = once("POST /webhooks/1/rotate-secret", "\"b\"", "").await;
    let again = once("POST /webhooks/1/rotate-secret", "\"b\"", "").await;
    assert_eq!(again.body, rotated.body);
    assert_ne!(rotated.json()["secret"], added.json()["secret"]);
    assert_eq!(
        store
            .get("/webhooks")
            .await
            .json()
            .as_array()
            .unwrap()
            .len(),
        1
    );
    // A replay comes before the state: the webhook is gone.
    let delete = once("DELETE /webhooks/1", "\"c\"", "").await;
    assert_eq!(delete.status, 204);
    let again = once("DELETE /webhooks/1", "\"c\"", "").await;
    assert_eq!((again.status, again.body.len()), (delete.status, 0));
    assert_eq!(once("POST /webhooks", "\"a\"", NEW).await.body, added.body);
}

#[tokio::test]
async fn a_test_message_is_sent_once_for_all_repetitions() {
    let store = open().await;
    add(&store).await;
    let key = [("idempotency-key", "\"t\"")];
    let test = store.send("POST /webhooks/1/test", &key, "").await;
    assert_eq!(test.status, 202);
    let again = store.send("POST /webhooks/1/test", &key, "").await;
    assert_eq!(again.body, test.body);
    let waiting = store.server.store.waiting_tests().await.unwrap();
    let [waiting] = &waiting[..] else {
        panic!("{waiting:?}")
    };
    assert_eq!(
        (waiting.webhook, json!(waiting.message_id)),
        (WebhookId(1), test.json()["messageId"].clone())
    );
}

#[tokio::test]
async fn while_64_test_messages_wait_another_one_is_rejected_and_can_be_repeated() {
    let store = open().await;
    add(&store).await;
    for _ in 0..64 {
        assert_eq!(post(&store, "/1/test", "").await.status, 202);
    }
    let test = async || {
        store
            .send("POST /webhooks/1/test", &[("idempotency-key", "\"t\"")], "")
            .await
    };
    test().await.expect_error(503, "unavailable");
    let waiting = store.server.store.waiting_tests().await.unwrap();
    assert!(
        store
            .server
            .store
            .take_test(waiting[0].message_id.clone())
            .await
            .unwrap()
    );
    assert_eq!(test().await.status, 202);
}

#[tokio::test]
async fn webhooks_and_attempts_are_listed_page_by_page() {
    let store = open().await;
    for _ in 0..5 {
        add(&store).await;
    }
    assert_eq!(store.walk("/webhooks?limit=2").await, [1, 2, 3, 4, 5]);
    for number in 0..5 {
        let attempt = petstore_domain::store_area::Attempt {
            message_id: format!("msg_{number}"),
            at: "2026-12-01T12:00:00Z".parse().unwrap(),
            status: (number % 2 == 0).then_some(204),
            duration_ms: 7,
            error: (number % 2 == 1).then(|| "timeout".to_owned()),
        };
        store
            .server
            .store
            .add_attempt(WebhookId(3), attempt)
            .await
            .unwrap();
    }
    let first = store.get("/webhooks/3/attempts?limit=3").await;
    let next = first.next().unwrap();
    let rest = store.get(next.strip_prefix("/v1/store").unwrap()).await;
    assert!(rest.next().is_none());
    let all = [
        first.json().as_array().unwrap().clone(),
        rest.json().as_array().unwrap().clone(),
    ];
    let ids: Vec<_> = all
        .concat()
        .iter()
        .map(|attempt| attempt["messageId"].clone())
        .collect();
    assert_eq!(ids, ["msg_0", "msg_1", "msg_2", "msg_3", "msg_4"]);
    assert_eq!(all[0][1]["error"], "timeout");
    // Also for a client that spells the id in another way.
    let first = store.get("/webhooks/%33/attempts?limit=3").await;
    assert_eq!(first.next().as_ref(), Some(&next));
    // A cursor belongs to its webhook.
    let of_another = next
        .strip_prefix("/v1/store")
        .unwrap()
        .replace("/3/", "/4/");
    store
        .get(&of_another)
        .await
        .expect_error(400, "invalid_cursor");
}

#[tokio::test]
async fn only_an_administrator_sees_webhooks() {
    let mut store = open().await;
    add(&store).await;
    store.key = store.server.new_key(Scope::StoreWrite, None).await.0;
    for call in [
        "GET /webhooks",
        "POST /webhooks",
        "GET /webhooks/1",
        "DELETE /webhooks/1",
    ] {
        store
            .send(call, &[], "")
            .await
            .expect_error(403, "insufficient_scope");
    }
}
