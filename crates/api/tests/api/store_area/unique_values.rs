//! The values of unique fields.

use serde_json::{Value, json};

use super::values::open;

#[tokio::test]
async fn no_two_animals_in_the_catalogue_share_the_value_of_a_unique_field() {
    let store = open().await;
    let first = store.new_with(json!({ "microchip": "Éa-1" })).await;
    // Compared as in a search.
    let reply = store.add_with(json!({ "microchip": "eA-1" })).await;
    reply.expect_message(409, "duplicate_value", "has the same microchip");
    assert_eq!(reply.json()["current"], store.pet(first).await);
    let second = store.new_with(json!({ "microchip": "ea2" })).await;
    let reply = store.give(second, 1, json!({ "microchip": "ÉA-1" })).await;
    reply.expect_error(409, "duplicate_value");
    assert_eq!(reply.json()["current"]["id"], first);
    // The own value in another spelling.
    store
        .give(first, 1, json!({ "microchip": "EA-1" }))
        .await
        .ok();
    store
        .give(first, 2, json!({ "microchip": null }))
        .await
        .ok();
    store
        .give(second, 1, json!({ "microchip": "ÉA-1" }))
        .await
        .ok();
    store
        .define(
            "tag",
            json!({ "label": "Tag", "kind": "integer", "unique": true }),
        )
        .await;
    store.new_with(json!({ "tag": 7 })).await;
    store
        .add_with(json!({ "tag": 7 }))
        .await
        .expect_error(409, "duplicate_value");
    // Long texts that begin alike.
    let long = |end: &str| json!({ "microchip": format!("{}{end}", "ﷺ".repeat(250)) });
    store.new_with(long("a")).await;
    store.new_with(long("b")).await;
    store
        .add_with(long("A"))
        .await
        .expect_error(409, "duplicate_value");
}

#[tokio::test]
async fn a_microchip_is_one_animal_in_every_spelling() {
    let store = open().await;
    let chip = "276098106234567";
    let first = store
        .new_with(json!({ "microchip": "276 098 106 234 567" }))
        .await;
    store.new_with(json!({ "microchip": "- -" })).await;
    for spelled in [
        "", " ", "-", ".", "\u{a0}", "\u{2009}", "\u{2011}", "/", ":",
    ] {
        let groups: Vec<&str> = (0..5).map(|at| &chip[3 * at..3 * at + 3]).collect();
        let typed = groups.join(spelled);
        let reply = store.add_with(json!({ "microchip": typed })).await;
        reply.expect_message(409, "duplicate_value", "has the same microchip");
        assert_eq!(reply.json()["current"]["id"], first);
        let encoded: Vec<_> = typed.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let found = store
            .get(&format!("/pets?field.microchip={}", encoded.concat()))
            .await;
        assert_eq!(found.ids(), [first], "{typed:?}");
    }
    assert_eq!(
        store.pet(first).await["fields"]["microchip"],
        "276 098 106 234 567"
    );
    store
        .add_with(json!({ "microchip": "- -" }))
        .await
        .expect_error(409, "duplicate_value");
    store.new_with(json!({ "microchip": "-" })).await;
    // Other texts are compared as they are.
    store.new_with(json!({ "breed": "Mini-Lop" })).await;
    assert_eq!(
        store.get("/pets?field.breed=mini%20lop").await.ids(),
        [0_i64; 0]
    );
}

#[tokio::test]
async fn a_withdrawn_animal_has_no_claim_to_its_unique_values() {
    let store = open().await;
    let first = store.new_with(json!({ "microchip": "1" })).await;
    store.withdraw(first, 1).await.ok();
    let second = store.new_with(json!({ "microchip": "1" })).await;
    let restore = format!("POST /pets/{first}/restore");
    let reply = store.change(&restore, 2, "").await;
    reply.expect_error(409, "duplicate_value");
    assert_eq!(reply.json()["current"]["id"], second);
    assert_eq!(
        store.pet(first).await["fields"],
        json!({ "microchip": "1" })
    );
    store
        .give(second, 1, json!({ "microchip": "2" }))
        .await
        .ok();
    let restored = store.change(&restore, 2, "").await.ok();
    assert_eq!(restored["fields"], json!({ "microchip": "1" }));
    store
        .add_with(json!({ "microchip": "1" }))
        .await
        .expect_error(409, "duplicate_value");
}

#[tokio::test]
async fn each_command_of_a_batch_sees_the_unique_values_of_those_before_it() {
    let store = open().await;
    let add = json!({
        "command": "addPet", "name": "Bo", "categoryId": 1, "fields": { "microchip": "1" }
    });
    let reply = store.batch(json!([add, add])).await;
    let message = "An earlier command of the batch adds an animal with the same microchip";
    reply.expect_message(409, "duplicate_value", message);
    assert_eq!(
        (&reply.json()["failedIndex"], reply.json().get("current")),
        (&json!(1), None)
    );
    let first = store.new_with(json!({ "microchip": "1" })).await;
    let withdraw = |version: i64| {
        let command = json!({ "command": "withdrawPet", "petId": first, "reason": "died" });
        let mut command = command.as_object().unwrap().clone();
        command.insert("ifMatch".to_owned(), version.into());
        Value::Object(command)
    };
    let results = store.batch(json!([withdraw(1), add])).await.ok();
    assert_eq!(results[1]["fields"], json!({ "microchip": "1" }));
    let second = results[1]["id"].as_i64().unwrap();
    let swap = json!([
        { "command": "patchPet", "petId": second, "ifMatch": 1, "fields": { "microchip": null } },
        { "command": "restorePet", "petId": first, "ifMatch": 2 },
    ]);
    store.batch(swap).await.ok();
    store
        .give(second, 2, json!({ "microchip": "1" }))
        .await
        .expect_error(409, "duplicate_value");
}
