//! A service of the previous release continues while a newer one migrates the schema. Its
//! statements are in `tests/data/statements`.

use std::{fs, path::Path};

use rusqlite::{Connection, functions::FunctionFlags, params_from_iter, types::Value};
use tokio_postgres::SimpleQueryMessage;

use super::{
    postgres_cluster::{connect, fresh_url},
    program::{Service, directory, run},
};

/// A statement and its parameters, both as SQL.
struct Statement {
    values: String,
    text: String,
}

/// The statements of a store's previous release, and its schema version.
fn of_release_before(store: &str) -> (usize, Vec<Statement>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/statements");
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_of_store = |path: &Path| path.file_name().unwrap().to_str().unwrap().starts_with(store);
    let paths: Vec<_> = names.filter(|path| is_of_store(path)).collect();
    let [path] = &paths[..] else { panic!("one release is the one before: {paths:?}") };
    let (_, version) = path.file_stem().unwrap().to_str().unwrap().split_once('-').unwrap();
    let text = fs::read_to_string(path).unwrap();
    let statements = text.split("\n\n").skip(1).map(|part| {
        let (values, text) = part.strip_prefix("--").unwrap().split_once('\n').unwrap();
        let text = text.trim().strip_suffix(';').unwrap().to_owned();
        Statement { values: values.trim().to_owned(), text }
    });
    (version.parse().unwrap(), statements.collect())
}

/// The schema of a store at a version, from `migrations`.
fn schema(store: &str, version: usize) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(store);
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|step| step.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= version);
    paths[..version].iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn a_service_of_the_previous_release_continues_on_sqlite_next_to_a_newer_one() {
    let here = directory();
    let (version, statements) = of_release_before("sqlite");
    let old = Connection::open(here.path().join("petstore.db")).unwrap();
    old.execute_batch(&schema("sqlite", version)).unwrap();
    old.pragma_update(None, "journal_mode", "WAL").unwrap();
    old.pragma_update(None, "application_id", 0x7065_7473).unwrap();
    old.pragma_update(None, "user_version", u32::try_from(version).unwrap()).unwrap();
    for columns in [3, 4] {
        let no = |_: &rusqlite::functions::Context<'_>| Ok(false);
        old.create_scalar_function("goes_on_page", columns, FunctionFlags::empty(), no).unwrap();
    }
    let prepared: Vec<_> = statements
        .iter()
        .map(|Statement { values, text }| {
            let values: Vec<Value> = if values.is_empty() {
                Vec::new()
            } else {
                let list = |row: &rusqlite::Row<'_>| {
                    (0..row.as_ref().column_count()).map(|column| row.get(column)).collect()
                };
                old.query_row(&format!("SELECT {values}"), [], list).unwrap()
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
        assert!(rows.as_ref().is_ok_and(|&rows| rows > 0), "{text}: {rows:?}");
    }
}

#[tokio::test]
async fn a_service_of_the_previous_release_continues_on_postgresql_next_to_a_newer_one() {
    let here = directory();
    let url = fresh_url().await;
    let (version, statements) = of_release_before("postgres");
    let old = connect(&url).await;
    let note = format!(
        "CREATE TABLE petstore_schema (
             only_row BOOLEAN PRIMARY KEY CHECK (only_row), version BIGINT NOT NULL);
         INSERT INTO petstore_schema VALUES (TRUE, {version})"
    );
    old.batch_execute(&format!("{};{note}", schema("postgres", version))).await.unwrap();
    for (number, Statement { text, .. }) in statements.iter().enumerate() {
        old.batch_execute(&format!("PREPARE s{number} AS {text}")).await.unwrap();
    }

    let _newer = Service::start(here.path(), &["--database", &url]);
    for (number, Statement { values, text }) in statements.iter().enumerate() {
        let values = if values.is_empty() { String::new() } else { format!("({values})") };
        let done = old.simple_query(&format!("EXECUTE s{number}{values}")).await;
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
    let first = schema("postgres", 1);
    let client = connect(&postgres).await;
    let note = "CREATE TABLE petstore_schema (
        only_row BOOLEAN PRIMARY KEY CHECK (only_row), version BIGINT NOT NULL);
        INSERT INTO petstore_schema VALUES (TRUE, 1)";
    client.batch_execute(&format!("{first};{note}")).await.unwrap();

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
        run(here.path(), &["keys", "create", "--name", "me", "--database", database])
            .expect_success();
    }
    assert!(!here.path().join("new.db").exists());
}
