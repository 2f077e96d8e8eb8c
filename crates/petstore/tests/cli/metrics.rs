//! `/metrics`: every metric exists and changes with what it counts; the dashboard and the alert
//! rules use no others.

use std::{
    collections::BTreeSet, fmt::Debug, fs, iter::Sum, path::Path, str::FromStr, time::Duration,
};

use reqwest::Client;
use serde_json::Value;
use tokio::{
    io::AsyncReadExt,
    net::TcpStream,
    task::{JoinSet, yield_now},
    time::timeout,
};

use super::{
    management::{MANAGED, management_url},
    postgres_cluster::fresh_url,
    program::{Service, client, create, directory, new_key, run},
};

/// A page of metrics.
pub(super) struct Page(String);

impl Page {
    pub(super) async fn of(client: &Client, service: &Service) -> Self {
        let reply = client.get(format!("{}/metrics", management_url(service)));
        let reply = reply.send().await.unwrap();
        assert_eq!(reply.status(), 200);
        assert_eq!(
            reply.headers()["content-type"],
            "text/plain; version=0.0.4; charset=utf-8"
        );
        Self(reply.text().await.unwrap())
    }

    /// Name, labels and value of each sample.
    fn samples(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.0
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| {
                let (series, value) = line.rsplit_once(' ').unwrap();
                let (name, labels) = series.split_once('{').unwrap_or((series, ""));
                (name, labels.trim_end_matches('}'), value)
            })
    }

    /// The sum of the samples with this name and all of these labels.
    #[track_caller]
    fn sum<T: FromStr<Err: Debug> + Sum>(&self, name: &str, labels: &[&str]) -> T {
        self.samples()
            .filter(|(found, _, _)| *found == name)
            .filter(|(_, found, _)| {
                labels
                    .iter()
                    .all(|label| found.split(',').any(|l| l == *label))
            })
            .map(|(_, _, value)| value.parse::<T>().unwrap())
            .sum()
    }

    #[track_caller]
    pub(super) fn value(&self, name: &str, labels: &[&str]) -> u64 {
        self.sum(name, labels)
    }

    fn names(&self) -> BTreeSet<String> {
        self.samples().map(|(name, _, _)| name.to_owned()).collect()
    }
}

/// A service, its keys and its metrics.
struct Watched {
    service: Service,
    client: Client,
    key: String,
}

impl Watched {
    fn start(here: &Path, options: &[&str]) -> Self {
        Self::over("sqlite:petstore.db", here, options)
    }

    fn over(database: &str, here: &Path, options: &[&str]) -> Self {
        let database = ["--database", database];
        let service = Service::start(here, &[&MANAGED[..], &database, options].concat());
        let key = [&["keys", "create", "--name", "secretive"][..], &database].concat();
        let key = run(here, &key)
            .expect_success()
            .stdout
            .trim_end()
            .to_owned();
        Self {
            service,
            client: client(),
            key,
        }
    }

    async fn page(&self) -> Page {
        Page::of(&self.client, &self.service).await
    }

    /// A page of a moment without a write that waits. A periodic task may write at any time.
    async fn page_at_rest(&self) -> Page {
        let rest = async {
            loop {
                let page = self.page().await;
                if page.value("petstore_writer_queue_length", &[]) == 0 {
                    return page;
                }
                yield_now().await;
            }
        };
        timeout(Duration::from_mins(1), rest)
            .await
            .expect("writes wait for a minute")
    }

    async fn get(&self, target: &str, key: &str) -> u16 {
        let request = self
            .client
            .get(format!("{}{target}", self.service.url))
            .bearer_auth(key);
        request.send().await.unwrap().status().as_u16()
    }

    async fn create(&self, name: &str) {
        let created = create(&self.client, &self.service.url, &self.key, name);
        assert_eq!(created.send().await.unwrap().status(), 201);
    }

    /// Many concurrent creates, some lists and reads.
    async fn load(&self) {
        let mut creating = JoinSet::new();
        for number in 0..64 {
            let (client, url, key) = (
                self.client.clone(),
                self.service.url.clone(),
                self.key.clone(),
            );
            creating.spawn(async move {
                let created = create(&client, &url, &key, &format!("Animal {number}"));
                assert_eq!(created.send().await.unwrap().status(), 201);
            });
        }
        creating.join_all().await;
        for target in [
            "/pets",
            "/pets",
            "/pets/17",
            "/pets/4711",
            "/pets?limit=0",
            "/nothing",
        ] {
            self.get(target, &self.key).await;
        }
        self.get("/pets", "pets_live_wrong").await;
    }
}

