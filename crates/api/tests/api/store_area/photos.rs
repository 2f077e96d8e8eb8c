//! Photos of animals.

mod cards;
mod files;
mod in_bucket;
mod order;
mod pictures_of_clients;
mod strangers;

use petstore_domain::Scope;
use petstore_testing::{pictures, reply::Reply};
use reqwest::Method;
use serde_json::{Value, json};

use super::{Setup, Store};

impl Store {
    /// Sends a PNG.
    pub(super) async fn add_photo(&self, pet: i64, picture: &[u8]) -> Reply {
        self.send_picture(&format!("/pets/{pet}/photos"), "image/png", &[], picture)
            .await
    }

    pub(super) async fn send_picture(
        &self,
        path: &str,
        media_type: &str,
        headers: &[(&str, &str)],
        picture: &[u8],
    ) -> Reply {
        let bearer = format!("Bearer {}", self.key);
        let own = [("authorization", &*bearer), ("content-type", media_type)];
        let headers = [&own[..], headers].concat();
        let target = format!("/v1/store{path}");
        self.server
            .send(Method::POST, &target, &headers, picture.to_vec())
            .await
    }

    /// Adds a photo, and returns the path of it below `/v1/store`.
    async fn new_photo(&self, pet: i64) -> String {
        let reply = self.add_photo(pet, &pictures::png(4, 3)).await;
        assert_eq!(reply.status, 201, "{}", reply.json());
        format!(
            "/pets/{pet}/photos/{}",
            reply.json()["id"].as_str().unwrap()
        )
    }

    /// The alternative texts of an animal's photos, in their order.
    async fn texts(&self, pet: i64) -> Value {
        let photos = self.pet(pet).await["photos"].as_array().unwrap().clone();
        for (position, photo) in photos.iter().enumerate() {
            assert_eq!(
                (&photo["position"], &photo["petId"]),
                (&json!(position), &json!(pet))
            );
        }
        photos
            .into_iter()
            .map(|photo| photo["alt"].clone())
            .collect()
    }
}

/// A store with an animal that has photos with these texts.
async fn with_photos(texts: &[&str]) -> (Store, i64, Vec<String>) {
    let store = Store::open().await;
    let id = store.add("Luna", "available").await;
    let mut paths = Vec::new();
    for text in texts {
        let path = format!("/pets/{id}/photos?alt={text}");
        let reply = store
            .send_picture(&path, "image/png", &[], &pictures::png(4, 3))
            .await;
        assert_eq!(reply.status, 201, "{}", reply.json());
        paths.push(format!(
            "/pets/{id}/photos/{}",
            reply.json()["id"].as_str().unwrap()
        ));
    }
    (store, id, paths)
}

#[tokio::test]
async fn a_photo_is_added_behind_the_others_and_the_animal_gets_its_next_version() {
    let (store, id, paths) = with_photos(&["first", "on%20a%20chair"]).await;
    assert_eq!(store.texts(id).await, json!(["first", "on a chair"]));
    assert_eq!(store.pet(id).await["version"], 3);
    let reply = store.add_photo(id, &pictures::png(4, 3)).await;
    assert_eq!(reply.header("etag"), Some("\"4\""));
    let photo = reply.json();
    let location = format!(
        "/v1/store/pets/{id}/photos/{}",
        photo["id"].as_str().unwrap()
    );
    assert_eq!(reply.header("location"), Some(&*location));
    assert_eq!(
        (&photo["position"], &photo["alt"]),
        (&json!(2), &Value::Null)
    );
    assert_eq!(store.pet(id).await["photos"][2], photo);
    let read = store.get(location.strip_prefix("/v1/store").unwrap()).await;
    assert_eq!((read.ok(), read.header("etag")), (photo, Some("\"4\"")));
    assert_eq!(store.get(&paths[0]).await.ok()["position"], 0);
    // The contract knows nothing of photos.
    assert_eq!(
        store
            .contract(&format!("/pets/{id}"))
            .await
            .json()
            .get("photos"),
        None
    );
}

