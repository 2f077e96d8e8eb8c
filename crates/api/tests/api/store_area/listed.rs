//! `listed`: whether the window may show an animal.

use petstore_domain::Scope;
use petstore_testing::pictures;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Reply, Store, created};

/// Adds an animal that is not on the website.
async fn unlisted(store: &Store, name: &str) -> i64 {
    let animal = json!({ "name": name, "categoryId": 1, "listed": false });
    let reply = store.send("POST /pets", &[], animal).await;
    assert_eq!(reply.json()["listed"], false, "{}", reply.json());
    created(&reply)
}

/// Puts an animal on the website, or takes it off.
async fn list(store: &Store, id: i64, version: i64, listed: impl Into<Value>) -> Reply {
    let patch = json!({ "listed": listed.into() });
    store
        .change(&format!("PATCH /pets/{id}"), version, patch)
        .await
}

/// The changes of the feed.
async fn changes(store: &Store) -> Vec<Value> {
    let changes = store.get("/changes?after=start&limit=100").await.ok();
    changes.as_array().unwrap().clone()
}

#[tokio::test]
async fn an_animal_is_added_off_the_website_and_put_on_it() {
    let store = Store::open().await;
    let rex = store.add("Rex", "available").await;
    assert_eq!(store.pet(rex).await["listed"], true);
    let luna = unlisted(&store, "Luna").await;
    let reply = list(&store, luna, 1, true).await;
    assert_eq!(
        (&reply.ok()["listed"], &reply.ok()["version"]),
        (&json!(true), &json!(2))
    );
    // What is so already changes nothing.
    assert_eq!(list(&store, luna, 2, true).await.ok()["version"], 2);
    list(&store, luna, 1, false)
        .await
        .expect_error(412, "precondition_failed");
    for wrong in [json!(null), json!("false"), json!(0)] {
        let reply = list(&store, luna, 2, wrong).await;
        reply.expect_message(400, "invalid_body", "listed must be true or false");
    }
    let logged = changes(&store).await;
    let before_and_after: Vec<_> = logged
        .iter()
        .map(|change| json!([change["before"]["listed"], change["after"]["listed"]]))
        .collect();
    let expected = json!([[null, true], [null, false], [false, true]]);
    assert_eq!(json!(before_and_after), expected);
}

#[tokio::test]
async fn a_batch_adds_and_changes_animals_off_the_website() {
    let store = Store::open().await;
    let results = store
        .batch(json!([
            { "command": "addPet", "name": "Zoe", "categoryId": 7, "listed": false },
            { "command": "addPet", "name": "Max", "categoryId": 7 },
            { "command": "patchPet", "petId": 2, "ifMatch": 1, "listed": false },
        ]))
        .await
        .ok();
    let listed: Vec<_> = results
        .as_array()
        .unwrap()
        .iter()
        .map(|pet| &pet["listed"])
        .collect();
    assert_eq!(json!(listed), json!([false, true, false]));
}

