//! Authentication: every request under `/v1` needs a valid key.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use petstore_api::Api;
use petstore_domain::{ApiKey, Client, Clock, Deployment, Scope};
use petstore_testing::harness::{Server, Setup, soon};
use rand::{SeedableRng, rngs::StdRng};
use reqwest::Method;

/// Requests that would fail in different ways with a valid key.
const REQUESTS: [(Method, &str); 10] = [
    (Method::GET, "/v1/pets"),
    (Method::GET, "/v1/pets?limit=0"),
    (Method::GET, "/v1/pets/x"),
    (Method::POST, "/v1/pets"),
    (Method::DELETE, "/v1/pets"),
    (Method::GET, "/v1/nothing"),
    (Method::GET, "/v1"),
    (Method::GET, "/v1/"),
    (Method::GET, "/v1//"),
    (Method::OPTIONS, "/v1/pets"),
];

#[tokio::test]
async fn the_key_is_checked_first() {
    let server = Server::start().await;
    for (method, target) in REQUESTS {
        let reply = server.send(method.clone(), target, &[], "{").await;
        reply.expect_error(401, "missing_api_key");
        let wrong = [("authorization", "Bearer wrong")];
        let reply = server
            .send(method, target, &wrong, vec![b' '; 100_000])
            .await;
        reply.expect_error(401, "invalid_api_key");
    }
}

/// Sends well-formed and malformed keys that were never issued, until `stop` is set; fails unless
/// each is rejected. Returns the number of keys.
async fn send_invalid_keys(api: Arc<Api>, seed: u64, stop: Arc<AtomicBool>) -> usize {
    let client = Client::from(IpAddr::from([127, 0, 0, 1]));
    let mut random = StdRng::seed_from_u64(seed);
    let mut guesses = 0;
    while !stop.load(Relaxed) {
        let unknown = ApiKey::generate(Deployment::Production, &mut random);
        for key in [unknown.reveal(), "malformed"] {
            let request = Request::get("/v1/pets")
                .header("host", "x")
                .header("authorization", format!("Bearer {key}"))
                .body(Empty::<Bytes>::new().map_err(|never| match never {}));
            assert_eq!(api.handle(&client, request.unwrap()).await.status(), 401);
            guesses += 1;
        }
    }
    guesses
}

#[tokio::test]
async fn a_new_key_is_accepted_despite_a_flood_of_invalid_keys_from_its_address() {
    let server = Server::start().await;
    let stop = Arc::new(AtomicBool::new(false));
    let guessing: Vec<_> = (0..500)
        .map(|seed| {
            tokio::spawn(send_invalid_keys(
                Arc::clone(&server.api),
                seed,
                Arc::clone(&stop),
            ))
        })
        .collect();
    for _ in 0..5 {
        let (key, _) = server.new_key(Scope::Read, None).await;
        assert_eq!(
            soon(server.get_with_key("/v1/pets", &key)).await.status,
            200
        );
    }
    stop.store(true, Relaxed);
    for guesses in guessing {
        assert!(soon(guesses).await.unwrap() > 0);
    }
}

