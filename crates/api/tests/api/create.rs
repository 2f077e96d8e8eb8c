//! `createPet`: `POST /v1/pets`.

use std::sync::Mutex;

use petstore_domain::{Actor, Clock, NamedActor, RequestOwner, Scope, WriteContext};
use petstore_store::StoreError;
use petstore_testing::harness::{Server, Setup, soon};
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::errors::failing;

#[tokio::test]
async fn the_created_animal_is_returned_and_listed() {
    let server = Server::start().await;
    let reply = server
        .post(r#"{"name": "Frank", "categoryId": 1, "status": "pending"}"#)
        .await;
    assert_eq!(reply.status, 201);
    let frank = json!({ "id": 1, "name": "Frank", "categoryId": 1, "status": "pending" });
    assert_eq!(reply.json(), frank);
    assert_eq!(server.get("/v1/pets").await.json(), json!([frank]));
    assert_eq!(server.get("/v1/pets/1").await.json(), frank);
}

#[tokio::test]
async fn ids_ascend_from_1() {
    let server = Server::start().await;
    for id in 1..=5 {
        let reply = server.post(r#"{"name": "", "categoryId": 1}"#).await;
        assert_eq!(reply.json()["id"], id);
        // A rejected create takes no id.
        server
            .post(r#"{"name": ""}"#)
            .await
            .expect_error(400, "invalid_body");
    }
}

#[tokio::test]
async fn status_omitted_is_available() {
    let server = Server::start().await;
    let reply = server.post(r#"{"name": "Frank", "categoryId": 1}"#).await;
    assert_eq!(reply.json()["status"], "available");
}

#[tokio::test]
async fn status_null_is_400() {
    let server = Server::start().await;
    let reply = server
        .post(r#"{"name": "Frank", "categoryId": 1, "status": null}"#)
        .await;
    reply.expect_error(400, "invalid_body");
}

#[tokio::test]
async fn a_name_is_any_unicode_text_without_u_0000_and_stays_unchanged() {
    let server = Server::start().await;
    let long = "n".repeat(60_000);
    let names = [
        "",
        " ",
        "  padded\t",
        "*Seth",
        "O'Malley \"the\" cat\\",
        "Zoë",
        "Zoe\u{308}",
        "\u{1}\u{7f}\u{85}\u{2028}\u{feff}",
        "猫🐈\u{10FFFF}\u{FFFF}",
        "'; DROP TABLE pets; --",
        &*long,
    ];
    for name in names {
        let reply = server
            .post(json!({ "name": name, "categoryId": 1 }).to_string())
            .await;
        assert_eq!(reply.json()["name"], name);
        let id = &reply.json()["id"];
        assert_eq!(
            server.get(&format!("/v1/pets/{id}")).await.json()["name"],
            name
        );
    }
    let list = server.get("/v1/pets").await.json();
    let listed: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|pet| &pet["name"])
        .collect();
    assert_eq!(listed, names);
    for body in [
        r#"{"name": "\u0000", "categoryId": 1}"#,
        r#"{"name": "a\u0000b", "categoryId": 1}"#,
    ] {
        server.post(body).await.expect_error(400, "invalid_body");
    }
}

#[tokio::test]
async fn a_category_id_is_any_int64() {
    let server = Server::start().await;
    for id in [i64::MIN, -1, 0, 1, (1 << 53) + 1, i64::MAX] {
        let reply = server
            .post(format!(r#"{{"name": "", "categoryId": {id}}}"#))
            .await;
        assert_eq!(reply.status, 201);
        assert_eq!(reply.json()["categoryId"], id);
    }
}

#[tokio::test]
async fn integers_follow_json_schema() {
    let server = Server::start().await;
    for (number, value) in [
        ("1.0", 1_i64),
        ("-3.00", -3),
        ("1e3", 1000),
        ("12.5E1", 125),
        ("-0", 0),
        ("9007199254740993.0", 9_007_199_254_740_993),
    ] {
        let reply = server
            .post(format!(r#"{{"name": "", "categoryId": {number}}}"#))
            .await;
        assert_eq!(reply.json()["categoryId"], value, "{number}");
    }
    for other in [
        "1.5",
        "\"1\"",
        "true",
        "null",
        "[1]",
        "{}",
        "9223372036854775808",
        "-9223372036854775809",
        "1e400",
    ] {
        let reply = server
            .post(format!(r#"{{"name": "", "categoryId": {other}}}"#))
            .await;
        reply.expect_error(400, "invalid_body");
        assert!(
            reply.json()["message"]
                .as_str()
                .unwrap()
                .contains("categoryId"),
            "{other}"
        );
    }
}

#[tokio::test]
async fn unknown_members_and_id_are_ignored() {
    let server = Server::start().await;
    let body = r#"{"id": 99, "name": "Frank", "tags": [{"x": 1e400, "name": {}}, null, -0.0, "\ud83d\ude00"], "categoryId": 1,
                   "Name": "no", "status": "sold"}"#;
    let reply = server.post(body).await;
    assert_eq!(
        reply.json(),
        json!({ "id": 1, "name": "Frank", "categoryId": 1, "status": "sold" })
    );
}

#[tokio::test]
async fn duplicate_members_invalid_json_lone_surrogates_and_invalid_utf_8_are_400() {
    let server = Server::start().await;
    let bodies: [&[u8]; 23] = [
        br#"{"name": "a", "name": "a", "categoryId": 1}"#,
        br#"{"name": "a", "categoryId": 1, "categoryId": 2}"#,
        br#"{"name": "a", "categoryId": 1, "x": 1, "x": 1}"#,
        br#"{"name": "a", "categoryId": 1, "x": {"y": 1, "y": 1}}"#,
        br#"{"name": "a", "categoryId": 1"#,
        br#"{"name": "a", "categoryId": 1,}"#,
        br#"{"name": "a", "categoryId": 1} x"#,
        br#"{"name": "a", "categoryId": 01}"#,
        br#"{"name": "a", "categoryId": NaN}"#,
        b"{'name': 'a', 'categoryId': 1}",
        br#"{"name": "\ud800", "categoryId": 1}"#,
        br#"{"name": "\udc00\ud800", "categoryId": 1}"#,
        br#"{"name": "a", "categoryId": 1, "x": "\ud800"}"#,
        b"{\"name\": \"\xff\", \"categoryId\": 1}",
        b"{\"name\": \"\xed\xa0\x80\", \"categoryId\": 1}",
        b"{\"name\": \"a\", \"categoryId\": 1, \"x\": \"\xc3\"}",
        b"\xef\xbb\xbf{\"name\": \"a\", \"categoryId\": 1}",
        b"",
        b" \n",
        b"{}{}",
        br#"{name: "a"}"#,
        br#"{"\ud800": 1}"#,
        b"{\"x\": \"\x01\"}",
    ];
    for body in bodies {
        let reply = server.post(body).await;
        reply.expect_error(400, "invalid_body");
    }
    for body in [
        r#"{"name": "a", "n\u0061me": "b"}"#,
        r#"{"x": {"name": 1, "name": 2}}"#,
        r#"{"x": [{"name": 1, "name": 2}]}"#,
    ] {
        let message = &server.post(body).await.json()["message"];
        assert_eq!(
            message, r#"The body has the member "name" twice."#,
            "{body}"
        );
    }
    assert_eq!(server.get("/v1/pets").await.body, b"[]");
}

#[tokio::test]
async fn a_body_may_nest_64_deep_and_no_deeper() {
    let server = Server::start().await;
    let with = |value: String| format!(r#"{{"name": "", "categoryId": 1, "x": {value}}}"#);
    let nested = |depth: usize| with("[".repeat(depth - 1) + &"]".repeat(depth - 1));
    assert_eq!(server.post(nested(64)).await.status, 201);
    for depth in [65, 20_000] {
        let message = &server.post(nested(depth)).await.json()["message"];
        assert_eq!(message, "The body nests deeper than 64 levels.", "{depth}");
    }
    let brackets = with(format!(r#""\"{}""#, "[".repeat(100)));
    assert_eq!(server.post(brackets).await.status, 201);
}

#[tokio::test]
async fn an_invalid_new_pet_is_400() {
    let server = Server::start().await;
    for (body, says) in [
        ("", "The request body is empty."),
        ("{", "The body is not valid JSON, at line 1, column 1."),
        (
            "\u{feff}{}",
            "The body is not valid JSON, at line 1, column 1. It begins with a byte order mark: send UTF-8 without one.",
        ),
        (
            "{\0\"\0n\0",
            "The body is not valid JSON, at line 1, column 2. It is in UTF-16: send it in UTF-8.",
        ),
        ("null", "The body must be a JSON object."),
        ("[]", "The body must be a JSON object."),
        ("\"name\"", "The body must be a JSON object."),
        ("{}", "name is missing"),
        (r#"{"categoryId": 1}"#, "name is missing"),
        (r#"{"name": null, "categoryId": 1}"#, "name must be"),
        (r#"{"name": 7, "categoryId": 1}"#, "name must be"),
        (r#"{"name": "\ud800", "categoryId": 1}"#, "name must be"),
        (r#"{"name": "a\u0000", "categoryId": 1}"#, "name must not"),
        (r#"{"name": "a"}"#, "categoryId is missing"),
        (r#"{"name": "a", "categoryId": "1"}"#, "categoryId must be"),
        (r#"{"name": "a", "categoryId": 1.5}"#, "categoryId must be"),
        (
            r#"{"name": "a", "categoryId": 1, "status": ""}"#,
            "status must be",
        ),
        (
            r#"{"name": "a", "categoryId": 1, "status": "Sold"}"#,
            "status must be",
        ),
        (
            r#"{"name": "a", "categoryId": 1, "status": 1}"#,
            "status must be",
        ),
        (
            r#"{"name": "a", "categoryId": 1, "status": null}"#,
            "status must be",
        ),
        (
            r#"{"name": "a", "categoryId": 1, "status": ["sold"]}"#,
            "status must be",
        ),
    ] {
        let reply = server.post(body).await;
        reply.expect_error(400, "invalid_body");
        let message = reply.json()["message"].as_str().unwrap().to_owned();
        assert!(message.starts_with(says), "{body}: {message}");
    }
}

#[tokio::test]
async fn a_query_parameter_is_400() {
    let server = Server::start().await;
    let headers = [
        ("authorization", &*server.bearer()),
        ("content-type", "application/json"),
    ];
    let body = r#"{"name": "", "categoryId": 1}"#;
    let reply = server
        .send(Method::POST, "/v1/pets?dry=1", &headers, body)
        .await;
    reply.expect_error(400, "unknown_parameter");
}

#[tokio::test]
async fn location_names_the_animal() {
    let server = Server::start().await;
    let reply = server.post(r#"{"name": "Frank", "categoryId": 1}"#).await;
    assert_eq!(reply.header("location"), Some("/v1/pets/1"));
    assert_eq!(server.get("/v1/pets/1").await.json(), reply.json());
}

#[tokio::test]
async fn a_chunked_body_that_is_read_to_its_end_leaves_the_connection_open() {
    let server = Server::start().await;
    let create = format!(
        "POST /v1/pets HTTP/1.1\r\nhost: x\r\nauthorization: {}\r\n\
         content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n\
         1d\r\n{{\"name\": \"\", \"categoryId\": 1}}\r\n0\r\n\r\n",
        server.bearer()
    );
    let mut stream = server.connect().await;
    for _ in 0..3 {
        stream.write_all(create.as_bytes()).await.unwrap();
        let mut response = Vec::new();
        while !response.ends_with(b"}") {
            assert!(
                soon(stream.read_buf(&mut response)).await.unwrap() > 0,
                "{response:?}"
            );
        }
        let response = String::from_utf8(response).unwrap();
        assert!(response.starts_with("HTTP/1.1 201 "), "{response}");
        assert!(!response.contains("Connection: close"), "{response}");
    }
}

#[tokio::test]
async fn the_store_gets_the_key_the_time_and_the_request_of_a_create() {
    static GIVEN: Mutex<Option<WriteContext>> = Mutex::new(None);
    let wrap = |store| {
        failing(store, |context| {
            *GIVEN.lock().unwrap() = context;
            StoreError::Overloaded
        })
    };
    let server = Server::start_with(Setup {
        wrap,
        ..Setup::default()
    })
    .await;
    let (key, id) = server.new_key(Scope::Write, None).await;
    let bearer = format!("Bearer {key}");
    let json = ("content-type", "application/json");
    let headers = [
        ("authorization", &*bearer),
        json,
        ("x-request-id", "till-7"),
    ];
    let with_key = [&headers[..], &[("idempotency-key", "\"retry-1\"")]].concat();
    for headers in [&headers[..], &with_key] {
        let body = r#"{"name": "Frank", "categoryId": 1}"#;
        let reply = server.send(Method::POST, "/v1/pets", headers, body).await;
        reply.expect_error(503, "unavailable");
        let given = GIVEN.lock().unwrap().take().unwrap();
        let actor = NamedActor {
            actor: Actor::Key(id),
            name: Some("test".into()),
        };
        assert_eq!((given.actor, given.now), (actor, server.clock.now()));
        assert_eq!(given.request_id.as_deref(), Some("till-7"));
        let request = given
            .idempotency
            .map(|request| (request.lineage, request.operation));
        assert_eq!(
            request,
            (headers.len() == 4).then_some((RequestOwner::from(id), "createPet"))
        );
    }
}
