//! `Idempotency-Key`: retried creates.

use std::{pin::pin, sync::Arc, time::Duration};

use futures_util::future::{Either, select};
use jiff::SignedDuration;
use petstore_domain::{
    ApiKey, Clock, Deployment, KeyId, NewKey, Scope, idempotency::MARK_INTERVAL,
};
use petstore_testing::{
    harness::{Server, Setup, soon},
    reply::Reply,
};
use rand::{SeedableRng, rngs::StdRng};
use reqwest::Method;

use super::errors::failing;

const FRANK: &str = r#"{"name": "Frank", "categoryId": 1}"#;

async fn count(server: &Server) -> usize {
    server.get("/v1/pets?limit=100").await.ids().len()
}

#[tokio::test]
async fn a_retried_create_gets_the_first_response_and_adds_nothing() {
    let server = Server::start().await;
    let first = server.post_with_idempotency_key("\"retry-1\"", FRANK).await;
    assert_eq!(first.status, 201);
    server.post(FRANK).await;
    // The same animal in another spelling.
    let spelt = r#"{"categoryId": 1.0, "status": "available", "x": [], "name": "\u0046rank"}"#;
    for body in [FRANK, spelt] {
        let again = server.post_with_idempotency_key("\"retry-1\"", body).await;
        assert_eq!(again.status, 201);
        assert_eq!(again.body, first.body);
        assert_eq!(again.header("location"), Some("/v1/pets/1"));
    }
    assert_eq!(count(&server).await, 2);
}

#[tokio::test]
async fn a_retry_gets_the_first_response_whatever_became_of_the_animal() {
    let server = Server::start().await;
    let name = "\u{1}\n\"\\\u{7f}é🐈\u{2028}/";
    let body = serde_json::json!({ "name": name, "categoryId": i64::MIN }).to_string();
    let post = || server.post_with_idempotency_key("\"retry-1\"", body.clone());
    let first = post().await;
    assert_eq!(first.status, 201);
    for (by_hand, left) in [
        (
            "UPDATE pets SET status = 'sold', name = 'other', category_id = 3",
            1,
        ),
        ("DELETE FROM pets", 0),
    ] {
        server.execute(by_hand).await;
        let again = post().await;
        assert_eq!(
            (again.status, &again.body),
            (first.status, &first.body),
            "{by_hand}"
        );
        for field in ["location", "content-type", "content-length"] {
            assert_eq!(again.header(field), first.header(field), "{by_hand}");
        }
        assert_eq!(count(&server).await, left, "{by_hand}");
    }
}

/// The response is then made by the database, once.
#[tokio::test]
async fn a_request_of_the_previous_release_gets_the_response_of_the_contract() {
    let server = Server::start().await;
    let every_kind = (1..=0x7f)
        .map(|code| char::from_u32(code).unwrap())
        .collect::<String>();
    let names = [
        "",
        "Frank",
        "\"\\/'\u{8}\u{c}\n\r\t",
        "\u{1}\u{1f}\u{7f}\u{80}\u{9f}",
        "é\u{2028}\u{2029}\u{fffd}\u{ffff}🐈\u{10ffff}",
        &every_kind,
    ];
    let numbers = [i64::MIN, -1, 0, i64::MAX];
    let statuses = ["available", "pending", "sold"];
    for (at, name) in names.iter().enumerate() {
        for (category_id, status) in numbers.iter().flat_map(|n| statuses.map(|of| (n, of))) {
            let pet = serde_json::json!(
                { "name": name, "categoryId": category_id, "status": status }
            );
            let key = format!("\"{at}-{category_id}-{status}\"");
            let first = server
                .post_with_idempotency_key(&key, pet.to_string())
                .await;
            assert_eq!(first.status, 201);
            server.execute("DELETE FROM requests").await;
            let again = server
                .post_with_idempotency_key(&key, pet.to_string())
                .await;
            assert_eq!(
                (again.status, &again.body),
                (first.status, &first.body),
                "{pet}"
            );
            assert_eq!(again.header("location"), first.header("location"));
            server.execute("DELETE FROM pets").await;
            let again = server
                .post_with_idempotency_key(&key, pet.to_string())
                .await;
            assert_eq!(
                (again.status, &again.body),
                (first.status, &first.body),
                "{pet}"
            );
        }
    }
    assert_eq!(count(&server).await, 0);
}

