//! The program with a system clock that changes while it runs, by libfaketime.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use reqwest::{Client, Response};
use serde_json::{Value, json};

use super::{
    management::MANAGED,
    metrics::Page,
    postgres_cluster::fresh_url,
    program::{Done, Service, client, command, create, directory, finish, run},
};

/// A time of day that programs read from a file. The monotonic clock is the real one.
struct FakedClock {
    library: PathBuf,
    file: PathBuf,
}

impl FakedClock {
    /// A clock that shows `now`, such as `2030-12-04 23:59:59` (UTC).
    fn at(directory: &Path, now: &str) -> Self {
        let library = fs::read_dir("/usr/lib").unwrap().find_map(|folder| {
            let library = folder.unwrap().path().join("faketime/libfaketimeMT.so.1");
            library.exists().then_some(library)
        });
        let library = library.expect("no libfaketime: install the Debian package faketime");
        let clock = Self {
            library,
            file: directory.join("now"),
        };
        clock.set(now);
        clock
    }

    fn set(&self, now: &str) {
        // Atomic, so no program reads half a time.
        let new = self.file.with_extension("new");
        fs::write(&new, now).unwrap();
        fs::rename(new, &self.file).unwrap();
    }

    fn command(&self, directory: &Path, arguments: &[&str]) -> Command {
        let mut command = command(directory, arguments);
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAKETIME_TIMESTAMP_FILE", &self.file)
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("NO_FAKE_STAT", "1")
            .env("TZ", "UTC");
        command
    }

    fn run(&self, directory: &Path, arguments: &[&str]) -> Done {
        finish(&mut self.command(directory, arguments)).expect_success()
    }

    fn new_key(&self, directory: &Path, options: &[&str]) -> String {
        let arguments = [&["keys", "create", "--name", "test", "--create"], options].concat();
        self.run(directory, &arguments).stdout.trim_end().to_owned()
    }

    fn serve(&self, directory: &Path) -> Service {
        self.serve_with(directory, &[])
    }

    fn serve_with(&self, directory: &Path, options: &[&str]) -> Service {
        let arguments = [&["serve", "--listen", "127.0.0.1:0"], options].concat();
        Service::from(self.command(directory, &arguments))
    }
}

async fn get(client: &Client, url: &str, path: &str, key: &str) -> Response {
    client
        .get(format!("{url}{path}"))
        .bearer_auth(key)
        .send()
        .await
        .unwrap()
}

