//! The program over PostgreSQL: many processes on one database.

use std::{
    collections::BTreeMap,
    fs,
    io::{Cursor, ErrorKind},
    net::TcpStream,
    path::Path,
    process::Stdio,
    time::Duration,
};

use image::{ImageFormat, RgbImage};
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    task::JoinSet,
    time::{interval, timeout},
};

use super::{
    postgres_cluster::{cluster, connect, fresh_url},
    program::{Service, client, command, create, directory, finish, free_address, run, walk},
};

/// A folder, and an empty database.
async fn setup() -> (TempDir, String) {
    (directory(), fresh_url().await)
}

fn start(here: &Path, database: &str) -> Service {
    Service::start(here, &["--database", database])
}

fn new_key(here: &Path, database: &str) -> String {
    let arguments = [
        "keys",
        "create",
        "--name",
        "test",
        "--create",
        "--database",
        database,
    ];
    run(here, &arguments)
        .expect_success()
        .stdout
        .trim_end()
        .to_owned()
}

async fn status(client: &Client, service: &Service, key: &str) -> u16 {
    let request = client.get(format!("{}/pets", service.url)).bearer_auth(key);
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn ten_processes_that_start_at_once_on_an_empty_database_all_serve() {
    let (here, database) = setup().await;
    let mut starting = JoinSet::new();
    for _ in 0..10 {
        let (here, database) = (here.path().to_owned(), database.clone());
        starting.spawn_blocking(move || start(&here, &database));
    }
    let services = starting.join_all().await;
    let key = new_key(here.path(), &database);
    let client = client();
    for service in &services {
        let created = create(&client, &service.url, &key, "Frank")
            .send()
            .await
            .unwrap();
        assert_eq!(created.status(), 201);
    }
    let expected: BTreeMap<i64, String> = (1..=10).map(|id| (id, "Frank".to_owned())).collect();
    for service in &services {
        assert_eq!(walk(&client, service, &key).await, expected);
    }
}

#[tokio::test]
async fn nobody_can_connect_and_commands_say_so_before_the_schema_is_there() {
    let (here, database) = setup().await;
    let (hand, watch) = (connect(&database).await, connect(&database).await);
    // As while another process prepares the database.
    hand.batch_execute("BEGIN; CREATE TABLE petstore_schema (only_row BOOLEAN)")
        .await
        .unwrap();
    let address = free_address();
    let arguments = [
        "serve",
        "--listen",
        &address.to_string(),
        "--database",
        &database,
    ];
    let process = command(here.path(), &arguments)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'
        AND application_name = current_setting('application_name')";
    while watch
        .query_one(waiting, &[])
        .await
        .unwrap()
        .get::<_, i64>(0)
        == 0
    {}
    let early = TcpStream::connect(address).map(drop);
    let keys = run(
        here.path(),
        &["keys", "create", "--name", "me", "--database", &database],
    );
    hand.batch_execute("ROLLBACK").await.unwrap();
    let _service = tokio::task::spawn_blocking(|| Service::of(process))
        .await
        .unwrap();
    assert_eq!(early.unwrap_err().kind(), ErrorKind::ConnectionRefused);
    TcpStream::connect(address).unwrap();
    assert_eq!(keys.status.code(), Some(1), "{keys:?}");
    let line = keys.expect_one_line();
    assert!(
        line.contains("preparing the database: retry in a moment"),
        "{line}"
    );
}

// Within 5 seconds: `authentication::a_revoked_key_is_rejected_within_5_seconds`, with a clock of its own.
#[tokio::test]
async fn in_every_process_a_new_key_works_at_once_and_a_revoked_one_is_rejected() {
    let (here, database) = setup().await;
    let services = [start(here.path(), &database), start(here.path(), &database)];
    let key = new_key(here.path(), &database);
    let client = client();
    for service in &services {
        assert_eq!(status(&client, service, &key).await, 200);
    }
    run(
        here.path(),
        &["keys", "revoke", "1", "--database", &database],
    )
    .expect_success();
    let mut pace = interval(Duration::from_millis(100));
    let rejected = async {
        for service in &services {
            while status(&client, service, &key).await == 200 {
                pace.tick().await;
            }
        }
    };
    timeout(Duration::from_mins(1), rejected)
        .await
        .expect("it still counts");
    let list = run(
        here.path(),
        &["keys", "list", "--format", "json", "--database", &database],
    );
    let keys: Value = serde_json::from_str(&list.expect_success().stdout).unwrap();
    assert!(keys[0]["revoked"].is_string(), "{keys}");
}

#[tokio::test]
async fn a_rotated_key_stays_valid_along_with_its_successor() {
    let (here, database) = setup().await;
    let service = start(here.path(), &database);
    let old = new_key(here.path(), &database);
    let rotated = run(
        here.path(),
        &["keys", "rotate", "1", "--database", &database],
    );
    let new = rotated.expect_success().stdout.trim_end().to_owned();
    for key in [old, new] {
        assert_eq!(status(&client(), &service, &key).await, 200);
    }
    run(
        here.path(),
        &["keys", "rotate", "1", "--database", &database],
    )
    .expect_one_line();
}

#[tokio::test]
async fn sigterm_ends_the_service_with_success_and_closes_its_connections() {
    let (here, database) = setup().await;
    let service = start(here.path(), &database);
    let key = new_key(here.path(), &database);
    assert_eq!(status(&client(), &service, &key).await, 200);
    service.signal("TERM");
    let (ended, log) = service.wait();
    assert_eq!(ended.code(), Some(0), "{log}");
    let beside = connect(&database).await;
    let sql = "SELECT count(*) FROM pg_stat_activity
        WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()";
    while beside.query_one(sql, &[]).await.unwrap().get::<_, i64>(0) != 0 {}
}

/// The rights that docs/postgres.md names, in the schema of the test.
#[expect(clippy::too_many_lines, reason = "a walk through all that is done")]
#[tokio::test(flavor = "multi_thread")]
async fn the_rights_in_the_document_suffice_for_everything() {
    let (here, database) = setup().await;
    let key = {
        let create = [
            "keys",
            "create",
            "--create",
            "--name",
            "a",
            "--scope",
            "store:admin",
        ];
        let done = run(
            here.path(),
            &[&create[..], &["--database", &database]].concat(),
        );
        done.expect_success().stdout.trim_end().to_owned()
    };
    // As the document says: the owner of the tables migrates.
    start(here.path(), &database).kill();
    let owner = connect(&database).await;
    let schema: String = owner
        .query_one("SELECT current_schema()", &[])
        .await
        .unwrap()
        .get(0);
    let role = format!("shop_{schema}");
    let document = include_str!("../../../../docs/postgres.md");
    let grants = document
        .lines()
        .filter_map(|line| line.strip_prefix("    GRANT "));
    let grants: Vec<String> = grants
        .map(|rest| format!("GRANT {};", rest.trim_end_matches(';')))
        .map(|grant| grant.replace(" public ", &format!(" {schema} ")))
        .map(|grant| grant.replace("TO shop", &format!("TO {role}")))
        .collect();
    assert_eq!(grants.len(), 2);
    let grants = grants.concat();
    let role_of = format!("CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {role}");
    owner
        .batch_execute(&format!("{role_of}; {grants}"))
        .await
        .unwrap();
    let url = database.replacen("petstore@", &format!("{role}@"), 1);
    let options = [
        "--photos",
        "photos",
        "--secret-key-file",
        "key",
        "--webhook-allow",
        "127.0.0.1",
    ];
    let mut serve = command(
        here.path(),
        &["serve", "--listen", "127.0.0.1:0", "--database", &url],
    );
    let service = Service::from({
        serve.args(options);
        serve
    });
    let send = async |method: Method, path: &str, body: Value| {
        let is_put = method == Method::PUT;
        let request = client().request(method, format!("{}/store/{path}", service.url));
        let request = if is_put {
            request.header("If-None-Match", "*")
        } else {
            request
        };
        let request = request
            .bearer_auth(&key)
            .header("Idempotency-Key", path)
            .json(&body);
        let reply = request.send().await.unwrap();
        assert!(
            reply.status().is_success(),
            "{path}: {}",
            reply.text().await.unwrap()
        );
    };
    let fields = json!({ "species": "Dog", "microchip": "276098106234567" });
    send(
        Method::POST,
        "pets",
        json!({ "name": "Rex", "categoryId": 1, "fields": fields }),
    )
    .await;
    send(
        Method::POST,
        "orders",
        json!({ "petId": 1, "contact": "Anna, 0171" }),
    )
    .await;
    send(Method::POST, "orders/1/complete", json!({})).await;
    send(
        Method::PUT,
        "fields/house",
        json!({ "label": "House", "kind": "text" }),
    )
    .await;
    send(
        Method::POST,
        "webhooks",
        json!({ "url": "http://127.0.0.1:9/" }),
    )
    .await;
    for path in [
        "pets?field.species=dog",
        "pets?name=re",
        "orders",
        "fields",
        "changes",
        "audit",
    ] {
        let reply = client()
            .get(format!("{}/store/{path}", service.url))
            .bearer_auth(&key);
        let reply = reply.send().await.unwrap();
        assert!(
            reply.status() == 200 || path.starts_with("pets") && reply.status() == 503,
            "{path}"
        );
    }
    let mut picture = Cursor::new(Vec::new());
    RgbImage::new(4, 3)
        .write_to(&mut picture, ImageFormat::Png)
        .unwrap();
    let photo = client()
        .post(format!("{}/store/pets/1/photos", service.url))
        .bearer_auth(&key);
    let photo = photo
        .header("Content-Type", "image/png")
        .body(picture.into_inner())
        .send()
        .await
        .unwrap();
    assert_eq!(photo.status(), 201, "{}", photo.text().await.unwrap());
    for act in [
        &["staff", "add", "Ana"][..],
        &["keys", "create", "--name", "b"],
        &["clock", "confirm"],
        &["check", "--photos", "photos"],
    ] {
        run(here.path(), &[act, &["--database", &url]].concat()).expect_success();
    }
    let log = {
        service.signal("TERM");
        service.wait().1
    };
    assert!(!log.contains("permission denied"), "{log}");
    let drop_role = format!("DROP OWNED BY {role}; DROP ROLE {role}");
    owner.batch_execute(&drop_role).await.unwrap();
}

#[tokio::test]
async fn a_command_names_the_right_that_its_role_lacks() {
    let (here, database) = setup().await;
    new_key(here.path(), &database);
    let owner = connect(&database).await;
    let schema: String = owner
        .query_one("SELECT current_schema()", &[])
        .await
        .unwrap()
        .get(0);
    let role = format!("reader_{schema}");
    let rights = format!(
        "CREATE ROLE {role} LOGIN;
         GRANT USAGE ON SCHEMA {schema} TO {role};
         GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}"
    );
    owner.batch_execute(&rights).await.unwrap();
    let url = database.replacen("petstore@", &format!("{role}@"), 1);
    for (revoked, command, lacks) in [
        (
            "SELECT ON SEQUENCE pets_ids",
            &["check"][..],
            "sequence pets_ids",
        ),
        ("SELECT ON api_keys", &["keys", "list"], "table api_keys"),
        ("SELECT ON etag_key", &["keys", "list"], "table etag_key"),
    ] {
        owner
            .batch_execute(&format!("REVOKE {revoked} FROM {role}"))
            .await
            .unwrap();
        let line = run(here.path(), &[command, &["--database", &url]].concat()).expect_one_line();
        assert!(
            line.contains(&format!("permission denied for {lacks}")),
            "{line}"
        );
    }
}

