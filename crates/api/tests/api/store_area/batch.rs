//! `runBatch`.

use serde_json::{Value, json};

use super::{Reply, Store, created};

/// Fails unless the command at this position failed with this status and code.
#[track_caller]
fn expect_failed(reply: &Reply, index: usize, status: u16, code: &str) {
    reply.expect_error(status, code);
    assert_eq!(reply.json()["failedIndex"], index, "{}", reply.json());
}

#[tokio::test]
async fn each_command_does_what_its_operation_does_and_sees_those_before_it() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let reply = store
        .batch(json!([
            { "command": "addPet", "name": "Zoe", "categoryId": 7, "status": "pending" },
            { "command": "patchPet", "petId": id, "ifMatch": 1, "name": "Max" },
            { "command": "placeOrder", "petId": id, "reference": "R" },
            { "command": "completeOrder", "orderId": 1 },
            { "command": "returnOrder", "orderId": 1, "reason": "cat" },
            { "command": "placeOrder", "petId": id, "expiresAt": "2026-12-24T00:00:00Z" },
            { "command": "cancelOrder", "orderId": 2, "reason": "snow" },
            { "command": "withdrawPet", "petId": id, "ifMatch": 7, "reason": "died", "note": "N" },
            { "command": "restorePet", "petId": id, "ifMatch": 8 },
            { "command": "placeOrder", "petId": id + 1, "status": "completed" },
        ]))
        .await;
    let results = reply.ok();
    let seen: Vec<Value> = results
        .as_array()
        .unwrap()
        .iter()
        .map(|result| json!([result["id"], result["status"], result["version"]]))
        .collect();
    assert_eq!(
        json!(seen),
        json!([
            [id + 1, "pending", 1],
            [id, "available", 2],
            [1, "reserved", 1],
            [1, "completed", 2],
            [1, "returned", 3],
            [2, "reserved", 1],
            [2, "cancelled", 2],
            [id, "available", 8],
            [id, "available", 9],
            [3, "completed", 1],
        ])
    );
    assert_eq!(results[7]["withdrawn"]["note"], "N");
    assert_eq!(
        (&results[4]["reason"], &results[6]["reason"]),
        (&json!("cat"), &json!("snow"))
    );
    assert_eq!(results[5]["expiresAt"], "2026-12-24T00:00:00.000Z");
    assert_eq!(
        (reply.header("etag"), reply.header("location")),
        (None, None)
    );
    assert_eq!(store.pet(id).await, results[8]);
    assert_eq!(store.order(3).await, results[9]);
    assert_eq!(store.state(id + 1).await, ("sold".to_owned(), 2));
}

#[tokio::test]
async fn all_or_nothing_and_the_error_is_that_of_the_command() {
    let store = Store::open().await;
    let (first, second) = (
        store.add("Rex", "available").await,
        store.add("Max", "sold").await,
    );
    let reserve = json!({ "command": "placeOrder", "petId": first });
    for (command, status, code) in [
        (
            json!({ "command": "placeOrder", "petId": second }),
            409,
            "invalid_transition",
        ),
        (reserve.clone(), 409, "invalid_transition"),
        (
            json!({ "command": "withdrawPet", "petId": first, "ifMatch": 2, "reason": "died" }),
            409,
            "open_order",
        ),
        (
            json!({ "command": "restorePet", "petId": second, "ifMatch": 9 }),
            412,
            "precondition_failed",
        ),
        (
            json!({ "command": "patchPet", "petId": second, "name": "x" }),
            428,
            "precondition_required",
        ),
        (
            json!({ "command": "completeOrder", "orderId": 99 }),
            404,
            "not_found",
        ),
        (
            json!({ "command": "completeOrder", "orderId": 0 }),
            404,
            "not_found",
        ),
        (
            json!({ "command": "placeOrder", "petId": second, "expiresAt": "2020-01-01T00:00:00Z" }),
            400,
            "invalid_body",
        ),
    ] {
        let reply = store.batch(json!([reserve, command])).await;
        expect_failed(&reply, 1, status, code);
        assert_eq!(
            reply.json().get("current").is_some(),
            status == 409 || status == 412
        );
        assert_eq!(
            store.state(first).await,
            ("available".to_owned(), 1),
            "{command}"
        );
        assert_eq!(
            store.state(second).await,
            ("sold".to_owned(), 1),
            "{command}"
        );
        assert_eq!(store.get("/orders").await.json(), json!([]));
    }
    let stale = json!([{ "command": "patchPet", "petId": first, "ifMatch": 3, "name": "x" }]);
    let reply = store.batch(stale).await;
    reply.expect_message(412, "precondition_failed", "ifMatch 1");
    assert_eq!(reply.json()["current"], store.pet(first).await);
}

