//! The management listener: liveness and readiness.

use std::{fs, path::Path, time::Duration};

use reqwest::{Client, Method};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use super::{
    postgres_cluster::fresh_url,
    program::{Service, client, create, directory, new_key, run},
    proxy::{Line, Proxy},
};

pub(super) const MANAGED: [&str; 2] = ["--management-listen", "127.0.0.1:0"];

/// The URL of the management listener.
pub(super) fn management_url(service: &Service) -> &str {
    let mut lines = service
        .first_lines
        .iter()
        .filter_map(|line| line["message"].as_str());
    lines
        .find_map(|line| line.strip_prefix("management listener at "))
        .unwrap()
}

/// Status code and body.
async fn ask(client: &Client, service: &Service, path: &str) -> (u16, Value) {
    let url = format!("{}{path}", management_url(service));
    let reply = client.get(url).send().await.unwrap();
    (reply.status().as_u16(), reply.json().await.unwrap())
}

/// Waits until `/readyz` responds with this status; returns the body.
pub(super) async fn wait_for(client: &Client, service: &Service, status: u16) -> Value {
    let responded = async {
        loop {
            let (responded, body) = ask(client, service, "/readyz").await;
            if responded == status {
                return body;
            }
            tokio::task::yield_now().await;
        }
    };
    let responded = timeout(Duration::from_secs(30), responded).await;
    responded.unwrap_or_else(|_| panic!("it never was {status}"))
}

#[tokio::test]
async fn a_browser_that_uses_a_host_name_is_rejected_and_a_program_is_not() {
    let here = directory();
    let service = Service::start(here.path(), &MANAGED);
    let (client, url) = (client(), format!("{}/metrics", management_url(&service)));
    let status = async |host: &str, of_browser: Option<&str>| {
        let mut request = client.get(&url).header("host", host);
        if let Some(field) = of_browser {
            request = request.header(field, "en");
        }
        request.send().await.unwrap().status().as_u16()
    };
    for host in [
        "127.0.0.1:9090",
        "10.0.0.5",
        "[::1]:9090",
        "localhost:9090",
        "LOCALHOST",
    ] {
        assert_eq!(status(host, Some("accept-language")).await, 200, "{host}");
    }
    for host in [
        "rebound.example:9090",
        "petstore",
        "localhost.example",
        "127.0.0.1.example",
    ] {
        for field in ["accept-language", "origin", "sec-fetch-site"] {
            assert_eq!(status(host, Some(field)).await, 400, "{host} {field}");
        }
        assert_eq!(status(host, None).await, 200, "{host}");
    }
}

fn ok() -> (u16, Value) {
    (200, json!({ "status": "ok" }))
}

#[tokio::test]
async fn while_the_directory_is_missing_the_service_is_live_but_not_ready() {
    let here = directory();
    let folder = here.path().join("data");
    fs::create_dir(&folder).unwrap();
    let database = format!("sqlite:{}/petstore.db", folder.display());
    let service = Service::start(
        here.path(),
        &[&MANAGED[..], &["--database", &database]].concat(),
    );
    let client = client();
    assert_eq!(ask(&client, &service, "/readyz").await, ok());

    let away = here.path().join("away");
    fs::rename(&folder, &away).unwrap();
    let (status, body) = ask(&client, &service, "/readyz").await;
    assert_eq!((status, &body["status"]), (503, &json!("not ready")));
    assert_eq!(body["notReady"][0]["part"], "store");
    let reason = body["notReady"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("was removed or replaced"), "{reason}");
    assert_eq!(ask(&client, &service, "/livez").await, ok());

    fs::rename(&away, &folder).unwrap();
    assert_eq!(ask(&client, &service, "/readyz").await, ok());
}

