//! Heads that violate the rules of HTTP, or that a proxy could read differently.

use std::net::IpAddr;

use bytes::Bytes;
use http_body_util::Empty;
use hyper::{Request, Version};
use petstore_testing::{harness::Server, interface};

/// A service in this process, to which a request can come with any head.
struct Service(std::sync::Arc<petstore_api::Api>);

impl Service {
    async fn start() -> Self {
        let server = Server::start().await;
        Self(interface::api(
            server.open_again().await,
            server.clock.clone(),
        ))
    }

    /// Whether a request is rejected because of its head. Otherwise, the service finds nothing at
    /// this target.
    async fn rejects(&self, version: Version, target: &str, fields: &[(&str, &str)]) -> bool {
        let mut request = Request::builder().version(version).uri(target);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let request = request.body(Empty::<Bytes>::new()).unwrap();
        let client = IpAddr::from([127, 0, 0, 1]).into();
        let status = self.0.handle(&client, request).await.status().as_u16();
        assert!([400, 404].contains(&status), "{status}");
        status == 400
    }
}

const OLD: Version = Version::HTTP_10;
const USUAL: Version = Version::HTTP_11;
const NEW: Version = Version::HTTP_2;

#[tokio::test]
async fn an_http_1_1_request_has_exactly_one_host() {
    let service = Service::start().await;
    for host in ["x", "", "x:80", "[::1]:80", "pets.example.com"] {
        assert!(
            !service.rejects(USUAL, "/x", &[("host", host)]).await,
            "{host}"
        );
    }
    for host in ["a b", "a/b", "u@h", "a\\b", "a, b", "\u{e9}"] {
        assert!(
            service.rejects(USUAL, "/x", &[("host", host)]).await,
            "{host}"
        );
    }
    assert!(service.rejects(USUAL, "/x", &[]).await);
    assert!(!service.rejects(OLD, "/x", &[]).await && !service.rejects(NEW, "/x", &[]).await);
    for version in [OLD, USUAL, NEW] {
        assert!(
            service
                .rejects(version, "/x", &[("host", "x"), ("host", "x")])
                .await
        );
    }
}

#[tokio::test]
async fn an_http_2_request_has_the_same_host_in_both_fields() {
    let service = Service::start().await;
    for (target, host) in [
        ("http://a.example/x", "A.example"),
        ("http://a.example/x", "a.example:80"),
        ("https://a.example:443/x", "a.example"),
        ("http://[::1]:81/x", "[::1]:81"),
    ] {
        assert!(
            !service.rejects(NEW, target, &[("host", host)]).await,
            "{target} {host}"
        );
    }
    for host in ["b.example", "a.example:81", "a.example:443", ""] {
        assert!(
            service
                .rejects(NEW, "http://a.example/x", &[("host", host)])
                .await,
            "{host}"
        );
        assert!(
            !service
                .rejects(USUAL, "http://a.example/x", &[("host", host)])
                .await,
            "{host}"
        );
    }
    for version in [USUAL, NEW] {
        let host = [("host", "a.example")];
        assert!(
            service
                .rejects(version, "http://u@a.example/x", &host)
                .await
        );
    }
}

#[tokio::test]
async fn chunked_is_the_only_transfer_coding() {
    let service = Service::start().await;
    for (codings, is_rejected) in [
        (&["chunked"][..], false),
        (&["Chunked"], false),
        (&["gzip, chunked"], true),
        (&["gzip", "chunked"], true),
        (&["chunked", "chunked"], true),
        (&["chunked, chunked"], true),
        (&["chunked;q=1"], true),
        (&["identity"], true),
        (&[""], true),
    ] {
        let mut fields = vec![("host", "x")];
        fields.extend(codings.iter().map(|coding| ("transfer-encoding", *coding)));
        assert_eq!(
            service.rejects(USUAL, "/x", &fields).await,
            is_rejected,
            "{codings:?}"
        );
    }
}
