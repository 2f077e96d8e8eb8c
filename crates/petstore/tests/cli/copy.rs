//! `petstore copy`: from one database to another, and back.

use std::{
    fs,
    io::{BufRead, BufReader, Lines},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use rusqlite::{Connection, types};
use serde_json::{Value, json};

use super::{
    postgres_cluster::{connect, fresh_url},
    program::{Service, client, create, directory, new_key, run},
};

/// An export of all animals, in both formats.
fn exports(here: &Path, database: &str) -> [String; 2] {
    ["csv", "ndjson"].map(|format| {
        let export = ["export", "--format", format, "--database", database];
        run(here, &export).expect_success().stdout
    })
}

#[tokio::test]
async fn a_hundred_thousand_animals_are_copied_to_postgresql_on_to_another_and_back_unchanged() {
    let here = directory();
    let shelter = include_str!("../../../../tests/data/shelter-animals.csv");
    let (header, animals) = shelter.split_once('\n').unwrap();
    fs::write(
        here.path().join("many.csv"),
        format!("{header}\n{}", animals.repeat(10)),
    )
    .unwrap();
    let original = "sqlite:petstore.db";
    run(here.path(), &["import", "many.csv", "--create"]).expect_success();
    let created =
        run(here.path(), &["keys", "create", "--create", "--name", "me"]).expect_success();
    let key = created.stdout.trim_end();
    run(here.path(), &["keys", "rotate", "1"]).expect_success();
    // An animal with a remembered request.
    let service = Service::start(here.path(), &[]);
    let client = client();
    let create = |url: &str| create(&client, url, key, "Frank").header("Idempotency-Key", "k");
    let animal: Value = create(&service.url)
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    service.kill();

    let (there, further, back) = (fresh_url().await, fresh_url().await, "sqlite:back.db");
    for (acts, (from, to, kind)) in (2..).zip([
        (original, &*there, "postgres:"),
        (&there, &further, "postgres:"),
        (&further, back, "sqlite:"),
    ]) {
        let said = run(here.path(), &["copy", "--from", from, "--to", to]).expect_success();
        // The import, the animal and the acts on keys, and those of the copies before.
        let expected = format!(
            "Copied 100001 animals, 0 orders, 0 categories, 0 notes, 9 fields, 2 API keys, 1 idempotency key, \
             2 changes, {acts} acts, 0 staff accounts, 0 webhooks, 0 waiting messages, 0 attempts from "
        );
        assert!(said.stderr.starts_with(&expected), "{said:?}");
        assert!(said.stderr.contains(&format!(" to {kind}")), "{said:?}");
    }
    let expected = exports(here.path(), original);
    assert_eq!(expected[0].lines().count(), 100_002);
    let keys = |database: &str| {
        let list = ["keys", "list", "--format", "json", "--database", database];
        run(here.path(), &list).expect_success().stdout
    };
    for copy in [&further, back] {
        assert!(exports(here.path(), copy) == expected, "{copy}");
        assert_eq!(keys(copy), keys(original));
        let service = Service::start(here.path(), &["--database", copy]);
        let again: Value = create(&service.url)
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap();
        assert_eq!(again, animal);
        let next = super::program::create(&client, &service.url, key, "Zoe")
            .send()
            .await
            .unwrap();
        assert_eq!(next.json::<Value>().await.unwrap()["id"], 100_002);
    }
    run(here.path(), &["check", "--database", back]).expect_success();
}

#[tokio::test]
async fn a_missing_identical_or_non_empty_database_is_rejected_and_stays_unchanged() {
    let here = directory();
    fs::write(here.path().join("one.csv"), "name,categoryId\nFrank,1\n").unwrap();
    run(here.path(), &["import", "one.csv", "--create"]).expect_success();
    std::os::unix::fs::symlink("petstore.db", here.path().join("link.db")).unwrap();
    let postgres = fresh_url().await;
    run(
        here.path(),
        &[
            "keys",
            "create",
            "--create",
            "--name",
            "me",
            "--database",
            &postgres,
        ],
    )
    .expect_success();
    let before = exports(here.path(), "sqlite:petstore.db");
    for (from, to, says) in [
        (
            "sqlite:petstore.db",
            "sqlite:petstore.db",
            "must be different databases",
        ),
        (
            "sqlite:petstore.db",
            "sqlite:link.db",
            "must be different databases",
        ),
        (
            "sqlite:petstore.db",
            &postgres,
            "is not empty; nothing was copied",
        ),
        (
            &postgres,
            "sqlite:petstore.db",
            "is not empty; nothing was copied",
        ),
        (&postgres, &postgres, "must be different databases"),
        (
            "sqlite:absent.db",
            "sqlite:new.db",
            "/absent.db; name the one to copy with --from",
        ),
        (
            "absent.db",
            "sqlite:new.db",
            "invalid value for '--from <URL>': ",
        ),
        (
            "sqlite:petstore.db",
            "new.db",
            "invalid value for '--to <URL>': ",
        ),
    ] {
        let line = run(here.path(), &["copy", "--from", from, "--to", to]).expect_one_line();
        assert!(line.contains(says), "{line}");
        assert!(!line.contains("csearch_path"), "{line}");
    }
    assert_eq!(exports(here.path(), "sqlite:petstore.db"), before);
    assert!(!here.path().join("new.db").exists());
}

/// What only an operator, time or another process makes: everything that a row can have.
const ROWS: &str = "UPDATE staff SET password = x'01', totp_secret = x'02', totp_last_period = 3,
        recovery = x'04', disabled_at = 5, passkeys = '[]';
    INSERT INTO staff_sessions VALUES (randomblob(32), 1, 0, 0, 0, '', '', NULL);
    INSERT INTO webhooks VALUES (6, 'https://shop.example/', 'pet.added', 'shop', 'gone', 1, 2, 3,
        x'05', x'06', 7, 2, 1, 8, 9, 10);
    INSERT INTO webhook_waiting VALUES (6, 1, NULL, 'pet:1', 2, 3), (6, 2, 1, NULL, 0, NULL);
    INSERT INTO webhook_attempts VALUES (6, 1, 'msg_1', 2, NULL, 3, 'tls'), (6, 2, 'msg_2', 4, 410, 5, NULL);
    UPDATE webhook_ids SET last = 7";

/// The rows of a table of a SQLite file.
fn rows(here: &Path, file: &str, select: &str) -> Vec<Vec<types::Value>> {
    let database = Connection::open(here.join(file)).unwrap();
    let mut statement = database.prepare(select).unwrap();
    let columns = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| (0..columns).map(|at| row.get(at)).collect();
    statement
        .query_map([], row)
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

#[tokio::test]
async fn the_log_the_audit_trail_staff_and_webhooks_are_copied_between_all_stores_unchanged() {
    let here = directory();
    let here = here.path();
    let key = new_key(here);
    let service = Service::start(here, &[]);
    for name in ["Frank", "Zoe", "Ö"] {
        create(&client(), &service.url, &key, name)
            .send()
            .await
            .unwrap();
    }
    service.kill();
    run(here, &["staff", "add", "Ana"]).expect_success();
    Connection::open(here.join("petstore.db"))
        .unwrap()
        .execute_batch(ROWS)
        .unwrap();

    let (there, further) = (fresh_url().await, fresh_url().await);
    let copy = |from: &str, to: &str| {
        run(here, &["copy", "--from", from, "--to", to]).expect_success();
    };
    copy("sqlite:petstore.db", "sqlite:second.db");
    copy("sqlite:second.db", &there);
    // As if the newest changes had no number yet.
    let unnumbered = "DELETE FROM change_numbers WHERE seq > 1;
        UPDATE change_numbers SET length = 1;
        UPDATE change_log SET last = 1, open_from = '{2}'";
    connect(&there)
        .await
        .batch_execute(unnumbered)
        .await
        .unwrap();
    copy(&there, &further);
    copy(&further, "sqlite:back.db");

    for table in [
        "changes",
        "webhooks",
        "webhook_waiting",
        "webhook_attempts",
        "webhook_ids",
    ] {
        let all = |file| rows(here, file, &format!("SELECT * FROM {table} "));
        assert_eq!(all("back.db"), all("petstore.db"), "{table}");
        assert!(!all("back.db").is_empty(), "{table}");
    }
    let staff = "SELECT id, name, name_key, role, created_at, disabled_at, password, totp_secret,
        totp_last_period, recovery, version, passkeys FROM staff";
    assert_eq!(
        rows(here, "back.db", staff),
        rows(here, "petstore.db", staff)
    );
    let open = "SELECT link FROM staff WHERE link IS NOT NULL UNION ALL
        SELECT digest FROM staff_sessions";
    assert_eq!(rows(here, "petstore.db", open).len(), 2);
    assert!(rows(here, "back.db", open).is_empty());
    let acts = |file| rows(here, file, "SELECT * FROM acts ORDER BY id");
    let (before, after) = (acts("petstore.db"), acts("back.db"));
    assert_eq!(after[..before.len()], before);
    assert_eq!(after.len(), before.len() + 4, "one of each copy");
    // What is made next has the next number.
    run(here, &["staff", "add", "Eva", "--database", &further]).expect_success();
    run(
        here,
        &["copy", "--from", &further, "--to", "sqlite:last.db"],
    )
    .expect_success();
    let ids = "SELECT max(id) FROM staff UNION ALL SELECT max(seq) FROM changes";
    let service = Service::start(here, &["--database", "sqlite:last.db"]);
    create(&client(), &service.url, &key, "Ida")
        .send()
        .await
        .unwrap();
    service.kill();
    assert_eq!(
        rows(here, "last.db", ids),
        [[2].map(types::Value::from), [4].map(types::Value::from)]
    );
}

/// `examples/mirror`, which keeps a copy of a store in `mirror.db`.
struct Mirror(Child, Lines<BufReader<ChildStdout>>);

impl Mirror {
    fn start(here: &Path, service: &Service, key: &str) -> Self {
        let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/mirror");
        let mut mirror = Command::new(example);
        mirror
            .current_dir(here)
            .args(["mirror.db", "--url", &service.url]);
        let mut mirror = mirror
            .env("PETSTORE_STORE_KEY", key)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(mirror.stdout.take().unwrap()).lines();
        Self(mirror, lines)
    }

    /// Waits until it says that it did this.
    fn wait_for(&mut self, what: &str) {
        assert!(
            self.1.any(|line| line.unwrap().contains(what)),
            "it ended before {what}"
        );
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn a_cursor_is_not_valid_for_a_copy_and_a_mirror_lists_the_copy_again() {
    let here = directory();
    let here = here.path();
    let made = [
        "keys",
        "create",
        "--name",
        "shop",
        "--scope",
        "store:write",
        "--create",
    ];
    let key = run(here, &made)
        .expect_success()
        .stdout
        .trim_end()
        .to_owned();
    let (there, further) = (fresh_url().await, fresh_url().await);
    // From each kind of store to each kind.
    let databases = [
        "sqlite:petstore.db",
        &there,
        &further,
        "sqlite:back.db",
        "sqlite:last.db",
    ];
    let (client, mut service) = (client(), Service::start(here, &[]));
    let get = async |service: &Service, target: &str| {
        let url = format!("{}/store/{target}", service.url);
        client.get(url).bearer_auth(&key).send().await.unwrap()
    };
    create(&client, &service.url, &key, "Frank")
        .send()
        .await
        .unwrap();
    Mirror::start(here, &service, &key).wait_for("listed");
    for pair in databases.windows(2) {
        let [from, to] = pair else { unreachable!() };
        let page = get(&service, "changes").await;
        let link = page.headers()["link"].to_str().unwrap();
        let cursor = link
            .split(['=', '>'])
            .find(|part| part.len() == 39)
            .unwrap()
            .to_owned();
        run(here, &["copy", "--from", from, "--to", to]).expect_success();
        // The next change of the source, which the mirror sees, is another one than that of the copy.
        create(&client, &service.url, &key, "Zoe")
            .send()
            .await
            .unwrap();
        Mirror::start(here, &service, &key).wait_for("pet.added");
        service.kill();
        service = Service::start(here, &["--database", to]);
        create(&client, &service.url, &key, "Ida")
            .send()
            .await
            .unwrap();
        let expired = get(&service, &format!("changes?after={cursor}")).await;
        assert_eq!(expired.status(), 410, "{from} to {to}");
        assert_eq!(
            expired.json::<Value>().await.unwrap()["code"],
            "cursor_expired"
        );

        let mut mirror = Mirror::start(here, &service, &key);
        mirror.wait_for("listed");
        create(&client, &service.url, &key, "Leo")
            .send()
            .await
            .unwrap();
        mirror.wait_for("pet.added");
        let pets: Vec<Value> = get(&service, "pets?limit=100").await.json().await.unwrap();
        let copied = rows(here, "mirror.db", "SELECT content FROM copy ORDER BY id");
        let copied: Vec<Value> = copied
            .into_iter()
            .map(|row| {
                let [types::Value::Text(content)] = &row[..] else {
                    panic!("{row:?}")
                };
                serde_json::from_str(content).unwrap()
            })
            .collect();
        assert_eq!(json!(copied), json!(pets), "{from} to {to}");
    }
}
