//! `withdrawPet` and `restorePet`.

use serde_json::{Value, json};

use super::Store;

#[tokio::test]
async fn a_withdrawn_animal_leaves_the_list_and_get_pet_is_404() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let body = json!({ "reason": "transferred", "note": "To Petaluma." });
    let reply = store
        .change(&format!("POST /pets/{id}/withdraw"), 1, body)
        .await;
    let withdrawn = json!({
        "at": "2026-12-01T12:00:00.000Z", "reason": "transferred", "note": "To Petaluma.",
    });
    assert_eq!(reply.ok()["withdrawn"], withdrawn);
    assert_eq!(reply.header("etag"), Some("\"2\""));
    assert_eq!(store.pet(id).await, reply.json());
    assert_eq!(store.contract("/pets").await.json(), json!([]));
    store
        .contract(&format!("/pets/{id}"))
        .await
        .expect_error(404, "not_found");
}

#[tokio::test]
async fn each_reason_is_accepted_and_others_are_400() {
    let store = Store::open().await;
    for reason in ["died", "transferred", "reclaimed", "mistake", "other"] {
        let id = store.add("Rex", "sold").await;
        let call = format!("POST /pets/{id}/withdraw");
        let reply = store.change(&call, 1, json!({ "reason": reason })).await;
        assert_eq!(reply.ok()["withdrawn"]["reason"], reason);
        assert_eq!(reply.json()["withdrawn"]["note"], Value::Null);
        assert_eq!(reply.json()["status"], "sold");
    }
    let id = store.add("Rex", "available").await;
    for (body, code, part) in [
        (json!({}), "invalid_body", "reason is missing"),
        (
            json!({ "reason": "Died" }),
            "invalid_body",
            "reason must be one of died",
        ),
        (json!({ "reason": null }), "invalid_body", "reason must be"),
        (
            json!({ "reason": "died", "note": null }),
            "invalid_body",
            "note must be",
        ),
        (
            json!({ "reason": "died", "Note": "x" }),
            "unknown_member",
            "\"Note\"",
        ),
    ] {
        let reply = store
            .change(&format!("POST /pets/{id}/withdraw"), 1, body)
            .await;
        reply.expect_message(400, code, part);
    }
    assert_eq!(store.pet(id).await["withdrawn"], Value::Null);
}

#[tokio::test]
async fn a_note_has_2000_characters_at_most_in_any_script() {
    let store = Store::open().await;
    for (note, status) in [("犬".repeat(2001), 400), ("犬".repeat(2000), 200)] {
        let id = store.add("Rex", "available").await;
        let body = json!({ "reason": "other", "note": note });
        let reply = store
            .change(&format!("POST /pets/{id}/withdraw"), 1, body)
            .await;
        assert_eq!(reply.status, status);
        assert_eq!(
            store.pet(id).await["withdrawn"]["note"] == note,
            status == 200
        );
    }
}

#[tokio::test]
async fn an_animal_with_an_open_order_cannot_be_withdrawn() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let order = store.reserve(id).await;
    let reply = store.withdraw(id, 2).await;
    reply.expect_message(409, "open_order", &format!("by order {order}"));
    assert_eq!(reply.json()["current"], store.pet(id).await);
    store
        .send(&format!("POST /orders/{order}/cancel"), &[], "")
        .await
        .ok();
    store.withdraw(id, 3).await.ok();
}

#[tokio::test]
async fn a_withdrawal_needs_if_match_and_the_present_version() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let died = json!({ "reason": "died" });
    let withdraw = format!("POST /pets/{id}/withdraw");
    store
        .send(&withdraw, &[], &died)
        .await
        .expect_error(428, "precondition_required");
    let stale = store.change(&withdraw, 2, &died).await;
    stale.expect_error(412, "precondition_failed");
    assert_eq!(stale.json()["current"], store.pet(id).await);
    store.change(&withdraw, 1, &died).await.ok();
    let twice = store.change(&withdraw, 2, &died).await;
    twice.expect_message(409, "invalid_transition", "withdrawn");
    let restore = format!("POST /pets/{id}/restore");
    store
        .send(&restore, &[], "")
        .await
        .expect_error(428, "precondition_required");
    store
        .change(&restore, 1, "")
        .await
        .expect_error(412, "precondition_failed");
}

#[tokio::test]
async fn a_restored_animal_is_as_it_was() {
    let store = Store::open().await;
    let id = store.add("Rex", "pending").await;
    let before = store.pet(id).await;
    let listed = store.contract("/pets").await.json();
    for (version, body) in [(2, ""), (4, "{}")] {
        store.withdraw(id, version - 1).await.ok();
        let reply = store
            .change(&format!("POST /pets/{id}/restore"), version, body)
            .await;
        let mut expected = before.clone();
        expected["version"] = json!(version + 1);
        assert_eq!(reply.ok(), expected);
        assert_eq!(store.pet(id).await, expected);
        assert_eq!(store.contract("/pets").await.json(), listed);
    }
    let reply = store
        .change(
            &format!("POST /pets/{id}/restore"),
            5,
            json!({ "note": "" }),
        )
        .await;
    reply.expect_message(400, "unknown_member", "Allowed members: none.");
}

#[tokio::test]
async fn restore_of_an_animal_in_the_catalogue_is_409() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let reply = store
        .change(&format!("POST /pets/{id}/restore"), 1, "")
        .await;
    reply.expect_message(409, "invalid_transition", "not withdrawn");
    assert_eq!(reply.json()["current"], store.pet(id).await);
    store
        .change("POST /pets/99/restore", 1, "")
        .await
        .expect_error(404, "not_found");
}

#[tokio::test]
async fn its_id_is_never_given_again() {
    let store = Store::open().await;
    let first = store.add("Rex", "available").await;
    store.withdraw(first, 1).await.ok();
    assert_eq!(store.add("Max", "available").await, first + 1);
}

#[tokio::test]
async fn a_sold_animal_can_be_returned_after_it_is_restored_but_not_while_it_is_withdrawn() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let order = store.sell(id).await;
    store.withdraw(id, 2).await.ok();
    assert_eq!(store.order(order).await["status"], "completed");
    let take_back = format!("POST /orders/{order}/return");
    store
        .send(&take_back, &[], "")
        .await
        .expect_error(409, "invalid_transition");
    store
        .change(&format!("POST /pets/{id}/restore"), 3, "")
        .await
        .ok();
    assert_eq!(
        store.send(&take_back, &[], "").await.ok()["status"],
        "returned"
    );
    assert_eq!(store.state(id).await, ("available".to_owned(), 5));
}
