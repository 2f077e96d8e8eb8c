//! The operations on orders.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use petstore_domain::Clock;
use serde_json::{Value, json};

use super::{Setup, Store, created};

#[tokio::test]
async fn place_reserves_an_available_animal() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let body = json!({ "petId": id, "reference": "R-1", "note": "Friday" });
    let reply = store.place(body).await;
    let expected = json!({
        "id": 1, "petId": id, "status": "reserved", "reference": "R-1", "note": "Friday",
        "reason": null, "expiresAt": "2026-12-15T12:00:00.000Z",
        "createdAt": "2026-12-01T12:00:00.000Z", "closedAt": null, "version": 1, "price": null, "contact": null,
    });
    assert_eq!(created(&reply), 1);
    assert_eq!(reply.json(), expected);
    assert_eq!(reply.header("etag"), Some("\"1\""));
    assert_eq!(store.state(id).await, ("pending".to_owned(), 2));
    assert_eq!(store.contract("/pets?status=pending").await.ids(), [id]);
}

#[tokio::test]
async fn the_location_leads_to_the_order() {
    let store = Store::open().await;
    let reply = store
        .place(json!({ "petId": store.add("Rex", "available").await }))
        .await;
    let location = reply.header("location").unwrap();
    let read = store.get(location.strip_prefix("/v1/store").unwrap()).await;
    assert_eq!(read.ok(), reply.json());
    assert_eq!(read.header("etag"), reply.header("etag"));
    let known = [("if-none-match", "\"1\"")];
    assert_eq!(store.send("GET /orders/1", &known, "").await.status, 304);
    for none in ["2", "0", "-1", "x"] {
        store
            .get(&format!("/orders/{none}"))
            .await
            .expect_error(404, "not_found");
    }
}

#[tokio::test]
async fn a_base_url_with_another_path_is_in_links_and_locations() {
    let base_url = Some("https://shop.example/api/v1");
    let store = Store::open_with(Setup {
        base_url,
        ..Setup::default()
    })
    .await;
    let reply = store
        .place(json!({ "petId": store.add("Rex", "available").await }))
        .await;
    assert_eq!(reply.header("location"), Some("/api/v1/store/orders/1"));
    store.add("Max", "available").await;
    let next = store.get("/pets?limit=1").await.next().unwrap();
    assert!(
        next.starts_with("/api/v1/store/pets?limit=1&cursor="),
        "{next}"
    );
}

#[tokio::test]
async fn a_sale_takes_an_available_or_a_pending_animal_without_an_open_order() {
    let store = Store::open().await;
    for status in ["available", "pending"] {
        let id = store.add("Rex", status).await;
        let order = store.sell(id).await;
        let order = store.order(order).await;
        assert_eq!(order["status"], "completed");
        assert_eq!(order["closedAt"], order["createdAt"]);
        assert_eq!(order["expiresAt"], Value::Null);
        assert_eq!(store.state(id).await, ("sold".to_owned(), 2));
    }
    for (animal, part) in [
        (store.add("Rex", "sold").await, "is sold"),
        (
            {
                let id = store.add("Rex", "available").await;
                store.reserve(id).await;
                id
            },
            ". Complete or cancel the order ",
        ),
    ] {
        for status in ["completed", "reserved"] {
            let reply = store
                .place(json!({ "petId": animal, "status": status }))
                .await;
            reply.expect_error(409, "invalid_transition");
            let message = reply.json()["message"].as_str().unwrap().to_owned();
            assert!(message.contains(part), "{message}");
            assert_eq!(reply.json()["current"], store.pet(animal).await);
        }
    }
}

#[tokio::test]
async fn complete_sells_cancel_ends_and_return_undoes() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let order = store.reserve(id).await;
    store.server.clock.advance(Duration::from_millis(1500));
    let reply = store
        .send(&format!("POST /orders/{order}/complete"), &[], "")
        .await;
    assert_eq!(reply.ok()["status"], "completed");
    assert_eq!(reply.json()["closedAt"], "2026-12-01T12:00:01.500Z");
    assert_eq!(reply.header("etag"), Some("\"2\""));
    assert_eq!(store.state(id).await, ("sold".to_owned(), 3));

    let reason = json!({ "reason": "Does not get on with the cat." });
    let reply = store
        .send(&format!("POST /orders/{order}/return"), &[], &reason)
        .await;
    assert_eq!(reply.ok()["status"], "returned");
    assert_eq!(reply.json()["reason"], reason["reason"]);
    assert_eq!(store.state(id).await, ("available".to_owned(), 4));

    let order = store.reserve(id).await;
    let reply = store
        .send(&format!("POST /orders/{order}/cancel"), &[], "{}")
        .await;
    assert_eq!(
        (&reply.ok()["status"], &reply.json()["reason"]),
        (&json!("cancelled"), &Value::Null)
    );
    assert_eq!(store.order(order).await, reply.json());
    assert_eq!(store.state(id).await, ("available".to_owned(), 6));
}