#[tokio::test]
async fn a_password_is_shown_nowhere() {
    let (here, database) = setup().await;
    let with_password = database.replacen("petstore@", "petstore:s3cret@", 1);
    let service = start(here.path(), &with_password);
    assert!(
        service
            .first_lines
            .iter()
            .any(|line| line["database"].is_string())
    );
    assert!(!format!("{:?}", service.first_lines).contains("s3cret"));
    service.signal("TERM");
    assert!(!service.wait().1.contains("s3cret"));
    for (database, arguments) in [
        (
            "postgres://me:s3cret@127.0.0.1:1/pets",
            &["keys", "list"][..],
        ),
        (
            "postgres://me:s3cret@127.0.0.1:1/pets",
            &["serve", "--listen", "127.0.0.1:0"],
        ),
        (
            "postgres://me:s3cret@127.0.0.1:1/pets?colour=s3cret",
            &["keys", "list"],
        ),
        ("postgres://me:s3cret@/pets", &["check"]),
        ("pg://me:s3cret@127.0.0.1/pets", &["keys", "list"]),
    ] {
        let mut command = command(here.path(), arguments);
        let line = finish(command.env("PETSTORE_DATABASE", database)).expect_one_line();
        assert!(!line.contains("s3cret"), "{line}");
        let flag = [arguments, &["--database", database]].concat();
        let line = run(here.path(), &flag).expect_one_line();
        assert!(!line.contains("s3cret"), "{line}");
    }
    let mut help = command(here.path(), &["serve", "--help"]);
    let help = finish(help.env("PETSTORE_DATABASE", with_password)).expect_success();
    assert!(help.stdout.contains("PETSTORE_DATABASE") && !help.stdout.contains("s3cret"));
}