// The proxy runs as a task of the test, which blocks on the program.
#[tokio::test(flavor = "multi_thread")]
async fn while_postgresql_is_down_the_service_is_live_but_not_ready() {
    let here = directory();
    let proxy = Proxy::to(&fresh_url().await);
    let service = Service::start(
        here.path(),
        &[&MANAGED[..], &["--database", &proxy.url]].concat(),
    );
    let client = client();
    assert_eq!(ask(&client, &service, "/readyz").await, ok());
    for away in [Line::Down, Line::Frozen] {
        proxy.set(away);
        let body = wait_for(&client, &service, 503).await;
        assert_eq!(body["notReady"][0]["part"], "store", "{body}");
        assert_eq!(ask(&client, &service, "/livez").await, ok());
        proxy.set(Line::Up);
        assert_eq!(wait_for(&client, &service, 200).await, ok().1);
    }
}

/// Starts a create without its body.
async fn begin_create(service: &Service, key: &str, body: &str) -> TcpStream {
    let address = service
        .url
        .strip_prefix("http://")
        .unwrap()
        .strip_suffix("/v1")
        .unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /v1/pets HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\n\
         expect: 100-continue\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut interim = [0; 25];
    stream.read_exact(&mut interim).await.unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream
}

#[tokio::test]
async fn during_shutdown_readyz_is_503_and_livez_is_200_until_the_last_response() {
    let here = directory();
    let service = Service::start(here.path(), &MANAGED);
    let key = new_key(here.path());
    let body = r#"{"name": "last", "categoryId": 1}"#;
    let mut in_flight = begin_create(&service, &key, body).await;

    service.signal("TERM");
    let client = client();
    let says = wait_for(&client, &service, 503).await;
    assert_eq!(
        says["notReady"],
        json!([{ "part": "server", "reason": "shutting down" }])
    );
    assert_eq!(ask(&client, &service, "/livez").await, ok());

    in_flight.write_all(body.as_bytes()).await.unwrap();
    let mut response = String::new();
    in_flight.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 201 "), "{response}");
    drop(client);
    assert_eq!(service.wait().0.code(), Some(0));
}

#[tokio::test]
async fn during_the_shutdown_delay_the_service_is_not_ready_and_serves_until_a_second_signal() {
    let here = directory();
    let delay = [&MANAGED[..], &["--shutdown-delay", "1h"]].concat();
    let service = Service::start(here.path(), &delay);
    let key = new_key(here.path());

    service.signal("TERM");
    let says = wait_for(&client(), &service, 503).await;
    assert_eq!(
        says["notReady"],
        json!([{ "part": "server", "reason": "shutting down" }])
    );
    // Over new connections.
    for name in ["Frank", "Greta"] {
        let created = create(&client(), &service.url, &key, name)
            .send()
            .await
            .unwrap();
        assert_eq!(created.status(), 201);
    }

    service.signal("TERM");
    let (status, log) = service.wait();
    assert_eq!(status.code(), Some(0), "{log}");
    assert!(
        log.contains("serving until the shutdown delay is over"),
        "{log}"
    );
    assert!(log.contains("shutting down"), "{log}");
}

#[tokio::test]
async fn a_probe_has_a_request_id_and_is_neither_logged_nor_counted_even_when_it_gets_503() {
    let here = directory();
    let options = [
        "--shutdown-delay",
        "1h",
        "--access-log",
        "--slow-request",
        "0s",
    ];
    let service = Service::start(here.path(), &[&MANAGED[..], &options].concat());
    let (client, key) = (client(), new_key(here.path()));
    let url = format!("{}/metrics", management_url(&service));
    let request = client
        .get(url)
        .header("x-request-id", "mine")
        .header("accept-encoding", "gzip");
    let metrics = request.send().await.unwrap();
    assert_eq!(metrics.headers()["x-request-id"], "mine");
    assert_eq!(metrics.headers()["cache-control"], "no-store");
    assert!(!metrics.headers().contains_key("content-encoding"));
    assert!(
        !metrics
            .text()
            .await
            .unwrap()
            .contains("http_response_status_code")
    );
    service.signal("TERM");
    wait_for(&client, &service, 503).await;
    assert_eq!(
        create(&client, &service.url, &key, "Frank")
            .send()
            .await
            .unwrap()
            .status(),
        201
    );
    service.signal("TERM");
    let (_, log) = service.wait();
    let lines = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let requests: Vec<Value> = lines.filter(|line| !line["request_id"].is_null()).collect();
    assert_eq!(requests.len(), 1, "{log}");
    assert_eq!(requests[0]["route"], "/v1/pets");
}

