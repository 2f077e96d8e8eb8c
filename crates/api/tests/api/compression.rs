//! Content codings, by `Accept-Encoding`.

use petstore_domain::PetStatus;
use petstore_testing::{
    contract::decoded,
    harness::{Server, Setup},
    reply::Reply,
};
use reqwest::Method;

/// A page of 6 KB.
const LARGE: &str = "/v1/pets?limit=100";

async fn start() -> Server {
    let server = Server::start().await;
    server.fill([PetStatus::Sold; 100]).await;
    server
}

async fn ask(server: &Server, method: Method, target: &str, accepted: &str) -> Reply {
    let headers = [
        ("authorization", &*server.bearer()),
        ("accept-encoding", accepted),
    ];
    server.send(method, target, &headers, "").await
}

fn vary(reply: &Reply) -> Vec<&str> {
    reply
        .headers
        .get_all("vary")
        .iter()
        .map(|value| value.to_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_large_response_is_compressed_with_gzip() {
    let server = start().await;
    for target in [LARGE, "/openapi.json", "/openapi.yaml"] {
        let plain = server.get(target).await;
        let is_page = target == LARGE;
        for accepted in ["gzip", "gzip, br, zstd", "*"] {
            let reply = ask(&server, Method::GET, target, accepted).await;
            assert_eq!(reply.status, 200);
            assert_eq!(
                reply.header("content-encoding"),
                Some("gzip"),
                "{target} {accepted}"
            );
            assert_eq!(
                decoded(&reply.headers, &reply.body),
                plain.body,
                "{target} {accepted}"
            );
            assert!(
                reply.body.len() < plain.body.len() / 2,
                "{target} {accepted}"
            );
            let length = reply.body.len().to_string();
            assert_eq!(reply.header("content-length"), Some(&*length));
            for field in ["cache-control", "content-type", "link"] {
                assert_eq!(reply.header(field), plain.header(field), "{target} {field}");
            }
            // The tag of a page is weak; that of a document identifies its bytes.
            assert_eq!(
                reply.header("etag") == plain.header("etag"),
                is_page,
                "{target}"
            );
            assert_eq!(vary(&reply), ["Accept-Encoding"]);
        }
    }
}

#[tokio::test]
async fn gzip_is_used_if_the_request_prefers_it() {
    let server = start().await;
    for accepted in [
        "GZIP;Q=0.001",
        "x-gzip",
        "br, deflate , gzip ; q=0.5",
        "br;q=0.5, gzip;q=0.6",
        "br;q=0, *;q=0.1",
        "gzip, *;q=0",
        "identity;q=0.5, gzip;q=0.5",
        "gzip, br;q=much",
    ] {
        let reply = ask(&server, Method::GET, LARGE, accepted).await;
        assert_eq!(reply.header("content-encoding"), Some("gzip"), "{accepted}");
    }
    for accepted in [
        "gzip;q=0.000, *",
        "identity, gzip;q=0.5",
        "gzip;q=2",
        "br;q=-1",
        "gzip;q=NaN",
        "gzip;level=9",
    ] {
        let reply = ask(&server, Method::GET, LARGE, accepted).await;
        assert_eq!(reply.header("content-encoding"), None, "{accepted}");
    }
}

#[tokio::test]
async fn a_request_without_a_supported_coding_gets_a_plain_response() {
    let server = start().await;
    let plain = server.get(LARGE).await;
    assert_eq!((plain.status.as_u16(), plain.ids().len()), (200, 100));
    // A cache must not send this client a response for another coding.
    assert_eq!(
        (plain.header("content-encoding"), vary(&plain)),
        (None, vec!["Accept-Encoding"])
    );
    for accepted in [
        "",
        "identity",
        "br, zstd",
        "gzip;q=0",
        "identity;q=0",
        "*;q=0",
        "gzip;q=x",
        "é",
    ] {
        let reply = ask(&server, Method::GET, LARGE, accepted).await;
        assert_eq!(
            (reply.status.as_u16(), &reply.body),
            (200, &plain.body),
            "{accepted}"
        );
        assert_eq!(reply.header("content-encoding"), None, "{accepted}");
        assert_eq!(vary(&reply), ["Accept-Encoding"]);
    }
}

#[tokio::test]
async fn a_small_or_very_large_response_is_not_compressed() {
    let server = start().await;
    let name = "Frank ".repeat(6 << 10);
    for _ in 0..2 {
        let added = server
            .post(format!(r#"{{"name": "{name}", "categoryId": 1}}"#))
            .await;
        assert_eq!(added.status, 201);
    }
    for target in [
        "/v1/pets",
        "/v1/pets/1",
        "/v1/pets?status=available",
        "/v1/nothing",
    ] {
        let reply = ask(&server, Method::GET, target, "gzip").await;
        assert!(
            !(2 << 10..=64 << 10).contains(&reply.body.len()),
            "{target}"
        );
        assert_eq!(
            (reply.header("content-encoding"), vary(&reply).len()),
            (None, 0),
            "{target}"
        );
    }
}

#[tokio::test]
async fn head_has_the_coding_of_get() {
    let server = start().await;
    for accepted in ["gzip", "identity"] {
        let get = ask(&server, Method::GET, LARGE, accepted).await;
        let head = ask(&server, Method::HEAD, LARGE, accepted).await;
        for field in [
            "content-encoding",
            "content-length",
            "content-type",
            "etag",
            "vary",
        ] {
            assert_eq!(head.header(field), get.header(field), "{accepted} {field}");
        }
        assert!(head.body.is_empty());
    }
}

#[tokio::test]
async fn a_known_response_is_304_with_gzip_and_without() {
    let server = start().await;
    let known = ask(&server, Method::GET, LARGE, "gzip").await;
    let bearer = server.bearer();
    for accepted in ["gzip", ""] {
        let headers = [
            ("authorization", &*bearer),
            ("accept-encoding", accepted),
            ("if-none-match", known.header("etag").unwrap()),
        ];
        let again = server.send(Method::GET, LARGE, &headers, "").await;
        assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
        assert_eq!(again.header("content-encoding"), None);
        assert_eq!(vary(&again), ["Accept-Encoding"]);
    }
}

#[tokio::test]
async fn vary_names_both_the_coding_and_the_origin() {
    let cors_origins = &["https://shop.example"];
    let server: Server = Server::start_with(Setup {
        cors_origins,
        ..Setup::default()
    })
    .await;
    server.fill([PetStatus::Sold; 100]).await;
    for target in [LARGE, "/openapi.json"] {
        let reply = ask(&server, Method::GET, target, "gzip").await;
        assert_eq!(vary(&reply), ["Accept-Encoding", "Origin"], "{target}");
    }
}

#[tokio::test]
async fn without_memory_for_a_compressed_copy_the_response_is_sent_plain() {
    // Enough for the page, which takes more than half of what clients with a key have.
    let response_memory = 13_000;
    let server: Server = Server::start_with(Setup {
        response_memory,
        ..Setup::default()
    })
    .await;
    server.fill([PetStatus::Sold; 100]).await;
    let reply = ask(&server, Method::GET, LARGE, "gzip").await;
    assert_eq!(
        (reply.status.as_u16(), reply.header("content-encoding")),
        (200, None)
    );
    assert_eq!(reply.ids().len(), 100);
}
