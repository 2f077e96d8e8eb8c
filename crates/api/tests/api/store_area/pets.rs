//! `listStorePets` and `getStorePet`.

use jiff::SignedDuration;
use petstore_domain::Clock;
use serde_json::{Value, json};

use super::{Setup, Store};

#[tokio::test]
async fn an_animal_is_read_by_id_withdrawn_or_not() {
    let store = Store::open().await;
    let id = store.add("Zoë", "available").await;
    let expected = json!({
        "id": id, "name": "Zoë", "categoryId": 1, "status": "available", "version": 1,
        "createdAt": "2026-12-01T12:00:00.000Z", "updatedAt": "2026-12-01T12:00:00.000Z",
        "orderId": null, "withdrawn": null, "fields": {}, "photos": [], "listed": true,
    });
    let reply = store.get(&format!("/pets/{id}")).await;
    assert_eq!(reply.ok(), expected);
    assert_eq!(reply.header("etag"), Some("\"1\""));
    store.withdraw(id, 1).await.ok();
    let withdrawn = store.pet(id).await;
    assert_eq!(withdrawn["version"], 2);
    assert_eq!(withdrawn["withdrawn"]["reason"], "died");
    for none in ["99", "0", "-1", "x", "9223372036854775808"] {
        store
            .get(&format!("/pets/{none}"))
            .await
            .expect_error(404, "not_found");
    }
    store
        .get(&format!("/pets/{id}?fields=id"))
        .await
        .expect_error(400, "unknown_parameter");
}

#[tokio::test]
async fn the_open_order_of_an_animal_is_named() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let order = store.reserve(id).await;
    assert_eq!(store.pet(id).await["orderId"], order);
    store
        .send(&format!("POST /orders/{order}/cancel"), &[], "")
        .await
        .ok();
    assert_eq!(store.pet(id).await["orderId"], Value::Null);
}

#[tokio::test]
async fn the_tag_is_the_version_and_304_for_it() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    for (tag, status) in [("\"1\"", 304), ("W/\"1\"", 304), ("*", 304), ("\"2\"", 200)] {
        let call = format!("GET /pets/{id}");
        let reply = store.send(&call, &[("if-none-match", tag)], "").await;
        assert_eq!(reply.status, status, "{tag}");
        assert_eq!(reply.header("etag"), Some("\"1\""));
        let head = store
            .send(&format!("HEAD /pets/{id}"), &[("if-none-match", tag)], "")
            .await;
        assert_eq!((head.status.as_u16(), head.body.len()), (status, 0));
    }
}

#[tokio::test]
async fn a_response_with_a_strong_tag_is_not_compressed() {
    let store = Store::open().await;
    let id = store.add(&"x".repeat(4000), "available").await;
    let coding = [("accept-encoding", "gzip")];
    let reply = store.send(&format!("GET /pets/{id}"), &coding, "").await;
    assert_eq!(
        (reply.header("content-encoding"), reply.header("vary")),
        (None, None)
    );
    let page = store.send("GET /pets", &coding, "").await;
    assert_eq!(page.header("content-encoding"), Some("gzip"));
    assert!(page.header("etag").unwrap().starts_with("W/"));
}

#[tokio::test]
async fn store_pets_can_be_read_after_5_december_2030() {
    let store = Store::open_with(Setup {
        now: "2031-01-01T00:00:00Z",
        ..Setup::default()
    })
    .await;
    let id = store.add("Rex", "available").await;
    let reply = store.get(&format!("/pets/{id}")).await;
    reply.ok();
    assert_eq!(
        (reply.header("sunset"), reply.header("deprecation")),
        (None, None)
    );
    store
        .contract(&format!("/pets/{id}"))
        .await
        .expect_error(410, "operation_removed");
}

#[tokio::test]
async fn an_animal_that_the_previous_release_added_has_no_times() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    store
        .server
        .execute("UPDATE pets SET created_at = NULL, updated_at = NULL")
        .await;
    let pet = store.pet(id).await;
    assert_eq!(
        (&pet["createdAt"], &pet["updatedAt"]),
        (&Value::Null, &Value::Null)
    );
    let now = store.server.clock.now() + SignedDuration::from_millis(1_234);
    store.server.clock.set(now);
    let changed = store
        .change(&format!("PATCH /pets/{id}"), 1, json!({ "name": "Max" }))
        .await;
    assert_eq!(changed.ok()["updatedAt"], "2026-12-01T12:00:01.234Z");
    assert_eq!(changed.json()["createdAt"], Value::Null);
}

