//! CORS: what web pages of other origins may do.

use std::collections::BTreeSet;

use petstore_api::routes::ROUTES;
use petstore_domain::Scope;
use petstore_testing::{
    harness::{Server, Setup},
    reply::Reply,
};
use reqwest::Method;

const SHOP: &str = "https://shop.example";
const OTHER: &str = "https://other.example";

async fn start() -> Server {
    let cors_origins = &[SHOP, "http://localhost:3000"];
    Server::start_with(Setup {
        cors_origins,
        ..Setup::default()
    })
    .await
}

async fn preflight(server: &Server, target: &str, origin: &str) -> Reply {
    let headers = [
        ("origin", origin),
        ("access-control-request-method", "POST"),
        (
            "access-control-request-headers",
            "authorization,content-type,idempotency-key",
        ),
    ];
    server.send(Method::OPTIONS, target, &headers, "").await
}

async fn get_from(server: &Server, target: &str, origin: &str, key: &str) -> Reply {
    let headers = [
        ("origin", origin),
        ("authorization", &format!("Bearer {key}")),
    ];
    server.send(Method::GET, target, &headers, "").await
}

#[tokio::test]
async fn a_preflight_of_an_allowed_origin_needs_no_key() {
    let server = start().await;
    for origin in [SHOP, "http://localhost:3000"] {
        let reply = preflight(&server, "/v1/pets", origin).await;
        assert_eq!((reply.status.as_u16(), reply.body.len()), (204, 0));
        assert_eq!(reply.header("access-control-allow-origin"), Some(origin));
        assert_eq!(reply.header("vary"), Some("Origin"));
        let methods = reply.header("access-control-allow-methods").unwrap();
        let methods: BTreeSet<&str> = methods.split(", ").collect();
        let of_routes = ROUTES.iter().map(|route| route.method.as_str());
        assert_eq!(methods, of_routes.chain(["HEAD"]).collect());
        let fields = reply
            .header("access-control-allow-headers")
            .unwrap()
            .to_lowercase();
        for field in [
            "authorization",
            "content-type",
            "idempotency-key",
            "if-match",
            "if-none-match",
        ] {
            assert!(fields.contains(field), "{field}");
        }
        // The key is an ordinary header field, so credentials are not needed.
        assert_eq!(reply.header("access-control-allow-credentials"), None);
    }
}

#[tokio::test]
async fn an_origin_that_is_not_allowed_gets_a_response_without_cors_fields() {
    let server = start().await;
    for origin in [
        OTHER,
        "null",
        "*",
        "https://shop.example.evil.example",
        "http://shop.example",
    ] {
        let reply = preflight(&server, "/v1/pets", origin).await;
        reply.expect_error(401, "missing_api_key");
        for reply in [
            reply,
            get_from(&server, "/v1/pets", origin, &server.key).await,
        ] {
            assert_eq!(
                reply.header("access-control-allow-origin"),
                None,
                "{origin}"
            );
            // A cache must not send this response to the shop.
            assert_eq!(reply.header("vary"), Some("Origin"));
        }
    }
}

#[tokio::test]
async fn an_allowed_page_can_read_every_response_and_its_header_fields() {
    let server = start().await;
    let (reader, _) = server.new_key(Scope::Read, None).await;
    for (target, key, status) in [
        ("/v1/pets", &*reader, 200),
        ("/v1/pets?limit=0", &reader, 400),
        ("/v1/pets", "wrong", 401),
        ("/v1/pets/7", &reader, 404),
        ("/v1/nothing", &reader, 404),
        ("/openapi.json", "", 200),
    ] {
        let reply = get_from(&server, target, SHOP, key).await;
        assert_eq!(reply.status, status, "{target}");
        assert_eq!(
            reply.header("access-control-allow-origin"),
            Some(SHOP),
            "{target}"
        );
        let exposed = reply
            .header("access-control-expose-headers")
            .unwrap()
            .to_lowercase();
        for field in [
            "link",
            "location",
            "retry-after",
            "ratelimit",
            "deprecation",
            "sunset",
            "x-request-id",
            "etag",
            "accept-patch",
        ] {
            assert!(exposed.split(", ").any(|name| name == field), "{field}");
        }
    }
}

#[tokio::test]
async fn without_the_option_no_response_mentions_origins() {
    let server = Server::start().await;
    let asked = preflight(&server, "/v1/pets", SHOP).await;
    asked.expect_error(401, "missing_api_key");
    for reply in [
        asked,
        get_from(&server, "/v1/pets", SHOP, &server.key).await,
    ] {
        let speaks = |name: &str| name.starts_with("access-control-") || name == "vary";
        assert!(
            !reply.headers.keys().any(|name| speaks(name.as_str())),
            "{:?}",
            reply.headers
        );
    }
}

#[tokio::test]
async fn options_without_a_preflight_is_405() {
    let server = start().await;
    let headers = [("origin", SHOP), ("authorization", &*server.bearer())];
    let reply = server.send(Method::OPTIONS, "/v1/pets", &headers, "").await;
    reply.expect_error(405, "method_not_allowed");
}