#[tokio::test]
async fn requests_are_counted_by_operation_and_status_with_their_duration() {
    let here = directory();
    let watched = Watched::start(here.path(), &[]);
    let before = watched.page().await;
    assert_eq!(before.value("http_server_requests_total", &[]), 0);
    watched.load().await;
    let page = watched.page().await;
    for (operation, route, status, count) in [
        ("createPet", "/v1/pets", 201, 64),
        ("listPets", "/v1/pets", 200, 2),
        ("listPets", "/v1/pets", 400, 1),
        ("getPet", "/v1/pets/{petId}", 200, 1),
        ("getPet", "/v1/pets/{petId}", 404, 1),
        ("none", "none", 404, 1),
        ("none", "none", 401, 1),
    ] {
        let (operation, route) = (
            format!("operation=\"{operation}\""),
            format!("http_route=\"{route}\""),
        );
        let status = format!("http_response_status_code=\"{status}\"");
        let labels = [&*operation, &route, &status];
        assert_eq!(
            page.value("http_server_requests_total", &labels),
            count,
            "{labels:?}"
        );
    }
    let creates = ["operation=\"createPet\""];
    let name = "http_server_request_duration_seconds";
    assert_eq!(page.value(&format!("{name}_count"), &creates), 64);
    assert_eq!(
        page.value(&format!("{name}_bucket"), &[creates[0], "le=\"+Inf\""]),
        64
    );
    let sum: f64 = page.sum(&format!("{name}_sum"), &creates);
    assert!(sum > 0.0 && sum < 64.0 * 30.0, "{sum}");
    assert_eq!(page.value("http_server_active_requests", &[]), 0);
    assert!(page.value("petstore_connections_accepted_total", &[]) >= 1);
    assert!(page.value("petstore_connections", &[]) >= 1);
    assert_eq!(page.value("petstore_build_info", &[]), 1);
}

#[tokio::test]
async fn writes_and_the_log_are_counted() {
    let here = directory();
    let watched = Watched::start(here.path(), &[]);
    watched.load().await;
    let page = watched.page_at_rest().await;
    // A batch may also have saved the uses of keys.
    let writes = page.value("petstore_writer_batch_size_sum", &[]);
    assert!(writes >= 64, "{writes}");
    let commits = page.value("petstore_commit_duration_seconds_count", &[]);
    assert!((1..=writes).contains(&commits), "{commits}");
    assert_eq!(page.value("petstore_writer_batch_size_count", &[]), commits);
    assert!(page.sum::<f64>("petstore_commit_duration_seconds_sum", &[]) > 0.0);
    assert_eq!(page.value("petstore_writer_queue_limit", &[]), 1024);
    let log_size = || {
        fs::metadata(here.path().join("petstore.db-wal"))
            .unwrap()
            .len()
    };
    let smallest = log_size();
    let shown = watched.page().await.value("petstore_wal_size_bytes", &[]);
    assert!(
        (smallest..=log_size()).contains(&shown) && shown > 0,
        "{shown}"
    );
}

#[tokio::test]
async fn first_pages_are_counted_as_hit_or_miss() {
    let here = directory();
    let watched = Watched::start(here.path(), &[]);
    let found_and_not = async || {
        let page = watched.page().await;
        ["cache=\"hit\"", "cache=\"miss\""].map(|l| page.value("petstore_first_pages_total", &[l]))
    };
    watched.get("/pets", &watched.key).await;
    // Saving the uses of keys may invalidate the cached page at any moment.
    let mut gets = 1;
    while found_and_not().await[0] == 0 {
        watched.get("/pets", &watched.key).await;
        gets += 1;
        assert_eq!(found_and_not().await.iter().sum::<u64>(), gets);
    }
    let [found, not_found] = found_and_not().await;
    watched.create("one more").await;
    watched.get("/pets", &watched.key).await;
    assert_eq!(found_and_not().await, [found, not_found + 1]);
}