#[tokio::test]
async fn every_command_in_every_state() {
    let store = Store::open().await;
    for (state, [complete, cancel, take_back]) in [
        ("reserved", [200, 200, 409]),
        ("completed", [200, 409, 200]),
        ("cancelled", [409, 200, 409]),
        ("returned", [409, 409, 200]),
    ] {
        for (command, status) in [
            ("complete", complete),
            ("cancel", cancel),
            ("return", take_back),
        ] {
            let id = store.add("Rex", "available").await;
            let order = store.reserve(id).await;
            let path: &[&str] = match state {
                "reserved" => &[],
                "completed" => &["complete"],
                "cancelled" => &["cancel"],
                _ => &["complete", "return"],
            };
            for step in path {
                store
                    .send(&format!("POST /orders/{order}/{step}"), &[], "")
                    .await
                    .ok();
            }
            let before = (store.order(order).await, store.pet(id).await);
            let reply = store
                .send(&format!("POST /orders/{order}/{command}"), &[], "")
                .await;
            assert_eq!(reply.status, status, "{command} of {state}");
            let repeats = matches!(
                (command, state),
                ("complete", "completed") | ("cancel", "cancelled") | ("return", "returned")
            );
            if status == 409 {
                let part = format!("Order {order} is {state}. Only a ");
                reply.expect_message(409, "invalid_transition", &part);
                assert_eq!(reply.json()["current"], before.0);
            }
            if repeats {
                assert_eq!(reply.json(), before.0);
            }
            let is_changed = (store.order(order).await, store.pet(id).await) != before;
            assert_eq!(
                is_changed,
                status == 200 && !repeats,
                "{command} of {state}"
            );
        }
    }
    for command in ["complete", "cancel", "return"] {
        let reply = store
            .send(&format!("POST /orders/99/{command}"), &[], "")
            .await;
        reply.expect_error(404, "not_found");
    }
}

#[tokio::test]
async fn an_order_for_a_withdrawn_animal_is_409_and_for_an_unknown_one_404() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    store.withdraw(id, 1).await.ok();
    let reply = store.place(json!({ "petId": id })).await;
    reply.expect_message(409, "invalid_transition", "withdrawn");
    assert_eq!(reply.json()["current"], store.pet(id).await);
    for unknown in [99, 0, -1, i64::MAX] {
        store
            .place(json!({ "petId": unknown }))
            .await
            .expect_error(404, "not_found");
    }
}

/// An end of a reservation in the response, and a time from now.
async fn end_after(store: &Store, body: Value) -> (Timestamp, SignedDuration) {
    let reply = store.place(body).await;
    created(&reply);
    let end: Timestamp = reply.json()["expiresAt"].as_str().unwrap().parse().unwrap();
    (end, end.duration_since(store.server.clock.now()))
}

#[tokio::test]
async fn a_reservation_lasts_14_days_or_the_setting_or_until_expires_at() {
    let days = |days: i64| SignedDuration::from_hours(24 * days);
    let store = Store::open().await;
    let body = json!({ "petId": store.add("Rex", "available").await });
    assert_eq!(end_after(&store, body).await.1, days(14));
    for (text, expected) in [
        ("2026-12-06T11:00:00+01:00", "2026-12-06T10:00:00Z"),
        (
            "2026-12-06T10:00:00.1239999999Z",
            "2026-12-06T10:00:00.123Z",
        ),
        ("2028-01-05T12:00:00Z", "2028-01-05T12:00:00Z"),
    ] {
        let body = json!({ "petId": store.add("Rex", "available").await, "expiresAt": text });
        assert_eq!(end_after(&store, body).await.0.to_string(), expected);
    }
    let reservation = Duration::from_hours(400 * 24);
    let store = Store::open_with(Setup {
        reservation,
        ..Setup::default()
    })
    .await;
    let body = json!({ "petId": store.add("Rex", "available").await });
    assert_eq!(end_after(&store, body).await.1, days(400));
}

