//! A service of an earlier release continues while a newer one migrates the schema. Its
//! statements are in `tests/data/statements`.

use std::{collections::BTreeMap, fs, io, path::Path};

use petstore_domain::{NewPet, PetName, PetStatus, idempotency::fingerprint};
use rusqlite::{Connection, functions::FunctionFlags, params_from_iter, types::Value};
use tokio_postgres::SimpleQueryMessage;

use super::{
    postgres_cluster::{connect, fresh_url},
    program::{Service, client, create, directory, run},
};

/// A statement and its parameters, both as SQL.
struct Statement {
    values: String,
    text: String,
}

/// The schema versions of a store's earlier releases, the oldest first, and their statements.
fn of_releases(store: &str) -> BTreeMap<usize, Vec<Statement>> {
    let folder = petstore_testing::root().join("tests/data/statements");
    let of_release = |entry: io::Result<fs::DirEntry>| {
        let path = entry.unwrap().path();
        let (of, version) = path
            .file_stem()
            .unwrap()
            .to_str()
            .unwrap()
            .split_once('-')
            .unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let statements = text.split("\n\n").skip(1).map(|part| {
            let (values, text) = part.strip_prefix("--").unwrap().split_once('\n').unwrap();
            let text = text.trim().strip_suffix(';').unwrap().to_owned();
            Statement {
                values: values.trim().to_owned(),
                text,
            }
        });
        (of == store).then(|| (version.parse().unwrap(), statements.collect()))
    };
    let releases: BTreeMap<_, _> = fs::read_dir(folder)
        .unwrap()
        .filter_map(of_release)
        .collect();
    assert_eq!(releases.len(), 2, "{store}");
    releases
}

/// The oldest of these, 0.2.0.
fn of_0_2_0(store: &str) -> (usize, Vec<Statement>) {
    of_releases(store).pop_first().unwrap()
}

/// The schema of a store at a version, from `migrations`.
fn schema(store: &str, version: usize) -> String {
    let folder = petstore_testing::root().join(format!("crates/store-{store}/migrations"));
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|step| step.unwrap().path())
        .collect();
    paths.sort();
    assert!(paths.len() >= version);
    paths[..version]
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect()
}

/// The PostgreSQL schema at a version, with the table that names it.
fn with_version(version: usize) -> String {
    // Together, the steps are one transaction.
    let steps = schema("postgres", version).replace(" CONCURRENTLY", "");
    format!(
        "{steps}; CREATE TABLE petstore_schema (
             only_row BOOLEAN PRIMARY KEY CHECK (only_row), version BIGINT NOT NULL);
         INSERT INTO petstore_schema VALUES (TRUE, {version})"
    )
}

#[test]
fn services_of_earlier_releases_continue_on_sqlite_next_to_a_newer_one() {
    for (version, statements) in of_releases("sqlite") {
        continues_on_sqlite(version, &statements);
    }
}

fn continues_on_sqlite(version: usize, statements: &[Statement]) {
    let here = directory();
    let old = Connection::open(here.path().join("petstore.db")).unwrap();
    for (name, columns) in [("goes_on_page", 3), ("goes_on_page", 4), ("unseparated", 1)] {
        let no = |_: &rusqlite::functions::Context<'_>| Ok(false);
        old.create_scalar_function(name, columns, FunctionFlags::empty(), no)
            .unwrap();
    }
    old.execute_batch(&schema("sqlite", version)).unwrap();
    old.pragma_update(None, "journal_mode", "WAL").unwrap();
    old.pragma_update(None, "application_id", 0x7065_7473)
        .unwrap();
    old.pragma_update(None, "user_version", u32::try_from(version).unwrap())
        .unwrap();
    let prepared: Vec<_> = statements
        .iter()
        .map(|Statement { values, text }| {
            let values: Vec<Value> = if values.is_empty() {
                Vec::new()
            } else {
                let list = |row: &rusqlite::Row<'_>| {
                    (0..row.as_ref().column_count())
                        .map(|column| row.get(column))
                        .collect()
                };
                old.query_row(&format!("SELECT {values}"), [], list)
                    .unwrap()
            };
            (values, text, old.prepare(text).unwrap())
        })
        .collect();

    let _newer = Service::start(here.path(), &[]);
    for (values, text, mut statement) in prepared {
        let rows = if statement.column_count() == 0 {
            statement.execute(params_from_iter(values))
        } else {
            statement
                .query(params_from_iter(values))
                .and_then(|mut rows| Ok(usize::from(rows.next()?.is_some())))
        };
        assert!(
            rows.as_ref().is_ok_and(|&rows| rows > 0),
            "{text}: {rows:?}"
        );
    }
}

