//! The operations on fields.

use petstore_domain::Scope;
use serde_json::{Value, json};

use super::Store;

const ABSENT: [(&str, &str); 1] = [("if-none-match", "*")];

/// A store with a program that may define fields.
async fn open() -> Store {
    let mut store = Store::open().await;
    store.key = store.server.new_key(Scope::StoreAdmin, None).await.0;
    store
}

fn names(fields: &Value) -> Vec<&str> {
    fields
        .as_array()
        .unwrap()
        .iter()
        .map(|field| field["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_new_database_has_nine_fields_in_their_order() {
    let store = open().await;
    let page = store.get("/fields").await;
    let fields = page.json();
    let expected = [
        ("species", "choice", true, false),
        ("breed", "text", true, false),
        ("sex", "choice", true, false),
        ("born", "date", true, false),
        ("colour", "text", true, false),
        ("size", "choice", true, false),
        ("description", "longText", true, false),
        ("price", "decimal", true, false),
        ("microchip", "text", false, true),
    ];
    for (at, (name, kind, public, unique)) in expected.into_iter().enumerate() {
        let field = &fields[at];
        let label = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
        let shown = json!({
            "name": name, "label": label, "kind": kind, "choices": field["choices"],
            "choiceLabels": if kind == "choice" { json!({}) } else { Value::Null },
            "public": public, "unique": unique, "position": 10 * (at + 1), "version": 1
        });
        assert_eq!(*field, shown);
        assert_eq!(field["choices"].is_array(), kind == "choice", "{name}");
    }
    assert_eq!(fields.as_array().unwrap().len(), 9);
    let species = [
        "Dog",
        "Cat",
        "Rabbit",
        "Small mammal",
        "Bird",
        "Reptile",
        "Fish",
        "Horse",
        "Other",
    ];
    assert_eq!(fields[0]["choices"], json!(species));
    assert_eq!(fields[2]["choices"], json!(["Female", "Male", "Unknown"]));
    assert_eq!(fields[5]["choices"], json!(["Small", "Medium", "Large"]));
    let tag = page.header("etag").unwrap();
    assert_eq!(
        store
            .send("GET /fields", &[("if-none-match", tag)], "")
            .await
            .status,
        304
    );
    store
        .get("/fields?limit=2")
        .await
        .expect_error(400, "unknown_parameter");
}

#[tokio::test]
async fn put_creates_a_field_with_if_none_match_and_replaces_it_with_if_match() {
    let store = open().await;
    let new = json!({ "label": "Temper", "kind": "choice", "choices": ["Calm", "Lively"] });
    let reply = store.send("PUT /fields/temper", &ABSENT, &new).await;
    assert_eq!(reply.status, 201);
    let mut field = json!({
        "name": "temper", "label": "Temper", "kind": "choice", "choices": ["Calm", "Lively"],
        "choiceLabels": {}, "public": false, "unique": false, "position": 0, "version": 1
    });
    assert_eq!(reply.json(), field);
    assert_eq!(
        (reply.header("etag"), reply.header("location")),
        (Some("\"1\""), None)
    );
    let wanted = json!({
        "label": "Temper", "kind": "choice", "choices": ["Shy"], "public": true, "position": 15
    });
    let reply = store.change("PUT /fields/temper", 1, &wanted).await;
    (field["choices"], field["public"]) = (json!(["Shy"]), json!(true));
    (field["position"], field["version"]) = (json!(15), json!(2));
    assert_eq!(reply.ok(), field);
    let same = store.change("PUT /fields/temper", 2, &wanted).await;
    assert_eq!((same.ok(), same.header("etag")), (field, Some("\"2\"")));
    // Behind species, whose position is 10.
    assert_eq!(names(&store.get("/fields").await.json())[1], "temper");
}

#[tokio::test]
async fn a_field_is_changed_only_with_the_condition_that_holds() {
    let store = open().await;
    let new = json!({ "label": "Temper", "kind": "text" });
    let reply = store.send("PUT /fields/temper", &[], &new).await;
    reply.expect_message(428, "precondition_required", "If-None-Match");
    let reply = store.change("PUT /fields/temper", 1, &new).await;
    reply.expect_message(412, "precondition_failed", "The field does not exist");
    assert_eq!(reply.json().get("current"), Some(&Value::Null));
    store.send("PUT /fields/temper", &ABSENT, &new).await;
    for headers in [&ABSENT[..], &[("if-match", "\"2\"")]] {
        let reply = store.send("PUT /fields/temper", headers, &new).await;
        reply.expect_error(412, "precondition_failed");
        assert_eq!(reply.json()["current"]["label"], "Temper");
    }
    store
        .send("DELETE /fields/temper", &[], "")
        .await
        .expect_error(428, "precondition_required");
    let stale = store.change("DELETE /fields/temper", 2, "").await;
    stale.expect_error(412, "precondition_failed");
    assert_eq!(stale.json()["current"]["version"], 1);
    let reply = store.change("DELETE /fields/temper", 1, "").await;
    assert_eq!((reply.status.as_u16(), reply.body.len()), (204, 0));
    store
        .change("DELETE /fields/temper", 1, "")
        .await
        .expect_error(404, "not_found");
    let again = store.send("PUT /fields/temper", &ABSENT, &new).await;
    assert_eq!(
        (again.status.as_u16(), &again.json()["version"]),
        (201, &json!(1))
    );
}

#[tokio::test]
async fn a_name_and_the_members_of_a_field_have_limits() {
    let store = open().await;
    let text = json!({ "label": "L", "kind": "text" });
    for name in ["a", "a_1", &"x".repeat(32)] {
        let field = json!({ "label": name, "kind": "text" });
        let reply = store
            .send(&format!("PUT /fields/{name}"), &ABSENT, &field)
            .await;
        assert_eq!(reply.status, 201, "{name}");
    }
    for name in ["A", "1a", "_a", "a-b", "%C3%A4", &"x".repeat(33)] {
        let reply = store
            .send(&format!("PUT /fields/{name}"), &ABSENT, &text)
            .await;
        reply.expect_message(404, "not_found", "1 to 32 lower-case letters");
    }
    let many: Vec<_> = (0..100).map(|at| at.to_string()).collect();
    for (name, choices) in [("one", json!(["é".repeat(64)])), ("hundred", json!(many))] {
        let field = json!({ "label": name, "kind": "choice", "choices": choices });
        let reply = store
            .send(&format!("PUT /fields/{name}"), &ABSENT, field)
            .await;
        assert_eq!(reply.status, 201, "{name}");
    }
    let choices = |choices: Value| json!({ "label": "L", "kind": "choice", "choices": choices });
    let with = |member: &str, value: Value| {
        let mut field = text.clone();
        field[member] = value;
        field
    };
    let more = [&many[..], &["x".to_owned()]].concat();
    for (field, part) in [
        (with("label", json!("")), "label must be"),
        (with("label", json!("x".repeat(256))), "label must be"),
        (
            with("kind", json!("number")),
            "kind must be one of text, longText, integer, decimal",
        ),
        (with("kind", Value::Null), "kind must be"),
        (json!({ "label": "L" }), "kind is missing"),
        (
            with("position", json!(-1)),
            "position must be an integer from 0 to 10000",
        ),
        (with("position", json!(10_001)), "position must be"),
        (with("public", json!(1)), "public must be true or false"),
        (with("choices", json!(["A"])), "choices must be null"),
        (
            json!({ "label": "L", "kind": "choice" }),
            "choices is missing",
        ),
        (choices(json!([])), "choices must be an array of 1 to 100"),
        (choices(json!(more)), "choices must be"),
        (choices(json!(["A", "a"])), "choices must be"),
        (choices(json!(["x".repeat(65)])), "choices must be"),
        (choices(json!([""])), "choices must be"),
        (choices(json!(["A", " \u{200b}"])), "choices must be"),
        (choices(json!(["ς", "σ"])), "choices must be"),
        (choices(json!(["Maß", "MASS"])), "choices must be"),
        (
            json!({ "label": "L", "kind": "decimal", "unique": true }),
            "unique can be true only for",
        ),
        (
            json!({ "label": "L", "kind": "choice", "choices": ["A"], "unique": true }),
            "unique can be true only for",
        ),
    ] {
        store
            .send("PUT /fields/b", &ABSENT, field)
            .await
            .expect_message(400, "invalid_body", part);
    }
    let named = with("name", json!("b"));
    store
        .send("PUT /fields/b", &ABSENT, named)
        .await
        .expect_error(400, "unknown_member");
}

#[tokio::test]
async fn two_fields_have_labels_that_differ_in_any_case_and_normalization() {
    let store = open().await;
    let field = |label: &str| json!({ "label": label, "kind": "text" });
    let size = field("Größe des Käfigs");
    let reply = store.send("PUT /fields/cage", &ABSENT, &size).await;
    assert_eq!(reply.status, 201);
    for label in [
        "GRÖSSE DES KÄFIGS",
        "Gro\u{308}ße  des Ka\u{308}figs",
        " größe des\u{a0}käfigs",
    ] {
        let reply = store.send("PUT /fields/box", &ABSENT, &field(label)).await;
        let message = "The field cage has the same label, regardless of upper and lower case.";
        reply.expect_message(409, "duplicate_value", message);
        assert_eq!(reply.json()["current"]["name"], "cage");
        let reply = store.change("PUT /fields/breed", 1, field(label)).await;
        reply.expect_message(409, "duplicate_value", message);
    }
    // The field itself can get another spelling, and another one the label that is free then.
    for (version, label) in [(1, "GRÖSSE DES KÄFIGS"), (2, "Käfig")] {
        let reply = store
            .change("PUT /fields/cage", version, field(label))
            .await;
        reply.ok();
    }
    let reply = store.send("PUT /fields/box", &ABSENT, &size).await;
    assert_eq!(reply.status, 201);
}

#[tokio::test]
async fn there_are_at_most_50_fields() {
    let store = open().await;
    for at in 9..50 {
        let field = json!({ "label": format!("L {at}"), "kind": "text" });
        let reply = store
            .send(&format!("PUT /fields/f{at}"), &ABSENT, &field)
            .await;
        assert_eq!(reply.status, 201);
    }
    let field = json!({ "label": "L", "kind": "text" });
    let reply = store.send("PUT /fields/more", &ABSENT, &field).await;
    reply.expect_message(409, "too_many_fields", "There are 50 fields");
    store
        .change("PUT /fields/f9", 1, json!({ "label": "M", "kind": "text" }))
        .await
        .ok();
    assert_eq!(store.change("DELETE /fields/f10", 1, "").await.status, 204);
    assert_eq!(
        store.send("PUT /fields/more", &ABSENT, &field).await.status,
        201
    );
}

#[tokio::test]
async fn a_repeated_change_of_a_field_gets_the_first_response() {
    let store = open().await;
    let headers = [("if-none-match", "*"), ("idempotency-key", "once")];
    let field = json!({ "label": "Temper", "kind": "text" });
    let first = store.send("PUT /fields/temper", &headers, &field).await;
    assert_eq!(
        store.change("DELETE /fields/temper", 1, "").await.status,
        204
    );
    let again = store.send("PUT /fields/temper", &headers, &field).await;
    assert_eq!((first.status.as_u16(), again.status.as_u16()), (201, 201));
    assert_eq!(
        (&first.body, first.header("etag")),
        (&again.body, again.header("etag"))
    );
    let other = store.send("PUT /fields/other", &headers, &field).await;
    other.expect_error(422, "idempotency_conflict");
    assert_eq!(names(&store.get("/fields").await.json()).len(), 9);
}

#[tokio::test]
async fn changes_of_fields_are_in_the_audit_trail_and_not_in_the_feed() {
    let store = open().await;
    let feed = store.get("/changes").await.following("next");
    let field = json!({ "label": "Temper", "kind": "choice", "choices": ["Calm", "Shy"] });
    store.send("PUT /fields/temper", &ABSENT, &field).await;
    let text = json!({ "label": "Temper", "kind": "text" });
    store.change("PUT /fields/temper", 1, &text).await.ok();
    store.change("PUT /fields/temper", 2, &text).await.ok();
    store.change("DELETE /fields/temper", 2, "").await;
    let acts = store.get("/audit?subject=field").await.json();
    let acts: Vec<_> = acts.as_array().unwrap().iter().collect();
    let types: Vec<_> = acts
        .iter()
        .map(|act| act["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["field.added", "field.changed", "field.deleted"]);
    let details = json!({
        "name": "temper", "label": "Temper", "kind": "choice", "choices": "Calm, Shy",
        "public": "false", "unique": "false", "position": "0"
    });
    assert_eq!(acts[0]["details"], details);
    // A change has what was different before it.
    let details = json!({
        "name": "temper", "label": "Temper", "kind": "text", "public": "false", "unique": "false",
        "position": "0", "before.kind": "choice", "before.choices": "Calm, Shy"
    });
    assert_eq!(acts[1]["details"], details);
    assert_eq!(acts[0]["subject"], json!({ "kind": "field", "id": null }));
    assert_eq!(acts[0]["actor"]["kind"], "key");
    let changes = store.get(feed.trim_start_matches("/v1/store")).await.json();
    assert_eq!(changes, json!([]));
}

#[tokio::test]
async fn store_read_lists_fields_and_only_store_admin_changes_them() {
    let mut store = Store::open().await;
    let field = json!({ "label": "Temper", "kind": "text" });
    let reply = store.send("PUT /fields/temper", &ABSENT, &field).await;
    reply.expect_error(403, "insufficient_scope");
    store
        .change("DELETE /fields/breed", 1, "")
        .await
        .expect_error(403, "insufficient_scope");
    store.key = store.server.new_key(Scope::StoreRead, None).await.0;
    assert_eq!(names(&store.get("/fields").await.json()).len(), 9);
    store.key = store.server.new_key(Scope::Write, None).await.0;
    store
        .get("/fields")
        .await
        .expect_error(403, "insufficient_scope");
}

#[tokio::test]
async fn a_choice_has_a_label_which_renames_it_without_a_change_of_any_animal() {
    let store = open().await;
    let mut sex = json!({
        "label": "Sex", "kind": "choice", "choices": ["Female", "Male"],
        "choiceLabels": { "Female": "Queen", "Unknown": "Not known" }
    });
    let reply = store.change("PUT /fields/sex", 1, &sex).await;
    assert_eq!(reply.ok()["choiceLabels"], sex["choiceLabels"]);
    assert_eq!(
        store.get("/fields").await.json()[0]["choiceLabels"],
        sex["choiceLabels"]
    );
    let pet = |sex: &str| json!({ "name": "Mia", "categoryId": 1, "fields": { "sex": sex } });
    assert_eq!(
        store.send("POST /pets", &[], &pet("Female")).await.status,
        201
    );
    // The interface and its filters know values only.
    let refused = store.send("POST /pets", &[], &pet("Queen")).await;
    refused.expect_message(400, "invalid_body", "one of Female, Male");
    for (wanted, found) in [("female", 1), ("Queen", 0)] {
        let list = store.get(&format!("/pets?field.sex={wanted}")).await.json();
        assert_eq!(list.as_array().unwrap().len(), found, "{wanted}");
    }
    let x = |length: usize| "x".repeat(length);
    for labels in [
        json!({ "Female": "" }),
        json!({ "Female": "\u{200b}" }),
        json!({ "Female": x(101) }),
        json!({ "Female": "male" }),
        json!({ "Female": "Same", "Male": "SAME" }),
        json!({ "Unknown": "unknown" }),
        json!({ "Female": null }),
        json!({ "": "None" }),
        json!(["Queen"]),
    ] {
        sex["choiceLabels"] = labels;
        let reply = store.change("PUT /fields/sex", 2, &sex).await;
        reply.expect_message(
            400,
            "invalid_body",
            "choiceLabels must be an object from values",
        );
    }
    sex["choiceLabels"] = json!({ "Female": x(100) });
    assert_eq!(
        store.change("PUT /fields/sex", 2, &sex).await.ok()["version"],
        3
    );
    sex.as_object_mut().unwrap().remove("choiceLabels");
    assert_eq!(
        store.change("PUT /fields/sex", 3, &sex).await.ok()["choiceLabels"],
        json!({})
    );
    let text = json!({ "label": "T", "kind": "text", "choiceLabels": {} });
    let reply = store.send("PUT /fields/t", &ABSENT, &text).await;
    reply.expect_message(400, "invalid_body", "choiceLabels must be null");
}
