//! The documents that the service serves without a key.

use std::collections::BTreeSet;

use petstore_api::{
    documents::openapi::OpenApi,
    routes::{Access, ROUTES},
};
use petstore_domain::Deployment;
use petstore_testing::{
    contract::{CONTRACT, STORE_AREA},
    harness::{Server, Setup},
    reply::Reply,
};
use reqwest::Method;
use serde_json::{Value, json};

async fn fetch(server: &Server, target: &str) -> Reply {
    let reply = server.send(Method::GET, target, &[], "").await;
    assert_eq!(reply.status, 200, "{target}");
    reply
}

async fn both_forms(server: &Server) -> Value {
    both_forms_of(server, "/openapi").await
}

async fn both_forms_of(server: &Server, name: &str) -> Value {
    let json = fetch(server, &format!("{name}.json")).await;
    assert_eq!(json.header("content-type"), Some("application/json"));
    let yaml = fetch(server, &format!("{name}.yaml")).await;
    assert_eq!(yaml.header("content-type"), Some("application/yaml"));
    let from_yaml: Value =
        serde_saphyr::from_str(std::str::from_utf8(&yaml.body).unwrap()).unwrap();
    assert_eq!(from_yaml, json.json());
    from_yaml
}

#[tokio::test]
async fn the_contract_is_served_as_json_and_yaml_without_a_key() {
    let server = Server::start().await;
    let document = both_forms(&server).await;
    assert_eq!(document["openapi"], "3.0.3");
    assert_eq!(document["info"]["version"], "1.0.0");
    let mut source: Value =
        serde_saphyr::from_str(include_str!("../../../../openapi/openapi.yaml")).unwrap();
    source["servers"][0]["url"] = json!(format!("http://{}/v1", server.address));
    assert_eq!(document, source);
}

#[tokio::test]
async fn the_store_area_has_a_document_of_its_own_in_both_forms() {
    let server = Server::start().await;
    let document = both_forms_of(&server, "/openapi-store").await;
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["info"]["version"], "1.3.0");
    let mut source: Value =
        serde_saphyr::from_str(include_str!("../../../../openapi/openapi-store.yaml")).unwrap();
    source["servers"][0]["url"] = json!(format!("http://{}/v1", server.address));
    assert_eq!(document, source);
}

#[tokio::test]
async fn the_servers_are_the_two_deployments() {
    let (production, staging) = ("https://pets.example/v1", "https://staging.pets.example/v1");
    for (base_url, staging_base_url, servers) in [
        (Some(production), None, vec![production]),
        (None, Some(staging), vec![staging]),
        (Some(production), Some(staging), vec![production, staging]),
    ] {
        let setup = Setup {
            deployment: Deployment::Staging,
            base_url,
            staging_base_url,
            ..Setup::default()
        };
        let server = Server::start_with(setup).await;
        for name in ["/openapi", "/openapi-store"] {
            let document = both_forms_of(&server, name).await;
            let urls: Vec<&Value> = document["servers"]
                .as_array()
                .unwrap()
                .iter()
                .map(|server| &server["url"])
                .collect();
            assert_eq!(urls, servers);
        }
    }
}

#[tokio::test]
async fn after_the_removal_the_document_does_not_mention_get_pet() {
    let setup = Setup {
        now: "2030-12-05T00:00:00Z",
        ..Setup::default()
    };
    let served = both_forms(&Server::start_with(setup).await).await;
    let paths: Vec<&String> = served["paths"].as_object().unwrap().keys().collect();
    assert_eq!(paths, ["/pets"]);
    let created = &served["paths"]["/pets"]["post"]["responses"]["201"];
    assert_eq!(created["headers"].get("Location"), None);
    assert_eq!(created["links"], json!({}));
    let text = served.to_string();
    for word in [
        "getPet",
        "petId",
        "Deprecation",
        "Sunset",
        "x-sunset",
        "2030",
    ] {
        assert!(!text.contains(word), "{word}");
    }
}

/// Collects the `$ref`s below a value.
fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
                found.push(reference.trim_start_matches('#').to_owned());
            }
            members
                .values()
                .for_each(|member| references(member, found));
        }
        Value::Array(elements) => elements
            .iter()
            .for_each(|element| references(element, found)),
        _ => {}
    }
}

#[tokio::test]
async fn every_reference_leads_somewhere_before_and_after_the_removal() {
    for now in ["2026-12-01T00:00:00Z", "2031-01-01T00:00:00Z"] {
        let setup = Setup {
            now,
            ..Setup::default()
        };
        let server = Server::start_with(setup).await;
        for name in ["/openapi", "/openapi-store"] {
            let document = both_forms_of(&server, name).await;
            let mut found = Vec::new();
            references(&document, &mut found);
            assert!(found.len() > 10);
            for pointer in found {
                assert!(document.pointer(&pointer).is_some(), "{pointer}");
            }
        }
    }
}