#[tokio::test]
async fn services_of_earlier_releases_continue_on_postgresql_next_to_a_newer_one() {
    for (version, statements) in of_releases("postgres") {
        continues_on_postgresql(version, &statements).await;
    }
}

async fn continues_on_postgresql(version: usize, statements: &[Statement]) {
    let here = directory();
    let url = fresh_url().await;
    let old = connect(&url).await;
    old.batch_execute(&with_version(version)).await.unwrap();
    for (number, Statement { text, .. }) in statements.iter().enumerate() {
        old.batch_execute(&format!("PREPARE s{number} AS {text}"))
            .await
            .unwrap();
    }

    let _newer = Service::start(here.path(), &["--database", &url]);
    for (number, Statement { values, text }) in statements.iter().enumerate() {
        let values = if values.is_empty() {
            String::new()
        } else {
            format!("({values})")
        };
        let done = old
            .simple_query(&format!("EXECUTE s{number}{values}"))
            .await;
        let done = done.unwrap_or_else(|error| panic!("{text}: {error:?}"));
        let rows = done.iter().find_map(|message| match message {
            SimpleQueryMessage::CommandComplete(rows) => Some(*rows),
            _ => None,
        });
        assert!(rows.is_some_and(|rows| rows > 0), "{text}: {rows:?}");
    }
}

/// A migration would change the schema under a running service.
#[tokio::test]
async fn a_command_next_to_an_older_service_does_not_migrate_and_names_the_command_that_does() {
    let here = directory();
    fs::write(here.path().join("some.csv"), "name,categoryId\nFrank,1\n").unwrap();
    let first = schema("sqlite", 1);
    let old = Connection::open(here.path().join("old.db")).unwrap();
    old.execute_batch(&format!(
        "{first}; PRAGMA application_id = 0x70657473; PRAGMA user_version = 1"
    ))
    .unwrap();
    drop(old);
    let postgres = fresh_url().await;
    connect(&postgres)
        .await
        .batch_execute(&with_version(1))
        .await
        .unwrap();

    run(here.path(), &["import", "some.csv", "--create"]).expect_success();
    for database in ["sqlite:old.db", &postgres] {
        for command in [
            &["keys", "create", "--name", "me", "--database", database][..],
            &["keys", "list", "--database", database],
            &["keys", "revoke", "1", "--database", database],
            &["keys", "rotate", "1", "--database", database],
            &["import", "some.csv", "--database", database],
            &["import", "some.csv", "--keep-ids", "--database", database],
            &["export", "--database", database],
            &["copy", "--from", "sqlite:petstore.db", "--to", database],
            &["copy", "--from", database, "--to", "sqlite:new.db"],
        ] {
            let line = run(here.path(), command).expect_one_line();
            assert!(
                line.contains("has schema version 1, but this release needs version "),
                "{line}"
            );
            assert!(line.ends_with("; `petstore serve` migrates it\n"), "{line}");
        }
        // The service logs the migration before it serves.
        let service = Service::start(here.path(), &["--database", database]);
        let log = &service.first_lines;
        let [begun, done] = ["migrating the schema", "migrated the schema"]
            .map(|text| log.iter().find(|line| line["message"] == text).unwrap());
        for line in [begun, done] {
            assert!(line["from"] == 1 && line["to"].as_u64() > Some(1), "{line}");
            assert!(!line["database"].as_str().unwrap().is_empty());
        }
        assert!(done["duration_us"].as_u64() > Some(0), "{done}");
        service.kill();
        run(
            here.path(),
            &["keys", "create", "--name", "me", "--database", database],
        )
        .expect_success();
    }
    assert!(!here.path().join("new.db").exists());
}

