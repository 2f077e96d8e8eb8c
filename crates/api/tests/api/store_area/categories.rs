//! The operations on categories.

use serde_json::{Value, json};

use super::Store;

const ABSENT: [(&str, &str); 1] = [("if-none-match", "*")];

#[tokio::test]
async fn put_creates_with_if_none_match_and_changes_with_if_match() {
    let store = Store::open().await;
    let reply = store
        .send("PUT /categories/1", &ABSENT, json!({ "label": "Dogs" }))
        .await;
    assert_eq!(reply.status, 201);
    assert_eq!(
        reply.json(),
        json!({ "id": 1, "label": "Dogs", "version": 1 })
    );
    assert_eq!(
        (reply.header("etag"), reply.header("location")),
        (Some("\"1\""), None)
    );
    let reply = store
        .change("PUT /categories/1", 1, json!({ "label": "Hunde" }))
        .await;
    assert_eq!(
        reply.ok(),
        json!({ "id": 1, "label": "Hunde", "version": 2 })
    );
    assert_eq!(reply.header("etag"), Some("\"2\""));
    let reply = store
        .change("PUT /categories/1", 2, json!({ "label": "Hunde" }))
        .await;
    assert_eq!(
        (&reply.ok()["version"], reply.header("etag")),
        (&json!(2), Some("\"2\""))
    );
}

#[tokio::test]
async fn put_with_neither_is_428_with_the_wrong_one_412_and_current() {
    let store = Store::open().await;
    let label = json!({ "label": "Dogs" });
    let reply = store.send("PUT /categories/1", &[], &label).await;
    reply.expect_message(428, "precondition_required", "If-None-Match");
    let reply = store.change("PUT /categories/1", 1, &label).await;
    reply.expect_message(412, "precondition_failed", "If-None-Match: *");
    assert_eq!(reply.json().get("current"), Some(&Value::Null));
    store.send("PUT /categories/1", &ABSENT, &label).await;
    let current = json!({ "id": 1, "label": "Dogs", "version": 1 });
    let both = [("if-none-match", "*"), ("if-match", "\"1\"")];
    for headers in [&ABSENT[..], &[("if-match", "\"2\"")], &both] {
        let reply = store
            .send("PUT /categories/1", headers, json!({ "label": "Cats" }))
            .await;
        reply.expect_error(412, "precondition_failed");
        assert_eq!(reply.json()["current"], current);
    }
    let tag = [("if-none-match", "\"1\"")];
    let reply = store.send("PUT /categories/1", &tag, &label).await;
    reply.expect_message(400, "invalid_parameter", "If-None-Match must be *");
}

#[tokio::test]
async fn a_deleted_category_starts_at_version_1_again() {
    let store = Store::open().await;
    let label = json!({ "label": "Dogs" });
    store.send("PUT /categories/1", &ABSENT, &label).await;
    store
        .change("PUT /categories/1", 1, json!({ "label": "Cats" }))
        .await
        .ok();
    let delete = "DELETE /categories/1";
    store
        .send(delete, &[], "")
        .await
        .expect_error(428, "precondition_required");
    let stale = store.change(delete, 1, "").await;
    stale.expect_error(412, "precondition_failed");
    assert_eq!(stale.json()["current"]["label"], "Cats");
    let reply = store.change(delete, 2, "").await;
    assert_eq!((reply.status.as_u16(), reply.body.len()), (204, 0));
    assert_eq!(
        (reply.header("etag"), reply.header("content-type")),
        (None, None)
    );
    assert_eq!(store.get("/categories").await.json(), json!([]));
    store
        .change(delete, 2, "")
        .await
        .expect_error(404, "not_found");
    let again = store.send("PUT /categories/1", &ABSENT, &label).await;
    assert_eq!(
        (again.status.as_u16(), &again.json()["version"]),
        (201, &json!(1))
    );
}

#[tokio::test]
async fn a_category_id_is_any_int64_and_a_label_has_1_to_255_characters() {
    let store = Store::open().await;
    for (id, letter) in [(i64::MIN, "犬"), (-1, "猫"), (0, "鳥"), (i64::MAX, "魚")] {
        let call = format!("PUT /categories/{id}");
        let reply = store
            .send(&call, &ABSENT, json!({ "label": letter.repeat(255) }))
            .await;
        assert_eq!(
            (reply.status.as_u16(), &reply.json()["id"]),
            (201, &json!(id))
        );
    }
    for id in ["9223372036854775808", "x", "1.0", "01"] {
        let call = format!("PUT /categories/{id}");
        let reply = store.send(&call, &ABSENT, json!({ "label": "Dogs" })).await;
        reply.expect_error(404, "not_found");
    }
    for (body, code, part) in [
        (
            json!({ "label": "" }),
            "invalid_body",
            "label must be a string of 1 to 255",
        ),
        (
            json!({ "label": "犬".repeat(256) }),
            "invalid_body",
            "label must be",
        ),
        (json!({ "label": null }), "invalid_body", "label must be"),
        (json!({}), "invalid_body", "label is missing"),
        (
            json!({ "label": "Dogs", "id": 1 }),
            "unknown_member",
            "Allowed members: label",
        ),
    ] {
        let reply = store.send("PUT /categories/1", &ABSENT, body).await;
        reply.expect_message(400, code, part);
    }
}

#[tokio::test]
async fn categories_are_paged_in_the_order_of_their_ids() {
    let store = Store::open().await;
    for id in [3, -1, 2, 0, 1] {
        let label = json!({ "label": format!("of {id}") });
        store
            .send(&format!("PUT /categories/{id}"), &ABSENT, label)
            .await;
    }
    assert_eq!(store.walk("/categories?limit=2").await, [-1, 0, 1, 2, 3]);
    let page = store.get("/categories").await;
    assert_eq!(
        page.json()[0],
        json!({ "id": -1, "label": "of -1", "version": 1 })
    );
    let tag = page.header("etag").unwrap();
    assert_eq!(
        store
            .send("GET /categories", &[("if-none-match", tag)], "")
            .await
            .status,
        304
    );
}

#[tokio::test]
async fn no_operation_checks_that_a_category_exists() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    store
        .change(&format!("PATCH /pets/{id}"), 1, json!({ "categoryId": 99 }))
        .await
        .ok();
    assert_eq!(store.get("/pets?categoryId=99").await.ids(), [id]);
}

#[tokio::test]
async fn two_categories_have_labels_that_differ_in_any_case_and_normalization() {
    let store = Store::open().await;
    let dogs = json!({ "label": "Straßenhündinnen" });
    let reply = store.send("PUT /categories/1", &ABSENT, &dogs).await;
    assert_eq!(reply.status, 201);
    for label in [
        "STRASSENHÜNDINNEN",
        "Straßenhu\u{308}ndinnen",
        " straßenhündinnen",
    ] {
        let twin = json!({ "label": label });
        let reply = store.send("PUT /categories/2", &ABSENT, &twin).await;
        reply.expect_message(409, "duplicate_value", "Category 1 has the same label");
        assert_eq!(reply.json()["current"]["id"], 1);
    }
    // The category itself can get another spelling, and another one the label that is free then.
    let spelling = json!({ "label": "STRASSENHÜNDINNEN" });
    store.change("PUT /categories/1", 1, &spelling).await.ok();
    store
        .change("PUT /categories/1", 2, json!({ "label": "Hunde" }))
        .await
        .ok();
    let reply = store.send("PUT /categories/2", &ABSENT, &dogs).await;
    assert_eq!(reply.status, 201);
}