#[tokio::test]
async fn what_an_operator_must_correct_at_postgresql_is_exit_status_2_with_what_to_do() {
    let here = directory();
    let (folder, port) = cluster()
        .split(['@', '/'])
        .nth(3)
        .unwrap()
        .split_once(':')
        .unwrap();
    let folder = folder.replace("%2F", "/");
    let password = fs::read_to_string(format!("{folder}/password")).unwrap();
    let owner = connect(cluster()).await;
    for sql in [
        "DROP ROLE IF EXISTS without_rights",
        "CREATE ROLE without_rights LOGIN PASSWORD 'own'",
        "DROP DATABASE IF EXISTS of_bytes",
        "CREATE DATABASE of_bytes ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0",
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
    ] {
        owner.batch_execute(sql).await.unwrap();
    }
    for (login, name, says) in [
        (
            "petstore:wrong".to_owned(),
            "postgres",
            "correct the user and the password in the URL",
        ),
        (
            "nobody:wrong".to_owned(),
            "postgres",
            "correct the user and the password in the URL",
        ),
        (
            format!("petstore:{}", password.trim()),
            "nowhere",
            "create the database with createdb",
        ),
        (
            "without_rights:own".to_owned(),
            "postgres",
            "GRANT the role what it needs",
        ),
        (
            format!("petstore:{}", password.trim()),
            "of_bytes",
            "createdb --encoding UTF8",
        ),
    ] {
        let url = format!("postgres://{login}@localhost:{port}/{name}");
        let serve = ["serve", "--listen", "127.0.0.1:0", "--database", &url];
        let done = run(here.path(), &serve);
        assert_eq!(done.status.code(), Some(2), "{name}: {done:?}");
        assert!(done.stderr.contains(says), "{name}: {done:?}");
    }
    // That a server is down may pass.
    let url = format!(
        "postgres://petstore:wrong@localhost:{}/postgres",
        free_address().port()
    );
    let serve = ["serve", "--listen", "127.0.0.1:0", "--database", &url];
    assert_eq!(run(here.path(), &serve).status.code(), Some(1));
}