/// What 0.2.0 does for a create with an `Idempotency-Key`. Its fingerprint is `bytes`
/// in the SQL of the store.
fn remember(pet: i64, retry: &str, bytes: fn(&str) -> String) -> String {
    let name = PetName::new("Frank".to_owned()).unwrap();
    let frank = NewPet {
        name,
        category_id: 1,
        status: PetStatus::Available,
        is_listed: true,
    };
    let digits = fingerprint(&frank)
        .map(|byte| format!("{byte:02x}"))
        .concat();
    let fingerprint = bytes(&digits);
    format!(
        "INSERT INTO pets (id, name, category_id, status) VALUES ({pet}, 'Frank', 1, 'available');
         INSERT INTO idempotency_keys (api_key_id, key, fingerprint, pet_id, created_at)
         VALUES (1, 'of-{retry}', {fingerprint}, {pet}, 1)"
    )
}

/// `bytes` for PostgreSQL.
fn bytea(digits: &str) -> String {
    format!(r"'\x{digits}'")
}

/// Sends a create to a newer service.
async fn repeat(service: &Service, key: &str, retry: &str) -> (String, String) {
    let request = create(&client(), &service.url, key, "Frank");
    let reply = request
        .header("idempotency-key", format!("of-{retry}"))
        .send()
        .await
        .unwrap();
    assert_eq!(reply.status(), 201);
    (
        reply.headers()["location"].to_str().unwrap().to_owned(),
        reply.text().await.unwrap(),
    )
}

/// Repeats creates of the previous release at the newer one, which has migrated `database`, and
/// gives the previous release one to repeat.
async fn both_know_each_request(
    here: &Path,
    database: &str,
    execute: impl AsyncFn(&str),
    bytes: fn(&str) -> String,
) {
    let service = Service::start(here, &["--database", database]);
    let created = run(
        here,
        &["keys", "create", "--name", "me", "--database", database],
    );
    let key = created.expect_success().stdout.trim().to_owned();
    // This one came after the migration.
    execute(&remember(2, "during", bytes)).await;
    for (retry, pet) in [("before", 1), ("during", 2)] {
        let body = format!(r#"{{"id":{pet},"name":"Frank","categoryId":1,"status":"available"}}"#);
        let first = repeat(&service, &key, retry).await;
        assert_eq!(first, (format!("/v1/pets/{pet}"), body));
        for by_hand in ["UPDATE pets SET status = 'sold'", "DELETE FROM pets"] {
            execute(&format!("{by_hand} WHERE id = {pet}")).await;
            assert_eq!(repeat(&service, &key, retry).await, first, "{by_hand}");
        }
    }
    let (location, _) = repeat(&service, &key, "newer").await;
    let pet = location.rsplit('/').next().unwrap();
    // Fails unless the previous release finds its row.
    execute(&format!(
        "INSERT INTO idempotency_marks (number, last_pet_id) VALUES (7, (SELECT pet_id
         FROM idempotency_keys WHERE api_key_id = 1 AND key = 'of-newer' AND pet_id = {pet}))"
    ))
    .await;
}

#[tokio::test]
async fn each_release_replays_what_the_other_remembers_on_sqlite() {
    let here = directory();
    let path = here.path().join("petstore.db");
    let (version, _) = of_0_2_0("sqlite");
    let execute = async |sql: &str| Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let bytes = |digits: &str| format!("x'{digits}'");
    execute(&schema("sqlite", version)).await;
    execute(&remember(1, "before", bytes)).await;
    execute(&format!(
        "PRAGMA application_id = 0x70657473; PRAGMA user_version = {version}"
    ))
    .await;
    both_know_each_request(here.path(), "sqlite:petstore.db", execute, bytes).await;
}