#[test]
fn the_shutdown_delay_ends_by_itself() {
    let here = directory();
    let service = Service::start(here.path(), &["--shutdown-delay", "1s"]);
    service.signal("TERM");
    let (status, log) = service.wait();
    assert_eq!(status.code(), Some(0), "{log}");
    assert!(
        log.contains("serving until the shutdown delay is over"),
        "{log}"
    );
    assert!(log.contains("stopped"), "{log}");
}

#[tokio::test]
async fn the_management_listener_serves_only_get_and_head_of_its_own_paths() {
    let here = directory();
    let service = Service::start(here.path(), &MANAGED);
    let client = client();
    let asked = async |method: Method, path: &str| {
        let url = format!("{}{path}", management_url(&service));
        let reply = client.request(method, url).send().await.unwrap();
        let allow = reply
            .headers()
            .get("allow")
            .map(|allow| allow.to_str().unwrap().to_owned());
        let length = reply.headers().get("content-length").map(ToOwned::to_owned);
        (reply.status().as_u16(), allow, length)
    };
    for path in ["/livez", "/readyz", "/metrics"] {
        let (status, _, length) = asked(Method::HEAD, path).await;
        assert_eq!(
            (status, length.is_some_and(|length| length != "0")),
            (200, true),
            "{path}"
        );
        let (status, allow, _) = asked(Method::POST, path).await;
        assert_eq!(
            (status, allow.as_deref()),
            (405, Some("GET, HEAD")),
            "{path}"
        );
    }
    for path in ["/", "/v1/pets", "/metrics/", "/openapi.yaml"] {
        assert_eq!(asked(Method::GET, path).await.0, 404, "{path}");
    }
    // The public listener has none of these paths.
    let public = service.url.strip_suffix("/v1").unwrap();
    for path in ["/livez", "/readyz", "/metrics"] {
        assert_eq!(
            client
                .get(format!("{public}{path}"))
                .send()
                .await
                .unwrap()
                .status(),
            404
        );
    }
}

#[test]
fn the_management_listener_is_off_by_default_and_an_address_in_use_is_one_line() {
    let here = directory();
    let service = Service::start(here.path(), &MANAGED);
    let taken = management_url(&service).strip_prefix("http://").unwrap();
    let line = run(
        here.path(),
        &[
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--management-listen",
            taken,
        ],
    )
    .expect_one_line();
    assert!(line.contains(taken), "{line}");
    let without = Service::start(here.path(), &[]);
    assert!(!format!("{:?}", without.first_lines).contains("managed"));
}

fn last_deprecated_calls(directory: &Path) -> Vec<Value> {
    let listed = run(directory, &["keys", "list", "--format", "json"]).expect_success();
    let keys: Vec<Value> = serde_json::from_str(&listed.stdout).unwrap();
    keys.iter()
        .map(|key| key["lastDeprecatedCall"].clone())
        .collect()
}

#[tokio::test]
async fn the_list_of_keys_shows_the_last_deprecated_call() {
    let here = directory();
    let service = Service::start(here.path(), &[]);
    let (caller, other) = (new_key(here.path()), new_key(here.path()));
    let client = client();
    assert_eq!(
        create(&client, &service.url, &other, "a")
            .send()
            .await
            .unwrap()
            .status(),
        201
    );
    let read = client
        .get(format!("{}/pets/1", service.url))
        .bearer_auth(&caller);
    assert_eq!(read.send().await.unwrap().status(), 200);
    service.signal("TERM");
    assert!(service.wait().0.success());
    let calls = last_deprecated_calls(here.path());
    assert!(
        calls[0]
            .as_str()
            .is_some_and(|at| at.parse::<jiff::Timestamp>().is_ok()),
        "{calls:?}"
    );
    assert_eq!(calls[1], Value::Null);
}
