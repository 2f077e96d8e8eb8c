//! `patchPet`.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Reply, Store};

/// Asserts that the animal of the response has this member.
#[track_caller]
fn expect_current(reply: &Reply, member: &str, value: impl Into<Value>) {
    assert_eq!(
        reply.json()["current"][member],
        value.into(),
        "{}",
        reply.json()
    );
}

#[tokio::test]
async fn each_member_can_change() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    store.server.clock.advance(Duration::from_mins(1));
    for (version, patch) in [
        (1, json!({ "name": "" })),
        (2, json!({ "categoryId": i64::MIN })),
        (3, json!({ "status": "sold" })),
        (
            4,
            json!({ "status": "available", "name": "Zoë", "categoryId": 7.0 }),
        ),
    ] {
        let reply = store
            .change(&format!("PATCH /pets/{id}"), version, &patch)
            .await;
        let pet = reply.ok();
        for (name, value) in patch.as_object().unwrap() {
            assert_eq!(pet[name].as_f64(), value.as_f64(), "{name}");
            assert_eq!(pet[name].as_str(), value.as_str(), "{name}");
        }
        assert_eq!(pet["version"], version + 1);
        assert_eq!(pet["updatedAt"], "2026-12-01T12:01:00.000Z");
        assert_eq!(pet["createdAt"], "2026-12-01T12:00:00.000Z");
        assert_eq!(reply.header("etag"), Some(&*format!("\"{}\"", version + 1)));
        assert_eq!(store.pet(id).await, pet);
    }
}

#[tokio::test]
async fn clients_of_the_contract_see_the_change_at_once() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    assert_eq!(store.contract("/pets").await.json()[0]["name"], "Rex");
    let patch = json!({ "name": "Max", "status": "sold" });
    store
        .change(&format!("PATCH /pets/{id}"), 1, patch)
        .await
        .ok();
    let expected = json!({ "id": id, "name": "Max", "categoryId": 1, "status": "sold" });
    assert_eq!(store.contract("/pets").await.json(), json!([expected]));
    assert_eq!(
        store.contract(&format!("/pets/{id}")).await.json(),
        expected
    );
    assert_eq!(
        store.contract("/pets?status=available").await.json(),
        json!([])
    );
}

#[tokio::test]
async fn a_patch_without_if_match_is_428_and_with_a_stale_one_412_with_current() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let call = format!("PATCH /pets/{id}");
    let patch = json!({ "name": "Max" });
    let reply = store.send(&call, &[], &patch).await;
    reply.expect_message(428, "precondition_required", "If-Match");
    store.change(&call, 1, &patch).await.ok();
    let reply = store.change(&call, 1, json!({ "name": "Bello" })).await;
    reply.expect_message(412, "precondition_failed", "version 2");
    assert_eq!(reply.json()["current"], store.pet(id).await);
    assert_eq!(reply.header("etag"), None);
    store
        .change("PATCH /pets/99", 1, &patch)
        .await
        .expect_error(404, "not_found");
    store
        .send("PATCH /pets/x", &[], &patch)
        .await
        .expect_error(404, "not_found");
}

#[tokio::test]
async fn an_asterisk_or_a_list_matches_and_a_weak_tag_does_not() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let mut version = 1;
    for (tag, matches) in [
        ("*", true),
        ("\"99\", \"V\"", true),
        // As nginx, Apache, Jetty and other proxies change it when they compress the response.
        ("W/\"V\"", true),
        ("\"V-gzip\"", true),
        ("W/\"V-br\"", true),
        ("\"V--gzip\"", true),
        ("\"V;gzip\"", true),
        ("\"V-zstd\"", true),
        ("W/\"99\"", false),
        ("\"99-gzip\"", false),
        ("\"V-1\", \"V-gzip-gzip\", \"-gzip\", \"V-GZIP\"", false),
        ("\"0V\"", false),
        ("\"*\"", false),
        ("\"x\", W/\"99\", \"V\"", true),
        (",\"V\",,\t\"99\" ,", true),
        ("\"-V\", \"0\", \"x,y\", \"\", \"é\"", false),
    ] {
        let tag = tag.replace('V', &version.to_string());
        let patch = json!({ "categoryId": version + 1 });
        let reply = store
            .send(&format!("PATCH /pets/{id}"), &[("if-match", &tag)], patch)
            .await;
        assert_eq!(reply.status, if matches { 200 } else { 412 }, "{tag}");
        version += i64::from(matches);
    }
    let two = [
        ("if-match", "\"x\""),
        ("if-match", &*format!("\"{version}\"")),
    ];
    store
        .send(&format!("PATCH /pets/{id}"), &two, json!({ "name": "Max" }))
        .await
        .ok();
}

#[tokio::test]
async fn a_malformed_if_match_is_400() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    for tag in [
        "1",
        "",
        ",",
        "\"1",
        "1\"",
        "w/\"1\"",
        "\"1\"\"2\"",
        "\"1\" \"2\"",
        "*, \"1\"",
        "\"1\", *",
        "\"a b\"",
    ] {
        let patch = json!({ "name": "Max" });
        let reply = store
            .send(&format!("PATCH /pets/{id}"), &[("if-match", tag)], patch)
            .await;
        reply.expect_message(400, "invalid_parameter", "If-Match must be");
    }
    assert_eq!(store.pet(id).await["version"], 1);
}