/// The examples in the document of the store area are compared with real responses:
/// `store_area/examples/`.
#[test]
fn every_operation_of_the_contract_has_an_example_for_every_response() {
    let paths = CONTRACT["paths"].as_object().unwrap().values();
    for operation in paths.flat_map(|path| path.as_object().unwrap().values()) {
        let Some(responses) = operation["responses"].as_object() else {
            continue;
        };
        for (status, response) in responses {
            let name = &operation["operationId"];
            let content = &response["content"]["application/json"];
            if status == "304" {
                continue;
            }
            let has_one = content.get("example").is_some() || content.get("examples").is_some();
            assert!(has_one, "{name} {status} has no example");
            for (field, header) in response["headers"].as_object().unwrap() {
                assert!(header.get("example").is_some(), "{name} {status} {field}");
            }
        }
    }
}

#[tokio::test]
async fn docs_is_a_page_that_uses_no_other_host() {
    let server = Server::start().await;
    let page = fetch(&server, "/docs").await;
    assert_eq!(page.header("content-type"), Some("text/html"));
    let policy = page.header("content-security-policy").unwrap().to_owned();
    assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"));
    assert!(!policy.contains("http"), "{policy}");
    let script = fetch(&server, "/docs/page.js").await;
    let script = String::from_utf8(script.body).unwrap();
    assert!(script.contains("../openapi.json") && script.contains("../openapi-store.json"));
    let store_page = fetch(&server, "/docs/store").await;
    assert_eq!(store_page.body, page.body);
    assert_eq!(store_page.header("content-security-policy"), Some(&*policy));
    fetch(&server, "/docs/swagger-ui-bundle.js").await;
    server
        .send(Method::GET, "/docs/nothing", &[], "")
        .await
        .expect_error(404, "not_found");
}

#[tokio::test]
async fn a_document_has_a_strong_tag_in_each_coding_and_304_for_that_tag() {
    let server = Server::start().await;
    let targets = [
        "/openapi.json",
        "/openapi.yaml",
        "/openapi-store.json",
        "/openapi-store.yaml",
        "/.well-known/api-catalog",
        "/docs/",
        "/docs/swagger-ui-bundle.js",
        "/docs/page.js",
        "/docs/favicon-32x32.png",
    ];
    for target in targets {
        let mut tags = Vec::new();
        for accepted in ["", "gzip"] {
            let headers = [("accept-encoding", accepted)];
            let first = server.send(Method::GET, target, &headers, "").await;
            let tag = first.header("etag").unwrap();
            assert!(tag.starts_with('"') && tag.len() == 24, "{target} {tag}");
            assert_eq!(first.header("cache-control"), Some("no-cache"), "{target}");
            assert_eq!(first.header("vary"), Some("Accept-Encoding"), "{target}");

            let headers = [("accept-encoding", accepted), ("if-none-match", tag)];
            let again = server.send(Method::GET, target, &headers, "").await;
            assert_eq!(
                (again.status.as_u16(), again.body.len()),
                (304, 0),
                "{target} {accepted}"
            );
            for field in ["etag", "cache-control", "vary", "content-security-policy"] {
                assert_eq!(again.header(field), first.header(field), "{target} {field}");
            }
            assert_eq!(again.header("content-encoding"), None);
            tags.push((tag.to_owned(), first.body));
        }
        let same_tag = tags[0].0 == tags[1].0;
        assert_eq!(same_tag, tags[0].1 == tags[1].1, "{target}");
    }
}

#[tokio::test]
async fn a_document_is_compressed_once() {
    let server = Server::start().await;
    let headers = [("accept-encoding", "gzip")];
    for target in ["/openapi.json", "/docs/swagger-ui-bundle.js"] {
        let url = format!("http://x{target}");
        let ask = async || {
            let request = hyper::Request::get(&url).header("host", "x");
            let request = request.header(headers[0].0, headers[0].1);
            let request = request
                .body(http_body_util::Empty::<bytes::Bytes>::new())
                .unwrap();
            let client = std::net::IpAddr::from([127, 0, 0, 1]).into();
            server
                .api
                .handle(&client, request)
                .await
                .into_body()
                .whole()
                .cloned()
                .unwrap()
        };
        let (first, second) = (ask().await, ask().await);
        let plain = fetch(&server, target).await.body;
        assert!(first.len() < plain.len() / 2, "{target}");
        // Not only equal: the same bytes in memory.
        assert_eq!(first.as_ptr(), second.as_ptr(), "{target}");
    }
}

