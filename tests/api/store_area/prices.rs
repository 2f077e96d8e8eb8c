//! The price of an order.

use serde_json::{Value, json};

use super::{Store, created};

#[tokio::test]
async fn a_price_is_kept_as_it_was_written_and_changes_while_the_order_is_reserved() {
    let store = Store::open().await;
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
        "status": "completed", "price": "-1",
    }]);
    assert_eq!(store.batch(batch).await.ok()[0]["price"], "-1");

    let call = format!("PATCH /orders/{order}");
    for (version, price) in (1..).zip([json!("300"), Value::Null, json!("12.5")]) {
        let reply = store.change(&call, version, json!({ "price": price })).await;
        assert_eq!((&reply.ok()["price"], &reply.json()["version"]), (&price, &json!(version + 1)));
    }
    // Equal as a number, but written in another way.
    assert_eq!(store.change(&call, 4, json!({ "price": "12.50" })).await.ok()["version"], 5);
    let invalid = store.change(&call, 5, json!({ "price": "1e3" })).await;
    invalid.expect_message(400, "invalid_body", "price must be a string");
    let sold = store.send(&format!("POST /orders/{order}/complete"), &[], "").await.ok();
    assert_eq!(sold["price"], "12.50");
    let reply = store.change(&call, 6, json!({ "price": "1" })).await;
    reply.expect_message(409, "invalid_transition", "Only the price of a reserved order");
    assert_eq!(reply.json()["current"], sold);
    assert_eq!(store.change(&call, 6, json!({ "price": "12.50" })).await.ok(), sold);
}
