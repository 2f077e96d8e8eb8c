//! `petstore serve`: its start, its log, its end.

use std::iter;

use petstore_domain::{ApiKey, Deployment};
use rand::{SeedableRng, rngs::StdRng};
use serde_json::{Value, json};

use super::program::{Service, client, command, create, directory, free_address, new_key, run};

#[tokio::test]
async fn the_service_has_stopped_when_it_says_so() {
    let here = directory();
    let service = Service::start(here.path(), &["--shutdown-timeout", "1ms"]);
    let key = new_key(here.path());
    // Another program keeps the writer waiting.
    let other = rusqlite::Connection::open(here.path().join("petstore.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (client, url) = (client(), service.url.clone());
    let waits = tokio::spawn(create(&client, &url, &key, "Frank").send());
    let list = client.get(format!("{url}/pets")).bearer_auth(&key);
    assert_eq!(list.send().await.unwrap().status(), 200);
    service.signal("TERM");
    let said = async |part: &str| {
        while !service.said().contains(part) {
            tokio::task::yield_now().await;
        }
    };
    said("shutting down").await;
    drop(other);
    said("\"stopped\"").await;
    let threads = std::fs::read_dir(format!("/proc/{}/task", service.pid()));
    for thread in threads.into_iter().flatten().flatten() {
        let name = std::fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
        assert_ne!(name.trim(), "petstore-writer");
    }
    assert_eq!(service.wait().0.code(), Some(0));
    let _ = waits.await;
}

#[tokio::test]
async fn sigterm_and_sigint_end_the_service_with_success() {
    for signal in ["TERM", "INT"] {
        let here = directory();
        let listeners = [
            "--console-listen",
            "127.0.0.1:0",
            "--management-listen",
            "127.0.0.1:0",
        ];
        let service = Service::start(here.path(), &listeners);
        let key = new_key(here.path());
        let created = create(&client(), &service.url, &key, "Frank")
            .send()
            .await
            .unwrap();
        assert_eq!(created.status(), 201);
        service.signal(signal);
        let (status, log) = service.wait();
        assert_eq!(status.code(), Some(0), "{log}");
        assert_eq!(log.matches("shutting down").count(), 1, "{log}");
        // Closed properly: everything is in one file.
        assert!(!here.path().join("petstore.db-wal").exists());
    }
}

#[test]
fn without_a_terminal_no_key_is_created_and_the_log_says_how_to() {
    let here = directory();
    let service = Service::start(here.path(), &[]);
    service.signal("TERM");
    let (_, log) = service.wait();
    assert!(log.contains("petstore keys create --name NAME"), "{log}");
    assert!(!log.contains("pets_live_"), "{log}");
    let list = super::program::run(here.path(), &["keys", "list", "--format", "json"]);
    assert_eq!(list.stdout, "[]\n");
}

#[test]
fn the_start_message_names_the_docs_and_the_console_where_a_browser_reaches_them() {
    let here = directory();
    let all = "0.0.0.0:0";
    for (listen, options, root) in [
        ("127.0.0.1:0", &[][..], "http://127.0.0.1:PORT"),
        (all, &[], "http://127.0.0.1:PORT"),
        (
            all,
            &["--base-url", "https://shop.example/pets/v1"],
            "https://shop.example/pets",
        ),
        (
            all,
            &["--staging-base-url", "https://staging.example/v1"],
            "http://127.0.0.1:PORT",
        ),
    ] {
        let arguments = ["serve", "--listen", listen, "--console-listen", all];
        let service = Service::from(command(here.path(), &[&arguments[..], options].concat()));
        let (_, port) = service
            .url
            .strip_suffix("/v1")
            .unwrap()
            .rsplit_once(':')
            .unwrap();
        let docs = format!("{}/docs", root.replace("PORT", port));
        let line = service.first_lines.last().unwrap();
        assert_eq!(line["docs"], docs);
        service.signal("TERM");
        let (_, log) = service.wait();
        assert!(log.contains("console at http://127.0.0.1:"), "{log}");
        // The command as printed gives a link to this console.
        let manager = "petstore staff add NAME --role manager --database sqlite:";
        assert!(
            log.contains(manager) && log.contains(" --console-url http://127.0.0.1:"),
            "{log}"
        );
    }
}

#[tokio::test]
async fn with_the_access_log_every_request_is_logged_without_secrets() {
    let here = directory();
    let service = Service::start(here.path(), &["--access-log"]);
    assert_eq!(service.first_lines.len(), 1);
    let key = new_key(here.path());
    let client = client();
    let traced = create(&client, &service.url, &key, "Frank")
        .header("x-request-id", "mine-1")
        .header(
            "traceparent",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        );
    assert_eq!(traced.send().await.unwrap().status(), 201);
    let secret = format!("{key}x");
    let rejected = client
        .get(format!("{}/pets/1?token={key}", service.url))
        .bearer_auth(&secret);
    assert_eq!(rejected.send().await.unwrap().status(), 401);
    service.signal("TERM");
    let (_, log) = service.wait();
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let is_request = |line: &&Value| line["message"].as_str().unwrap().starts_with("request");
    let requests: Vec<&Value> = lines.iter().filter(is_request).collect();
    assert_eq!(requests.len(), 2, "{log}");
    let created = requests[0];
    for (field, value) in [
        ("method", json!("POST")),
        ("route", json!("/v1/pets")),
        ("client", json!("127.0.0.1")),
        ("status", json!(201)),
        ("code", Value::Null),
        ("request_id", json!("mine-1")),
        ("key_id", json!(1)),
        ("trace_id", json!("4bf92f3577b34da6a3ce929d0e0e4736")),
    ] {
        assert_eq!(created[field], value, "{field}");
    }
    assert!(created["duration_us"].as_u64().is_some());
    assert!(!log.contains(&key["pets_live_".len()..]), "{log}");
}

#[tokio::test]
async fn each_change_of_the_store_area_is_logged_once_without_names_and_notes() {
    let here = directory();
    let service = Service::start(here.path(), &[]);
    let create_key = [
        "keys",
        "create",
        "--name",
        "reception",
        "--scope",
        "store:write",
    ];
    let key = run(here.path(), &create_key)
        .expect_success()
        .stdout
        .trim()
        .to_owned();
    let client = client();
    create(&client, &service.url, &key, "Frank")
        .send()
        .await
        .unwrap();
    let place = || {
        client
            .post(format!("{}/store/orders", service.url))
            .bearer_auth(&key)
            .header("content-type", "application/json")
            .header("idempotency-key", "k")
            .header("x-request-id", "mine-1")
            .body(r#"{"petId": 1, "note": "secret note", "reference": "R-17"}"#)
    };
    // The second one is a repetition, and changes nothing.
    for _ in 0..2 {
        assert_eq!(place().send().await.unwrap().status(), 201);
    }
    let refused = place()
        .header("idempotency-key", "other")
        .send()
        .await
        .unwrap();
    assert!(refused.status().is_client_error());
    service.signal("TERM");
    let (_, log) = service.wait();
    let lines = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let changes: Vec<Value> = lines.filter(|line| line["message"] == "change").collect();
    let fields = [
        "level",
        "principal",
        "request_id",
        "type",
        "subject",
        "version",
    ];
    let seen: Vec<Vec<&Value>> = changes
        .iter()
        .map(|change| fields.map(|field| &change[field]).to_vec())
        .collect();
    assert_eq!(
        json!(seen),
        json!([
            ["INFO", "key:1", "mine-1", "order.placed", "order:1", 1],
            ["INFO", "key:1", "mine-1", "pet.changed", "pet:1", 2],
        ])
    );
    for secret in ["secret note", "R-17", "Frank"] {
        assert!(!log.contains(secret), "{log}");
    }
}

#[tokio::test]
async fn a_request_with_an_invalid_key_is_logged_with_its_address_and_a_flood_only_in_part() {
    let here = directory();
    let service = Service::start(here.path(), &[]);
    let key = new_key(here.path());
    // One malformed key, and one in a valid format.
    let malformed = format!("{key}0");
    let unknown = ApiKey::generate(Deployment::Production, &mut StdRng::seed_from_u64(1));
    let client = client();
    for key in iter::once(unknown.reveal()).chain(iter::repeat_n(&*malformed, 500)) {
        let request = client.get(format!("{}/pets", service.url)).bearer_auth(key);
        assert_eq!(request.send().await.unwrap().status(), 401);
    }
    service.signal("TERM");
    let (_, log) = service.wait();
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let logged = "request with an invalid API key";
    let logged: Vec<&Value> = lines
        .iter()
        .filter(|line| line["message"] == logged)
        .collect();
    assert_eq!(logged[0]["client"], "127.0.0.1", "{log}");
    assert_eq!(logged[0]["code"], "invalid_api_key");
    assert_eq!(logged[0]["route"], "none");
    assert_eq!(logged[0]["left_out"], 0);
    assert!((10..100).contains(&logged.len()), "{}", logged.len());
    for secret in [&key, unknown.reveal()] {
        assert!(!log.contains(&secret["pets_live_".len()..]), "{log}");
    }
}

#[tokio::test]
async fn slow_requests_of_strangers_are_logged_only_in_part_and_those_with_a_key_all() {
    let here = directory();
    let key = new_key(here.path());
    let service = Service::start(here.path(), &["--slow-request", "0s"]);
    let client = client();
    for _ in 0..300 {
        let stranger = client.get(format!("{}/docs", service.url.trim_end_matches("/v1")));
        assert_eq!(stranger.send().await.unwrap().status(), 200);
    }
    for _ in 0..30 {
        let request = client
            .get(format!("{}/pets", service.url))
            .bearer_auth(&key);
        assert_eq!(request.send().await.unwrap().status(), 200);
    }
    service.signal("TERM");
    let (_, log) = service.wait();
    let lines = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let slow: Vec<Value> = lines
        .filter(|line| line["message"] == "slow request")
        .collect();
    let of_strangers = slow.iter().filter(|line| line["key_id"].is_null()).count();
    assert!((10..100).contains(&of_strangers), "{of_strangers}");
    assert_eq!(slow.len() - of_strangers, 30);
}

#[tokio::test]
async fn the_log_names_a_key_that_was_revoked() {
    let here = directory();
    let create = ["keys", "create", "--name", "till", "--scope", "store:read"];
    let key = run(here.path(), &[&create[..], &["--create"]].concat())
        .expect_success()
        .stdout;
    run(here.path(), &["keys", "revoke", "1"]).expect_success();
    let service = Service::start(here.path(), &[]);
    let request = client()
        .get(format!("{}/pets", service.url))
        .bearer_auth(key.trim_end());
    assert_eq!(request.send().await.unwrap().status(), 401);
    service.signal("TERM");
    let (_, log) = service.wait();
    let mut lines = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let line = lines
        .find(|line| line["message"] == "request with an invalid API key")
        .unwrap();
    let cause = line["cause"].as_str().unwrap();
    assert!(
        cause.starts_with("the key 1 (\"till\") was revoked at 20"),
        "{line}"
    );
    assert!(
        !log.contains(&key.trim_end()["pets_live_".len()..]),
        "{log}"
    );
}

/// The client address in the access log for a request with these header fields.
async fn logged_client(arguments: &[&str], fields: &[(&str, &str)]) -> Value {
    let here = directory();
    let service = Service::start(here.path(), &[&["--access-log"], arguments].concat());
    let mut request = client().get(format!("{}/pets", service.url));
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    assert_eq!(request.send().await.unwrap().status(), 401);
    service.signal("TERM");
    let (_, log) = service.wait();
    let mut lines = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let line = lines.find(|line| line["message"] == "request").unwrap();
    assert_eq!(line["code"], "missing_api_key");
    line["client"].clone()
}

#[tokio::test]
async fn the_log_has_the_address_of_the_client_only_behind_trusted_proxies() {
    let fields = [("x-forwarded-for", "203.0.113.9, 192.0.2.7, 10.0.0.1")];
    assert_eq!(logged_client(&[], &fields).await, "127.0.0.1");
    let trusted = ["--trusted-proxy", "127.0.0.1,10.0.0.0/8"];
    assert_eq!(logged_client(&trusted, &fields).await, "192.0.2.7");
    let fields = [(
        "forwarded",
        "for=203.0.113.9, for=\"[2001:db8::7]:4711\";proto=https",
    )];
    assert_eq!(logged_client(&trusted, &fields).await, "2001:db8::7");
    assert_eq!(logged_client(&trusted, &[]).await, "127.0.0.1");
}

/// It may wait for a change as long as its client wants.
#[tokio::test]
async fn a_request_for_changes_is_not_logged_as_slow_because_it_waits() {
    let here = directory();
    let service = Service::start(here.path(), &["--slow-request", "0s"]);
    let made = run(
        here.path(),
        &["keys", "create", "--name", "till", "--scope", "store:read"],
    );
    let key = made.expect_success().stdout;
    for path in ["store/changes", "pets"] {
        let url = format!("{}/{path}", service.url);
        let reply = client()
            .get(url)
            .bearer_auth(key.trim_end())
            .send()
            .await
            .unwrap();
        assert_eq!(reply.status(), 200);
    }
    service.signal("TERM");
    let (_, log) = service.wait();
    let slow: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("slow request"))
        .collect();
    assert!(slow.len() == 1 && slow[0].contains("/v1/pets"), "{log}");
}

/// The warnings about a proxy that is not trusted, after two requests with this field to the listener
/// that this option names.
async fn warnings_about_a_proxy(
    listener: &str,
    proxies: &[&str],
    field: (&str, &str),
) -> Vec<Value> {
    let here = directory();
    let free_address = free_address().to_string();
    let listeners = if listener == "--listen" {
        vec![]
    } else {
        vec![listener, &free_address]
    };
    let service = Service::start(here.path(), &[&listeners, proxies].concat());
    let own_address = service
        .url
        .trim_start_matches("http://")
        .trim_end_matches("/v1");
    let address = if listener == "--listen" {
        own_address
    } else {
        &free_address
    };
    for _ in 0..2 {
        let request = client()
            .get(format!("http://{address}/"))
            .header(field.0, field.1);
        request.send().await.unwrap();
    }
    service.signal("TERM");
    let (_, log) = service.wait();
    let lines = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .filter(|line| line["proxy"] == "127.0.0.1" && line["level"] == "WARN")
        .collect()
}

#[tokio::test]
async fn the_log_warns_once_of_a_proxy_that_is_not_named() {
    let fields = [
        ("x-forwarded-for", "192.0.2.7"),
        ("forwarded", "for=192.0.2.7"),
    ];
    for (listener, field) in [
        ("--listen", fields[0]),
        ("--window-listen", fields[0]),
        ("--window-listen", fields[1]),
        ("--console-listen", fields[1]),
    ] {
        let warnings = warnings_about_a_proxy(listener, &[], field).await;
        let [warning] = &warnings[..] else {
            panic!("{listener}: {warnings:?}")
        };
        let message = warning["message"].as_str().unwrap();
        assert!(
            message.contains("set --trusted-proxy 127.0.0.1 (PETSTORE_"),
            "{message}"
        );
    }
    let named = ["--trusted-proxy", "127.0.0.1"];
    assert!(
        warnings_about_a_proxy("--window-listen", &named, fields[0])
            .await
            .is_empty()
    );
    let other = ("x-forwarded", "for=192.0.2.7");
    assert!(
        warnings_about_a_proxy("--window-listen", &[], other)
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn without_the_access_log_a_successful_request_is_not_logged() {
    let here = directory();
    let service = Service::start(here.path(), &[]);
    let key = new_key(here.path());
    let created = create(&client(), &service.url, &key, "Frank")
        .send()
        .await
        .unwrap();
    assert_eq!(created.status(), 201);
    service.signal("TERM");
    let (_, log) = service.wait();
    // A timestamp can have the digits of a status.
    assert!(!log.contains("\"status\":"), "{log}");
}

#[tokio::test]
async fn keys_have_the_configured_rate_limit() {
    let here = directory();
    let service = Service::start(here.path(), &["--rate-limit", "1/h"]);
    let key = new_key(here.path());
    let status = async |key: &str| {
        let request = client()
            .get(format!("{}/pets", service.url))
            .bearer_auth(key);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!((status(&key).await, status(&key).await), (200, 429));
}
