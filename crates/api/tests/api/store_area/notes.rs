//! The operations on notes.

use petstore_domain::Scope;
use serde_json::{Value, json};

use super::{Store, created};

/// Adds a note on an animal, and returns its id.
async fn note(store: &Store, pet: i64, text: &str) -> i64 {
    let body = json!({ "text": text });
    created(
        &store
            .send(&format!("POST /pets/{pet}/notes"), &[], body)
            .await,
    )
}

/// The texts in a list of notes.
fn texts(list: &Value) -> Vec<&str> {
    let notes = list.as_array().unwrap().iter();
    notes.map(|note| note["text"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_note_is_added_listed_read_corrected_and_deleted() {
    let store = Store::open().await;
    let pet = store.add("Luna", "available").await;
    let added = store
        .send(
            "POST /pets/1/notes",
            &[],
            json!({ "text": "Afraid of men" }),
        )
        .await;
    let id = created(&added);
    let path = format!("/pets/{pet}/notes/{id}");
    assert_eq!(added.header("location"), Some(&*format!("/v1/store{path}")));
    assert_eq!(added.header("etag"), Some("\"1\""));
    let first = added.json();
    assert_eq!(first["petId"], pet);
    assert_eq!(first["author"]["kind"], "key");
    assert_eq!(first["createdAt"], first["updatedAt"]);
    for text in ["second\nline", "third"] {
        note(&store, pet, text).await;
    }
    let list = store.get("/pets/1/notes").await.ok();
    assert_eq!(texts(&list), ["Afraid of men", "second\nline", "third"]);
    assert_eq!(store.walk("/pets/1/notes?limit=2").await.len(), 3);
    let read = store.get(&path).await;
    assert_eq!(
        (read.ok(), read.header("etag")),
        (first.clone(), Some("\"1\""))
    );
    let tag = [("if-none-match", "\"1\"")];
    assert_eq!(
        store.send(&format!("GET {path}"), &tag, "").await.status,
        304
    );

    let correction = json!({ "text": "Afraid of nobody" });
    let correct = format!("PATCH {path}");
    store
        .send(&correct, &[], &correction)
        .await
        .expect_error(428, "precondition_required");
    let corrected = store.change(&correct, 1, &correction).await;
    assert_eq!(corrected.ok()["text"], "Afraid of nobody");
    assert_eq!(corrected.header("etag"), Some("\"2\""));
    let same = store.change(&correct, 2, json!({})).await.ok();
    assert_eq!(
        (&same["version"], &same["text"]),
        (&json!(2), &json!("Afraid of nobody"))
    );
    let stale = store.change(&correct, 1, &correction).await;
    stale.expect_error(412, "precondition_failed");
    assert_eq!(stale.json()["current"], same);

    let delete = format!("DELETE {path}");
    store
        .change(&delete, 1, "")
        .await
        .expect_error(412, "precondition_failed");
    assert_eq!(store.change(&delete, 2, "").await.status, 204);
    for call in [format!("GET {path}"), delete, correct] {
        let gone = store.change(&call, 2, if call.starts_with("PATCH") { "{}" } else { "" });
        gone.await.expect_error(404, "not_found");
    }
    assert_eq!(texts(&store.get("/pets/1/notes").await.ok()).len(), 2);
}

#[tokio::test]
async fn a_note_belongs_to_its_animal_also_after_it_has_left() {
    let store = Store::open().await;
    let pet = store.add("Luna", "available").await;
    store.add("Max", "available").await;
    let id = note(&store, pet, "1").await;
    store.withdraw(pet, 1).await.ok();
    note(&store, pet, "2").await;
    assert_eq!(texts(&store.get("/pets/1/notes").await.ok()), ["1", "2"]);
    for path in [
        format!("GET /pets/2/notes/{id}"),
        format!("DELETE /pets/2/notes/{id}"),
        "GET /pets/1/notes/x".to_owned(),
        "GET /pets/9/notes".to_owned(),
        "GET /pets/x/notes".to_owned(),
    ] {
        store
            .change(&path, 1, "")
            .await
            .expect_error(404, "not_found");
    }
    let missing = store.send("POST /pets/9/notes", &[], json!({ "text": "1" }));
    missing.await.expect_error(404, "not_found");
    let next = store.get("/pets/1/notes?limit=1").await.next().unwrap();
    let of_other = next.replace("/pets/1/", "/pets/2/");
    let of_other = of_other.strip_prefix("/v1/store").unwrap().to_owned();
    store
        .get(&of_other)
        .await
        .expect_error(400, "invalid_cursor");
    // The animal itself does not change.
    assert_eq!(store.state(pet).await.1, 2);
}

#[tokio::test]
async fn a_key_changes_its_own_notes_and_one_for_administration_every_note() {
    let mut store = Store::open().await;
    let pet = store.add("Luna", "available").await;
    let id = note(&store, pet, "1").await;
    let path = format!("/pets/{pet}/notes/{id}");
    store.key = store.server.new_key(Scope::StoreWrite, None).await.0;
    for (method, body) in [("PATCH", "{\"text\":\"2\"}"), ("DELETE", "")] {
        let reply = store.change(&format!("{method} {path}"), 1, body).await;
        reply.expect_message(403, "insufficient_scope", "store:admin");
    }
    store.key = store.server.new_key(Scope::StoreAdmin, None).await.0;
    let patched = store
        .change(&format!("PATCH {path}"), 1, json!({ "text": "2" }))
        .await
        .ok();
    // The author stays.
    assert_eq!(patched["author"]["id"], 2);
    assert_eq!(
        store.change(&format!("DELETE {path}"), 2, "").await.status,
        204
    );
}

#[tokio::test]
async fn a_text_has_1_to_1000_characters() {
    let store = Store::open().await;
    store.add("Luna", "available").await;
    for text in ["", "a\0b", &"ö".repeat(1_001)] {
        let reply = store.send("POST /pets/1/notes", &[], json!({ "text": text }));
        let rule = "text must be a string of 1 to 1000 characters";
        reply.await.expect_message(400, "invalid_body", rule);
    }
    store
        .send("POST /pets/1/notes", &[], json!({}))
        .await
        .expect_error(400, "invalid_body");
    note(&store, 1, &"ö".repeat(1_000)).await;
}

#[tokio::test]
async fn the_log_the_audit_trail_and_remembered_requests_have_no_text_of_a_note() {
    let mut store = Store::open().await;
    let pet = store.add("Luna", "available").await;
    let key = [("idempotency-key", "once")];
    let body = json!({ "text": "zq7secret" });
    let add = async |store: &Store| store.send("POST /pets/1/notes", &key, &body).await;
    let first = add(&store).await;
    assert_eq!(first.status, 201);
    assert_eq!(add(&store).await.json(), first.json());
    assert_eq!(store.get("/pets/1/notes").await.ids().len(), 1);
    store
        .change("PATCH /pets/1/notes/1", 1, json!({ "text": "zq7other" }))
        .await
        .ok();
    assert_eq!(
        store.change("DELETE /pets/1/notes/1", 2, "").await.status,
        204
    );
    // The repetition of a request about a note that is gone has what was remembered.
    let repeated = add(&store).await;
    assert_eq!(repeated.status, 201);
    assert_eq!(repeated.json()["text"], Value::Null);
    assert_eq!(repeated.json()["author"], Value::Null);

    store.key = store.server.new_key(Scope::StoreAdmin, None).await.0;
    let changes = store.get("/changes?after=start").await.ok();
    let kinds: Vec<_> = changes
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["pet.added", "note.added", "note.changed", "note.deleted"]
    );
    let deletion = &changes[3];
    assert_eq!(deletion["subject"], json!({ "kind": "note", "id": 1 }));
    assert_eq!(
        (&deletion["version"], &deletion["after"]),
        (&json!(2), &Value::Null)
    );
    assert_eq!(deletion["before"]["petId"], pet);
    let audit = store.get("/audit?subject=note:1").await.ok();
    assert_eq!(audit.as_array().unwrap().len(), 3);
    assert_eq!(audit[0]["actor"]["id"], 2);
    assert!(!format!("{changes}{audit}").contains("zq7"), "{changes}");

    // Only those who know that a note was there can ask for it back.
    let seq = deletion["seq"].to_string();
    let revert = format!("POST /changes/{seq}/revert");
    let reply = store.send(&revert, &[], "{}").await;
    reply.expect_error(409, "invalid_transition");
}