#[tokio::test]
async fn each_release_replays_what_the_other_remembers_on_postgresql() {
    let here = directory();
    let url = fresh_url().await;
    let (version, _) = of_0_2_0("postgres");
    let other = connect(&url).await;
    let execute = async |sql: &str| other.batch_execute(sql).await.unwrap();
    execute(&format!(
        "{}; SELECT setval('pets_ids', 2)",
        with_version(version)
    ))
    .await;
    execute(&remember(1, "before", bytea)).await;
    both_know_each_request(here.path(), &url, execute, bytea).await;
}

/// Waits until another session waits for a lock of `holder`.
async fn until_blocked_by(holder: &tokio_postgres::Client, watcher: &tokio_postgres::Client) {
    let holder: i32 = holder
        .query_one("SELECT pg_backend_pid()", &[])
        .await
        .unwrap()
        .get(0);
    let blocked = "SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))";
    while watcher.query(blocked, &[&holder]).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_migration_loses_and_doubles_no_animal_that_the_previous_release_creates_during_it() {
    let here = directory();
    let url = fresh_url().await;
    let (version, statements) = of_0_2_0("postgres");
    let watcher = connect(&url).await;
    let [holder, old, crossing, in_flight] = [
        connect(&url).await,
        connect(&url).await,
        connect(&url).await,
        connect(&url).await,
    ];
    old.batch_execute(&with_version(version)).await.unwrap();
    let begin = |pet, retry| format!("BEGIN; {}", remember(pet, retry, bytea));
    // A step of the migration waits for this table, which no create uses.
    holder
        .batch_execute("BEGIN; LOCK TABLE idempotency_marks")
        .await
        .unwrap();
    crossing
        .batch_execute(&begin(101, "crossing"))
        .await
        .unwrap();
    let (folder, database) = (here.path().to_owned(), url.clone());
    let starting =
        tokio::task::spawn_blocking(move || Service::start(&folder, &["--database", &database]));
    until_blocked_by(&holder, &watcher).await;

    // No create waits for the migration, which tries for a second at a time to lock a table.
    old.batch_execute("SET lock_timeout = '500ms'")
        .await
        .unwrap();
    let is_of_creates = |text: &str| {
        ["INTO pets", "FROM petstore_schema"]
            .iter()
            .any(|part| text.contains(part))
    };
    let of_creates = statements
        .iter()
        .filter(|statement| is_of_creates(&statement.text));
    for (number, Statement { values, text }) in of_creates.enumerate() {
        let values = if values.is_empty() {
            String::new()
        } else {
            format!("({values})")
        };
        let statement = format!("PREPARE s{number} AS {text}; EXECUTE s{number}{values}");
        old.batch_execute(&statement)
            .await
            .unwrap_or_else(|error| panic!("{text}: {error:?}"));
    }
    old.batch_execute(&format!("{}; COMMIT", begin(102, "during")))
        .await
        .unwrap();

    holder.batch_execute("COMMIT").await.unwrap();
    // A step that changes the table of animals waits for the creates that have begun.
    until_blocked_by(&crossing, &watcher).await;
    crossing.batch_execute("COMMIT").await.unwrap();
    let service = starting.await.unwrap();
    in_flight
        .batch_execute(&begin(103, "in-flight"))
        .await
        .unwrap();
    let key = run(
        here.path(),
        &["keys", "create", "--name", "me", "--database", &url],
    );
    let key = key.expect_success().stdout.trim().to_owned();
    assert_eq!(repeat(&service, &key, "crossing").await.0, "/v1/pets/101");
    assert_eq!(repeat(&service, &key, "during").await.0, "/v1/pets/102");
    let commit = async {
        until_blocked_by(&in_flight, &watcher).await;
        in_flight.batch_execute("COMMIT").await.unwrap();
    };
    let (repeated, ()) = tokio::join!(repeat(&service, &key, "in-flight"), commit);
    assert_eq!(repeated.0, "/v1/pets/103");
    let pets = old
        .query("SELECT id, name FROM pets ORDER BY id", &[])
        .await
        .unwrap();
    let pets: Vec<(i64, &str)> = pets.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(
        pets,
        [
            (1, "Frank"),
            (2, "Zoe"),
            (101, "Frank"),
            (102, "Frank"),
            (103, "Frank")
        ]
    );
}
