//! The program over PostgreSQL: many processes on one database.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use reqwest::Client;
use serde_json::Value;
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::{
    postgres_cluster::{connect, fresh_url},
    program::{Service, client, command, create, directory, finish, run},
};

/// A folder, and an empty database.
async fn setup() -> (TempDir, String) {
    (directory(), fresh_url().await)
}

fn start(here: &Path, database: &str) -> Service {
    Service::start(here, &["--database", database])
}

fn new_key(here: &Path, database: &str) -> String {
    let arguments = ["keys", "create", "--name", "test", "--create", "--database", database];
    run(here, &arguments).expect_success().stdout.trim_end().to_owned()
}

async fn status(client: &Client, service: &Service, key: &str) -> u16 {
    let request = client.get(format!("{}/pets", service.url)).bearer_auth(key);
    request.send().await.unwrap().status().as_u16()
}

/// All animals in the catalogue, by a walk.
async fn walk(client: &Client, service: &Service, key: &str) -> BTreeMap<i64, String> {
    let origin = service.url.trim_end_matches("/v1");
    let mut found = BTreeMap::new();
    let mut target = Some("/v1/pets?limit=100".to_owned());
    while let Some(page) = target {
        let reply = client.get(format!("{origin}{page}")).bearer_auth(key).send().await.unwrap();
        let link = reply.headers().get("link").map(|link| link.to_str().unwrap().to_owned());
        target = link.map(|link| link.split(['<', '>']).nth(1).unwrap().to_owned());
        for pet in reply.json::<Vec<Value>>().await.unwrap() {
            let (id, name) = (pet["id"].as_i64().unwrap(), pet["name"].as_str().unwrap());
            assert_eq!(found.insert(id, name.to_owned()), None, "{id} twice");
        }
    }
    found
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
        let created = create(&client, &service.url, &key, "Frank").send().await.unwrap();
        assert_eq!(created.status(), 201);
    }
    let expected: BTreeMap<i64, String> = (1..=10).map(|id| (id, "Frank".to_owned())).collect();
    for service in &services {
        assert_eq!(walk(&client, service, &key).await, expected);
    }
}

#[tokio::test]
async fn in_every_process_a_new_key_works_at_once_and_a_revoked_one_is_rejected_after_5_seconds() {
    let (here, database) = setup().await;
    let services = [start(here.path(), &database), start(here.path(), &database)];
    let key = new_key(here.path(), &database);
    let client = client();
    for service in &services {
        assert_eq!(status(&client, service, &key).await, 200);
    }
    run(here.path(), &["keys", "revoke", "1", "--database", &database]).expect_success();
    #[expect(clippy::disallowed_methods, reason = "the limit is one of the machine's time")]
    let until = Instant::now() + Duration::from_secs(5);
    for service in &services {
        while status(&client, service, &key).await == 200 {
            #[expect(clippy::disallowed_methods, reason = "see above")]
            let now = Instant::now();
            assert!(now < until, "it still counts");
        }
    }
    let list = run(here.path(), &["keys", "list", "--format", "json", "--database", &database]);
    let keys: Value = serde_json::from_str(&list.expect_success().stdout).unwrap();
    assert!(keys[0]["revoked"].is_string(), "{keys}");
}

#[tokio::test]
async fn a_rotated_key_stays_valid_along_with_its_successor() {
    let (here, database) = setup().await;
    let service = start(here.path(), &database);
    let old = new_key(here.path(), &database);
    let rotated = run(here.path(), &["keys", "rotate", "1", "--database", &database]);
    let new = rotated.expect_success().stdout.trim_end().to_owned();
    for key in [old, new] {
        assert_eq!(status(&client(), &service, &key).await, 200);
    }
    run(here.path(), &["keys", "rotate", "1", "--database", &database]).expect_one_line();
}

/// Two processes serve; one of them is killed repeatedly.
#[tokio::test]
async fn after_kill_9_of_one_of_two_processes_every_acknowledged_animal_is_there_once() {
    let (here, database) = setup().await;
    let stays = start(here.path(), &database);
    let key = new_key(here.path(), &database);
    let client = client();
    let acknowledged = Arc::new(Mutex::new(HashMap::<i64, String>::new()));
    for kill in 0..5 {
        let dies = start(here.path(), &database);
        let mut writers = JoinSet::new();
        for writer in 0..16 {
            let url = if writer % 4 == 0 { &stays.url } else { &dies.url }.clone();
            let (client, key) = (client.clone(), key.clone());
            let acknowledged = Arc::clone(&acknowledged);
            writers.spawn(async move {
                for number in 0..100 {
                    let name = format!("kill {kill}, writer {writer}, animal {number}");
                    // The service was killed, so nothing was acknowledged.
                    let Ok(reply) = create(&client, &url, &key, &name).send().await else { return };
                    assert_eq!(reply.status(), 201);
                    let Ok(pet) = reply.json::<Value>().await else { return };
                    let id = pet["id"].as_i64().unwrap();
                    assert_eq!(acknowledged.lock().unwrap().insert(id, name), None, "{id}");
                }
            });
        }
        let before = acknowledged.lock().unwrap().len();
        while acknowledged.lock().unwrap().len() < before + 300 {
            tokio::task::yield_now().await;
        }
        dies.kill();
        writers.join_all().await;
    }
    let found = walk(&client, &stays, &key).await;
    for (id, name) in acknowledged.lock().unwrap().iter() {
        assert_eq!(found.get(id), Some(name));
    }
    let names: std::collections::HashSet<_> = found.values().collect();
    assert_eq!(names.len(), found.len(), "an animal is there twice");
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

#[tokio::test]
async fn a_password_is_shown_nowhere() {
    let (here, database) = setup().await;
    let with_password = database.replacen("petstore@", "petstore:s3cret@", 1);
    let service = start(here.path(), &with_password);
    assert!(service.first_lines.iter().any(|line| line["database"].is_string()));
    assert!(!format!("{:?}", service.first_lines).contains("s3cret"));
    service.signal("TERM");
    assert!(!service.wait().1.contains("s3cret"));
    for (database, arguments) in [
        ("postgres://me:s3cret@127.0.0.1:1/pets", &["keys", "list"][..]),
        ("postgres://me:s3cret@127.0.0.1:1/pets", &["serve", "--listen", "127.0.0.1:0"]),
        ("postgres://me:s3cret@127.0.0.1:1/pets?colour=s3cret", &["keys", "list"]),
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