#[tokio::test]
async fn commits_that_fail_are_counted() {
    let here = directory();
    let watched = Watched::start(here.path(), &[]);
    fs::remove_file(here.path().join("petstore.db")).unwrap();
    let lost = create(&watched.client, &watched.service.url, &watched.key, "lost");
    assert_eq!(lost.send().await.unwrap().status(), 503);
    let page = watched.page().await;
    // The periodic tasks may fail as well.
    assert!(page.value("petstore_commit_failures_total", &[]) >= 1);
    let unavailable = ["http_response_status_code=\"503\""];
    assert_eq!(page.value("http_server_requests_total", &unavailable), 1);
}

#[tokio::test]
async fn rejected_keys_are_counted_by_error_code() {
    let here = directory();
    let watched = Watched::start(here.path(), &[]);
    let reader = run(
        here.path(),
        &["keys", "create", "--name", "reader", "--scope", "read"],
    );
    let reader = reader.expect_success().stdout.trim_end().to_owned();
    let revoked = new_key(here.path());
    run(here.path(), &["keys", "revoke", "3"]).expect_success();
    let rejected = create(&watched.client, &watched.service.url, &reader, "x");
    assert_eq!(rejected.send().await.unwrap().status(), 403);
    assert_eq!(watched.get("/pets", &revoked).await, 401);
    assert_eq!(watched.get("/pets", "wrong").await, 401);
    let limited = run(
        here.path(),
        &["keys", "create", "--name", "limited", "--rate-limit", "1/h"],
    );
    let limited = limited.expect_success().stdout.trim_end().to_owned();
    assert_eq!(watched.get("/pets", &limited).await, 200);
    assert_eq!(watched.get("/pets", &limited).await, 429);
    let without = watched.client.get(format!("{}/pets", watched.service.url));
    assert_eq!(without.send().await.unwrap().status(), 401);
    let page = watched.page().await;
    for (code, count) in [
        ("invalid_api_key", 2),
        ("rate_limited", 1),
        ("insufficient_scope", 1),
        ("missing_api_key", 1),
    ] {
        let label = format!("code=\"{code}\"");
        assert_eq!(
            page.value("petstore_rejected_keys_total", &[&label]),
            count,
            "{code}"
        );
    }
}

#[tokio::test]
async fn deprecated_calls_are_counted_by_key() {
    let here = directory();
    let watched = Watched::start(here.path(), &[]);
    let other = new_key(here.path());
    watched.create("Frank").await;
    for (id, key) in [(1, &other), (1, &other), (99, &other), (1, &watched.key)] {
        watched.get(&format!("/pets/{id}"), key).await;
    }
    watched.get("/pets", &watched.key).await;
    watched.get("/pets/1", "wrong").await;
    let page = watched.page().await;
    let name = "petstore_deprecated_calls_total";
    let getting = "operation=\"getPet\"";
    assert_eq!(page.value(name, &[getting, "key_id=\"2\""]), 3);
    assert_eq!(page.value(name, &[getting, "key_id=\"1\""]), 1);
    assert_eq!(
        page.samples()
            .filter(|(found, _, _)| *found == name)
            .count(),
        2
    );
}

#[tokio::test]
async fn rejected_connections_are_counted() {
    let here = directory();
    let watched = Watched::start(here.path(), &["--max-connections", "1"]);
    watched.get("/pets", &watched.key).await;
    let address = watched
        .service
        .url
        .strip_prefix("http://")
        .unwrap()
        .strip_suffix("/v1")
        .unwrap();
    // The response arrives without a request, which some HTTP clients do not accept.
    let mut response = String::new();
    let mut turned_away = TcpStream::connect(address).await.unwrap();
    turned_away.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 503 "), "{response}");
    let page = watched.page().await;
    assert_eq!(page.value("petstore_connections_turned_away_total", &[]), 1);
    assert_eq!(page.value("petstore_connections", &[]), 1);
}