#[tokio::test]
async fn the_list_is_filtered_by_it_on_every_page_and_the_contract_has_all() {
    let store = Store::open().await;
    let mut listed = Vec::new();
    let mut unlisted_ids = Vec::new();
    for number in 0..9 {
        if number % 2 == 0 {
            listed.push(store.add("Rex", "available").await);
        } else {
            unlisted_ids.push(unlisted(&store, "Luna").await);
        }
    }
    for is_merged in [false, true] {
        if is_merged {
            while store.server.store.tend_search(0).await.unwrap() {}
        }
        assert_eq!(store.walk("/pets?listed=false&limit=2").await, unlisted_ids);
        assert_eq!(store.walk("/pets?listed=true&limit=2").await, listed);
        assert_eq!(
            store
                .walk("/pets?listed=false&name=lu&status=available")
                .await,
            unlisted_ids
        );
        assert!(store.walk("/pets?listed=true&name=lu").await.is_empty());
        assert_eq!(store.walk("/pets?limit=4").await.len(), 9);
        assert!(
            store
                .walk("/pets?listed=false&withdrawn=true")
                .await
                .is_empty()
        );
    }
    // A cursor is for the filter with which it was made.
    let next = store
        .get("/pets?listed=false&limit=2")
        .await
        .next()
        .unwrap();
    let other = next.replace("listed=false", "listed=true");
    let other = store.get(other.strip_prefix("/v1/store").unwrap()).await;
    other.expect_error(400, "invalid_cursor");
    let wrong = store.get("/pets?listed=no").await;
    wrong.expect_message(400, "invalid_parameter", "listed must be true or false");

    let contract = store.contract("/pets").await;
    assert_eq!(contract.ids().len(), 9);
    assert!(!contract.json().to_string().contains("listed"));
    assert_eq!(
        store
            .contract(&format!("/pets/{}", unlisted_ids[0]))
            .await
            .status,
        200
    );
    store.withdraw(unlisted_ids[0], 1).await.ok();
    assert_eq!(
        store.walk("/pets?listed=false&withdrawn=true").await,
        [unlisted_ids[0]]
    );
    assert!(
        store
            .walk("/pets?listed=true&withdrawn=true")
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn the_switch_is_reverted_and_survives_a_withdrawal() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    list(&store, id, 1, false).await.ok();
    let seq = changes(&store).await.last().unwrap()["seq"].clone();
    let revert = format!("POST /changes/{seq}/revert");
    let reverted = store.send(&revert, &[], "").await.ok();
    assert_eq!(reverted[0]["listed"], true);
    list(&store, id, 3, false).await.ok();
    store.withdraw(id, 4).await.ok();
    assert_eq!(store.pet(id).await["listed"], false);
    let of_withdrawn = list(&store, id, 5, true).await;
    of_withdrawn.expect_error(409, "invalid_transition");
    let restored = store
        .change(&format!("POST /pets/{id}/restore"), 5, "")
        .await;
    assert_eq!(restored.ok()["listed"], false);
}

#[tokio::test]
async fn a_photo_of_an_animal_off_the_website_needs_a_key_that_may_read_animals() {
    let store = Store::open().await;
    let id = unlisted(&store, "Luna").await;
    let photo = store.add_photo(id, &pictures::png(4, 3)).await.json();
    let url = photo["urls"]["small"].as_str().unwrap().to_owned();
    let get = async |key: Option<&str>, headers: &[(&str, &str)]| {
        let bearer = key.map(|key| format!("Bearer {key}"));
        let mut all = headers.to_vec();
        if let Some(bearer) = &bearer {
            all.push(("authorization", bearer));
        }
        store.server.send(Method::GET, &url, &all, "").await
    };
    get(None, &[]).await.expect_error(404, "not_found");
    // Not even whether somebody has it.
    let tag = format!("\"{}-small\"", photo["id"].as_str().unwrap());
    get(None, &[("if-none-match", &tag)])
        .await
        .expect_error(404, "not_found");
    get(Some("nonsense"), &[])
        .await
        .expect_error(401, "invalid_api_key");
    let (contract_key, _) = store.server.new_key(Scope::Write, None).await;
    get(Some(&contract_key), &[])
        .await
        .expect_error(403, "insufficient_scope");
    let (reader, _) = store.server.new_key(Scope::StoreRead, None).await;
    let file = get(Some(&reader), &[]).await;
    assert_eq!(file.status, 200);
    assert_eq!(
        file.header("cache-control"),
        Some("private, max-age=31536000, immutable")
    );

    list(&store, id, 2, true).await.ok();
    let file = get(None, &[]).await;
    assert_eq!(file.status, 200);
    assert_eq!(
        file.header("cache-control"),
        Some("public, max-age=31536000, immutable")
    );
    list(&store, id, 3, false).await.ok();
    get(None, &[]).await.expect_error(404, "not_found");
    store.withdraw(id, 4).await.ok();
    get(None, &[]).await.expect_error(404, "not_found");
}

#[tokio::test]
async fn the_contract_has_no_such_member() {
    let store = Store::open().await;
    let bearer = format!("Bearer {}", store.key);
    let headers = [
        ("authorization", &*bearer),
        ("content-type", "application/json"),
    ];
    let body = r#"{"name":"Rex","categoryId":1,"listed":false}"#;
    let reply = store
        .server
        .send(Method::POST, "/v1/pets", &headers, body)
        .await;
    // As any member that it does not know.
    assert_eq!(store.pet(created(&reply)).await["listed"], true);
    assert!(reply.json().get("listed").is_none());
    assert!(store.walk("/pets?listed=false").await.is_empty());
}
