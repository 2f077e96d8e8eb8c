//! What the scopes of keys allow.

use petstore_domain::Scope::{self, Read, StoreAdmin, StoreRead, StoreWrite, Write};
use petstore_testing::harness::Server;
use reqwest::Method;

const READS: [&str; 4] = ["/pets", "/orders", "/categories", "/inventory"];
const WRITES: [(&str, &str); 12] = [
    ("PATCH", "/pets/1"),
    ("POST", "/pets/1/withdraw"),
    ("POST", "/pets/1/restore"),
    ("POST", "/orders"),
    ("PATCH", "/orders/1"),
    ("POST", "/orders/1/complete"),
    ("POST", "/orders/1/cancel"),
    ("POST", "/orders/1/return"),
    ("PUT", "/categories/1"),
    ("DELETE", "/categories/1"),
    ("POST", "/batch"),
    ("POST", "/../pets"),
];

async fn status(server: &Server, key: &str, method: &str, target: &str) -> (u16, Option<String>) {
    let bearer = format!("Bearer {key}");
    let headers = [
        ("authorization", &*bearer),
        ("content-type", "application/json"),
    ];
    let method: Method = method.parse().unwrap();
    let reply = server.send(method, target, &headers, "x").await;
    (
        reply.status.as_u16(),
        reply.header("www-authenticate").map(str::to_owned),
    )
}

fn lacks(scope: Scope) -> (u16, Option<String>) {
    let scope = scope.as_str();
    let challenge =
        format!("Bearer realm=\"petstore\", error=\"insufficient_scope\", scope=\"{scope}\"");
    (403, Some(challenge))
}

#[tokio::test]
async fn each_scope_includes_those_before_it_and_the_challenge_names_the_missing_one() {
    let server = Server::start().await;
    for (scope, reads, writes, adds) in [
        (Read, false, false, false),
        (Write, false, false, true),
        (StoreRead, true, false, false),
        (StoreWrite, true, true, true),
        (StoreAdmin, true, true, true),
    ] {
        let (key, _) = server.new_key(scope, None).await;
        for path in READS {
            let expected = if reads { (200, None) } else { lacks(StoreRead) };
            let target = format!("/v1/store{path}");
            assert_eq!(
                status(&server, &key, "GET", &target).await,
                expected,
                "{scope:?} {path}"
            );
        }
        for (method, path) in WRITES {
            let (target, allowed, needed) = match path {
                "/../pets" => ("/v1/pets".to_owned(), adds, Write),
                path => (format!("/v1/store{path}"), writes, StoreWrite),
            };
            let seen = status(&server, &key, method, &target).await;
            // The request is invalid, or its subject does not exist.
            let is_invalid = matches!(seen, (400 | 404, None));
            assert!(
                if allowed {
                    is_invalid
                } else {
                    seen == lacks(needed)
                },
                "{scope:?} {seen:?}"
            );
        }
        // Every key reads the contract.
        assert_eq!(status(&server, &key, "GET", "/v1/pets").await, (200, None));
    }
}

#[tokio::test]
async fn a_key_with_store_write_adds_animals() {
    let server = Server::start().await;
    let (key, _) = server.new_key(StoreWrite, None).await;
    let bearer = format!("Bearer {key}");
    let headers = [
        ("authorization", &*bearer),
        ("content-type", "application/json"),
    ];
    let body = r#"{"name": "Rex", "categoryId": 1}"#;
    assert_eq!(
        server
            .send(Method::POST, "/v1/pets", &headers, body)
            .await
            .status,
        201
    );
}