#[tokio::test]
async fn expires_at_in_the_past_or_beyond_400_days_or_of_a_sale_is_400() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    for (expires_at, part) in [
        ("2026-12-01T12:00:00Z", "must be in the future"),
        ("2020-01-01T00:00:00Z", "must be in the future"),
        ("2028-01-05T12:00:00.001Z", "at most 400 days"),
        ("9999-01-01T00:00:00Z", "at most 400 days"),
        ("tomorrow", "must be an RFC 3339 time"),
        ("2026-12-06", "must be an RFC 3339 time"),
        ("2026-12-06T10:00:00", "must be an RFC 3339 time"),
    ] {
        let reply = store
            .place(json!({ "petId": id, "expiresAt": expires_at }))
            .await;
        reply.expect_message(400, "invalid_body", part);
    }
    let sale = json!({
        "petId": id, "status": "completed", "expiresAt": "2026-12-06T11:00:00Z",
    });
    store
        .place(sale)
        .await
        .expect_message(400, "invalid_body", "only for a reservation");
    assert_eq!(store.state(id).await, ("available".to_owned(), 1));
    assert_eq!(store.get("/orders").await.ids(), [0; 0]);
}

#[tokio::test]
async fn an_invalid_order_is_400_and_its_member_is_named() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    for (body, code, part) in [
        (json!({}), "invalid_body", "petId is missing"),
        (
            json!({ "petId": "1" }),
            "invalid_body",
            "petId must be an integer",
        ),
        (json!({ "petId": 1.5 }), "invalid_body", "petId must be"),
        (
            json!({ "petId": id, "status": "cancelled" }),
            "invalid_body",
            "status must be reserved",
        ),
        (
            json!({ "petId": id, "note": null }),
            "invalid_body",
            "note must be",
        ),
        (
            json!({ "petId": id, "note": "a\u{0}" }),
            "invalid_body",
            "note must be",
        ),
        (
            json!({ "petId": id, "reference": 7 }),
            "invalid_body",
            "reference must be",
        ),
        (
            json!({ "petId": id, "expiresAt": 7 }),
            "invalid_body",
            "expiresAt must be",
        ),
        (
            json!({ "petId": id, "price": 249 }),
            "invalid_body",
            "price must be a string with a number",
        ),
        (
            json!({ "petId": id, "price": "249,00" }),
            "invalid_body",
            "such as \"249.00\"",
        ),
        (json!({ "petID": id }), "unknown_member", "\"petID\""),
        (json!([]), "invalid_body", "must be a JSON object"),
    ] {
        store.place(body).await.expect_message(400, code, part);
    }
    assert_eq!(store.state(id).await, ("available".to_owned(), 1));
}

#[tokio::test]
async fn texts_have_a_maximum_length_in_characters_of_any_script() {
    let store = Store::open().await;
    for (name, longest) in [("reference", 255), ("note", 2000)] {
        let id = store.add("Rex", "available").await;
        let body = |length| json!({ "petId": id, name: "犬".repeat(length) });
        store
            .place(body(longest + 1))
            .await
            .expect_message(400, "invalid_body", name);
        assert_eq!(
            store.place(body(longest)).await.json()[name],
            "犬".repeat(longest)
        );
    }
    let order = store.reserve(store.add("Rex", "available").await).await;
    let cancel = format!("POST /orders/{order}/cancel");
    let too_long = json!({ "reason": "犬".repeat(256) });
    store
        .send(&cancel, &[], too_long)
        .await
        .expect_message(400, "invalid_body", "reason");
    let reason = json!({ "reason": "犬".repeat(255) });
    assert_eq!(
        store.send(&cancel, &[], &reason).await.ok()["reason"],
        reason["reason"]
    );
}

#[tokio::test]
async fn a_patch_extends_a_reservation_and_removes_texts_by_null() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let order = created(
        &store
            .place(json!({ "petId": id, "reference": "R", "note": "N" }))
            .await,
    );
    let call = format!("PATCH /orders/{order}");
    let patch = json!({ "expiresAt": "2027-01-01T00:00:00Z", "note": null });
    let reply = store.change(&call, 1, patch).await;
    let expected = json!(["2027-01-01T00:00:00.000Z", null, "R", 2]);
    let of = |order: &Value| {
        json!([
            order["expiresAt"],
            order["note"],
            order["reference"],
            order["version"]
        ])
    };
    assert_eq!(of(&reply.ok()), expected);
    assert_eq!(reply.header("etag"), Some("\"2\""));
    assert_eq!(store.order(order).await, reply.json());
    // The animal does not change.
    assert_eq!(store.state(id).await, ("pending".to_owned(), 2));
    let reply = store
        .change(&call, 2, json!({ "note": null, "reference": "R" }))
        .await;
    assert_eq!(of(&reply.ok()), expected);
    for (body, code, part) in [
        (
            json!({ "expiresAt": null }),
            "invalid_body",
            "expiresAt must be an RFC 3339 time",
        ),
        (
            json!({ "expiresAt": "2020-01-01T00:00:00Z" }),
            "invalid_body",
            "in the future",
        ),
        (
            json!({ "status": "completed" }),
            "unknown_member",
            "reference, note, expiresAt, price, contact",
        ),
    ] {
        store
            .change(&call, 2, body)
            .await
            .expect_message(400, code, part);
    }
}

