//! Webhooks of the program: where their secrets are not, and several machines.

use std::{collections::HashMap, fs, path::Path};

use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::{
    backup::files,
    management::{MANAGED, management_url},
    postgres_cluster::{connect, fresh_url},
    program::{Done, Service, client, command, create, directory, finish, run},
    traces::{Collector, attributes},
};

/// A receiver that responds with this status code, and sends back what it received.
async fn start_receiver(status: u16) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 4096];
            let length = stream.read(&mut request).await.unwrap();
            let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n\r\n");
            let _ = stream.write_all(head.as_bytes()).await;
            let _ = stream.write_all(&request[..length]).await;
        }
    });
    format!("http://{address}/")
}

/// A store, and a machine with its key file.
struct Machine<'m> {
    here: &'m Path,
    database: &'m str,
    key_file: &'m str,
}

impl Machine<'_> {
    fn arguments<'a>(&'a self, arguments: &[&'a str]) -> Vec<&'a str> {
        let common = [
            "--database",
            self.database,
            "--secret-key-file",
            self.key_file,
        ];
        [arguments, &common, &["--webhook-allow", "127.0.0.1"]].concat()
    }

    fn webhooks(&self, arguments: &[&str]) -> Done {
        let all = self.arguments(&[&["webhooks"], arguments].concat());
        finish(&mut command(self.here, &all))
    }

    fn run(&self, arguments: &[&str]) -> Done {
        let all = [arguments, &["--database", self.database]].concat();
        finish(&mut command(self.here, &all))
    }

    fn new_key(&self) -> String {
        let create = [
            "keys",
            "create",
            "--create",
            "--name",
            "a",
            "--scope",
            "store:admin",
        ];
        self.run(&create)
            .expect_success()
            .stdout
            .trim_end()
            .to_owned()
    }

    fn serve(&self, options: &[&str]) -> Service {
        Service::from(command(
            self.here,
            &self.arguments(&[&["serve", "--listen", "127.0.0.1:0"], options].concat()),
        ))
    }
}

/// Sends a request to the store area; the status and the text of the response.
async fn send(
    client: &Client,
    url: &str,
    key: &str,
    method: Method,
    path: &str,
    body: Value,
) -> (StatusCode, String) {
    let request = client
        .request(method, format!("{url}/store/{path}"))
        .bearer_auth(key);
    let request = request
        .header("Idempotency-Key", format!("\"{path}\""))
        .json(&body);
    let response = request.send().await.unwrap();
    (response.status(), response.text().await.unwrap())
}

/// Every form in which a secret could be somewhere: as Base64, its bytes, and both in hexadecimal.
fn forms(secret: &str) -> Vec<Vec<u8>> {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let text = secret.strip_prefix("whsec_").unwrap();
    let bytes = STANDARD.decode(text).unwrap();
    let text = text.trim_end_matches('=').as_bytes();
    let hex = |bytes: &[u8]| {
        bytes
            .iter()
            .fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
    };
    let (of_text, of_bytes) = (hex(text), hex(&bytes));
    vec![
        text.to_vec(),
        of_bytes.to_uppercase().into(),
        of_bytes.into(),
        of_text.into(),
        bytes,
    ]
}

fn contains(place: &[u8], form: &[u8]) -> bool {
    place.windows(form.len()).any(|part| part == form)
}

/// All rows of all tables, or the files of the database.
async fn content(here: &Path, database: &str) -> Vec<u8> {
    if database.starts_with("sqlite:") {
        let parts =
            ["petstore.db", "petstore.db-wal"].map(|name| fs::read(here.join(name)).unwrap());
        return parts.concat();
    }
    let client = connect(database).await;
    let tables = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = current_schema";
    let mut content = Vec::new();
    for table in client.query(tables, &[]).await.unwrap() {
        let rows = format!("SELECT t::text FROM {} t", table.get::<_, String>(0));
        for row in client.query(&rows, &[]).await.unwrap() {
            content.extend(row.get::<_, String>(0).into_bytes());
        }
    }
    content
}