#[tokio::test]
async fn if_match_is_the_version_or_as_in_the_header_field() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let patch = |if_match: Value, at: i64| json!([{ "command": "patchPet", "petId": id, "ifMatch": if_match, "categoryId": at }]);
    for (at, if_match) in [
        (2, json!(1.0)),
        (3, json!("\"2\"")),
        (4, json!("*")),
        (5, json!("\"4\",\"9\"")),
        (6, json!("W/\"5\"")),
        (7, json!("\"6-gzip\"")),
    ] {
        assert_eq!(
            store.batch(patch(if_match, at)).await.ok()[0]["version"],
            at
        );
    }
    for stale in [json!(6), json!("W/\"6\""), json!("\"6\"")] {
        let reply = store.batch(patch(stale, 8)).await;
        expect_failed(&reply, 0, 412, "precondition_failed");
    }
}

#[tokio::test]
async fn an_invalid_command_is_400_with_its_position_and_nothing_is_done() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let reserve = json!({ "command": "placeOrder", "petId": id });
    for (command, code, part) in [
        (
            json!({ "command": "expireOrder", "orderId": 1 }),
            "invalid_body",
            "command must be one of",
        ),
        (json!({ "command": 7 }), "invalid_body", "command must be"),
        (json!({ "petId": 1 }), "invalid_body", "command is missing"),
        (
            json!(1),
            "invalid_body",
            "The command must be a JSON object",
        ),
        (
            json!({ "command": "placeOrder" }),
            "invalid_body",
            "petId is missing",
        ),
        (
            json!({ "command": "completeOrder" }),
            "invalid_body",
            "orderId is missing",
        ),
        (
            json!({ "command": "addPet", "name": "x" }),
            "invalid_body",
            "categoryId is missing",
        ),
        (
            json!({ "command": "patchPet", "petId": 1, "ifMatch": "1" }),
            "invalid_body",
            "ifMatch must be the version",
        ),
        (
            json!({ "command": "patchPet", "petId": 1, "ifMatch": 0 }),
            "invalid_body",
            "ifMatch",
        ),
        (
            json!({ "command": "cancelOrder", "orderId": 1, "note": "x" }),
            "unknown_member",
            "Allowed members: command, orderId, ifMatch, reason",
        ),
        (
            json!({ "command": "restorePet", "petId": 1, "reason": "x" }),
            "unknown_member",
            "reason",
        ),
    ] {
        let reply = store.batch(json!([reserve, command])).await;
        expect_failed(&reply, 1, 400, code);
        reply.expect_message(400, code, part);
        assert_eq!(store.state(id).await, ("available".to_owned(), 1));
    }
    let twice = r#"[{"command": "placeOrder", "petId": 1, "petId": 1}]"#;
    let headers = [("idempotency-key", "twice")];
    let reply = store.send("POST /batch", &headers, twice).await;
    expect_failed(&reply, 0, 400, "invalid_body");
}

#[tokio::test]
async fn a_batch_has_1_to_100_commands() {
    let store = Store::open().await;
    let add = json!({ "command": "addPet", "name": "Rex", "categoryId": 1 });
    for (count, status) in [(0, 400), (101, 400), (100, 200), (1, 200)] {
        let reply = store.batch(json!(vec![add.clone(); count])).await;
        assert_eq!(reply.status, status, "{count}");
        if status == 400 {
            reply.expect_message(400, "invalid_body", "1 to 100 commands");
            assert_eq!(reply.json().get("failedIndex"), None);
        } else {
            assert_eq!(reply.ids().len(), count);
        }
    }
    for body in ["{}", "null", "[", ""] {
        let headers = [
            ("idempotency-key", "k"),
            ("content-type", "application/json"),
        ];
        let reply = store.send("POST /batch", &headers, body).await;
        reply.expect_error(400, "invalid_body");
        assert_eq!(reply.json().get("failedIndex"), None);
    }
}

#[tokio::test]
async fn a_batch_above_2_mib_is_400_with_its_position_and_changes_nothing() {
    let store = Store::open().await;
    let id = store.add(&"x".repeat(60_000), "available").await;
    let commands = |count: i64| -> Value {
        let patch = |at| {
            json!({ "command": "patchPet", "petId": id, "ifMatch": at,
            "categoryId": at + 1 })
        };
        (1..=count).map(patch).collect::<Vec<_>>().into()
    };
    let reply = store.batch(commands(100)).await;
    expect_failed(&reply, 17, 400, "invalid_body");
    reply.expect_message(400, "invalid_body", "smaller batches");
    assert_eq!(store.pet(id).await["version"], 1);
    assert_eq!(store.batch(commands(17)).await.ids().len(), 17);
}

#[tokio::test]
async fn a_hundred_orders_with_very_long_texts_fit_into_a_batch() {
    let store = Store::open().await;
    let mut complete = Vec::new();
    for _ in 0..100 {
        let pet = store.add("Rex", "available").await;
        // Characters of three bytes, as many as the members may have.
        let (reference, note) = ("号".repeat(255), "犬".repeat(2_000));
        let order = json!({ "petId": pet, "reference": reference, "note": note });
        let id = created(&store.place(order).await);
        complete.push(json!({ "command": "completeOrder", "orderId": id }));
    }
    assert_eq!(store.batch(complete.into()).await.ids().len(), 100);
}