#[tokio::test]
async fn the_api_catalog_leads_to_both_documents_and_their_pages() {
    for (base_url, anchor) in [
        (None, "/v1".to_owned()),
        (
            Some("https://pets.example/shop/v1"),
            "https://pets.example/shop/v1".to_owned(),
        ),
    ] {
        let server = Server::start_with(Setup {
            base_url,
            ..Setup::default()
        })
        .await;
        let reply = fetch(&server, "/.well-known/api-catalog").await;
        assert_eq!(
            reply.header("content-type"),
            Some(r#"application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727""#)
        );
        let head = server
            .send(Method::HEAD, "/.well-known/api-catalog", &[], "")
            .await;
        for reply in [&reply, &head] {
            let link = r#"</.well-known/api-catalog>; rel="api-catalog""#;
            assert_eq!(
                (reply.status.as_u16(), reply.header("link")),
                (200, Some(link))
            );
        }
        let catalog = reply.json();
        let service = &catalog["linkset"][0];
        assert_eq!(service["anchor"], anchor);
        let root = anchor.strip_suffix("/v1").unwrap();
        let described: Vec<&str> = service["service-desc"]
            .as_array()
            .unwrap()
            .iter()
            .map(|link| link["href"].as_str().unwrap().strip_prefix(root).unwrap())
            .collect();
        assert_eq!(
            described,
            [
                "/openapi.yaml",
                "/openapi.json",
                "/openapi-store.yaml",
                "/openapi-store.json"
            ]
        );
        for link in ["service-desc", "service-doc"]
            .iter()
            .flat_map(|relation| service[relation].as_array().unwrap())
        {
            let path = link["href"].as_str().unwrap().strip_prefix(root).unwrap();
            let found = fetch(&server, path).await;
            assert_eq!(
                found.header("content-type"),
                link["type"].as_str(),
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn the_root_leads_a_browser_to_the_docs_and_a_program_to_the_api_catalog() {
    let server = Server::start().await;
    for browser in [
        "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        "Text/HTML; charset=utf-8; Q=0.5",
        "application/json;q=0.4, text/html;q=0.5",
    ] {
        let page = server
            .send(Method::GET, "/", &[("accept", browser)], "")
            .await;
        // The client followed the redirect.
        assert_eq!(
            (page.status.as_u16(), page.header("content-type")),
            (200, Some("text/html"))
        );
        assert!(page.header("content-security-policy").is_some());
    }
    let redirect = server
        .raw("HEAD / HTTP/1.1\r\nhost: x\r\naccept: text/html\r\nconnection: close\r\n\r\n")
        .await;
    assert!(redirect.starts_with("HTTP/1.1 307 "), "{redirect}");
    assert!(redirect.contains("Location: docs/\r\n"), "{redirect}");
    assert!(redirect.contains("Vary: Accept\r\n"), "{redirect}");

    let catalog = fetch(&server, "/.well-known/api-catalog").await;
    for accept in [
        "*/*",
        "",
        "text/*",
        "text/html;q=0",
        "application/json",
        "application/json, text/html, */*",
        "application/json, text/html;q=0.9",
    ] {
        let reply = server
            .send(Method::GET, "/", &[("accept", accept)], "")
            .await;
        assert_eq!((reply.status.as_u16(), &reply.body), (200, &catalog.body));
        let vary: Vec<_> = reply.headers.get_all("vary").iter().collect();
        assert_eq!(vary, ["Accept-Encoding", "Accept"]);
        for name in ["content-type", "link"] {
            assert_eq!(reply.header(name), catalog.header(name));
        }
    }
    server
        .send(Method::POST, "/", &[], "")
        .await
        .expect_error(405, "method_not_allowed");
}

#[test]
fn each_document_has_exactly_the_operations_of_the_route_table() {
    for (kind, document) in [
        (OpenApi::Contract, &CONTRACT),
        (OpenApi::StoreArea, &STORE_AREA),
    ] {
        let in_table: BTreeSet<(String, String, String)> = ROUTES
            .iter()
            .filter(|route| route.target.document == Some(kind))
            .map(|route| {
                let Access::Key(scope) = route.target.access else {
                    panic!("{} is public", route.label.id)
                };
                let path = route.label.path.strip_prefix("/v1").unwrap();
                let method = route.method.as_str().to_lowercase();
                let described = &document["paths"][path][&method]["x-scope"];
                assert!(
                    kind == OpenApi::Contract || *described == scope.as_str(),
                    "{} needs {scope:?}, but the document says {described}",
                    route.label.id
                );
                (path.to_owned(), method, route.label.id.to_owned())
            })
            .collect();
        let mut in_document = BTreeSet::new();
        for (path, operations) in document["paths"].as_object().unwrap() {
            for (method, operation) in operations.as_object().unwrap() {
                if let Some(id) = operation["operationId"].as_str() {
                    in_document.insert((path.clone(), method.clone(), id.to_owned()));
                }
            }
        }
        assert_eq!(in_table, in_document);
    }
}
