//! 429: keys above their rate limit.

use std::time::Duration;

use petstore_domain::{KeyId, Scope};
use petstore_testing::harness::{Server, Setup};
use reqwest::Method;
use serde_json::json;

async fn server(rate_limit: Option<&'static str>) -> Server {
    Server::start_with(Setup {
        rate_limit,
        ..Setup::default()
    })
    .await
}

async fn key_with(server: &Server, rate: &str) -> (String, KeyId) {
    server
        .new_limited_key(Scope::Write, None, Some(rate.parse().unwrap()))
        .await
}

#[tokio::test]
async fn without_a_limit_no_response_mentions_one() {
    let server = server(None).await;
    for _ in 0..100 {
        let reply = server.get("/v1/pets").await;
        assert_eq!(reply.status, 200);
        assert_eq!(
            (reply.header("ratelimit"), reply.header("ratelimit-policy")),
            (None, None)
        );
    }
}

#[tokio::test]
async fn a_key_above_its_limit_is_429_until_its_quota_returns() {
    let server = server(Some("3/min")).await;
    for remaining in [2, 1, 0] {
        let reply = server.get("/v1/pets").await;
        assert_eq!(reply.status, 200);
        let left = format!("\"default\";r={remaining};t=20");
        assert_eq!(reply.header("ratelimit"), Some(&*left));
        assert_eq!(
            reply.header("ratelimit-policy"),
            Some("\"default\";q=3;w=60")
        );
    }
    // For every path, even unknown ones.
    for (method, target) in [
        (Method::GET, "/v1/pets"),
        (Method::POST, "/v1/pets"),
        (Method::GET, "/v1/x"),
    ] {
        let rejected = server.request(method, target).await;
        rejected.expect_error(429, "rate_limited");
        let message = "Rate limit exceeded: this API key allows 3 requests per minute. Retry after \
                       20 seconds.";
        assert_eq!(rejected.json()["message"], message);
        assert_eq!(rejected.header("retry-after"), Some("20"));
        assert_eq!(rejected.header("ratelimit"), Some("\"default\";r=0;t=20"));
        assert_eq!(
            rejected.header("ratelimit-policy"),
            Some("\"default\";q=3;w=60")
        );
    }
    server.clock.advance(Duration::from_secs(19));
    assert_eq!(
        server.get("/v1/pets").await.header("retry-after"),
        Some("1")
    );
    server.clock.advance(Duration::from_secs(1));
    assert_eq!(server.get("/v1/pets").await.status, 200);
    server
        .get("/v1/pets")
        .await
        .expect_error(429, "rate_limited");
}

#[tokio::test]
async fn a_limited_create_states_its_quota_and_one_above_the_limit_adds_nothing() {
    let server = server(Some("1/h")).await;
    let frank = r#"{"name": "Frank", "categoryId": 1}"#;
    let created = server.post(frank).await;
    assert_eq!(created.status, 201);
    assert_eq!(created.header("ratelimit"), Some("\"default\";r=0;t=3600"));
    server.post(frank).await.expect_error(429, "rate_limited");
    server.clock.advance(Duration::from_hours(1));
    assert_eq!(server.get("/v1/pets").await.ids(), [1]);
}

#[tokio::test]
async fn a_keys_own_limit_overrides_that_of_the_service() {
    let server = server(Some("2/min")).await;
    let (generous, _) = key_with(&server, "100/s").await;
    let (strict, _) = key_with(&server, "1/h").await;
    for _ in 0..100 {
        assert_eq!(server.get_with_key("/v1/pets", &generous).await.status, 200);
    }
    let reply = server.get_with_key("/v1/pets", &strict).await;
    assert_eq!(
        reply.header("ratelimit-policy"),
        Some("\"default\";q=1;w=3600")
    );
    server
        .get_with_key("/v1/pets", &strict)
        .await
        .expect_error(429, "rate_limited");
    // Each key has its own quota.
    assert_eq!(server.get("/v1/pets").await.status, 200);
}

#[tokio::test]
async fn a_key_that_is_read_again_gets_no_new_quota() {
    let server = server(None).await;
    let (key, _) = key_with(&server, "2/h").await;
    for status in [200, 200, 429, 429] {
        assert_eq!(server.get_with_key("/v1/pets", &key).await.status, status);
        // Longer than a key is cached.
        server.clock.advance(Duration::from_secs(10));
    }
}

#[tokio::test]
async fn each_command_of_a_batch_counts() {
    let server = server(None).await;
    let limit = Some("60/min".parse().unwrap());
    let (key, _) = server.new_limited_key(Scope::StoreWrite, None, limit).await;
    let batch = async |number: u32, count: usize| {
        let add = json!({ "command": "addPet", "name": "Rex", "categoryId": 1 });
        let (bearer, number) = (format!("Bearer {key}"), number.to_string());
        let headers = [
            ("authorization", &*bearer),
            ("content-type", "application/json"),
            ("idempotency-key", &*number),
        ];
        let body = json!(vec![add; count]).to_string();
        server
            .send(Method::POST, "/v1/store/batch", &headers, body)
            .await
    };
    let reply = batch(1, 40).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("ratelimit"), Some("\"default\";r=20;t=1"));
    let rejected = batch(2, 40).await;
    rejected.expect_error(429, "rate_limited");
    assert!(
        rejected.json()["message"]
            .to_string()
            .contains("Each command of a batch counts")
    );
    assert_eq!(rejected.header("retry-after"), Some("21"));
    server.clock.advance(Duration::from_secs(20));
    assert_eq!(batch(2, 40).await.header("retry-after"), Some("2"));
    server.clock.advance(Duration::from_secs(2));
    assert_eq!(batch(2, 40).await.status, 200);
    server.clock.advance(Duration::from_mins(1));
    let never = batch(3, 61).await;
    never.expect_error(400, "invalid_body");
    let message = "This API key allows 60 requests per minute. Each command of a batch counts as \
                   one. Send at most 60 commands in a batch.";
    assert_eq!(never.json()["message"], message);
    server.clock.advance(Duration::from_secs(1));
    assert_eq!(batch(4, 60).await.status, 200);
}