#[tokio::test]
async fn another_animal_under_the_same_key_is_422() {
    let server = Server::start().await;
    let first = server.post_with_idempotency_key("\"retry-1\"", FRANK).await;
    for body in [
        r#"{"name": "frank", "categoryId": 1}"#,
        r#"{"name": "Frank", "categoryId": 2}"#,
        r#"{"name": "Frank", "categoryId": 1, "status": "sold"}"#,
    ] {
        let reply = server.post_with_idempotency_key("\"retry-1\"", body).await;
        reply.expect_error(422, "idempotency_conflict");
    }
    assert_eq!(
        server
            .post_with_idempotency_key("\"retry-1\"", FRANK)
            .await
            .body,
        first.body
    );
    assert_eq!(count(&server).await, 1);
}

#[tokio::test]
async fn a_key_is_valid_with_or_without_quotes() {
    let server = Server::start().await;
    let uuid = "8e03978e-40d5-43dd-bc93-6894a57f9324";
    let first = server.post_with_idempotency_key(uuid, FRANK).await;
    let again = server
        .post_with_idempotency_key(&format!("\"{uuid}\""), FRANK)
        .await;
    assert_eq!((again.status, again.body), (first.status, first.body));
    let (longest, quoted) = ("k".repeat(255), format!("\"{}\"", r"\\".repeat(255)));
    for valid in ["a/b+c==", r#""a,b;c""#, r#""a\"b\\c""#, &longest, &quoted] {
        let reply = server.post_with_idempotency_key(valid, FRANK).await;
        assert_eq!(reply.status, 201, "{valid}");
    }
    let too_long = "k".repeat(256);
    for invalid in [
        "",
        "\"\"",
        "\"",
        "\"a",
        "a\"",
        "\"a\"b\"",
        "\"a\\\"",
        "\"a\\b\"",
        "\"a\"; b=1",
        "\"a\", \"b\"",
        "a, b",
        "a,b",
        "a;b",
        "a b",
        "\"a b\"",
        "a\tb",
        "é",
        "\"é\"",
        &too_long,
        &format!("\"{too_long}\""),
    ] {
        let reply = server.post_with_idempotency_key(invalid, FRANK).await;
        reply.expect_error(400, "invalid_parameter");
        assert!(
            reply.json()["message"]
                .as_str()
                .unwrap()
                .contains("Idempotency-Key")
        );
    }
    let bearer = server.bearer();
    let twice = [
        ("authorization", &*bearer),
        ("content-type", "application/json"),
        ("idempotency-key", "a"),
        ("idempotency-key", "a"),
    ];
    let reply = server.send(Method::POST, "/v1/pets", &twice, FRANK).await;
    reply.expect_error(400, "invalid_parameter");
    assert_eq!(count(&server).await, 6);
}

#[tokio::test]
async fn equal_keys_of_two_clients_are_independent() {
    let server = Server::start().await;
    server.post_with_idempotency_key("\"retry-1\"", FRANK).await;
    let (other, _) = server.new_key(Scope::Write, None).await;
    let headers = [
        ("authorization", &*format!("Bearer {other}")),
        ("content-type", "application/json"),
        ("idempotency-key", "\"retry-1\""),
    ];
    let zoe = r#"{"name": "Zoe", "categoryId": 2}"#;
    let reply = server.send(Method::POST, "/v1/pets", &headers, zoe).await;
    assert_eq!(reply.json()["id"], 2);
}