#[tokio::test]
async fn a_patch_changes_the_text_and_the_position() {
    let (store, id, paths) = with_photos(&["a", "b", "c"]).await;
    let reply = store
        .change(&format!("PATCH {}", paths[2]), 4, json!({ "position": 0 }))
        .await;
    assert_eq!(
        (&reply.ok()["position"], reply.header("etag")),
        (&json!(0), Some("\"5\""))
    );
    assert_eq!(store.texts(id).await, json!(["c", "a", "b"]));
    let patch = json!({ "position": 9_007_199_254_740_991_i64, "alt": null });
    let reply = store.change(&format!("PATCH {}", paths[2]), 5, patch).await;
    assert_eq!(
        (&reply.ok()["position"], &reply.json()["alt"]),
        (&json!(2), &Value::Null)
    );
    assert_eq!(store.texts(id).await, json!(["a", "b", null]));
    let same = store
        .change(&format!("PATCH {}", paths[0]), 6, json!({ "alt": "a" }))
        .await;
    assert_eq!(
        (&same.ok()["alt"], same.header("etag")),
        (&json!("a"), Some("\"6\""))
    );
    for wrong in [
        json!({ "alt": "" }),
        json!({ "alt": "x".repeat(501) }),
        json!({ "position": -1 }),
    ] {
        let reply = store.change(&format!("PATCH {}", paths[0]), 6, wrong).await;
        reply.expect_error(400, "invalid_body");
    }
    let reply = store
        .change(&format!("PATCH {}", paths[0]), 6, json!({ "id": "x" }))
        .await;
    reply.expect_error(400, "unknown_member");
}

#[tokio::test]
async fn the_focus_of_a_photo_is_a_point_of_it_and_null_is_the_default() {
    let (store, id, paths) = with_photos(&["a", "b"]).await;
    let focus = async || store.pet(id).await["photos"][0]["focus"].clone();
    assert_eq!(focus().await, Value::Null);
    let patch = format!("PATCH {}", paths[0]);
    let mut version = 3;
    for (given, kept) in [
        ("[0.25, 0.4]", "[0.25,0.4]"),
        ("[0, 1]", "[0,1]"),
        ("[1.0, 0.12340]", "[1,0.1234]"),
        ("[5.0E-1, 35e-2]", "[0.5,0.35]"),
        ("[-0.0, 1e0]", "[0,1]"),
        ("null", "null"),
    ] {
        let reply = store
            .change(&patch, version, format!("{{\"focus\": {given}}}"))
            .await;
        version += 1;
        let etag = format!("\"{version}\"");
        assert_eq!(
            (reply.ok()["focus"].to_string(), reply.header("etag")),
            (kept.into(), Some(&*etag))
        );
        // As it is written in the store, and read again.
        assert_eq!(focus().await.to_string(), kept);
    }
    for wrong in [
        "[0.5]",
        "[0.5, 0.5, 0.5]",
        "[0.12345, 0]",
        "[1.0001, 0]",
        "[0, -0.1]",
        "[\"0.5\", 0]",
        "0.5",
        "[1e9, 0]",
        "[null, 0]",
        "{}",
    ] {
        let reply = store
            .change(&patch, version, format!("{{\"focus\": {wrong}}}"))
            .await;
        reply.expect_message(400, "invalid_body", "such as [0.5, 0.35]");
    }
    assert_eq!(store.pet(id).await["version"], version);
    // It moves with its photo, and the changes have it.
    let cursor = store.get("/changes").await.following("next");
    let moved = r#"{"focus": [0.1, 0.2], "position": 1}"#;
    store.change(&patch, version, moved).await.ok();
    let after = cursor.split_once('?').unwrap().1;
    let change = store.get(&format!("/changes?{after}")).await.json()[0]["after"].clone();
    assert_eq!(change["photos"][1]["focus"], json!([0.1, 0.2]));
    assert_eq!(store.pet(id).await["photos"], change["photos"]);
}

#[tokio::test]
async fn a_deleted_photo_leaves_the_animal() {
    let (store, id, paths) = with_photos(&["a", "b"]).await;
    let reply = store.change(&format!("DELETE {}", paths[0]), 3, "").await;
    assert_eq!(
        (reply.status.as_u16(), reply.header("etag")),
        (204, Some("\"4\""))
    );
    assert_eq!(store.texts(id).await, json!(["b"]));
    store.get(&paths[0]).await.expect_error(404, "not_found");
    let again = store.change(&format!("DELETE {}", paths[0]), 4, "").await;
    again.expect_error(404, "not_found");
    store.change(&format!("DELETE {}", paths[1]), 4, "").await;
    assert_eq!(store.pet(id).await["photos"], json!([]));
}