#[tokio::test]
async fn an_invalid_value_is_400_and_its_member_is_named() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    for (body, part) in [
        (r#"{"name": null}"#, "name must be a string"),
        (r#"{"name": 1}"#, "name must be"),
        (r#"{"name": "\u0000"}"#, "name must be"),
        (r#"{"name": "\ud800"}"#, "name must be"),
        (r#"{"categoryId": null}"#, "categoryId must be an integer"),
        (r#"{"categoryId": 1.5}"#, "categoryId must be"),
        (r#"{"categoryId": "1"}"#, "categoryId must be"),
        (
            r#"{"status": null}"#,
            "status must be one of available, pending and sold",
        ),
        (r#"{"status": "reserved"}"#, "status must be"),
        ("[]", "The body must be a JSON object"),
        ("{", "The body is not valid JSON"),
        ("", "The request body is empty"),
        (r#"{"name": "a", "name": "a"}"#, "twice"),
    ] {
        let headers = [("if-match", "\"1\""), ("content-type", "application/json")];
        let reply = store
            .send(&format!("PATCH /pets/{id}"), &headers, body)
            .await;
        reply.expect_message(400, "invalid_body", part);
    }
    assert_eq!(store.pet(id).await["version"], 1);
}

#[tokio::test]
async fn an_unknown_member_is_400_and_named() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    for member in [
        "id",
        "version",
        "orderId",
        "createdAt",
        "withdrawn",
        "Name",
        "categoryID",
        "",
    ] {
        let body = json!({ "name": "Max", member: 1 });
        let reply = store.change(&format!("PATCH /pets/{id}"), 1, body).await;
        let part = format!("unknown member {member:?}. Allowed members: name, categoryId, status");
        reply.expect_message(400, "unknown_member", &part);
    }
    assert_eq!(store.pet(id).await["name"], "Rex");
}

#[tokio::test]
async fn a_patch_that_changes_nothing_keeps_the_tag_and_the_time() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let before = store.pet(id).await;
    store.server.clock.advance(Duration::from_mins(1));
    for patch in [
        json!({}),
        json!({ "name": "Rex", "categoryId": 1, "status": "available" }),
    ] {
        let reply = store.change(&format!("PATCH /pets/{id}"), 1, patch).await;
        assert_eq!(reply.ok(), before);
        assert_eq!(reply.header("etag"), Some("\"1\""));
    }
}

#[tokio::test]
async fn both_media_types_are_accepted_and_others_are_415_with_accept_patch() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let call = format!("PATCH /pets/{id}");
    for (media_type, accepted) in [
        ("application/merge-patch+json", true),
        ("Application/JSON; charset=utf-8", true),
        ("application/json-patch+json", false),
        ("text/plain", false),
    ] {
        let headers = [("if-match", "*"), ("content-type", media_type)];
        let reply = store.send(&call, &headers, json!({ "name": "Max" })).await;
        if accepted {
            reply.ok();
        } else {
            reply.expect_message(
                415,
                "unsupported_media_type",
                "application/merge-patch+json",
            );
            let accepted = "application/merge-patch+json, application/json";
            assert_eq!(reply.header("accept-patch"), Some(accepted));
        }
    }
    let headers = [
        ("if-match", "*"),
        ("content-type", "application/merge-patch+json"),
    ];
    let reply = store
        .send(&format!("POST /pets/{id}/withdraw"), &headers, "{}")
        .await;
    reply.expect_error(415, "unsupported_media_type");
    assert_eq!(reply.header("accept-patch"), None);
}

#[tokio::test]
async fn the_status_of_an_animal_with_an_open_order_is_409_and_its_other_members_can_change() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let order = store.reserve(id).await;
    for status in ["available", "sold"] {
        let patch = json!({ "status": status, "name": "Max" });
        let reply = store.change(&format!("PATCH /pets/{id}"), 2, patch).await;
        reply.expect_message(409, "open_order", &format!("by order {order}"));
        expect_current(&reply, "orderId", order);
        expect_current(&reply, "status", "pending");
    }
    let same = json!({ "status": "pending", "name": "Max" });
    let reply = store.change(&format!("PATCH /pets/{id}"), 2, same).await;
    assert_eq!(
        (&reply.ok()["name"], &reply.json()["version"]),
        (&json!("Max"), &json!(3))
    );
}

#[tokio::test]
async fn a_status_patch_lets_the_order_of_a_sold_animal_be_returned_no_more() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let order = store.sell(id).await;
    store
        .change(
            &format!("PATCH /pets/{id}"),
            2,
            json!({ "status": "available" }),
        )
        .await
        .ok();
    assert_eq!(store.order(order).await["status"], "completed");
    let take_back = format!("POST /orders/{order}/return");
    let reply = store.send(&take_back, &[], "").await;
    reply.expect_error(409, "invalid_transition");
    expect_current(&reply, "id", order);
    // Not even after it is sold again.
    let second = store.sell(id).await;
    store
        .send(&take_back, &[], "")
        .await
        .expect_error(409, "invalid_transition");
    store
        .send(&format!("POST /orders/{second}/return"), &[], "")
        .await
        .ok();
}

#[tokio::test]
async fn of_two_patches_of_one_version_one_is_412() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let call = format!("PATCH /pets/{id}");
    let patch = |name: &str| store.change(&call, 1, json!({ "name": name }));
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let replies = futures_util::future::join_all(names.map(patch)).await;
    let changed: Vec<&Reply> = replies.iter().filter(|reply| reply.status == 200).collect();
    assert_eq!(changed.len(), 1);
    for reply in replies.iter().filter(|reply| reply.status != 200) {
        reply.expect_error(412, "precondition_failed");
        assert_eq!(reply.json()["current"], changed[0].json());
    }
    assert_eq!(store.pet(id).await, changed[0].json());
}

#[tokio::test]
async fn a_patch_of_a_withdrawn_animal_is_409() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    store.withdraw(id, 1).await.ok();
    let reply = store
        .change(&format!("PATCH /pets/{id}"), 2, json!({ "name": "Max" }))
        .await;
    reply.expect_message(409, "invalid_transition", "withdrawn");
    assert_eq!(reply.json()["current"], store.pet(id).await);
}