#[expect(clippy::too_many_lines, reason = "a walk through all that is stored")]
async fn expect_secrets_nowhere(database: &str) {
    let here = directory();
    let machine = Machine {
        here: here.path(),
        database,
        key_file: "secret-key",
    };
    let key = machine.new_key();
    let service = machine.serve(&[
        "--log-level",
        "trace",
        "--log-format",
        "json",
        MANAGED[0],
        MANAGED[1],
    ]);
    let (client, url) = (client(), service.url.clone());
    let send = async |method, path: &str, body| send(&client, &url, &key, method, path, body).await;
    let receiver = start_receiver(500).await;

    // Each way to make a secret, also when the request is repeated.
    let new = json!({ "url": receiver });
    let added = send(Method::POST, "webhooks", new.clone()).await;
    assert_eq!(send(Method::POST, "webhooks", new).await, added);
    let rotated = send(Method::POST, "webhooks/1/rotate-secret", json!({})).await;
    assert_eq!(
        send(Method::POST, "webhooks/1/rotate-secret", json!({})).await,
        rotated
    );
    let by_command = machine
        .webhooks(&["add", &receiver])
        .expect_success()
        .stdout;
    let rotated_by_command = machine
        .webhooks(&["rotate-secret", "2"])
        .expect_success()
        .stdout;
    let shown = [added.1, rotated.1, by_command, rotated_by_command];
    let secrets = shown.clone().map(|text| {
        let webhook: Value = serde_json::from_str(&text).unwrap();
        webhook["secret"].as_str().unwrap().to_owned()
    });
    for (secret, shown) in secrets.iter().zip(&shown) {
        assert!(
            forms(secret)
                .iter()
                .any(|form| contains(shown.as_bytes(), form))
        );
    }

    // Messages that fail, and errors that could repeat a secret.
    assert_eq!(
        create(&client, &url, &key, "Rex")
            .send()
            .await
            .unwrap()
            .status(),
        201
    );
    assert!(!machine.webhooks(&["test", "1"]).status.success());
    while machine.webhooks(&["attempts", "2"]).stdout.is_empty() {
        tokio::task::yield_now().await;
    }
    let secret = &secrets[1];
    let mut places: HashMap<&str, Vec<u8>> = HashMap::new();
    for (what, method, path, body) in [
        (
            "an error",
            Method::POST,
            "webhooks",
            json!({ "url": "https://a.example/", "secret": secret }),
        ),
        (
            "an error of a value",
            Method::PATCH,
            "webhooks/1",
            json!({ "types": [secret] }),
        ),
        ("an error of a path", Method::GET, "webhooks/9", json!({})),
    ] {
        let (status, text) = send(method, path, body).await;
        assert!(status.is_client_error(), "{what}: {status}");
        places.insert(what, text.into());
    }
    let wrong_key = client
        .get(format!("{url}/store/webhooks"))
        .bearer_auth(secret);
    places.insert(
        "an error of a key",
        wrong_key
            .send()
            .await
            .unwrap()
            .bytes()
            .await
            .unwrap()
            .into(),
    );
    for (what, path) in [
        ("the list", "webhooks"),
        ("a webhook", "webhooks/1"),
        ("the attempts", "webhooks/1/attempts"),
        ("the audit trail", "audit"),
        ("the changes", "changes?after=start"),
    ] {
        let (status, text) = send(Method::GET, path, json!({})).await;
        assert_eq!(status, 200, "{what}: {text}");
        places.insert(what, text.into());
    }
    let metrics = client.get(format!("{}/metrics", management_url(&service)));
    places.insert(
        "the metrics",
        metrics.send().await.unwrap().bytes().await.unwrap().into(),
    );
    places.insert(
        "the audit of the command",
        machine.run(&["audit"]).stdout.into(),
    );
    let export = machine.run(&["export", "--all"]).expect_success().stdout;
    places.insert("an export", export.into());
    let pid = service.pid();
    for file in ["cmdline", "environ"] {
        places.insert(file, fs::read(format!("/proc/{pid}/{file}")).unwrap());
    }
    places.insert("the database", content(here.path(), database).await);
    if database.starts_with("sqlite:") {
        machine.run(&["backup", "backup.db"]).expect_success();
        places.insert("a backup", fs::read(here.path().join("backup.db")).unwrap());
    }
    service.signal("TERM");
    let first_lines = format!("{:?}", service.first_lines);
    let (_, log) = service.wait();
    assert!(log.contains("a webhook fails"), "{log}");
    places.insert("the log", (first_lines + &log).into());
    for (what, place) in &places {
        assert!(!place.is_empty(), "{what}");
        for secret in &secrets {
            assert!(
                !forms(secret).iter().any(|form| contains(place, form)),
                "a secret is in {what}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_in_no_file_log_export_error_or_process_list() {
    expect_secrets_nowhere("sqlite:petstore.db").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_postgresql_secrets_are_in_no_table_log_export_error_or_process_list() {
    expect_secrets_nowhere(&fresh_url().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_without_the_key_file_makes_no_other_and_says_what_to_do() {
    for database in ["sqlite:petstore.db", &fresh_url().await] {
        let here = directory();
        let machine = Machine {
            here: here.path(),
            database,
            key_file: "first",
        };
        let key = machine.new_key();
        machine.serve(&[]).kill();
        machine
            .webhooks(&["add", "http://127.0.0.1:9/"])
            .expect_success();
        let other = Machine {
            key_file: "other",
            ..machine
        };
        let add = ["add", "http://127.0.0.1:9/"];
        for arguments in [&add[..], &["rotate-secret", "1"]] {
            let line = other.webhooks(arguments).expect_one_line();
            assert!(
                line.contains("copy it from its backup or from the machine that made it"),
                "{line}"
            );
        }
        let service = other.serve(&["--log-format", "json"]);
        for (path, body) in [
            ("webhooks", json!({ "url": "http://127.0.0.1:9/" })),
            ("webhooks/1/rotate-secret", json!({})),
        ] {
            let failed = send(&client(), &service.url, &key, Method::POST, path, body).await;
            assert_eq!(failed.0, 503, "{}", failed.1);
            assert!(failed.1.contains("--secret-key-file"), "{}", failed.1);
        }
        service.signal("TERM");
        let (_, log) = service.wait();
        assert!(log.contains("the key file other does not exist"), "{log}");
        assert!(!here.path().join("other").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn over_postgresql_a_command_makes_no_key_file_that_the_service_does_not_know() {
    let (here, database) = (directory(), fresh_url().await);
    let service_folder = directory();
    let common = ["--webhook-allow", "127.0.0.1", "--database", &database];
    let run = |arguments: &[&str]| run(here.path(), &[arguments, &common].concat());
    let machine = Machine {
        here: here.path(),
        database: &database,
        key_file: "",
    };
    machine.new_key();
    let add = ["webhooks", "add", "http://127.0.0.1:9/"];
    let rejected = run(&add);
    assert_eq!(rejected.status.code(), Some(2));
    assert!(
        rejected
            .expect_one_line()
            .contains("name it with --secret-key-file")
    );
    assert!(files(here.path()).is_empty());
    let key = service_folder
        .path()
        .join("petstore.secret-key")
        .display()
        .to_string();
    let added = run(&[&add[..], &["--secret-key-file", &key]].concat()).expect_success();
    assert!(
        added.stderr.contains(&format!("Made the key file {key}")),
        "{added:?}"
    );
    let id = serde_json::from_str::<Value>(&added.stdout).unwrap()["id"].to_string();
    // A service without the option still finds the file where it stands.
    let mut serve = command(service_folder.path(), &["serve", "--listen", "127.0.0.1:0"]);
    serve.args(common);
    let service = Service::from(serve);
    let test = run(&["webhooks", "test", &id]);
    assert!(test.stdout.contains("\"error\":\"connect\""), "{test:?}");
    drop(service);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_is_a_span_with_the_id_of_the_request_that_made_the_change() {
    let here = directory();
    let machine = Machine {
        here: here.path(),
        database: "sqlite:petstore.db",
        key_file: "key",
    };
    let (key, collector) = (machine.new_key(), Collector::start().await);
    let service = machine.serve(&["--otlp-endpoint", &collector.url()]);
    machine
        .webhooks(&["add", &start_receiver(500).await])
        .expect_success();
    let request = create(&client(), &service.url, &key, "Rex").header("X-Request-Id", "mine-7");
    assert_eq!(request.send().await.unwrap().status(), 201);
    let mut spans = collector.spans(2).await;
    spans.sort_by_key(|span| span.name.clone());
    let (caused, delivery) = (
        attributes(&spans[0].attributes),
        attributes(&spans[1].attributes),
    );
    assert_eq!(
        (&*spans[0].name, &*spans[1].name),
        ("POST /v1/pets", "deliver webhook")
    );
    for (name, value) in [
        ("petstore.request_id", "mine-7"),
        ("petstore.webhook_id", "1"),
        ("http.response.status_code", "500"),
        ("error.type", "status"),
    ] {
        assert_eq!(delivery[name], value, "{name}");
    }
    assert_eq!(caused["petstore.request_id"], "mine-7");
    assert!(delivery["petstore.message_id"].starts_with("msg_"));
}

/// A folder with the database `petstore.db`.
fn here() -> TempDir {
    let here = directory();
    let keys = [
        "keys",
        "create",
        "--create",
        "--name",
        "a",
        "--scope",
        "store:admin",
    ];
    run(here.path(), &keys).expect_success();
    here
}

#[test]
fn add_names_the_option_that_permits_a_network() {
    let here = here();
    for url in [
        "http://127.0.0.1:9/",
        "http://localhost:9/",
        "https://10.0.0.1/",
    ] {
        let line = run(here.path(), &["webhooks", "add", url]).expect_one_line();
        assert!(line.contains("with --webhook-allow."), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_message_is_sent_by_the_service_with_its_settings_and_not_by_the_command() {
    let (here, accepts) = (here(), start_receiver(200).await);
    let webhooks = |arguments: &[&str]| run(here.path(), &[&["webhooks"], arguments].concat());
    // A name is judged when it is resolved.
    webhooks(&["add", "https://localhost:9/"]).expect_success();
    for url in [&*accepts, &start_receiver(500).await] {
        webhooks(&["add", url, "--webhook-allow", "127.0.0.1"]).expect_success();
    }
    let permitted = ["--webhook-allow", "127.0.0.1", "--webhook-allow", "::1"];
    let test = |id: &str, options: &[&str]| {
        let done = webhooks(&[&["test", id], options].concat());
        let attempt: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(done.stderr.is_empty(), done.status.success());
        (
            done.status.code(),
            attempt["status"].clone(),
            attempt["error"].clone(),
            done.stderr,
        )
    };
    let service = Service::start(here.path(), &[]);
    let (code, _, class, line) = test("1", &permitted);
    assert_eq!((code, class), (Some(1), json!("address")));
    assert!(
        line.contains("start the service (petstore serve) with --webhook-allow"),
        "{line}"
    );
    service.kill();

    let _service = Service::start(here.path(), &permitted);
    let (code, _, class, line) = test("1", &[]);
    assert_eq!((code, class), (Some(1), json!("connect")));
    assert!(!line.contains("--webhook-allow"), "{line}");
    assert_eq!(test("2", &[]).0, Some(0));
    let (code, status, class, _) = test("3", &[]);
    assert_eq!(
        (code, status, class),
        (Some(1), json!(500), json!("status"))
    );
    let absent = webhooks(&["test", "4"]);
    assert_eq!((absent.status.code(), &*absent.stdout), (Some(2), ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_service_a_test_message_waits_and_the_command_says_so() {
    let (here, url) = (here(), start_receiver(200).await);
    let webhooks = |arguments: &[&str]| run(here.path(), &[&["webhooks"], arguments].concat());
    webhooks(&["add", &url, "--webhook-allow", "127.0.0.1"]).expect_success();
    let line = webhooks(&["test", "1"]).expect_one_line();
    assert!(
        line.contains("no running service has taken the test message yet"),
        "{line}"
    );
    let _service = Service::start(here.path(), &["--webhook-allow", "127.0.0.1"]);
    let sent = loop {
        let attempts = webhooks(&["attempts", "1"]).expect_success().stdout;
        if !attempts.is_empty() {
            break attempts;
        }
    };
    assert!(sent.contains(r#""status":200"#), "{sent}");
}