#[tokio::test]
async fn the_key_the_scope_and_the_body_are_checked_before_the_idempotency_key() {
    let server = Server::start().await;
    server.post_with_idempotency_key("\"retry-1\"", FRANK).await;
    server
        .post_with_idempotency_key("\"retry-1\"", "{}")
        .await
        .expect_error(400, "invalid_body");
    let (reader, _) = server.new_key(Scope::Read, None).await;
    for (key, status, code) in [
        ("wrong", 401, "invalid_api_key"),
        (&reader, 403, "insufficient_scope"),
    ] {
        let headers = [
            ("authorization", &*format!("Bearer {key}")),
            ("content-type", "application/json"),
            ("idempotency-key", "\"retry-1\""),
        ];
        let reply = server.send(Method::POST, "/v1/pets", &headers, FRANK).await;
        reply.expect_error(status, code);
    }
}

#[tokio::test]
async fn a_retry_in_flight_is_409_with_retry_after() {
    let server = Server::start().await;
    let holding = server.hold_writes().await;
    let one = pin!(server.post_with_idempotency_key("\"retry-1\"", FRANK));
    let two = pin!(server.post_with_idempotency_key("\"retry-1\"", FRANK));
    let (rejected, waiting) = match soon(select(one, two)).await {
        Either::Left((rejected, waiting)) | Either::Right((rejected, waiting)) => {
            (rejected, waiting)
        }
    };
    rejected.expect_error(409, "idempotency_in_progress");
    assert_eq!(rejected.header("retry-after"), Some("1"));
    drop(holding);
    let added = soon(waiting).await;
    assert_eq!(added.status, 201);
    let again = server.post_with_idempotency_key("\"retry-1\"", FRANK).await;
    assert_eq!((again.status, again.body), (added.status, added.body));
}

#[tokio::test]
async fn a_request_that_failed_can_be_sent_again() {
    let wrap = |store| -> Arc<dyn petstore_store::Store> {
        failing(store, |_| petstore_store::StoreError::Overloaded)
    };
    let server = Server::start_with(Setup {
        wrap,
        ..Setup::default()
    })
    .await;
    for _ in 0..3 {
        server
            .post_with_idempotency_key("\"retry-1\"", FRANK)
            .await
            .expect_error(503, "unavailable");
    }
    let server = Server::start().await;
    server
        .post_with_idempotency_key("\"retry-1\"", "{}")
        .await
        .expect_error(400, "invalid_body");
    assert_eq!(
        server
            .post_with_idempotency_key("\"retry-1\"", FRANK)
            .await
            .status,
        201
    );
}

/// Posts a body with this API key and the `Idempotency-Key` "retry-1".
async fn post_with(server: &Server, key: &str, body: &'static str) -> Reply {
    let headers = [
        ("authorization", &*format!("Bearer {key}")),
        ("content-type", "application/json"),
        ("idempotency-key", "\"retry-1\""),
    ];
    server.send(Method::POST, "/v1/pets", &headers, body).await
}

/// Rotates a key, and returns its successor.
pub(crate) async fn rotate(server: &Server, id: KeyId, scope: Scope, seed: u64) -> (String, KeyId) {
    let key = ApiKey::generate(Deployment::Production, &mut StdRng::seed_from_u64(seed));
    let successor = NewKey {
        digest: key.digest(),
        name: "successor".to_owned(),
        scope,
        deployment: Deployment::Production,
        expires_at: None,
        rate_limit: None,
    };
    let until = server.clock.now() + SignedDuration::from_hours(1);
    let record = server
        .store
        .rotate_key(id, successor, until, server.act())
        .await;
    let record = record.unwrap().unwrap();
    (key.reveal().to_owned(), record.id)
}

