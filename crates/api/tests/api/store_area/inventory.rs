//! `getInventory`.

use std::time::Duration;

use serde_json::json;

use super::Store;

#[tokio::test]
async fn the_inventory_counts_all_animals() {
    let store = Store::open().await;
    for status in ["available", "available", "pending", "sold", "sold", "sold"] {
        store.add("Rex", status).await;
    }
    store.withdraw(6, 1).await.ok();
    let reply = store.get("/inventory").await;
    let expected = json!({
        "available": 2, "pending": 1, "sold": 2, "withdrawn": 1,
        "countedAt": "2026-12-01T12:00:00.000Z",
    });
    assert_eq!(reply.ok(), expected);
    let tag = reply.header("etag").unwrap();
    assert_eq!(
        store
            .send("GET /inventory", &[("if-none-match", tag)], "")
            .await
            .status,
        304
    );
    store
        .get("/inventory?status=sold")
        .await
        .expect_error(400, "unknown_parameter");
}

#[tokio::test]
async fn the_numbers_of_a_store_that_is_counted_quickly_are_new() {
    let store = Store::open().await;
    let available = async || store.get("/inventory").await.ok()["available"].clone();
    assert_eq!(available().await, 0);
    store.add("Rex", "available").await;
    store.server.clock.advance(Duration::from_secs(10));
    assert_eq!(available().await, 1);
    assert_eq!(
        store.get("/inventory").await.json()["countedAt"],
        "2026-12-01T12:00:10.000Z"
    );
}
