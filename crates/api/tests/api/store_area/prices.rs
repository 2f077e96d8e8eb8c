//! The price of an order.

use petstore_domain::Scope;
use serde_json::{Value, json};

use super::{Store, created};

#[tokio::test]
async fn a_price_is_kept_as_it_was_written_and_changes_while_the_order_is_reserved_or_sold() {
    let mut store = Store::open().await;
    store.key = store.server.new_key(Scope::StoreAdmin, None).await.0;
    let place = async |order: Value| {
        let mut order = order;
        order["petId"] = store.add("Rex", "available").await.into();
        created(&store.place(order).await)
    };
    let order = place(json!({ "price": "0249.0" })).await;
    assert_eq!(store.order(order).await["price"], "0249.0");
    for none in [json!({}), json!({ "price": null })] {
        assert_eq!(store.order(place(none).await).await["price"], Value::Null);
    }
    let batch = json!([{
        "command": "placeOrder", "petId": store.add("Max", "available").await,
        "status": "completed", "price": "0.00",
    }]);
    assert_eq!(store.batch(batch).await.ok()[0]["price"], "0.00");

    let call = format!("PATCH /orders/{order}");
    for (version, price) in (1..).zip([json!("300"), Value::Null, json!("12.5")]) {
        let reply = store
            .change(&call, version, json!({ "price": price }))
            .await;
        assert_eq!(
            (&reply.ok()["price"], &reply.json()["version"]),
            (&price, &json!(version + 1))
        );
    }
    // Equal as a number, but written in another way.
    assert_eq!(
        store
            .change(&call, 4, json!({ "price": "12.50" }))
            .await
            .ok()["version"],
        5
    );
    let invalid = store.change(&call, 5, json!({ "price": "1e3" })).await;
    invalid.expect_message(400, "invalid_body", "price must be a string");
    let complete = format!("POST /orders/{order}/complete");
    let negative = store.send(&complete, &[], json!({ "price": "-20" })).await;
    negative.expect_message(400, "invalid_body", "price must have no minus.");
    let sold = store
        .send(&complete, &[], json!({ "price": "11" }))
        .await
        .ok();
    assert_eq!(
        (&sold["price"], &sold["version"]),
        (&json!("11"), &json!(6))
    );
    // A repetition changes nothing, whatever its price.
    for again in [
        json!({}),
        json!({ "price": "12" }),
        json!({ "price": null }),
    ] {
        assert_eq!(store.send(&complete, &[], again).await.ok(), sold);
    }
    let corrected = store
        .change(&call, 6, json!({ "price": "10.50" }))
        .await
        .ok();
    assert_eq!(
        (&corrected["price"], &corrected["status"]),
        (&json!("10.50"), &json!("completed"))
    );
    let audit = store
        .get(&format!("/audit?subject=order:{order}&type=order.changed"))
        .await
        .ok();
    let last = audit.as_array().unwrap().last().unwrap();
    assert_eq!(
        (&last["before"]["price"], &last["after"]["price"]),
        (&json!("11"), &json!("10.50"))
    );
    store
        .send(&format!("POST /orders/{order}/return"), &[], "")
        .await
        .ok();
    let reply = store.change(&call, 8, json!({ "price": "1" })).await;
    reply.expect_message(
        409,
        "invalid_transition",
        "Only the price of a reserved or completed",
    );
}

#[tokio::test]
async fn a_sale_has_the_price_of_the_order_another_or_none() {
    let store = Store::open().await;
    for (given, expected) in [
        ("{}", json!("95")),
        (r#"{"price": "80"}"#, json!("80")),
        (r#"{"price": null}"#, json!(null)),
    ] {
        let pet = store.add("Rex", "available").await;
        let order = created(&store.place(json!({ "petId": pet, "price": "95" })).await);
        let sold = store
            .send(&format!("POST /orders/{order}/complete"), &[], given)
            .await
            .ok();
        assert_eq!(sold["price"], expected);
    }
}
