//! The order of checks: the first check that fails decides the response.

use std::time::Duration;

use petstore_domain::Scope;
use petstore_testing::harness::Server;
use reqwest::Method;
use serde_json::json;

use super::{Setup, Store};

/// What can be wrong with a request, in the order of the checks.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Wrong {
    Key,
    Path,
    Method,
    Scope,
    Parameter,
    Memory,
    Subject,
    Absent,
    Stale,
    State,
}

use Wrong::{
    Absent, Key, Memory, Method as Verb, Parameter, Path, Scope as Lacking, Stale, State, Subject,
};

const EXPECTED: [(Wrong, u16, &str); 10] = [
    (Key, 401, "invalid_api_key"),
    (Path, 404, "not_found"),
    (Verb, 405, "method_not_allowed"),
    (Lacking, 403, "insufficient_scope"),
    (Parameter, 400, "unknown_parameter"),
    (Memory, 422, "idempotency_conflict"),
    (Subject, 404, "not_found"),
    (Absent, 428, "precondition_required"),
    (Stale, 412, "precondition_failed"),
    (State, 409, "invalid_transition"),
];

/// A request with these things wrong.
async fn send(store: &Store, reader: &str, wrong: &[Wrong]) -> super::Reply {
    let is = |what| wrong.contains(&what);
    let key = if is(Key) {
        "x"
    } else if is(Lacking) {
        reader
    } else {
        &store.key
    };
    let animal = if is(Subject) { 99 } else { 1 };
    let method = if is(Verb) { Method::PUT } else { Method::POST };
    let path = if is(Path) { "restored" } else { "restore" };
    let query = if is(Parameter) { "?x=1" } else { "" };
    let bearer = format!("Bearer {key}");
    let mut headers = vec![("authorization", &*bearer)];
    if is(Memory) {
        headers.push(("idempotency-key", "used"));
    }
    if !is(Absent) {
        headers.push(("if-match", if is(Stale) { "\"9\"" } else { "\"1\"" }));
    }
    let target = format!("/v1/store/pets/{animal}/{path}{query}");
    store.server.send(method, &target, &headers, "").await
}

#[tokio::test]
async fn for_each_two_checks_that_fail_the_first_one_decides() {
    let store = Store::open().await;
    store.add("Rex", "available").await;
    store.add("Max", "available").await;
    store.withdraw(2, 1).await.ok();
    let used = [("idempotency-key", "used"), ("if-match", "\"2\"")];
    store.send("POST /pets/2/restore", &used, "").await.ok();
    let (reader, _) = store.server.new_key(Scope::StoreRead, None).await;
    for (at, &(first, status, code)) in EXPECTED.iter().enumerate() {
        // An animal that is not withdrawn cannot be restored.
        send(&store, &reader, &[first])
            .await
            .expect_error(status, code);
        for &(second, ..) in &EXPECTED[at + 1..] {
            send(&store, &reader, &[first, second])
                .await
                .expect_error(status, code);
        }
    }
    assert_eq!(store.state(1).await, ("available".to_owned(), 1));
}

#[tokio::test]
async fn a_request_above_the_rate_limit_is_429_whatever_else_is_wrong() {
    let store = Store::open_with(Setup {
        rate_limit: Some("1/h"),
        ..Setup::default()
    })
    .await;
    store.get("/pets").await.ok();
    for path in ["/pets?x=1", "/nothing", "/pets/99"] {
        store.get(path).await.expect_error(429, "rate_limited");
    }
    store.server.clock.advance(Duration::from_hours(1));
    store.get("/nothing").await.expect_error(404, "not_found");
}

#[tokio::test]
async fn a_body_is_checked_before_its_subject_and_its_version() {
    let store = Store::open().await;
    let large = json!({ "note": "x".repeat(70_000) }).to_string();
    let typed = [("content-type", "text/plain")];
    for subject in ["/pets/99", "/pets/x"] {
        let call = format!("PATCH {subject}");
        store
            .send(&call, &typed, "{}")
            .await
            .expect_error(415, "unsupported_media_type");
        store
            .send(&call, &[], &large)
            .await
            .expect_error(413, "payload_too_large");
        store
            .send(&call, &[], "{")
            .await
            .expect_error(400, "invalid_body");
        store
            .send(&call, &[], "{\"x\": 1}")
            .await
            .expect_error(400, "unknown_member");
        store
            .send(&call, &[], "{}")
            .await
            .expect_error(404, "not_found");
    }
    let call = "POST /orders/99/complete";
    store
        .send(call, &typed, "{}")
        .await
        .expect_error(415, "unsupported_media_type");
    store
        .send(call, &typed, "")
        .await
        .expect_error(404, "not_found");
}

#[tokio::test]
async fn an_unsupported_method_is_405_with_allow() {
    let server = Server::start().await;
    let (key, _) = server.new_key(Scope::StoreAdmin, None).await;
    let bearer = format!("Bearer {key}");
    for (method, path, allow) in [
        ("DELETE", "pets", "GET, HEAD, POST"),
        ("DELETE", "pets/1", "GET, HEAD, PATCH"),
        ("GET", "pets/1/withdraw", "POST"),
        ("PUT", "orders", "GET, HEAD, POST"),
        ("GET", "categories/1", "PUT, DELETE"),
        ("GET", "batch", "POST"),
    ] {
        let headers = [("authorization", &*bearer)];
        let method: Method = method.parse().unwrap();
        let reply = server
            .send(method, &format!("/v1/store/{path}"), &headers, "")
            .await;
        reply.expect_error(405, "method_not_allowed");
        assert_eq!(reply.header("allow"), Some(allow));
    }
}
