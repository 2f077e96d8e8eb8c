//! The contacts of orders: where they are not.

use std::{
    collections::HashMap,
    fs,
    path::Path,
    sync::{Arc, Mutex},
};

use reqwest::{Client, Method};
use rusqlite::{Connection, types::ValueRef};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::{
    management::{MANAGED, management_url},
    postgres_cluster::{connect, fresh_url},
    program::{Service, client, command, directory, finish},
};

const MARK: &str = "Zorro-4711";

/// An endpoint that accepts every message and trace, and what it receives.
async fn start_receiver() -> (String, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let messages = Arc::<Mutex<Vec<u8>>>::default();
    let all = Arc::clone(&messages);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(respond(stream, Arc::clone(&all)));
        }
    });
    (format!("http://{address}"), messages)
}

/// Responds to each request on a connection.
async fn respond(mut stream: TcpStream, all: Arc<Mutex<Vec<u8>>>) {
    let mut bytes = Vec::new();
    while !matches!(stream.read_buf(&mut bytes).await, Ok(0) | Err(_)) {
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase() + "\r";
        let length = head
            .split("content-length: ")
            .nth(1)
            .unwrap()
            .split('\r')
            .next()
            .unwrap();
        if bytes.len() == end + 4 + length.parse::<usize>().unwrap() {
            all.lock().unwrap().append(&mut bytes);
            let response = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
            let _ = stream.write_all(response).await;
        }
    }
}

fn contains(place: &[u8], part: &str) -> bool {
    place
        .windows(part.len())
        .any(|found| found == part.as_bytes())
}

/// The rows of each table.
async fn tables(here: &Path, database: &str) -> HashMap<String, Vec<u8>> {
    let mut content = HashMap::new();
    if let Some(path) = database.strip_prefix("sqlite:") {
        let on = Connection::open(here.join(path)).unwrap();
        let mut tables = on
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
            .unwrap();
        let tables = tables.query_map([], |row| row.get::<_, String>(0)).unwrap();
        for table in tables.map(Result::unwrap) {
            let mut select = on.prepare(&format!("SELECT * FROM {table}")).unwrap();
            let columns = select.column_count();
            let mut rows = select.query([]).unwrap();
            let all: &mut Vec<u8> = content.entry(table).or_default();
            while let Some(row) = rows.next().unwrap() {
                for at in 0..columns {
                    if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = row.get_ref(at).unwrap()
                    {
                        all.extend(bytes);
                    }
                }
            }
        }
        return content;
    }
    let on = connect(database).await;
    let tables = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = current_schema";
    for table in on.query(tables, &[]).await.unwrap() {
        let table: String = table.get(0);
        // Also what is in a column of bytes.
        let rows = format!(
            "SELECT convert_to(t::text, 'UTF8') || coalesce({}, '') FROM {table} t",
            if table == "requests" {
                "body"
            } else {
                "NULL::bytea"
            }
        );
        let rows = on.query(&rows, &[]).await.unwrap();
        content.insert(
            table,
            rows.iter()
                .flat_map(|row| row.get::<_, Vec<u8>>(0))
                .collect(),
        );
    }
    content
}

struct Program<'p> {
    client: Client,
    url: &'p str,
    key: &'p str,
}

impl Program<'_> {
    /// Sends a request with this key for a repetition, and with any version.
    async fn send(&self, method: Method, path: &str, retry: &str, body: Value) -> (u16, String) {
        let request = self.client.request(method, format!("{}{path}", self.url));
        let request = request
            .bearer_auth(self.key)
            .header("Idempotency-Key", format!("\"{retry}\""))
            .header("If-Match", "*")
            .json(&body);
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }
}

fn marked(number: u32) -> String {
    format!("{MARK} {number}")
}

/// Each operation that can have a contact, twice.
async fn carry_out_each_operation(program: &Program<'_>) {
    let mut seen = String::new();
    for name in ["Rex", "Max", "Tom"] {
        let pet = json!({ "name": name, "categoryId": 1, "status": "available" });
        assert_eq!(program.send(Method::POST, "/pets", name, pet).await.0, 201);
    }
    let place = json!({ "petId": 1, "contact": marked(1) });
    let batch = json!([{ "command": "placeOrder", "petId": 2, "contact": marked(2) }]);
    let sale = json!({ "petId": 3, "contact": marked(3), "status": "completed" });
    for (method, path, body, status) in [
        (Method::POST, "/store/orders", place, 201),
        (Method::POST, "/store/batch", batch, 200),
        (
            Method::PATCH,
            "/store/orders/1",
            json!({ "contact": marked(4) }),
            200,
        ),
        (
            Method::PATCH,
            "/store/orders/1",
            json!({ "note": "n", "price": "1" }),
            200,
        ),
        (Method::POST, "/store/orders/1/complete", json!({}), 200),
        (
            Method::POST,
            "/store/orders/1/return",
            json!({ "reason": "r" }),
            200,
        ),
        (Method::POST, "/store/orders/2/cancel", json!({}), 200),
        (Method::POST, "/store/orders", sale, 201),
        // Rejected for the value, and for the state.
        (
            Method::PATCH,
            "/store/orders/1",
            json!({ "contact": [marked(5)] }),
            400,
        ),
        (
            Method::PATCH,
            "/store/orders/1",
            json!({ "contact": marked(6).repeat(50) }),
            400,
        ),
        (
            Method::PATCH,
            "/store/orders/1",
            json!({ (marked(7)): 1 }),
            400,
        ),
        (Method::POST, "/store/orders/2/complete", json!({}), 409),
    ] {
        for _ in 0..2 {
            let retry = format!("{} {path} {body}", method.as_str());
            let retry: String = retry
                .bytes()
                .map(|byte| format!("{byte:x}"))
                .take(120)
                .collect();
            let (found, text) = program
                .send(method.clone(), path, &retry, body.clone())
                .await;
            assert_eq!(found, status, "{path}: {text}");
            seen += &text;
        }
    }
    for read in ["/store/orders", "/store/orders/1"] {
        seen += &program.send(Method::GET, read, "r", json!({})).await.1;
    }
    assert!(
        (1..=4).all(|number| seen.contains(&marked(number))),
        "{seen}"
    );
}