#[tokio::test]
async fn a_patch_of_an_order_needs_if_match_and_of_its_end_that_it_is_reserved() {
    let store = Store::open().await;
    let order = store.sell(store.add("Rex", "available").await).await;
    let call = format!("PATCH /orders/{order}");
    let note = json!({ "note": "N" });
    store
        .send(&call, &[], &note)
        .await
        .expect_error(428, "precondition_required");
    let stale = store.change(&call, 2, &note).await;
    stale.expect_message(412, "precondition_failed", "The order has version 1");
    assert_eq!(stale.json()["current"], store.order(order).await);
    let end = json!({ "expiresAt": "2027-01-01T00:00:00Z" });
    let reply = store.change(&call, 1, end).await;
    reply.expect_message(409, "invalid_transition", "is completed");
    assert_eq!(reply.json()["current"], store.order(order).await);
    assert_eq!(store.change(&call, 1, &note).await.ok()["note"], "N");
    store
        .change("PATCH /orders/99", 1, &note)
        .await
        .expect_error(404, "not_found");
}

#[tokio::test]
async fn orders_are_listed_newest_last_by_status_pet_and_reference() {
    let store = Store::open().await;
    let mut orders = Vec::new();
    for (status, reference) in [
        ("reserved", "R-1"),
        ("completed", "R-2"),
        ("completed", "R-1"),
        ("reserved", ""),
    ] {
        let id = store.add("Rex", "available").await;
        let body = json!({ "petId": id, "status": status, "reference": reference });
        orders.push(created(&store.place(body).await));
    }
    store.send("POST /orders/1/cancel", &[], "").await.ok();
    orders.push(store.reserve(1).await);
    // Ids ascend.
    assert_eq!(orders, [1, 2, 3, 4, 5]);
    for (query, ids) in [
        ("", &[1, 2, 3, 4, 5][..]),
        ("status=reserved", &[4, 5]),
        ("status=completed", &[2, 3]),
        ("status=cancelled", &[1]),
        ("status=returned", &[]),
        ("petId=1", &[1, 5]),
        ("petId=1&status=reserved", &[5]),
        ("petId=0", &[]),
        ("reference=R-1", &[1, 3]),
        ("reference=R-1&petId=3&status=completed", &[3]),
        ("reference=r-1", &[]),
        ("reference=", &[4]),
    ] {
        assert_eq!(
            store.get(&format!("/orders?{query}")).await.ids(),
            ids,
            "{query}"
        );
        assert_eq!(
            store.walk(&format!("/orders?limit=1&{query}")).await,
            ids,
            "{query}"
        );
    }
    let first = store.get("/orders?limit=1").await;
    assert_eq!(first.json(), json!([store.order(1).await]));
    for (query, part) in [
        ("status=open", "status must be one of reserved, completed"),
        ("petId=x", "petId must be an integer"),
        (
            &format!("reference={}", "a".repeat(256)),
            "reference must be",
        ),
        ("reference=a%FF", "must be UTF-8"),
        ("limit=x", "limit must be"),
    ] {
        let reply = store.get(&format!("/orders?{query}")).await;
        reply.expect_message(400, "invalid_parameter", part);
    }
    store
        .get("/orders?id=1")
        .await
        .expect_error(400, "unknown_parameter");
}

#[tokio::test]
async fn of_many_orders_for_one_animal_one_is_placed() {
    let store = Store::open().await;
    let id = store.add("Rex", "available").await;
    let place = |at: usize| {
        let status = ["reserved", "completed"][at % 2];
        store.place(json!({ "petId": id, "status": status }))
    };
    let replies = futures_util::future::join_all((0..8).map(place)).await;
    let placed: Vec<_> = replies.iter().filter(|reply| reply.status == 201).collect();
    assert_eq!(placed.len(), 1);
    for reply in replies.iter().filter(|reply| reply.status != 201) {
        reply.expect_error(409, "invalid_transition");
    }
    assert_eq!(
        store.get(&format!("/orders?petId={id}")).await.json(),
        json!([placed[0].json()])
    );
}
