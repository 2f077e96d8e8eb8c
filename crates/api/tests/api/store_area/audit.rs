//! `GET /v1/store/audit`.

use std::time::Duration;

use petstore_domain::Scope;
use petstore_testing::reply::Reply;
use serde_json::{Value, json};

use super::Store;

/// A store, and a key that may read its audit trail.
async fn open() -> (Store, String) {
    let store = Store::open().await;
    let (admin, _) = store.server.new_key(Scope::StoreAdmin, None).await;
    (store, admin)
}

async fn audit(store: &Store, admin: &str, query: &str) -> Reply {
    store
        .server
        .get_with_key(&format!("/v1/store/audit{query}"), admin)
        .await
}

fn types(page: &Reply) -> Vec<String> {
    let entries = page.ok();
    let entries = entries.as_array().unwrap().iter();
    entries
        .map(|entry| entry["type"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn an_entry_is_a_change_with_its_actor_or_an_act_of_administration() {
    let (store, admin) = open().await;
    let pet = store.add("Rex", "available").await;
    let page = audit(&store, &admin, "").await;
    assert_eq!(
        types(&page),
        ["key.created", "key.created", "key.created", "pet.added"]
    );
    let entries = page.json();
    let change = &store.get("/changes?after=start").await.json()[0];
    let mut expected = change.clone();
    expected["details"] = Value::Null;
    expected["actor"] = json!({ "kind": "key", "id": 2, "name": "test" });
    assert_eq!(entries[3], expected);
    assert_eq!(entries[3]["subject"], json!({ "kind": "pet", "id": pet }));
    let act = &entries[2];
    assert_eq!(act["subject"], json!({ "kind": "key", "id": 3 }));
    assert_eq!(
        act["actor"],
        json!({ "kind": "command", "id": null, "name": null })
    );
    assert_eq!(act["details"]["scope"], "store:admin");
    assert_eq!((&act["seq"], &act["after"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn entries_are_selected_by_subject_actor_type_and_time() {
    let (store, admin) = open().await;
    let (a, b) = (
        store.add("a", "available").await,
        store.add("b", "available").await,
    );
    store.server.clock.advance(Duration::from_mins(1));
    store.withdraw(a, 1).await.ok();
    let a_subject = format!("?subject=pet:{a}");
    let b_added = format!("?subject=pet:{b}&type=pet.added");
    for (query, expected) in [
        (&*a_subject, &["pet.added", "pet.withdrawn"][..]),
        (&b_added, &["pet.added"]),
        ("?subject=key:1", &["key.created"]),
        ("?actor=key:2", &["pet.added", "pet.added", "pet.withdrawn"]),
        (
            "?actor=command",
            &["key.created", "key.created", "key.created"],
        ),
        ("?actor=clock", &[]),
        ("?type=key.revoked", &[]),
        ("?since=2026-12-01T12:00:30Z", &["pet.withdrawn"]),
        (
            "?until=2026-12-01T12:01:00Z&type=pet.added",
            &["pet.added", "pet.added"],
        ),
        ("?until=2026-12-01T12:00:00Z", &[]),
    ] {
        assert_eq!(
            types(&audit(&store, &admin, query).await),
            expected,
            "{query}"
        );
    }
}

#[tokio::test]
async fn changes_and_acts_of_a_later_release_are_passed_on_as_they_are() {
    let (store, admin) = open().await;
    let pet = store.add("Rex", "available").await;
    store.server.log_of_later_release(pet).await;
    let page = audit(&store, &admin, "").await;
    let all = [
        "key.created",
        "key.created",
        "key.created",
        "photo.checked",
        "pet.added",
        "photo.added",
    ];
    assert_eq!(types(&page), all);
    let [act, change] = [&page.json()[3], &page.json()[5]].map(Value::clone);
    assert_eq!(act["subject"], json!({ "kind": "photo", "id": 7 }));
    assert_eq!(
        (&act["details"]["by"], &act["seq"]),
        (&json!("eye"), &Value::Null)
    );
    assert_eq!(change["subject"], json!({ "kind": "photo", "id": 7 }));
    assert_eq!(
        (&change["seq"], &change["actor"]["kind"]),
        (&json!(2), &json!("clock"))
    );
    assert_eq!(
        types(&audit(&store, &admin, "?type=pet.added").await),
        ["pet.added"]
    );
    assert_eq!(
        types(&audit(&store, &admin, "?actor=clock").await),
        ["photo.added"]
    );
    audit(&store, &admin, "?subject=photo:7")
        .await
        .expect_error(400, "invalid_parameter");
}

#[tokio::test]
async fn a_walk_through_the_audit_trail_has_each_entry_once() {
    let (store, admin) = open().await;
    for name in ["a", "b", "c"] {
        store.add(name, "available").await;
    }
    let all = audit(&store, &admin, "").await.ok();
    let mut walked = Vec::new();
    let mut page = audit(&store, &admin, "?limit=2").await;
    loop {
        walked.extend(page.ok().as_array().unwrap().clone());
        let Some(next) = page.next() else {
            break;
        };
        page = store.server.get_with_key(&next, &admin).await;
    }
    assert_eq!(json!(walked), all);
    let tag = audit(&store, &admin, "")
        .await
        .header("etag")
        .unwrap()
        .to_owned();
    let bearer = format!("Bearer {admin}");
    let headers = [("authorization", &*bearer), ("if-none-match", &*tag)];
    let known = store
        .server
        .send(reqwest::Method::GET, "/v1/store/audit", &headers, "")
        .await;
    assert_eq!(known.status, 304);
}

#[tokio::test]
async fn only_an_administrator_reads_the_audit_trail_and_only_with_valid_filters() {
    let (store, admin) = open().await;
    store
        .get("/audit")
        .await
        .expect_error(403, "insufficient_scope");
    for (query, part) in [
        ("?subject=dog:1", "such as pet:7"),
        ("?subject=pet:07", "such as pet:7"),
        ("?actor=key", "such as key:3"),
        ("?type=pet.sold", "such as pet.changed"),
        ("?since=yesterday", "such as 2026-11-22"),
        (
            "?since=2026-12-01T12:00:30+01:00",
            "In a query, + means a space: write %2B.",
        ),
        ("?limit=101", "between 1 and 100"),
    ] {
        audit(&store, &admin, query)
            .await
            .expect_message(400, "invalid_parameter", part);
    }
    let foreign = store.get("/pets?limit=1").await;
    assert!(foreign.next().is_none());
    audit(&store, &admin, "?cursor=x")
        .await
        .expect_error(400, "invalid_cursor");
}
