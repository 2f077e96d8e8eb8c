//! The address of the service in its documents, if the operator has named none.

use std::collections::BTreeSet;

use petstore_testing::harness::{Server, Setup};
use reqwest::{Client, Method};
use serde_json::Value;

/// The server address in both documents, in both forms, for a request with these header fields.
async fn served_address(server: &Server, headers: &[(&str, &str)]) -> String {
    let mut addresses = BTreeSet::new();
    for name in ["/openapi", "/openapi-store"] {
        let json = server
            .send(Method::GET, &format!("{name}.json"), headers, "")
            .await
            .json();
        let yaml = server
            .send(Method::GET, &format!("{name}.yaml"), headers, "")
            .await
            .body;
        let yaml: Value = serde_saphyr::from_str(std::str::from_utf8(&yaml).unwrap()).unwrap();
        assert_eq!(yaml, json);
        addresses.insert(json["servers"][0]["url"].as_str().unwrap().to_owned());
    }
    assert_eq!(addresses.len(), 1, "{addresses:?}");
    addresses.pop_first().unwrap()
}

#[tokio::test]
async fn without_a_base_url_the_document_names_the_host_of_the_request() {
    for now in ["2026-12-01T00:00:00Z", "2031-01-01T00:00:00Z"] {
        let server = Server::start_with(Setup {
            now,
            ..Setup::default()
        })
        .await;
        let own = format!("http://{}/v1", server.address);
        assert_eq!(served_address(&server, &[]).await, own);
        let other = [("host", "pets.example:8080")];
        assert_eq!(
            served_address(&server, &other).await,
            "http://pets.example:8080/v1"
        );
        let client = Client::builder()
            .no_proxy()
            .http2_prior_knowledge()
            .build()
            .unwrap();
        let url = format!("http://{}/openapi.json", server.address);
        let document: Value = client.get(url).send().await.unwrap().json().await.unwrap();
        assert_eq!(document["servers"][0]["url"], own);
    }
}

#[tokio::test]
async fn an_uncertain_address_stays_relative_in_the_document() {
    let server = Server::start().await;
    for headers in [
        ("host", "pets'.example"),
        ("host", "pets.example:99999"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-for", "192.0.2.1"),
        ("forwarded", "proto=https"),
        ("via", "1.1 proxy"),
        ("sec-fetch-site", "same-origin"),
    ] {
        assert_eq!(
            served_address(&server, &[headers]).await,
            "/v1",
            "{headers:?}"
        );
    }
}

#[tokio::test]
async fn only_a_host_that_is_valid_in_a_url_becomes_the_server_url() {
    let server = Server::start().await;
    for (host, url) in [
        ("[::1]:8080", "http://[::1]:8080/v1"),
        ("Pets.Example", "http://pets.example/v1"),
        ("a_b-c.example:1", "http://a_b-c.example:1/v1"),
        ("", "/v1"),
        (":80", "/v1"),
        ("x:y", "/v1"),
        ("[::1", "/v1"),
        ("[x]", "/v1"),
        ("x,", "/v1"),
        ("x%", "/v1"),
        ("x&", "/v1"),
    ] {
        let document = server
            .send(Method::GET, "/openapi.json", &[("host", host)], "")
            .await;
        assert_eq!(document.json()["servers"][0]["url"], url, "{host}");
    }
}

#[tokio::test]
async fn invented_hosts_take_a_bounded_amount_of_memory() {
    let server = Server::start().await;
    let own = served_address(&server, &[]).await;
    for number in 0..100 {
        let host = format!("h{number}.example");
        for target in ["/openapi.json", "/openapi-store.json"] {
            server
                .send(Method::HEAD, target, &[("host", &host)], "")
                .await;
        }
    }
    assert_eq!(
        served_address(&server, &[("host", "new.example")]).await,
        "/v1"
    );
    assert_eq!(served_address(&server, &[]).await, own);
}