async fn code(response: Response) -> (u16, String) {
    let status = response.status().as_u16();
    let error: Value = response.json().await.unwrap();
    (status, error["code"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn reading_by_id_ends_on_5_december_2030_as_announced() {
    let here = directory();
    let clock = FakedClock::at(here.path(), "2030-12-04 23:59:59");
    let key = clock.new_key(here.path(), &[]);
    let service = clock.serve(here.path());
    let (client, url) = (client(), &service.url);
    let created = create(&client, url, &key, "Frank").send().await.unwrap();
    assert_eq!(created.status(), 201);
    assert_eq!(created.headers()["location"], "/v1/pets/1");

    let found = get(&client, url, "/pets/1", &key).await;
    assert_eq!(found.status(), 200);
    assert_eq!(found.headers()["deprecation"], "@1795219200");
    assert_eq!(found.headers()["sunset"], "Thu, 05 Dec 2030 00:00:00 GMT");

    clock.set("2030-12-05 00:00:00");
    let gone = code(get(&client, url, "/pets/1", &key).await).await;
    assert_eq!(gone, (410, "operation_removed".to_owned()));
    // The other operations continue, and no link leads to the removed one.
    let list = get(&client, url, "/pets", &key)
        .await
        .json::<Value>()
        .await
        .unwrap();
    assert_eq!(list.as_array().unwrap().len(), 1);
    let created = create(&client, url, &key, "Frank").send().await.unwrap();
    assert_eq!(
        (created.status().as_u16(), created.headers().get("location")),
        (201, None)
    );

    // A clock that was wrong and is right again had no lasting effect.
    clock.set("2030-12-04 23:59:59");
    assert_eq!(get(&client, url, "/pets/1", &key).await.status(), 200);
}

#[test]
fn the_service_does_not_start_at_a_time_that_no_response_can_name() {
    let here = directory();
    let clock = FakedClock::at(here.path(), "1969-12-31 23:00:00");
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    for now in ["1969-12-31 23:00:00", "1901-12-14 00:00:00"] {
        clock.set(now);
        let done = finish(&mut clock.command(here.path(), &serve));
        assert_eq!(done.status.code(), Some(1), "{done:?}");
        assert!(
            done.stderr.contains("set the clock of this machine"),
            "{done:?}"
        );
    }
}

#[tokio::test]
async fn a_key_is_valid_until_the_second_at_which_it_expires() {
    let here = directory();
    let clock = FakedClock::at(here.path(), "2027-02-28 12:00:00");
    let key = clock.new_key(here.path(), &["--expires", "1day"]);
    let service = clock.serve(here.path());
    let (client, url) = (client(), &service.url);
    for (now, status) in [
        ("2027-02-28 12:00:00", 200),
        ("2027-03-01 11:59:59", 200),
        ("2027-03-01 12:00:00", 401),
        ("2027-03-01 11:59:59", 200),
        ("2031-01-01 00:00:00", 401),
    ] {
        clock.set(now);
        let response = get(&client, url, "/pets", &key).await;
        assert_eq!(response.status(), status, "{now}");
    }
}

#[tokio::test]
async fn a_create_that_is_retried_after_the_clock_was_an_hour_off_adds_nothing() {
    let here = directory();
    let clock = FakedClock::at(here.path(), "2027-02-28 12:00:00");
    let key = clock.new_key(here.path(), &[]);
    let service = clock.serve(here.path());
    let (client, url) = (client(), &service.url);
    for now in [
        "2027-02-28 12:00:00",
        "2027-02-28 13:00:00",
        "2027-02-28 11:00:00",
    ] {
        clock.set(now);
        let request = create(&client, url, &key, "Frank").header("idempotency-key", "\"retry\"");
        let created = request.send().await.unwrap();
        assert_eq!(created.status(), 201, "{now}");
        assert_eq!(created.json::<Value>().await.unwrap()["id"], 1, "{now}");
    }
}

/// The lines of the audit trail, and the status of the order.
async fn left(
    client: &Client,
    url: &str,
    key: &str,
    here: &Path,
    database: &str,
) -> (usize, String) {
    let order = get(client, url, "/store/orders/1", key)
        .await
        .json::<Value>()
        .await
        .unwrap();
    let trail = run(here, &["audit", "--database", database])
        .expect_success()
        .stdout;
    (
        trail.lines().count(),
        order["status"].as_str().unwrap().to_owned(),
    )
}

async fn a_start_with_the_clock_500_days_ahead(database: &str) {
    let here = directory();
    let clock = FakedClock::at(here.path(), "2027-02-28 12:00:00");
    let options = ["--database", database];
    let key = clock.new_key(
        here.path(),
        &[&["--scope", "store:write"], &options[..]].concat(),
    );
    let start = || clock.serve_with(here.path(), &[&MANAGED[..], &options].concat());
    let has_run = async |service: &Service| {
        let label = ["task=\"expire_orders\"", "task=\"forget_old_changes\""];
        for label in label {
            let name = "petstore_task_last_success_timestamp_seconds";
            while Page::of(&client(), service).await.value(name, &[label]) == 0 {
                tokio::task::yield_now().await;
            }
        }
        Page::of(&client(), service)
            .await
            .value("petstore_clock_confirmed", &[])
    };
    let (client, service) = (client(), start());
    create(&client, &service.url, &key, "Frank")
        .send()
        .await
        .unwrap();
    let order = json!({ "petId": 1, "expiresAt": "2027-03-01T12:00:00Z" });
    let place = client
        .post(format!("{}/store/orders", service.url))
        .bearer_auth(&key);
    let placed = place.header("idempotency-key", "\"one\"").json(&order);
    assert_eq!(placed.send().await.unwrap().status(), 201);
    assert_eq!(has_run(&service).await, 1);
    let before = left(&client, &service.url, &key, here.path(), database).await;
    assert_eq!(before.1, "reserved");
    drop(service);

    clock.set("2028-07-12 12:00:00");
    for _ in 0..2 {
        let service = start();
        assert_eq!(has_run(&service).await, 0);
        while !service.said().contains("petstore clock confirm") {
            tokio::task::yield_now().await;
        }
        let after = left(&client, &service.url, &key, here.path(), database).await;
        assert_eq!(after, before);
    }
    let shown = clock.run(here.path(), &[&["clock"], &options[..]].concat());
    assert!(shown.stdout.contains("2028-07-12T12:00:0"), "{shown:?}");
    assert!(shown.stdout.contains("2027-02-28T12:00:0"), "{shown:?}");
    assert!(shown.stderr.contains("petstore clock confirm"), "{shown:?}");
    let service = start();
    clock.run(here.path(), &[&["clock", "confirm"], &options[..]].concat());
    let trail = run(here.path(), &[&["audit"], &options[..]].concat())
        .expect_success()
        .stdout;
    assert!(trail.contains("database.time_confirmed"), "{trail}");
    drop(service);
    let service = start();
    assert_eq!(has_run(&service).await, 1);
    assert_eq!(
        left(&client, &service.url, &key, here.path(), database)
            .await
            .1,
        "expired"
    );
}

#[tokio::test]
async fn a_start_with_the_clock_500_days_ahead_destroys_nothing_until_it_is_confirmed() {
    a_start_with_the_clock_500_days_ahead("sqlite:petstore.db").await;
}

#[tokio::test]
async fn a_start_over_postgres_with_the_clock_500_days_ahead_destroys_nothing_until_it_is_confirmed()
 {
    a_start_with_the_clock_500_days_ahead(&fresh_url().await).await;
}

#[tokio::test]
async fn a_clock_that_jumps_both_ways_deletes_no_backup_and_gives_no_name_twice() {
    let here = directory();
    let clock = FakedClock::at(here.path(), "2027-02-28 12:00:00");
    clock.new_key(here.path(), &[]);
    let service = clock.serve_with(here.path(), &["--backup", "place", "--backup-every", "1s"]);
    let names = || -> Vec<String> {
        let folder = fs::read_dir(here.path().join("place"))
            .into_iter()
            .flatten();
        let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".db.gz")).collect()
    };
    let (mut made, mut looks) = (0, tokio::time::interval(Duration::from_millis(20)));
    for now in [
        "2027-02-28 12:00:00",
        "2036-01-01 00:00:00",
        "2020-01-01 00:00:00",
        "2027-02-28 12:00:00",
    ] {
        clock.set(now);
        made += 3;
        while service.said().matches("made a backup").count() < made {
            looks.tick().await;
        }
        // With two of the same name, or with one deleted, there would be fewer.
        assert!(names().len() >= made, "{now}: {:?}", names());
    }
    assert!(names().iter().any(|name| name.starts_with("petstore-2036")));
    service.signal("TERM");
    assert!(service.wait().0.success());
    // The one of 2036 is not the newest, because the clock cannot have made it.
    let said = clock
        .run(here.path(), &["restore", "place", "--force"])
        .stdout;
    assert!(
        said.starts_with("Restoring place/petstore-20270228T1200"),
        "{said}"
    );
}