#[tokio::test]
async fn a_create_that_is_retried_with_a_successor_of_its_key_adds_nothing() {
    let server = Server::start().await;
    let (first, id) = server.new_key(Scope::Write, None).await;
    let added = post_with(&server, &first, FRANK).await;
    assert_eq!(added.status, 201);
    let (second, id) = rotate(&server, id, Scope::Write, 101).await;
    let (third, _) = rotate(&server, id, Scope::Write, 102).await;
    for key in [&third, &second, &first] {
        let again = post_with(&server, key, FRANK).await;
        assert_eq!((again.status, &again.body), (added.status, &added.body));
    }
    let zoe = r#"{"name": "Zoe", "categoryId": 2}"#;
    post_with(&server, &third, zoe)
        .await
        .expect_error(422, "idempotency_conflict");
    assert_eq!(count(&server).await, 1);
}

#[tokio::test]
async fn a_retry_with_a_successor_while_the_first_is_in_flight_is_409() {
    let server = Server::start().await;
    let (first, id) = server.new_key(Scope::Write, None).await;
    let (second, _) = rotate(&server, id, Scope::Write, 101).await;
    let holding = server.hold_writes().await;
    let one = pin!(post_with(&server, &first, FRANK));
    let two = pin!(post_with(&server, &second, FRANK));
    let (rejected, waiting) = match soon(select(one, two)).await {
        Either::Left((rejected, waiting)) | Either::Right((rejected, waiting)) => {
            (rejected, waiting)
        }
    };
    rejected.expect_error(409, "idempotency_in_progress");
    drop(holding);
    assert_eq!(soon(waiting).await.status, 201);
    assert_eq!(count(&server).await, 1);
}

#[tokio::test]
async fn a_clock_that_is_25_hours_ahead_for_a_minute_forgets_nothing() {
    let server = Server::start().await;
    let first = server.post_with_idempotency_key("\"retry-1\"", FRANK).await;
    let start = server.clock.now();
    for hours in [25, -25, 24 * 10_000, 0] {
        server.clock.set(start + SignedDuration::from_hours(hours));
        server.clock.advance(Duration::from_mins(1));
        assert!(!server.app.forget_old_requests().await.unwrap());
        let again = server.post_with_idempotency_key("\"retry-1\"", FRANK).await;
        assert_eq!(
            (again.status, &again.body),
            (first.status, &first.body),
            "{hours}"
        );
    }
    assert_eq!(count(&server).await, 1);
}

/// Lets this many marks pass, and returns whether more requests are left to forget.
async fn pass(server: &Server, marks: i64) -> bool {
    let mut more = false;
    for _ in 0..marks {
        server.clock.advance(MARK_INTERVAL);
        more = server.app.forget_old_requests().await.unwrap();
    }
    more
}

#[tokio::test]
async fn requests_are_forgotten_after_48_hours_of_service() {
    let server = Server::start().await;
    for number in 0..201 {
        server
            .post_with_idempotency_key(&format!("\"old-{number}\""), FRANK)
            .await;
    }
    assert!(!server.app.forget_old_requests().await.unwrap());
    assert!(!pass(&server, 1).await);
    server.post_with_idempotency_key("\"young\"", FRANK).await;
    let remembered = async || {
        // Those of clients; over PostgreSQL, the others are writes of the service.
        let remembered = server.count_rows("requests WHERE caller <> 0").await;
        assert_eq!(server.count_rows("idempotency_keys").await, remembered);
        remembered
    };
    assert!(!pass(&server, 287).await);
    assert_eq!(remembered().await, 202);
    assert!(pass(&server, 1).await);
    assert!(!server.app.forget_old_requests().await.unwrap());
    assert_eq!(remembered().await, 1);
    // Old marks are deleted as well.
    assert_eq!(server.count_rows("idempotency_marks").await, 289);
    pass(&server, 9).await;
    assert_eq!(server.count_rows("idempotency_marks").await, 290);
    let other = server
        .post_with_idempotency_key("\"old-0\"", r#"{"name": "Zoe", "categoryId": 2}"#)
        .await;
    assert_eq!(other.json()["id"], 203);
}
