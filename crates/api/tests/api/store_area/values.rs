//! The values of an animal's fields.

use petstore_domain::Scope;
use petstore_testing::reply::Reply;
use serde_json::{Value, json};

use super::{Store, created};

/// A store with a program that may define fields.
pub(super) async fn open() -> Store {
    let mut store = Store::open().await;
    store.key = store.server.new_key(Scope::StoreAdmin, None).await.0;
    store
}

impl Store {
    pub(super) async fn add_with(&self, fields: Value) -> Reply {
        let animal = json!({ "name": "Luna", "categoryId": 2, "fields": fields });
        self.send("POST /pets", &[], animal).await
    }

    /// Adds an animal with these values, and returns its id.
    pub(super) async fn new_with(&self, fields: Value) -> i64 {
        let reply = self.add_with(fields).await;
        assert_eq!(reply.status, 201, "{}", reply.json());
        reply.json()["id"].as_i64().unwrap()
    }

    pub(super) async fn give(&self, pet: i64, version: i64, fields: Value) -> Reply {
        let patch = json!({ "fields": fields });
        self.change(&format!("PATCH /pets/{pet}"), version, patch)
            .await
    }

    pub(super) async fn define(&self, name: &str, field: Value) {
        let absent = [("if-none-match", "*")];
        let reply = self
            .send(&format!("PUT /fields/{name}"), &absent, field)
            .await;
        assert_eq!(reply.status, 201, "{}", reply.json());
    }
}

#[tokio::test]
async fn an_animal_of_the_contract_has_no_values() {
    let store = open().await;
    let id = store.add("Rex", "available").await;
    assert_eq!(store.pet(id).await["fields"], json!({}));
    assert_eq!(
        store
            .contract(&format!("/pets/{id}"))
            .await
            .json()
            .get("fields"),
        None
    );
}