#[tokio::test]
async fn a_search_finds_a_name_by_its_prefix_without_regard_to_case_and_accents() {
    let store = Store::open().await;
    for name in ["Frank", "Françoise", "FRANZ", "Fred", "Afra", "Straße"] {
        store.add(name, "available").await;
    }
    for (name, ids) in [
        ("fra", &[1, 2, 3][..]),
        ("FRÁNC", &[2]),
        ("frann", &[]),
        ("strass", &[6]),
        ("f", &[1, 2, 3, 4]),
        ("", &[1, 2, 3, 4, 5, 6]),
    ] {
        let query = form_urlencoded::byte_serialize(name.as_bytes()).collect::<String>();
        assert_eq!(
            store.get(&format!("/pets?name={query}")).await.ids(),
            ids,
            "{name}"
        );
        assert_eq!(
            store.walk(&format!("/pets?name={query}&limit=1")).await,
            ids,
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_search_combines_status_category_and_name() {
    let store = Store::open().await;
    for (name, status, category) in [
        ("Rex", "available", 1),
        ("Rex", "sold", 1),
        ("Rex", "available", -2),
        ("Bello", "available", -2),
        ("Anna", "sold", -2),
    ] {
        let animal = json!({ "command": "addPet", "name": name, "status": status,
            "categoryId": category });
        store.batch(json!([animal])).await.ok();
    }
    for (query, ids) in [
        ("", &[1, 2, 3, 4, 5][..]),
        ("status=available", &[1, 3, 4]),
        ("categoryId=-2", &[3, 4, 5]),
        ("categoryId=-2&status=available", &[3, 4]),
        ("name=rex&status=available", &[1, 3]),
        ("name=rex&status=available&categoryId=-2", &[3]),
        ("name=rex&withdrawn=false&categoryId=1", &[1, 2]),
        ("name=rex&categoryId=7", &[]),
    ] {
        assert_eq!(
            store.get(&format!("/pets?{query}")).await.ids(),
            ids,
            "{query}"
        );
        assert_eq!(
            store.walk(&format!("/pets?limit=1&{query}")).await,
            ids,
            "{query}"
        );
    }
}

#[tokio::test]
async fn each_list_is_in_ascending_order_of_identifiers() {
    let store = Store::open().await;
    for name in ["Rio", "rex", "Rex", "Ria"] {
        store.add(name, "available").await;
    }
    assert_eq!(store.walk("/pets?name=r&limit=2").await, [1, 2, 3, 4]);
    assert_eq!(store.walk("/pets?categoryId=1&limit=3").await, [1, 2, 3, 4]);
    assert_eq!(
        store.walk("/pets?status=available&limit=3").await,
        [1, 2, 3, 4]
    );
}

#[tokio::test]
async fn a_walk_gives_each_animal_once_also_among_equal_names() {
    let store = Store::open().await;
    for _ in 0..25 {
        store.add("Max", "available").await;
    }
    let all: Vec<i64> = (1..=25).collect();
    assert_eq!(store.walk("/pets?name=max&limit=7").await, all);
    assert_eq!(store.walk("/pets?limit=5").await, all);
}

#[tokio::test]
async fn a_changed_animal_is_found_at_once() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    assert_eq!(store.get("/pets?name=rex").await.ids(), [id]);
    store
        .change(&format!("PATCH /pets/{id}"), 1, json!({ "name": "Max" }))
        .await
        .ok();
    assert_eq!(store.get("/pets?name=rex").await.ids(), [0; 0]);
    assert_eq!(
        store.get("/pets?name=max&status=available").await.ids(),
        [id]
    );
    store.reserve(id).await;
    assert_eq!(
        store.get("/pets?name=max&status=available").await.ids(),
        [0; 0]
    );
    assert_eq!(
        store.get("/pets?categoryId=1&status=pending").await.ids(),
        [id]
    );
}

#[tokio::test]
async fn a_list_has_withdrawn_animals_only_with_withdrawn_true() {
    let store = Store::open().await;
    for name in ["Rex", "Rio", "Max"] {
        store.add(name, "available").await;
    }
    for id in [1, 3] {
        store.withdraw(id, 1).await.ok();
    }
    for (query, ids) in [
        ("", &[2][..]),
        ("withdrawn=false", &[2]),
        ("withdrawn=true", &[1, 3]),
        ("withdrawn=true&name=r", &[1]),
        ("withdrawn=true&status=available&categoryId=1", &[1, 3]),
        ("withdrawn=true&status=sold", &[]),
        ("name=r", &[2]),
    ] {
        assert_eq!(
            store.walk(&format!("/pets?limit=1&{query}")).await,
            ids,
            "{query}"
        );
    }
}

#[tokio::test]
async fn a_page_has_a_link_and_a_tag_that_changes_with_it() {
    let store = Store::open().await;
    let empty = store.get("/pets").await;
    assert_eq!((empty.ok(), empty.next()), (json!([]), None));
    for name in ["Ä&b", "äc", "Max"] {
        store.add(name, "sold").await;
    }
    let page = store.get("/pets?limit=1&status=sold&name=%C3%A4").await;
    let next = page.next().unwrap();
    assert!(
        next.starts_with("/v1/store/pets?limit=1&status=sold&name=%C3%A4&cursor="),
        "{next}"
    );
    let tag = page.header("etag").unwrap().to_owned();
    assert!(tag.starts_with("W/\""));
    let call = "GET /pets?limit=1&status=sold&name=%C3%A4";
    let again = store.send(call, &[("if-none-match", &tag)], "").await;
    assert_eq!((again.status.as_u16(), again.next()), (304, Some(next)));
    store
        .change("PATCH /pets/1", 1, json!({ "categoryId": 2 }))
        .await
        .ok();
    let changed = store.send(call, &[("if-none-match", &tag)], "").await;
    assert_eq!(changed.status, 200);
    let head = store.send(&call.replace("GET", "HEAD"), &[], "").await;
    assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
    assert_eq!(head.header("etag"), changed.header("etag"));
}

#[tokio::test]
async fn a_cursor_is_valid_only_with_its_filters() {
    let store = Store::open().await;
    for _ in 0..3 {
        store.add("Rex", "available").await;
        store.sell(store.add("Rex", "available").await).await;
    }
    let cursor = async |path: &str| {
        let next = store.get(path).await.next().unwrap();
        next.split_once("cursor=").unwrap().1.to_owned()
    };
    let by_name = cursor("/pets?limit=1&name=rex").await;
    store
        .get(&format!("/pets?limit=2&name=REX&cursor={by_name}"))
        .await
        .ok();
    for other in [
        "",
        "name=re",
        "name=rex&status=sold",
        "name=rex&categoryId=1",
        "withdrawn=true",
    ] {
        let reply = store.get(&format!("/pets?{other}&cursor={by_name}")).await;
        reply.expect_message(400, "invalid_cursor", "other filters");
    }
    let of_orders = cursor("/orders?limit=1&status=completed").await;
    store
        .get(&format!("/orders?status=completed&cursor={of_orders}"))
        .await
        .ok();
    for (path, cursor) in [
        ("/pets?", &*of_orders),
        ("/orders?", &of_orders),
        ("/orders?status=completed&petId=2&", &of_orders),
        ("/categories?", &of_orders),
        ("/orders?", &by_name),
        ("/pets?", "x"),
        ("/pets?", ""),
    ] {
        let reply = store.get(&format!("{path}cursor={cursor}")).await;
        reply.expect_error(400, "invalid_cursor");
    }
}

#[tokio::test]
async fn a_cursor_from_when_a_search_was_in_the_order_of_names_is_invalid() {
    let store = Store::open().await;
    // Behind the animal 7: in the order of identifiers, and with its name.
    store
        .get("/pets?name=max&cursor=AtowUnf8JJhZAAAAAAAAAAdVqt-o")
        .await
        .ok();
    let before = store
        .get("/pets?name=max&cursor=AtowUnf8JJhZAAAAAAAAAAdtYXh6vr0i")
        .await;
    before.expect_error(400, "invalid_cursor");
}

#[tokio::test]
async fn every_invalid_unknown_or_repeated_filter_is_400() {
    let store = Store::open().await;
    let long = "a".repeat(65);
    for (query, part) in [
        (
            "status=",
            "status must be one of available, pending and sold",
        ),
        ("status=reserved", "status must be"),
        ("categoryId=", "categoryId must be an integer"),
        ("categoryId=1.0", "categoryId must be"),
        ("categoryId=9223372036854775808", "categoryId must be"),
        ("name=a%00", "name must be at most 64 letters and digits"),
        (&format!("name={long}"), "name must be"),
        ("name=%FF", "must be UTF-8"),
        ("name=a%C3", "must be UTF-8"),
        ("name=%ED%A0%80", "must be UTF-8"),
        ("withdrawn=", "withdrawn must be true or false"),
        ("withdrawn=True", "withdrawn must be"),
        ("limit=0", "limit must be between 1 and 100"),
        ("limit=101", "limit must be"),
        ("status=sold&status=sold", "more than once"),
    ] {
        let reply = store.get(&format!("/pets?{query}")).await;
        reply.expect_message(400, "invalid_parameter", part);
    }
    store
        .get("/pets?page=2")
        .await
        .expect_message(400, "unknown_parameter", "\"page\"");
    store
        .get(&format!("/pets?name={}", "%C3%A9".repeat(64)))
        .await
        .ok();
    store.get("/pets?name=%EF%BF%BD").await.ok();
}

#[tokio::test]
async fn a_page_of_very_long_names_is_complete() {
    let store = Store::open().await;
    let name = "\u{1}".repeat(10_000);
    for _ in 0..30 {
        store.add(&name, "available").await;
    }
    let page = store.get("/pets?limit=100").await;
    assert_eq!(page.ids(), (1..=30).collect::<Vec<_>>());
    assert_eq!(page.json()[29]["name"], name);
}