#[tokio::test]
async fn no_metric_contains_a_secret_a_name_or_an_animal_or_grows_with_what_clients_send() {
    let here = directory();
    let watched = Watched::start(here.path(), &[]);
    watched.load().await;
    let before = watched.page().await;
    for secret in [
        &watched.key["pets_live_".len()..],
        "secretive",
        "Animal",
        "pets_live",
        "4711",
    ] {
        assert!(!before.0.contains(secret), "{secret}");
    }
    for number in 0..200 {
        watched.get(&format!("/pets/{number}"), &watched.key).await;
        watched
            .get(&format!("/path-{number}?x={number}"), &watched.key)
            .await;
        watched
            .get(&format!("/pets/{number}"), &format!("pets_live_{number}"))
            .await;
    }
    let after = watched.page().await;
    assert_eq!(after.0.lines().count(), before.0.lines().count());
}

#[tokio::test]
async fn postgresql_connections_are_counted() {
    let here = directory();
    let database = fresh_url().await;
    let watched = Watched::over(&database, here.path(), &[]);
    watched.load().await;
    let page = watched.page().await;
    assert_eq!(page.value("db_client_connection_max", &[]), 16);
    let open = page.value("db_client_connection_count", &[]);
    assert!((1..=16).contains(&open), "{open}");
    assert_eq!(page.value("db_client_connection_pending_requests", &[]), 0);
    assert_eq!(page.value("db_client_connection_timeouts_total", &[]), 0);
}

/// The metrics in an expression: words with our prefixes.
fn names_in(expression: &str) -> BTreeSet<String> {
    expression
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| {
            ["petstore_", "http_server_", "db_client_"]
                .iter()
                .any(|p| word.starts_with(p))
        })
        // These labels have the same prefixes.
        .filter(|word| !["http_response_status_code", "http_route"].contains(word))
        .filter(|word| *word != "db_client_connection_state")
        .map(str::to_owned)
        .collect()
}

/// All values of this member, at any depth.
fn expressions(value: &Value) -> Vec<String> {
    match value {
        Value::Object(members) => members
            .iter()
            .flat_map(|(name, value)| match value.as_str() {
                Some(text) if ["expr", "query"].contains(&name.as_str()) => vec![text.to_owned()],
                _ => expressions(value),
            })
            .collect(),
        Value::Array(values) => values.iter().flat_map(expressions).collect(),
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn the_dashboard_and_the_alerts_name_existing_metrics() {
    let here = directory();
    let sqlite = Watched::start(here.path(), &[]);
    let database = fresh_url().await;
    let postgres = Watched::over(&database, here.path(), &[]);
    // Nothing answers there, and the service tries only when something changes.
    let add = [
        "webhooks",
        "add",
        "https://shop.invalid/",
        "--database",
        "sqlite:petstore.db",
    ];
    run(here.path(), &add).expect_success();
    while !sqlite
        .page()
        .await
        .names()
        .contains("petstore_webhook_failing")
    {
        tokio::task::yield_now().await;
    }
    let mut exported = BTreeSet::new();
    for watched in [&sqlite, &postgres] {
        watched.load().await;
        exported.extend(watched.page().await.names());
    }
    let read = |path: &str| {
        fs::read_to_string(petstore_testing::root().join("deploy").join(path)).unwrap()
    };
    let dashboard: Value = serde_json::from_str(&read("grafana/petstore.json")).unwrap();
    let alerts: Value = serde_saphyr::from_str(&read("prometheus/alerts.yaml")).unwrap();
    for (what, document, least) in [("dashboard", &dashboard, 20), ("alerts", &alerts, 12)] {
        let named: BTreeSet<String> = expressions(document)
            .iter()
            .flat_map(|text| names_in(text))
            .collect();
        assert!(named.len() >= least, "the {what} names only {named:?}");
        let unknown: Vec<&String> = named.difference(&exported).collect();
        assert!(
            unknown.is_empty(),
            "the {what} names {unknown:?}, which the service does not export"
        );
    }
    // Each is documented.
    let docs = petstore_testing::root().join("docs/watching.md");
    let docs = fs::read_to_string(docs).unwrap();
    for name in &exported {
        let family = ["_bucket", "_sum", "_count"]
            .iter()
            .find_map(|part| {
                name.strip_suffix(part)
                    .filter(|name| !name.ends_with("connection"))
            })
            .unwrap_or(name);
        assert!(
            docs.contains(&format!("| `{family}` |")),
            "{family} is not explained"
        );
    }
}
