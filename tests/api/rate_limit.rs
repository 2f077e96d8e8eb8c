//! 429: keys that are used too often, and addresses that guess keys.

use std::{net::IpAddr, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use petstore::{
    domain::{Clock, KeyId, Scope},
    http::{Response, Settings},
};
use reqwest::Method;

use super::harness::{Server, Setup};

async fn server(
    rate_limit: Option<&'static str>,
    failed_auth_limit: Option<&'static str>,
) -> Server {
    Server::start_with(Setup { rate_limit, failed_auth_limit, ..Setup::default() }).await
}

async fn key_with(server: &Server, rate: &str) -> (String, KeyId) {
    server.new_limited_key(Scope::Write, None, Some(rate.parse().unwrap())).await
}

#[tokio::test]
async fn without_a_limit_no_answer_speaks_of_one() {
    let server = server(None, None).await;
    for _ in 0..100 {
        let reply = server.get("/v1/pets").await;
        assert_eq!(reply.status, 200);
        assert_eq!((reply.header("ratelimit"), reply.header("ratelimit-policy")), (None, None));
    }
}

#[tokio::test]
async fn a_key_above_its_limit_is_429_until_its_quota_comes_back() {
    let server = server(Some("3/min"), None).await;
    for remaining in [2, 1, 0] {
        let reply = server.get("/v1/pets").await;
        assert_eq!(reply.status, 200);
        let left = format!("\"default\";r={remaining};t=20");
        assert_eq!(reply.header("ratelimit"), Some(&*left));
        assert_eq!(reply.header("ratelimit-policy"), Some("\"default\";q=3;w=60"));
    }
    // Whatever is asked, also what is not there.
    for (method, target) in
        [(Method::GET, "/v1/pets"), (Method::POST, "/v1/pets"), (Method::GET, "/v1/x")]
    {
        let refused = server.request(method, target).await;
        refused.expect_error(429, "rate_limited");
        assert_eq!(refused.header("retry-after"), Some("20"));
        assert_eq!(refused.header("ratelimit"), Some("\"default\";r=0;t=20"));
        assert_eq!(refused.header("ratelimit-policy"), Some("\"default\";q=3;w=60"));
    }
    server.clock.advance(Duration::from_secs(19));
    assert_eq!(server.get("/v1/pets").await.header("retry-after"), Some("1"));
    server.clock.advance(Duration::from_secs(1));
    assert_eq!(server.get("/v1/pets").await.status, 200);
    server.get("/v1/pets").await.expect_error(429, "rate_limited");
}

#[tokio::test]
async fn a_limited_create_says_what_is_left_and_one_too_many_adds_nothing() {
    let server = server(Some("1/h"), None).await;
    let frank = r#"{"name": "Frank", "categoryId": 1}"#;
    let created = server.post(frank).await;
    assert_eq!(created.status, 201);
    assert_eq!(created.header("ratelimit"), Some("\"default\";r=0;t=3600"));
    server.post(frank).await.expect_error(429, "rate_limited");
    server.clock.advance(Duration::from_hours(1));
    assert_eq!(server.get("/v1/pets").await.ids(), [1]);
}

#[tokio::test]
async fn a_keys_own_limit_goes_before_that_of_the_service() {
    let server = server(Some("2/min"), None).await;
    let (generous, _) = key_with(&server, "100/s").await;
    let (strict, _) = key_with(&server, "1/h").await;
    for _ in 0..100 {
        assert_eq!(server.get_with_key("/v1/pets", &generous).await.status, 200);
    }
    let reply = server.get_with_key("/v1/pets", &strict).await;
    assert_eq!(reply.header("ratelimit-policy"), Some("\"default\";q=1;w=3600"));
    server.get_with_key("/v1/pets", &strict).await.expect_error(429, "rate_limited");
    // Nor does one key use up what another has.
    assert_eq!(server.get("/v1/pets").await.status, 200);
}

#[tokio::test]
async fn reading_a_key_anew_gives_it_no_new_quota() {
    let server = server(None, None).await;
    let (key, _) = key_with(&server, "2/h").await;
    for status in [200, 200, 429, 429] {
        assert_eq!(server.get_with_key("/v1/pets", &key).await.status, status);
        // Longer than what is known of a key is believed.
        server.clock.advance(Duration::from_secs(10));
    }
}

#[tokio::test]
async fn an_address_that_sends_too_many_invalid_keys_is_429_until_it_waited() {
    let server = server(None, Some("3/min")).await;
    let other = Server::start().await;
    // A malformed key, and one that could be one.
    let (unknown, _) = other.new_key(Scope::Write, None).await;
    for key in ["wrong", &unknown, "wrong"] {
        server.get_with_key("/v1/pets", key).await.expect_error(401, "invalid_api_key");
    }
    for (key, target) in [("wrong", "/v1/pets"), (&unknown, "/v1/pets/1"), ("wrong", "/v1/x")] {
        let refused = server.get_with_key(target, key).await;
        refused.expect_error(429, "rate_limited");
        assert_eq!(refused.header("retry-after"), Some("20"));
        assert_eq!(refused.header("ratelimit"), None);
    }
    // To send none is no guess.
    server.send(Method::GET, "/v1/pets", &[], "").await.expect_error(401, "missing_api_key");
    server.clock.advance(Duration::from_secs(20));
    server.get_with_key("/v1/pets", "wrong").await.expect_error(401, "invalid_api_key");
    server.get_with_key("/v1/pets", "wrong").await.expect_error(429, "rate_limited");
}

#[tokio::test]
async fn a_key_in_use_is_not_held_back_by_invalid_ones_from_its_address() {
    let server = server(None, Some("1/h")).await;
    assert_eq!(server.get("/v1/pets").await.status, 200);
    for _ in 0..10 {
        server.get_with_key("/v1/pets", "wrong").await;
    }
    server.get_with_key("/v1/pets", "wrong").await.expect_error(429, "rate_limited");
    for _ in 0..5 {
        assert_eq!(server.get("/v1/pets").await.status, 200);
        // It must be looked up again.
        server.clock.advance(Duration::from_secs(10));
    }
    // A key that nobody has used yet may be a guess.
    let (new, _) = server.new_key(Scope::Read, None).await;
    server.get_with_key("/v1/pets", &new).await.expect_error(429, "rate_limited");
    server.clock.advance(Duration::from_hours(1));
    assert_eq!(server.get_with_key("/v1/pets", &new).await.status, 200);
}

#[tokio::test]
async fn a_revoked_key_counts_as_an_invalid_one() {
    let server = server(None, Some("1/h")).await;
    let (key, id) = server.new_key(Scope::Read, None).await;
    assert_eq!(server.get_with_key("/v1/pets", &key).await.status, 200);
    server.store.revoke_key(id, server.clock.now()).await.unwrap();
    server.clock.advance(Duration::from_secs(5));
    server.get_with_key("/v1/pets", &key).await.expect_error(401, "invalid_api_key");
    server.get_with_key("/v1/pets", &key).await.expect_error(429, "rate_limited");
}

/// A request from this address, past the socket.
async fn from(server: &Server, client: &str, key: &str) -> Response {
    let request = Request::get("/v1/pets")
        .header("host", "x")
        .header("authorization", format!("Bearer {key}"))
        .body(Empty::<Bytes>::new().map_err(|never| match never {}));
    server.app.handle(client.parse::<IpAddr>().unwrap().into(), request.unwrap()).await
}

#[tokio::test]
async fn addresses_are_counted_apart_and_an_ipv6_network_as_one() {
    let server = server(None, Some("1/h")).await;
    for (client, status) in [
        ("192.0.2.1", 401),
        ("192.0.2.1", 429),
        ("::ffff:192.0.2.1", 429),
        ("192.0.2.2", 401),
        ("2001:db8::1", 401),
        ("2001:db8::2", 429),
        ("2001:db8:0:1::1", 401),
    ] {
        assert_eq!(from(&server, client, "wrong").await.status(), status, "{client}");
    }
}

#[tokio::test]
async fn without_any_option_keys_are_not_limited_and_addresses_generously() {
    let settings = Settings::default();
    assert_eq!(settings.rate_limit, None);
    assert_eq!(settings.failed_auth_limit, Some("600/min".parse().unwrap()));
}