#[tokio::test]
async fn add_store_pet_adds_an_animal_with_its_values() {
    let store = open().await;
    let fields = json!({ "species": "Cat", "born": "2024-02-29", "price": "249.00" });
    let animal = json!({ "name": "Luna", "categoryId": 2, "status": "pending", "fields": fields });
    let headers = [("idempotency-key", "once")];
    let reply = store.send("POST /pets", &headers, &animal).await;
    assert_eq!(reply.status, 201);
    let pet = reply.json();
    assert_eq!(
        (&pet["status"], &pet["fields"]),
        (&json!("pending"), &fields)
    );
    assert_eq!(reply.header("etag"), Some("\"1\""));
    assert_eq!(
        reply.header("location"),
        Some(&*format!("/v1/store/pets/{}", pet["id"]))
    );
    assert_eq!(store.pet(pet["id"].as_i64().unwrap()).await, pet);
    let again = store.send("POST /pets", &headers, &animal).await;
    assert_eq!((again.status, again.json()), (reply.status, pet));
    // The names in the response are sorted.
    let text = String::from_utf8(reply.body).unwrap();
    assert!(text.contains(r#""fields":{"born":"2024-02-29","price":"249.00","species":"Cat"}"#));
}

#[tokio::test]
async fn a_patch_of_fields_is_a_merge_patch() {
    let store = open().await;
    let id = store
        .new_with(json!({ "species": "Cat", "colour": "black" }))
        .await;
    let reply = store
        .give(
            id,
            1,
            json!({ "colour": null, "breed": "Siamese", "sex": null }),
        )
        .await;
    let expected = json!({ "species": "Cat", "breed": "Siamese" });
    assert_eq!(
        (&reply.ok()["fields"], &reply.json()["version"]),
        (&expected, &json!(2))
    );
    let same = store
        .give(id, 2, json!({ "breed": "Siamese", "size": null }))
        .await;
    assert_eq!(
        (&same.ok()["fields"], same.header("etag")),
        (&expected, Some("\"2\""))
    );
    let none = store
        .give(id, 2, json!({ "breed": null, "species": null }))
        .await;
    assert_eq!(none.ok()["fields"], json!({}));
    store
        .give(id, 1, json!({ "breed": "X" }))
        .await
        .expect_error(412, "precondition_failed");
}

#[tokio::test]
async fn an_order_without_a_price_has_the_price_of_its_animal() {
    let store = open().await;
    let place = async |fields: Value, order: Value| {
        let mut order = order;
        order["petId"] = store.new_with(fields).await.into();
        let order = created(&store.place(order).await);
        store.order(order).await["price"].clone()
    };
    let priced = json!({ "price": "249.00" });
    assert_eq!(place(priced.clone(), json!({})).await, "249.00");
    assert_eq!(
        place(priced.clone(), json!({ "price": "200" })).await,
        "200"
    );
    assert_eq!(
        place(priced.clone(), json!({ "price": null })).await,
        Value::Null
    );
    assert_eq!(
        place(json!({ "breed": "Collie" }), json!({})).await,
        Value::Null
    );
    // The price at that moment, also for the next command of a batch.
    let id = store.new_with(priced).await;
    let batch = json!([
        { "command": "patchPet", "petId": id, "ifMatch": 1, "fields": { "price": "99" } },
        { "command": "placeOrder", "petId": id, "status": "completed" },
    ]);
    assert_eq!(store.batch(batch).await.ok()[1]["price"], "99");
}

#[tokio::test]
async fn a_price_that_is_a_text_is_not_the_price_of_an_order() {
    let store = open().await;
    let text = json!({ "label": "Price", "kind": "text" });
    store.change("PUT /fields/price", 1, text).await.ok();
    let pet = store.new_with(json!({ "price": "249.00" })).await;
    let order = created(&store.place(json!({ "petId": pet })).await);
    assert_eq!(store.order(order).await["price"], Value::Null);
}

#[tokio::test]
async fn null_is_never_a_value() {
    let store = open().await;
    let id = store.add("Rex", "available").await;
    let reply = store.give(id, 1, Value::Null).await;
    reply.expect_message(400, "invalid_body", "fields must be an object");
    let reply = store.add_with(Value::Null).await;
    reply.expect_message(400, "invalid_body", "fields must be an object");
    let reply = store.add_with(json!({ "breed": null })).await;
    reply.expect_message(400, "invalid_body", "fields.breed must not be null");
    let batch = json!([
        { "command": "addPet", "name": "", "categoryId": 1, "fields": { "breed": null } }
    ]);
    store.batch(batch).await.expect_error(400, "invalid_body");
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
async fn each_kind_allows_its_values_and_an_error_names_the_field_its_kind_and_what_is_allowed() {
    let store = open().await;
    store
        .define("weight", json!({ "label": "Weight", "kind": "integer" }))
        .await;
    store
        .define("tame", json!({ "label": "Tame", "kind": "boolean" }))
        .await;
    let many: Vec<_> = (1..=25).map(|number| format!("c{number}")).collect();
    store
        .define(
            "pen",
            json!({ "label": "Pen", "kind": "choice", "choices": many }),
        )
        .await;
    for (field, value) in [
        ("breed", json!("x".repeat(255))),
        ("breed", json!(" \u{200B}é ")),
        ("description", json!("犬".repeat(8_000))),
        ("weight", json!(9_007_199_254_740_991_i64)),
        ("weight", json!(-9_007_199_254_740_991_i64)),
        ("price", json!("0")),
        ("price", json!("123456789012.3456")),
        ("price", json!("007.10")),
        ("born", json!("2024-02-29")),
        ("tame", json!(false)),
        ("pen", json!("c25")),
    ] {
        let reply = store.add_with(json!({ field: value })).await;
        assert_eq!(
            (reply.status.as_u16(), &reply.json()["fields"][field]),
            (201, &value)
        );
    }
    let invalid = [
        (
            "breed",
            json!(""),
            "fields.breed is of the kind text and must be a string of 1 to 255",
        ),
        ("breed", json!("x".repeat(256)), "fields.breed"),
        (
            "breed",
            json!(" \t\u{200B}\u{A0}\u{FEFF}"),
            "one of them visible",
        ),
        ("breed", json!("a\0"), "without U+0000"),
        ("breed", json!(7), "fields.breed"),
        ("breed", json!(["a"]), "fields.breed"),
        (
            "description",
            json!("x".repeat(8_001)),
            "of the kind longText and must be a string of 1",
        ),
        (
            "weight",
            json!(9_007_199_254_740_992_i64),
            "of the kind integer and must be an integer",
        ),
        ("weight", json!(1.5), "fields.weight"),
        ("weight", json!("7"), "fields.weight"),
        (
            "price",
            json!(249),
            "of the kind decimal and must be a string such as \"249.00\"",
        ),
        ("price", json!("1234567890123"), "fields.price"),
        ("price", json!("1.23456"), "fields.price"),
        ("price", json!("1."), "fields.price"),
        ("price", json!(".5"), "fields.price"),
        ("price", json!("+1"), "fields.price"),
        ("price", json!("1e3"), "fields.price"),
        (
            "price",
            json!("-5"),
            "\"249.00\", without a minus, with at most 12 digits",
        ),
        ("price", json!("-0"), "fields.price"),
        (
            "born",
            json!("2031-01-01"),
            "YYYY-MM-DD, not later than tomorrow in UTC",
        ),
        (
            "born",
            json!("2023-02-29"),
            "of the kind date and must be a date",
        ),
        ("born", json!("2024-2-29"), "fields.born"),
        ("born", json!("-000001-01-01"), "fields.born"),
        ("born", json!("2024-02-29T00:00:00"), "fields.born"),
        ("born", json!("29.02.2024"), "fields.born"),
        (
            "tame",
            json!("true"),
            "of the kind boolean and must be true or false",
        ),
        (
            "sex",
            json!("m"),
            "of the kind choice and must be one of Female, Male, Unknown.",
        ),
        (
            "pen",
            json!("c26"),
            "must be one of c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, \
            c13, c14, c15, c16, c17, c18, c19, c20, …",
        ),
    ];
    let id = store.add("Rex", "available").await;
    for (field, value, part) in invalid {
        let fields = json!({ field: value });
        store
            .add_with(fields.clone())
            .await
            .expect_message(400, "invalid_body", part);
        store
            .give(id, 1, fields)
            .await
            .expect_message(400, "invalid_body", part);
    }
    store
        .add_with(json!([]))
        .await
        .expect_message(400, "invalid_body", "fields must be an object");
    assert_eq!(store.pet(id).await["version"], 1);
}

#[tokio::test]
async fn a_choice_of_a_request_is_spelled_as_the_field_spells_it() {
    let store = open().await;
    let reply = store.add_with(json!({ "species": "cat" })).await;
    reply.expect_message(400, "invalid_body", "one of Dog, Cat,");
    store.new_with(json!({ "species": "Cat" })).await;
}

#[tokio::test]
async fn an_unknown_field_is_an_error_of_its_own_that_names_the_known_ones() {
    let store = open().await;
    let reply = store.add_with(json!({ "color": "black" })).await;
    reply.expect_message(
        400,
        "unknown_field",
        "No field has the name \"color\". The fields are species",
    );
    let id = store.add("Rex", "available").await;
    store
        .give(id, 1, json!({ "color": null }))
        .await
        .expect_error(400, "unknown_field");
    store
        .give(999, 1, json!({ "color": null }))
        .await
        .expect_error(400, "unknown_field");
    store
        .give(999, 1, json!({ "colour": "red" }))
        .await
        .expect_error(404, "not_found");
}

#[tokio::test]
async fn all_values_together_have_at_most_32_kib() {
    let store = open().await;
    let long = |name: &str| (name.to_owned(), json!("犬".repeat(2_700)));
    let names = ["one", "two", "three", "four", "five"];
    for name in names {
        store
            .define(name, json!({ "label": name, "kind": "longText" }))
            .await;
    }
    let fields: Value = names[..4].iter().map(|name| long(name)).collect();
    let id = store.new_with(fields).await;
    let reply = store
        .give(id, 1, json!({ "five": "x".repeat(1_000) }))
        .await;
    reply.expect_message(400, "invalid_body", "must not exceed 32 KiB");
    store.give(id, 1, json!({ "five": "x" })).await.ok();
}

#[tokio::test]
async fn a_batch_adds_and_changes_animals_with_values() {
    let store = open().await;
    let id = store.add("Rex", "available").await;
    let add = |fields: Value| json!({ "command": "addPet", "name": "Bo", "categoryId": 1, "fields": fields });
    let patch = |version: i64, fields: Value| json!({ "command": "patchPet", "petId": id, "ifMatch": version, "fields": fields });
    let commands = json!([
        add(json!({ "species": "Dog" })),
        patch(1, json!({ "breed": "Collie" })),
        patch(2, json!({ "breed": null, "sex": "Male" })),
    ]);
    let results = store.batch(commands).await.ok();
    assert_eq!(results[0]["fields"], json!({ "species": "Dog" }));
    assert_eq!(results[1]["fields"], json!({ "breed": "Collie" }));
    assert_eq!(results[2]["fields"], json!({ "sex": "Male" }));
    let reply = store
        .batch(json!([add(json!({})), patch(3, json!({ "x": 1 }))]))
        .await;
    reply.expect_error(400, "unknown_field");
    assert_eq!(reply.json()["failedIndex"], 1);
}

#[tokio::test]
async fn values_that_are_no_longer_choices_are_shown_and_kept_and_not_given_to_others() {
    let store = open().await;
    let id = store
        .new_with(json!({ "size": "Large", "breed": "Collie" }))
        .await;
    let fewer = json!({ "label": "Size", "kind": "choice", "choices": ["Small"], "public": true, "position": 60 });
    store.change("PUT /fields/size", 1, fewer).await.ok();
    assert_eq!(store.pet(id).await["fields"]["size"], "Large");
    store.give(id, 1, json!({ "breed": "Poodle" })).await.ok();
    store
        .give(id, 2, json!({ "size": "Large", "breed": "Pug" }))
        .await
        .ok();
    store
        .add_with(json!({ "size": "Large" }))
        .await
        .expect_error(400, "invalid_body");
    store.give(id, 3, json!({ "size": "Small" })).await.ok();
    store
        .give(id, 4, json!({ "size": "Large" }))
        .await
        .expect_error(400, "invalid_body");
}

#[tokio::test]
async fn a_field_that_an_animal_has_cannot_be_deleted_or_get_another_kind_or_unique() {
    let store = open().await;
    let id = store.new_with(json!({ "breed": "Collie" })).await;
    store.withdraw(id, 1).await.ok();
    let delete = "DELETE /fields/breed";
    let number = json!({ "label": "Breed", "kind": "integer", "position": 20 });
    let unique = json!({ "label": "Breed", "kind": "text", "unique": true, "position": 20 });
    for (call, body) in [
        (delete, Value::Null),
        ("PUT /fields/breed", number.clone()),
        ("PUT /fields/breed", unique),
    ] {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let reply = store.change(call, 1, body).await;
        reply.expect_error(409, "field_in_use");
        assert_eq!(reply.json()["current"]["version"], 1);
    }
    let label = json!({ "label": "Kind", "kind": "text", "position": 20 });
    store.change("PUT /fields/breed", 1, label).await.ok();
    store
        .change(&format!("POST /pets/{id}/restore"), 2, "")
        .await
        .ok();
    store.give(id, 3, json!({ "breed": null })).await.ok();
    store.change("PUT /fields/breed", 2, number).await.ok();
    store.give(id, 4, json!({ "breed": 7 })).await.ok();
    store
        .change(delete, 3, "")
        .await
        .expect_error(409, "field_in_use");
    store.give(id, 5, json!({ "breed": null })).await.ok();
    assert_eq!(store.change(delete, 3, "").await.status, 204);
    // Parts of other names and of texts are no values.
    store
        .define("a_b", json!({ "label": "A B", "kind": "text" }))
        .await;
    store
        .define("axb", json!({ "label": "L", "kind": "text" }))
        .await;
    store.new_with(json!({ "axb": "\"a_b\":1" })).await;
    assert_eq!(store.change("DELETE /fields/a_b", 1, "").await.status, 204);
}

#[tokio::test]
async fn changes_carry_the_values_before_and_after() {
    let store = open().await;
    let feed = store.get("/changes").await.following("next");
    let id = store.new_with(json!({ "breed": "Collie" })).await;
    store.give(id, 1, json!({ "breed": "Pug" })).await.ok();
    store.withdraw(id, 2).await.ok();
    let changes = store.get(feed.trim_start_matches("/v1/store")).await.json();
    let values = |at: usize, side: &str| changes[at][side]["fields"].clone();
    assert_eq!(
        (&changes[0]["before"], values(0, "after")),
        (&Value::Null, json!({ "breed": "Collie" }))
    );
    assert_eq!(
        (values(1, "before"), values(1, "after")),
        (json!({ "breed": "Collie" }), json!({ "breed": "Pug" }))
    );
    assert_eq!(values(2, "after"), json!({ "breed": "Pug" }));
}
