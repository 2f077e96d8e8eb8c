//! The operations on the profile of the store.

use petstore_domain::Scope;
use petstore_testing::reply::Reply;
use serde_json::{Value, json};

use super::Store;

/// A store with a program that may change its profile.
async fn open() -> Store {
    let mut store = Store::open().await;
    store.key = store.server.new_key(Scope::StoreAdmin, None).await.0;
    store
}

async fn patch(store: &Store, version: i64, change: Value) -> Reply {
    store.change("PATCH /profile", version, change).await
}

fn full() -> Value {
    json!({
        "name": "Refuge du Rhône", "language": "fr", "currency": "EUR", "email": "a@b",
        "telephone": "+33 (0)4-78.12/34", "contactPage": "https://refuge.example/{id}?x={id}",
        "address": "1 rue Verte\r\n69001 Lyon", "hours": "Mo–Sa\n10–16", "about": "Cats.",
        "links": [{ "label": "Mentions légales", "url": "https://refuge.example/m" }],
        "colour": "#2F6f4F", "kind": "shelter", "timeZone": "Europe/Paris",
        "contract": "{store} confie {animal}.\n\nLu et approuvé"
    })
}

#[tokio::test]
async fn a_new_profile_has_version_1_and_says_nothing() {
    let store = open().await;
    let page = store.get("/profile").await;
    let expected = json!({
        "name": null, "language": null, "currency": null, "email": null, "telephone": null,
        "contactPage": null, "address": null, "hours": null, "about": null, "links": [],
        "colour": null, "kind": null, "timeZone": null, "contract": null, "logo": null, "version": 1
    });
    assert_eq!(page.json(), expected);
    let tag = page.header("etag").unwrap();
    assert_eq!(tag, "\"1\"");
    assert_eq!(
        store
            .send("GET /profile", &[("if-none-match", tag)], "")
            .await
            .status,
        304
    );
    store
        .get("/profile?x=1")
        .await
        .expect_error(400, "unknown_parameter");
}

#[tokio::test]
async fn a_patch_changes_what_it_has_and_keeps_the_rest_as_it_is_written() {
    let store = open().await;
    let mut expected = full();
    let changed = patch(&store, 1, full()).await;
    (expected["version"], expected["logo"]) = (2.into(), Value::Null);
    assert_eq!(
        (changed.status.as_u16(), changed.json()),
        (200, expected.clone())
    );
    assert_eq!(changed.header("etag"), Some("\"2\""));
    assert_eq!(store.get("/profile").await.json(), expected);
    // What changes nothing makes no version.
    assert_eq!(
        patch(&store, 2, json!({ "name": "Refuge du Rhône" }))
            .await
            .json(),
        expected
    );
    let cleared = patch(
        &store,
        2,
        json!({ "hours": null, "links": null, "kind": "shop" }),
    )
    .await;
    let patched = [
        ("hours", Value::Null),
        ("links", json!([])),
        ("kind", "shop".into()),
        ("version", 3.into()),
    ];
    for (name, value) in patched {
        expected[name] = value;
    }
    assert_eq!(cleared.json(), expected);
    assert_eq!(
        patch(&store, 3, json!({ "links": [] })).await.json()["version"],
        3
    );
}

#[tokio::test]
async fn a_patch_needs_the_version_and_a_retry_gets_the_same_response() {
    let store = open().await;
    let name = |name: &str| json!({ "name": name }).to_string();
    store
        .send("PATCH /profile", &[], name("A"))
        .await
        .expect_error(428, "precondition_required");
    let headers = [("if-match", "\"1\""), ("idempotency-key", "\"once\"")];
    let first = store.send("PATCH /profile", &headers, name("A")).await;
    let again = store.send("PATCH /profile", &headers, name("A")).await;
    assert_eq!(
        (first.status.as_u16(), first.json(), again.json()),
        (200, again.json(), first.json())
    );
    store
        .send("PATCH /profile", &headers, name("B"))
        .await
        .expect_error(422, "idempotency_conflict");
    let stale = patch(&store, 1, json!({ "name": "B" })).await;
    stale.expect_error(412, "precondition_failed");
    assert_eq!(stale.json()["current"], store.get("/profile").await.json());
    assert_eq!(store.get("/profile").await.json()["name"], "A");
}

