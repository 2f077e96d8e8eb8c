//! The order of all photos of an animal, set at once.

use petstore_testing::reply::Reply;
use serde_json::{Value, json};

use super::{super::Store, with_photos};

/// The ids of photos with these paths.
fn ids(paths: &[&String]) -> Value {
    paths
        .iter()
        .map(|path| path.rsplit('/').next().unwrap())
        .collect()
}

async fn order(store: &Store, pet: i64, version: i64, body: Value) -> Reply {
    store
        .change(&format!("POST /pets/{pet}/photos/order"), version, body)
        .await
}

#[tokio::test]
async fn a_list_of_all_photos_sets_their_order_with_one_change() {
    let (store, id, paths) = with_photos(&["a", "b", "c"]).await;
    let cursor = store.get("/changes").await.following("next");
    let [a, b, c] = &paths[..] else {
        panic!("{paths:?}")
    };
    let reply = order(&store, id, 4, ids(&[c, a, b])).await;
    assert_eq!(reply.header("etag"), Some("\"5\""));
    assert_eq!(reply.ok(), store.pet(id).await);
    assert_eq!(store.texts(id).await, json!(["c", "a", "b"]));
    let after = cursor.split_once('?').unwrap().1;
    let changes = store.get(&format!("/changes?{after}")).await.json();
    assert_eq!(
        (changes.as_array().unwrap().len(), &changes[0]["type"]),
        (1, &json!("pet.changed"))
    );
    assert_eq!(changes[0]["after"], store.pet(id).await);
}

#[tokio::test]
async fn the_order_that_photos_have_changes_no_version() {
    let (store, id, paths) = with_photos(&["a", "b"]).await;
    let before = store.pet(id).await;
    let same = order(&store, id, 3, ids(&[&paths[0], &paths[1]])).await;
    assert_eq!((same.header("etag"), &same.ok()), (Some("\"3\""), &before));
    assert_eq!(store.pet(id).await, before);
    let none = store.add("Max", "available").await;
    assert_eq!(order(&store, none, 1, json!([])).await.ok()["version"], 1);
}

#[tokio::test]
async fn a_list_with_another_photo_too_few_or_one_twice_is_no_order() {
    let (store, id, paths) = with_photos(&["a", "b"]).await;
    let other = store.add("Max", "available").await;
    let foreign = store.new_photo(other).await;
    let [a, b] = &paths[..] else {
        panic!("{paths:?}")
    };
    for wrong in [
        json!([]),
        ids(&[b]),
        ids(&[b, b]),
        ids(&[b, a, a]),
        ids(&[b, &foreign]),
        ids(&[b, a, &foreign]),
        json!([b.rsplit('/').next().unwrap().to_uppercase(), ids(&[a])[0]]),
        json!([1, 0]),
        json!([null, null]),
        json!({ "photos": ids(&[b, a]) }),
    ] {
        order(&store, id, 3, wrong)
            .await
            .expect_error(400, "invalid_body");
    }
    assert_eq!(
        (store.texts(id).await, &store.pet(id).await["version"]),
        (json!(["a", "b"]), &json!(3))
    );
}

#[tokio::test]
async fn the_order_needs_the_version_of_an_animal_that_is_in_the_catalogue() {
    let (store, id, paths) = with_photos(&["a", "b"]).await;
    let (call, swapped) = (
        format!("POST /pets/{id}/photos/order"),
        ids(&[&paths[1], &paths[0]]),
    );
    let without = store.send(&call, &[], swapped.clone()).await;
    without.expect_error(428, "precondition_required");
    let stale = order(&store, id, 2, swapped.clone()).await;
    stale.expect_error(412, "precondition_failed");
    assert_eq!(stale.json()["current"], store.pet(id).await);
    // What no animal can have is invalid, whatever its version.
    for never in [ids(&[&paths[0], &paths[0]]), ids(&[&paths[0]; 21])] {
        order(&store, id, 2, never)
            .await
            .expect_error(400, "invalid_body");
    }
    order(&store, 99, 3, swapped.clone())
        .await
        .expect_error(404, "not_found");
    store.withdraw(id, 3).await.ok();
    order(&store, id, 4, swapped)
        .await
        .expect_error(409, "invalid_transition");
    assert_eq!(store.texts(id).await, json!(["a", "b"]));
}

#[tokio::test]
async fn the_path_of_the_order_is_that_of_no_photo() {
    let (store, id, _) = with_photos(&["a"]).await;
    store
        .get(&format!("/pets/{id}/photos/order"))
        .await
        .expect_error(405, "method_not_allowed");
}