#[tokio::test]
async fn a_change_of_a_photo_needs_the_version_of_the_animal() {
    let (store, id, paths) = with_photos(&["a"]).await;
    for (method, body) in [("PATCH", r#"{"alt": "b"}"#), ("DELETE", "")] {
        let call = format!("{method} {}", paths[0]);
        store
            .send(&call, &[], body)
            .await
            .expect_error(428, "precondition_required");
        let stale = store.change(&call, 1, body).await;
        stale.expect_error(412, "precondition_failed");
        assert_eq!(stale.json()["current"], store.pet(id).await);
    }
}

#[tokio::test]
async fn photos_of_a_withdrawn_animal_stay_as_they_are() {
    let (store, id, paths) = with_photos(&["a"]).await;
    store.withdraw(id, 2).await.ok();
    store
        .add_photo(id, &pictures::png(4, 3))
        .await
        .expect_error(409, "invalid_transition");
    let retry = [("idempotency-key", "withdrawn")];
    let path = format!("/pets/{id}/photos");
    let reply = store
        .send_picture(&path, "image/png", &retry, &pictures::png(4, 3))
        .await;
    reply.expect_error(409, "invalid_transition");
    for (method, body) in [("PATCH", r#"{"alt": "b"}"#), ("DELETE", "")] {
        let reply = store
            .change(&format!("{method} {}", paths[0]), 3, body)
            .await;
        reply.expect_error(409, "invalid_transition");
    }
    assert_eq!(store.texts(id).await, json!(["a"]));
    store
        .change(&format!("POST /pets/{id}/restore"), 3, "{}")
        .await
        .ok();
    assert_eq!(store.texts(id).await, json!(["a"]));
}

#[tokio::test]
async fn an_animal_has_at_most_twenty_photos() {
    let store = Store::open().await;
    let id = store.add("Luna", "available").await;
    for _ in 0..20 {
        store.new_photo(id).await;
    }
    store
        .add_photo(id, &pictures::png(4, 3))
        .await
        .expect_error(409, "too_many_photos");
    let retry = [("idempotency-key", "one-too-many")];
    let path = format!("/pets/{id}/photos");
    let reply = store
        .send_picture(&path, "image/png", &retry, &pictures::png(4, 3))
        .await;
    reply.expect_error(409, "too_many_photos");
    assert_eq!(store.pet(id).await["photos"].as_array().unwrap().len(), 20);
}

#[tokio::test]
async fn a_repeated_request_adds_one_photo() {
    let store = Store::open().await;
    let id = store.add("Luna", "available").await;
    let (path, picture) = (format!("/pets/{id}/photos?alt=a"), pictures::png(4, 3));
    let retry = [("idempotency-key", "once")];
    let first = store
        .send_picture(&path, "image/png", &retry, &picture)
        .await;
    assert_eq!(first.status, 201);
    let again = store
        .send_picture(&path, "image/png", &retry, &picture)
        .await;
    assert_eq!((again.status, again.json()), (first.status, first.json()));
    for field in ["location", "etag"] {
        assert_eq!(again.header(field), first.header(field));
    }
    for (path, picture) in [
        (&*path.replace("=a", "=b"), &picture),
        (&*path, &pictures::png(4, 4)),
    ] {
        let other = store.send_picture(path, "image/png", &retry, picture).await;
        other.expect_error(422, "idempotency_conflict");
    }
    store.withdraw(id, 2).await.ok();
    let later = store
        .send_picture(&path, "image/png", &retry, &picture)
        .await;
    assert_eq!((later.status, later.json()), (first.status, first.json()));
    assert_eq!(store.texts(id).await, json!(["a"]));
}

#[tokio::test]
async fn an_unknown_animal_or_photo_is_not_found() {
    let (store, id, _) = with_photos(&["a"]).await;
    store
        .add_photo(99, &pictures::png(4, 3))
        .await
        .expect_error(404, "not_found");
    let unknown = "0123456789abcdef0123456789abcdef";
    let other = store.add("Max", "available").await;
    for path in [
        format!("/pets/{id}/photos/{unknown}"),
        format!("/pets/{id}/photos/1"),
        format!("/pets/{id}/photos/{}", unknown.to_uppercase()),
        format!("/pets/99/photos/{unknown}"),
        format!("/pets/{other}/photos/{unknown}"),
    ] {
        store.get(&path).await.expect_error(404, "not_found");
        let reply = store.change(&format!("DELETE {path}"), 1, "").await;
        reply.expect_error(404, "not_found");
    }
}

#[tokio::test]
async fn a_change_of_a_photo_is_a_change_of_its_animal() {
    let store = Store::open().await;
    let id = store.add("Luna", "available").await;
    let cursor = store.get("/changes").await.following("next");
    let path = store.new_photo(id).await;
    store
        .change(&format!("PATCH {path}"), 2, json!({ "alt": "a" }))
        .await
        .ok();
    store.change(&format!("DELETE {path}"), 3, "").await;
    let after = cursor.split_once('?').unwrap().1;
    let changes = store.get(&format!("/changes?{after}")).await.json();
    let changes = changes.as_array().unwrap();
    let photos = |at: usize, side: &str| changes[at][side]["photos"].as_array().unwrap().len();
    for (at, (before, now)) in [(0, 1), (1, 1), (1, 0)].into_iter().enumerate() {
        assert_eq!(changes[at]["type"], "pet.changed");
        assert_eq!((photos(at, "before"), photos(at, "after")), (before, now));
    }
    assert_eq!(changes[1]["after"]["photos"][0]["alt"], "a");
}

#[tokio::test]
async fn the_paths_of_photos_begin_with_the_path_of_the_base_url_wherever_clients_get_them() {
    let base_url = Some("https://pets.example/shop/v1");
    let store = Store::open_with(Setup {
        base_url,
        ..Setup::default()
    })
    .await;
    let kept = json!({ "breed": "/photos/x", "description": "\"urls\":{\"small\":\"/photos/" });
    let id = store.new_with(kept.clone()).await;
    let added = store.add_photo(id, &pictures::png(4, 3)).await.json();
    let (second, photo) = (store.new_photo(id).await, added["id"].as_str().unwrap());
    let url = |size| format!("/shop/photos/{photo}-{size}.jpg");
    let urls = json!({
        "small": url("small"), "card": url("card"), "medium": url("medium"), "large": url("large"),
    });
    assert_eq!(added["urls"], urls);
    let pet = store.pet(id).await;
    assert_eq!((&pet["photos"][0]["urls"], &pet["fields"]), (&urls, &kept));
    assert!(
        pet["photos"][1]["urls"]["large"]
            .as_str()
            .unwrap()
            .starts_with("/shop/photos/")
    );
    let wrong = store
        .change(&format!("PATCH {second}"), 1, json!({ "alt": "a" }))
        .await;
    assert_eq!(wrong.json()["current"]["photos"][0]["urls"], urls);
    assert_eq!(
        store.get("/pets").await.json()[0]["photos"][0]["urls"],
        urls
    );
    let changes = store
        .get("/changes?after=start&type=pet.changed")
        .await
        .json();
    assert_eq!(changes[0]["after"]["photos"][0]["urls"], urls);
    let mut events = store
        .stream("/changes?after=start&type=pet.changed", &[])
        .await;
    assert_eq!(events.change().await.0["after"]["photos"][0]["urls"], urls);
    // A proxy strips the path.
    let file = store
        .server
        .send(Method::GET, &url("small")[5..], &[], "")
        .await;
    assert_eq!(file.status, 200);
}

#[tokio::test]
async fn a_service_without_a_place_keeps_no_photos_and_does_everything_else() {
    let store = Store::open_with(Setup {
        photos: Box::new(|_| None),
        ..Setup::default()
    })
    .await;
    let id = store.add("Luna", "available").await;
    store
        .add_photo(id, &pictures::png(4, 3))
        .await
        .expect_error(501, "photos_off");
    assert_eq!(store.pet(id).await["photos"], json!([]));
    let url = format!("/photos/{}-small.jpg", "0".repeat(32));
    let reply = store.server.send(Method::GET, &url, &[], "").await;
    reply.expect_error(404, "not_found");
}

#[tokio::test]
async fn a_key_that_may_only_read_adds_no_photo() {
    let (mut store, id, paths) = with_photos(&["a"]).await;
    store.key = store.server.new_key(Scope::StoreRead, None).await.0;
    store
        .add_photo(id, &pictures::png(4, 3))
        .await
        .expect_error(403, "insufficient_scope");
    let order = format!("POST /pets/{id}/photos/order");
    for call in [
        format!("PATCH {}", paths[0]),
        format!("DELETE {}", paths[0]),
        order,
    ] {
        let reply = store.change(&call, 2, "{}").await;
        reply.expect_error(403, "insufficient_scope");
    }
    assert_eq!(store.get(&paths[0]).await.status, 200);
}