#[expect(clippy::too_many_lines, reason = "a walk through all that is stored")]
async fn expect_contact_nowhere(database: &str) {
    let here = directory();
    let arguments = |arguments: &[&str]| {
        let all: Vec<_> = [arguments, &["--database", database]].concat();
        command(here.path(), &all)
    };
    let run = |of: &[&str]| finish(&mut arguments(of)).expect_success().stdout;
    let create = [
        "keys",
        "create",
        "--create",
        "--name",
        "a",
        "--scope",
        "store:admin",
    ];
    let key = run(&create);
    let (receiver, messages) = start_receiver().await;
    let serve = [
        &[
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--log-level",
            "trace",
            "--log-format",
            "json",
        ][..],
        &[
            "--access-log",
            "--webhook-allow",
            "127.0.0.1",
            "--secret-key-file",
            "key",
        ],
        &["--otlp-endpoint", &receiver],
        &MANAGED,
    ];
    let service = Service::from(arguments(&serve.concat()));
    let program = Program {
        client: client(),
        url: &service.url,
        key: key.trim_end(),
    };
    let webhook = json!({ "url": format!("{receiver}/hook") });
    assert_eq!(
        program
            .send(Method::POST, "/store/webhooks", "w", webhook)
            .await
            .0,
        201
    );

    carry_out_each_operation(&program).await;

    let mut places: HashMap<String, Vec<u8>> = HashMap::new();
    for read in [
        "/store/changes?after=start",
        "/store/audit",
        "/store/webhooks/1/attempts",
    ] {
        let (status, text) = program.send(Method::GET, read, "r", json!({})).await;
        assert_eq!(status, 200, "{read}: {text}");
        places.insert(read.to_owned(), text.into());
    }
    let messages = messages.clone();
    let is_sent = || contains(&messages.lock().unwrap(), "order.returned");
    while !is_sent() {
        tokio::task::yield_now().await;
    }
    let metrics = program
        .client
        .get(format!("{}/metrics", management_url(&service)));
    places.insert(
        "metrics".into(),
        metrics.send().await.unwrap().bytes().await.unwrap().into(),
    );
    for (what, of) in [
        ("audit", &["audit"][..]),
        ("export", &["export"]),
        ("export of all", &["export", "--all"]),
        ("check", &["check"]),
    ] {
        places.insert(what.into(), run(of).into());
    }
    assert!(run(&["export", "--all", "--with-contacts"]).contains(&marked(4)));
    for (copy, expected) in [(&["--with-contacts"][..], 3), (&[], 0)] {
        let to = format!("sqlite:copy-{expected}.db");
        let arguments = [&["copy", "--from", database, "--to", &to], copy].concat();
        finish(&mut command(here.path(), &arguments)).expect_success();
        let copied = tables(here.path(), &to).await;
        let contacts = &copied["order_contacts"];
        assert_eq!(
            String::from_utf8_lossy(contacts).matches(MARK).count(),
            expected
        );
        let others = copied
            .into_iter()
            .filter(|(table, _)| table != "order_contacts");
        places.extend(others.map(|(table, rows)| (format!("{table} of {to}"), rows)));
    }
    let mut of_database = tables(here.path(), database).await;
    assert!(contains(
        &of_database.remove("order_contacts").unwrap(),
        MARK
    ));
    places.extend(of_database);

    for order in 1..=3 {
        let erase = json!({ "contact": null });
        let path = format!("/store/orders/{order}");
        let (status, text) = program.send(Method::PATCH, &path, &path, erase).await;
        assert_eq!(status, 200, "{text}");
    }
    for (table, rows) in tables(here.path(), database).await {
        places.insert(format!("{table} in the end"), rows);
    }
    service.signal("TERM");
    let first_lines = format!("{:?}", service.first_lines);
    let (_, log) = service.wait();
    assert!(log.contains("order.changed"), "{log}");
    places.insert("log".into(), (first_lines + &log).into());
    places.insert(
        "messages and traces".into(),
        messages.lock().unwrap().clone(),
    );
    if database.starts_with("sqlite:") {
        for file in fs::read_dir(here.path()).unwrap().map(Result::unwrap) {
            let name = file.file_name().into_string().unwrap();
            // The folder of photos has none.
            if !name.starts_with("copy-3") && file.path().is_file() {
                places.insert(format!("the file {name}"), fs::read(file.path()).unwrap());
            }
        }
    }
    for (what, place) in &places {
        assert!(!contains(place, MARK), "a contact is in {what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_contact_is_in_no_log_event_trace_metric_or_response_that_is_kept_and_erased_from_the_file()
 {
    expect_contact_nowhere("sqlite:petstore.db").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_postgresql_a_contact_is_in_no_log_event_trace_metric_or_response_that_is_kept() {
    expect_contact_nowhere(&fresh_url().await).await;
}