#[tokio::test]
async fn a_401_tells_the_client_how_to_authenticate() {
    let server = Server::start().await;
    let reply = server.send(Method::GET, "/v1/pets", &[], "").await;
    assert_eq!(
        reply.header("www-authenticate"),
        Some(r#"Bearer realm="petstore""#)
    );
    let reply = server.get_with_key("/v1/pets", "wrong").await;
    assert_eq!(
        reply.header("www-authenticate"),
        Some(r#"Bearer realm="petstore", error="invalid_token""#)
    );
}

#[tokio::test]
async fn the_key_is_sent_as_a_bearer_token_in_any_case_of_the_scheme() {
    let server = Server::start().await;
    let key = &server.key;
    for value in [
        format!("Bearer {key}"),
        format!("bearer {key}"),
        format!("BEARER   {key}"),
    ] {
        let reply = server
            .send(Method::GET, "/v1/pets", &[("authorization", &value)], "")
            .await;
        assert_eq!(reply.status, 200, "{value}");
    }
    for value in [
        key.clone(),
        format!("Basic {key}"),
        "Bearer".to_owned(),
        format!("Bearer{key}"),
    ] {
        let reply = server
            .send(Method::GET, "/v1/pets", &[("authorization", &value)], "")
            .await;
        reply.expect_error(401, "missing_api_key");
    }
    for value in [
        format!("Bearer {key} x"),
        format!("Bearer {key},"),
        "Bearer \u{e9}".to_owned(),
    ] {
        let reply = server
            .send(Method::GET, "/v1/pets", &[("authorization", &value)], "")
            .await;
        reply.expect_error(401, "invalid_api_key");
    }
    let bearer = server.bearer();
    let twice = [("authorization", &*bearer), ("authorization", &*bearer)];
    let reply = server.send(Method::GET, "/v1/pets", &twice, "").await;
    reply.expect_error(401, "invalid_api_key");
}

#[tokio::test]
async fn an_unknown_key_in_a_valid_format_is_401() {
    let server = Server::start().await;
    let other = Server::start().await;
    let (unknown, _) = other.new_key(Scope::Write, None).await;
    server
        .get_with_key("/v1/pets", &unknown)
        .await
        .expect_error(401, "invalid_api_key");
}

#[tokio::test]
async fn a_key_created_while_the_server_runs_works_at_once() {
    let server = Server::start().await;
    let (key, _) = server.new_key(Scope::Read, None).await;
    assert_eq!(server.get_with_key("/v1/pets", &key).await.status, 200);
}

#[tokio::test]
async fn a_revoked_key_is_rejected_within_5_seconds() {
    let server = Server::start().await;
    let (key, id) = server.new_key(Scope::Read, None).await;
    assert_eq!(server.get_with_key("/v1/pets", &key).await.status, 200);
    server.store.revoke_key(id, server.act()).await.unwrap();
    server.clock.advance(Duration::from_secs(5));
    server
        .get_with_key("/v1/pets", &key)
        .await
        .expect_error(401, "invalid_api_key");
}

#[tokio::test]
async fn an_expired_key_is_rejected_from_the_moment_of_expiry() {
    let server = Server::start().await;
    let (key, _) = server
        .new_key(Scope::Read, Some(Duration::from_mins(1)))
        .await;
    server.clock.advance(Duration::from_secs(59));
    assert_eq!(server.get_with_key("/v1/pets", &key).await.status, 200);
    server.clock.advance(Duration::from_secs(1));
    server
        .get_with_key("/v1/pets", &key)
        .await
        .expect_error(401, "invalid_api_key");
}

#[tokio::test]
async fn a_key_that_may_only_read_is_403_on_a_create() {
    let server = Server::start().await;
    let (key, _) = server.new_key(Scope::Read, None).await;
    let bearer = format!("Bearer {key}");
    let headers = [
        ("authorization", &*bearer),
        ("content-type", "application/json"),
    ];
    // Checked before the body.
    for body in [r#"{"name": "", "categoryId": 1}"#, "{"] {
        let reply = server.send(Method::POST, "/v1/pets", &headers, body).await;
        reply.expect_error(403, "insufficient_scope");
    }
    assert_eq!(server.get_with_key("/v1/pets", &key).await.body, b"[]");
    assert_eq!(server.get_with_key("/v1/pets/1", &key).await.status, 404);
}

#[tokio::test]
async fn a_key_of_one_deployment_is_rejected_by_the_other() {
    for (own, other) in [
        (Deployment::Production, Deployment::Staging),
        (Deployment::Staging, Deployment::Production),
    ] {
        let server = Server::start_with(Setup {
            deployment: own,
            ..Setup::default()
        })
        .await;
        let foreign = Server::start_with(Setup {
            deployment: other,
            ..Setup::default()
        })
        .await;
        assert!(server.key.starts_with(own.key_prefix()));
        assert_eq!(server.get("/v1/pets").await.status, 200);
        let reply = server.get_with_key("/v1/pets", &foreign.key).await;
        reply.expect_error(401, "invalid_api_key");
    }
}

#[tokio::test]
async fn the_last_use_of_a_key_is_saved_only_on_request() {
    let server = Server::start().await;
    let (key, id) = server.new_key(Scope::Read, None).await;
    let last_use = async || {
        server
            .store
            .get_key(id)
            .await
            .unwrap()
            .unwrap()
            .last_used_at
    };
    server.get_with_key("/v1/pets", &key).await;
    server.clock.advance(Duration::from_secs(7));
    let now = server.clock.now();
    server.get_with_key("/v1/pets", &key).await;
    assert_eq!(last_use().await, None);
    server.app.save_key_uses().await.unwrap();
    assert_eq!(last_use().await, Some(now));
}

#[tokio::test]
async fn the_last_deprecated_call_of_each_key_is_recorded() {
    let server = Server::start().await;
    let (caller, calling) = server.new_key(Scope::Read, None).await;
    let (reader, reading) = server.new_key(Scope::Read, None).await;
    let record = async |id| server.store.get_key(id).await.unwrap().unwrap();
    // Counted even if the animal does not exist.
    server.get_with_key("/v1/pets/17", &caller).await;
    let now = server.clock.now();
    server.clock.advance(Duration::from_secs(7));
    server.get_with_key("/v1/pets", &caller).await;
    server.get_with_key("/v1/pets", &reader).await;
    server.app.save_key_uses().await.unwrap();
    assert_eq!(record(calling).await.last_deprecated_call_at, Some(now));
    assert_eq!(record(calling).await.last_used_at, Some(server.clock.now()));
    assert_eq!(record(reading).await.last_deprecated_call_at, None);
}