#[tokio::test]
async fn every_member_follows_its_rule_and_an_invalid_one_changes_nothing() {
    let store = open().await;
    let long = |length: usize| "x".repeat(length);
    let link = |label: &str, url: &str| json!({ "label": label, "url": url });
    let url = |length: usize| format!("https://a.example/{}", long(length - 18));
    let valid = json!([
        { "name": long(120), "email": format!("{}@b", long(252)), "telephone": "123" },
        { "contactPage": url(500), "address": long(500), "hours": "\n9\n", "about": long(2000) },
        { "links": vec![link(&long(60), &url(500)); 8], "telephone": "1+2-(3)/. " },
        { "links": [], "colour": "#AbCdEf", "language": null, "currency": "ZZZ" },
    ]);
    let mut version = 1;
    for change in valid.as_array().unwrap() {
        let reply = patch(&store, version, change.clone()).await;
        assert_eq!(reply.status, 200, "{change}: {}", reply.json());
        version += 1;
    }
    let before = store.get("/profile").await.json();
    let wrong = json!({
        "name": ["", " ", "\u{200b}", "a\nb", "a\u{7}b", long(121), 7],
        "language": ["it", "EN", ""],
        "currency": ["eur", "EURO", "€"],
        "email": ["a", "@b", "a@", "a@b@c", "a b@c", "a@b\n", format!("{}@b", long(253))],
        "telephone": ["12", "+ - ( )", "0171x12", "١٢٣٤", "1".repeat(41)],
        "contactPage": ["http://a.example", "https://u:p@a.example", "a", "javascript:1", url(501)],
        "address": ["", "\n", "a\u{0}b", "a\u{1b}b", long(501)],
        "hours": [long(501)],
        "about": ["", long(2001)],
        "links": [
            vec![link("a", "https://a.example"); 9], [link("", "https://a.example")],
            [link("a\nb", "https://a.example")], [link("a", "http://a.example")],
            [{ "label": "a" }], ["https://a.example"], {}
        ],
        "colour": ["red", "#12345", "#12345g", "#1234567"],
        "kind": ["store"],
        "contract": ["", "{name}", "{animal", "store}", "{ store }", "a\u{1}b", long(4001)],
        "timeZone": ["", "Berlin", "CEST", "+01:00", "Etc/Unknown", "Europe/Berlin ", 1],
    });
    for (name, values) in wrong.as_object().unwrap() {
        for value in values.as_array().unwrap() {
            let mut change = json!({ "name": "Never", "about": "Never" });
            change[name] = value.clone();
            let reply = patch(&store, version, change).await;
            reply.expect_error(400, "invalid_body");
            let message = reply.json()["message"].as_str().unwrap().to_owned();
            assert!(
                message.starts_with(&format!("{name} must be ")),
                "{message}"
            );
        }
    }
    for unknown in ["logo", "version"] {
        patch(&store, version, json!({ unknown: null }))
            .await
            .expect_error(400, "unknown_member");
    }
    assert_eq!(store.get("/profile").await.json(), before);
}

#[tokio::test]
async fn a_time_zone_is_written_as_iana_writes_it_and_changes_no_time_of_the_interface() {
    let store = open().await;
    let added = store.get("/audit").await.json()[0]["at"].clone();
    let patched = patch(
        &store,
        1,
        json!({ "timeZone": "america/argentina/buenos_aires" }),
    )
    .await;
    assert_eq!(patched.json()["timeZone"], "America/Argentina/Buenos_Aires");
    assert_eq!(store.get("/audit").await.json()[0]["at"], added);
    // Another spelling of the same zone is no change.
    let again = patch(
        &store,
        2,
        json!({ "timeZone": "America/Argentina/BUENOS_AIRES" }),
    )
    .await;
    assert_eq!(again.json()["version"], 2);
    let invalid = patch(&store, 2, json!({ "timeZone": "Europe/Bielefeld" })).await;
    invalid.expect_error(400, "invalid_body");
    assert_eq!(
        invalid.json()["message"],
        "timeZone must be the IANA name of a time zone, such as Europe/Berlin, America/New_York or UTC."
    );
    let cleared = patch(&store, 2, json!({ "timeZone": null })).await;
    assert_eq!(cleared.json()["timeZone"], Value::Null);
}

#[tokio::test]
async fn the_audit_trail_names_what_was_changed_and_not_its_value() {
    let store = open().await;
    patch(&store, 1, full()).await.ok();
    patch(
        &store,
        2,
        json!({ "telephone": "030 1234567", "kind": null }),
    )
    .await
    .ok();
    patch(&store, 3, json!({ "telephone": "030 1234567" }))
        .await
        .ok();
    let page = store
        .get("/audit?type=profile.changed&subject=profile")
        .await;
    let entries = page.json();
    let entries = entries.as_array().unwrap();
    assert_eq!(entries.len(), 2);
    assert_eq!(
        entries[1]["details"],
        json!({ "members": "telephone, kind" })
    );
    assert!(!page.json().to_string().contains("1234567"));
}

#[tokio::test]
async fn a_key_for_reading_sees_the_profile_and_only_an_administrator_changes_it() {
    let mut store = open().await;
    store.key = store.server.new_key(Scope::StoreRead, None).await.0;
    assert_eq!(store.get("/profile").await.status, 200);
    store.key = store.server.new_key(Scope::StoreWrite, None).await.0;
    patch(&store, 1, json!({ "name": "A" }))
        .await
        .expect_error(403, "insufficient_scope");
    assert_eq!(store.get("/profile").await.json()["version"], 1);
}
