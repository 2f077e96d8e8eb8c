//! `ETag` and `If-None-Match`.

use std::net::IpAddr;

use bytes::Bytes;
use http_body_util::Empty;
use hyper::Request;
use petstore_api::Api;
use petstore_domain::PetStatus;
use petstore_testing::{harness::Server, interface, reply::Reply};
use reqwest::Method;

const ANIMAL: &str = r#"{"name": "Frank", "categoryId": 1}"#;

async fn get_unless(server: &Server, target: &str, tag: &str) -> Reply {
    let headers = [("authorization", &*server.bearer()), ("if-none-match", tag)];
    server.send(Method::GET, target, &headers, "").await
}

fn tag(reply: &Reply) -> String {
    reply.header("etag").unwrap().to_owned()
}

#[tokio::test]
async fn an_unchanged_response_is_304_without_a_body() {
    let server = Server::start().await;
    server.fill([PetStatus::Sold; 5]).await;
    let first = server.get("/v1/pets?limit=2").await;
    let second = first.next().unwrap();
    for target in [
        "/v1/pets?limit=2",
        &second,
        "/v1/pets?status=pending",
        "/v1/pets/3",
    ] {
        let full = server.get(target).await;
        assert_eq!(full.status, 200);
        let again = get_unless(&server, target, &tag(&full)).await;
        assert_eq!(
            (again.status.as_u16(), again.body.len()),
            (304, 0),
            "{target}"
        );
        for field in ["etag", "link", "cache-control", "deprecation"] {
            assert_eq!(again.header(field), full.header(field), "{target} {field}");
        }
        assert_eq!(
            (again.header("content-type"), again.header("content-length")),
            (None, None)
        );
    }
}

#[tokio::test]
async fn a_changed_response_is_200_with_a_new_tag() {
    let server = Server::start().await;
    server.fill([PetStatus::Available; 2]).await;
    // A full last page, and one that is not full.
    for target in ["/v1/pets?limit=2", "/v1/pets"] {
        let before = tag(&server.get(target).await);
        server.post(ANIMAL).await;
        let after = get_unless(&server, target, &before).await;
        assert_eq!(after.status, 200, "{target}");
        assert_ne!(tag(&after), before);
    }
    // The lists of other statuses are unchanged.
    let sold = tag(&server.get("/v1/pets?status=sold").await);
    server.post(ANIMAL).await;
    assert_eq!(
        get_unless(&server, "/v1/pets?status=sold", &sold)
            .await
            .status,
        304
    );
}

#[tokio::test]
async fn a_tag_is_valid_in_every_process() {
    let server = Server::start().await;
    server.fill([PetStatus::Available; 3]).await;
    let (store, clock) = (server.open_again().await, server.clock.clone());
    let other = interface::api(store, clock);
    for target in ["/v1/pets?limit=2", "/v1/pets/2"] {
        let known = tag(&server.get(target).await);
        assert_eq!(ask(&server, &other, target, &known).await, 304);
    }
    let known = tag(&server.get("/v1/pets").await);
    assert_eq!(ask(&server, &other, "/v1/pets", &known).await, 304);
    server.post(ANIMAL).await;
    assert_eq!(ask(&server, &other, "/v1/pets", &known).await, 200);
}

#[tokio::test]
async fn clients_cannot_compute_a_tag_because_every_database_has_its_own_key() {
    let (one, other) = (Server::start().await, Server::start().await);
    for server in [&one, &other] {
        server.fill([PetStatus::Available; 3]).await;
    }
    for target in ["/v1/pets?limit=2", "/v1/pets", "/v1/pets/2"] {
        let (one, other) = (one.get(target).await, other.get(target).await);
        assert_eq!(one.body, other.body);
        assert_ne!(tag(&one), tag(&other), "{target}");
    }
}

/// The status code from another process.
async fn ask(server: &Server, api: &Api, target: &str, tag: &str) -> u16 {
    let request = Request::get(target)
        .header("host", "x")
        .header("authorization", server.bearer())
        .header("if-none-match", tag)
        .body(Empty::<Bytes>::new())
        .unwrap();
    api.handle(&IpAddr::from([127, 0, 0, 1]).into(), request)
        .await
        .status()
        .as_u16()
}

#[tokio::test]
async fn if_none_match_is_compared_weakly_and_accepts_lists_and_the_asterisk() {
    let server = Server::start().await;
    server.fill([PetStatus::Available; 1]).await;
    let known = tag(&server.get("/v1/pets").await);
    let strong = known.trim_start_matches("W/");
    for given in [
        &known,
        strong,
        "*",
        &format!("\"x\", {known}"),
        &format!("W/\"a,b\" ,{strong}"),
    ] {
        assert_eq!(
            get_unless(&server, "/v1/pets", given).await.status,
            304,
            "{given}"
        );
    }
    let bearer = server.bearer();
    let in_two_fields = [
        ("authorization", &*bearer),
        ("if-none-match", "\"x\""),
        ("if-none-match", &*known),
    ];
    let reply = server
        .send(Method::GET, "/v1/pets", &in_two_fields, "")
        .await;
    assert_eq!(reply.status, 304);
    let (bare, longer) = (strong.trim_matches('"'), strong.replace('"', "c\""));
    for given in ["\"x\"", "W/\"\"", "", "x", "**", bare, &longer] {
        assert_eq!(
            get_unless(&server, "/v1/pets", given).await.status,
            200,
            "{given}"
        );
    }
    // Errors have no tag.
    get_unless(&server, "/v1/pets/9", "*")
        .await
        .expect_error(404, "not_found");
    get_unless(&server, "/v1/pets?limit=0", "*")
        .await
        .expect_error(400, "invalid_parameter");
    let wrong = [("authorization", "Bearer x"), ("if-none-match", &known)];
    let rejected = server.send(Method::GET, "/v1/pets", &wrong, "").await;
    rejected.expect_error(401, "invalid_api_key");
}

#[tokio::test]
async fn head_gets_304_like_get_and_a_create_ignores_the_condition() {
    let server = Server::start().await;
    let known = tag(&server.get("/v1/pets").await);
    let bearer = server.bearer();
    let headers = [("authorization", &*bearer), ("if-none-match", &known)];
    let head = server.send(Method::HEAD, "/v1/pets", &headers, "").await;
    assert_eq!(
        (head.status.as_u16(), head.header("content-length")),
        (304, None)
    );
    let headers = [
        ("authorization", &*bearer),
        ("if-none-match", "*"),
        ("content-type", "application/json"),
    ];
    assert_eq!(
        server
            .send(Method::POST, "/v1/pets", &headers, ANIMAL)
            .await
            .status,
        201
    );
}
