//! `getPet`: `GET /v1/pets/{petId}`, before and after its removal.

use std::time::Duration;

use petstore_domain::PetStatus::Sold;
use petstore_testing::{
    harness::{Server, Setup},
    reply::Reply,
};
use reqwest::Method;
use serde_json::json;

const LAST_SECOND: &str = "2030-12-04T23:59:59Z";
const REMOVED: &str = "2030-12-05T00:00:00Z";

async fn server_at(now: &'static str) -> Server {
    let server = Server::start_with(Setup {
        now,
        ..Setup::default()
    })
    .await;
    server.fill([Sold]).await;
    server
}

fn expect_deprecation(reply: &Reply) {
    assert_eq!(reply.header("deprecation"), Some("@1795219200"));
    assert_eq!(
        reply.header("sunset"),
        Some("Thu, 05 Dec 2030 00:00:00 GMT")
    );
    assert_eq!(
        reply.header("link"),
        Some(r#"</v1/pets>; rel="successor-version""#)
    );
}

#[tokio::test]
async fn an_animal_can_be_read_by_its_id() {
    let server = server_at(LAST_SECOND).await;
    let reply = server.get("/v1/pets/1").await;
    assert_eq!(reply.status, 200);
    let frank = json!({ "id": 1, "name": "Frank", "categoryId": 1, "status": "sold" });
    assert_eq!(reply.json(), frank);
    assert_eq!(server.get("/v1/pets/%31").await.json(), frank);
    assert_eq!(server.request(Method::HEAD, "/v1/pets/1").await.status, 200);
}

#[tokio::test]
async fn an_unknown_or_invalid_pet_id_is_404() {
    let server = server_at(LAST_SECOND).await;
    for id in [
        "2",
        "0",
        "-1",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "1.0",
        "1e0",
        "+1",
        "01",
        "%201",
        "one",
        "%00",
        "%FF",
        "%2F",
        "%2f1",
        "null",
        "%20",
        "{petId}",
    ] {
        let reply = server.get(&format!("/v1/pets/{id}")).await;
        reply.expect_error(404, "not_found");
    }
}

#[tokio::test]
async fn every_response_by_id_announces_the_deprecation() {
    let server = server_at(LAST_SECOND).await;
    for target in ["/v1/pets/1", "/v1/pets/2", "/v1/pets/x", "/v1/pets/1?x=1"] {
        expect_deprecation(&server.get(target).await);
    }
    expect_deprecation(&server.send(Method::GET, "/v1/pets/1", &[], "").await);
    expect_deprecation(&server.get_with_key("/v1/pets/1", "wrong").await);
    for method in [Method::HEAD, Method::DELETE] {
        expect_deprecation(&server.request(method, "/v1/pets/1").await);
    }
    let too_large = server
        .get(&format!("/v1/pets/1?x={}", "x".repeat(16 << 10)))
        .await;
    too_large.expect_error(431, "payload_too_large");
    expect_deprecation(&too_large);
    expect_deprecation(&server_at(REMOVED).await.get("/v1/pets/1").await);
    for target in ["/v1/pets", "/v1/pets/", "/v1/pets/1/x", "/docs"] {
        assert_eq!(
            server.get(target).await.header("deprecation"),
            None,
            "{target}"
        );
    }
}

#[tokio::test]
async fn from_5_december_2030_get_pet_is_410_and_without_a_key_401() {
    let server = server_at(LAST_SECOND).await;
    assert_eq!(server.get("/v1/pets/1").await.status, 200);
    server.clock.advance(Duration::from_secs(1));
    for id in ["1", "2", "x"] {
        let reply = server.get(&format!("/v1/pets/{id}")).await;
        reply.expect_error(410, "operation_removed");
    }
    let reply = server.send(Method::GET, "/v1/pets/1", &[], "").await;
    reply.expect_error(401, "missing_api_key");
}

#[tokio::test]
async fn from_5_december_2030_the_other_operations_continue_and_a_create_has_no_location() {
    let server = server_at(REMOVED).await;
    let reply = server.post(r#"{"name": "", "categoryId": 1}"#).await;
    assert_eq!(reply.status, 201);
    assert_eq!(reply.header("location"), None);
    assert_eq!(server.get("/v1/pets").await.ids(), [1, 2]);
}

#[tokio::test]
async fn a_query_parameter_is_400() {
    let server = server_at(LAST_SECOND).await;
    server
        .get("/v1/pets/1?fields=name")
        .await
        .expect_error(400, "unknown_parameter");
}
