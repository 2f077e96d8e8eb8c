//! The database that the suites run on, and direct access to it.

use std::{any::Any, env, fs, num::NonZeroU32, path::Path};

use petstore_databases::{self as databases, DatabaseUrl};
use petstore_store::OpenMode;
use rand::SeedableRng;
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::postgres_cluster::{connect, fresh_url};

/// A fresh database of the kind that `TEST_DATABASE` names: `sqlite`, the default, or `postgres`.
pub enum Database {
    /// The folder with its file.
    Sqlite(TempDir),
    /// Its URL.
    Postgres(String),
}

/// Writes the file of an empty SQLite store to `path`, with keys of its own. Its migrations run only
/// for the first caller in a process, because they take longer than many tests.
pub async fn write_empty_store(path: &Path) {
    static EMPTY_STORE: OnceCell<Vec<u8>> = OnceCell::const_new();

    let content = EMPTY_STORE
        .get_or_init(async || {
            let folder = crate::temporary_folder();
            let path = folder.path().join("petstore.db");
            let url = DatabaseUrl::Sqlite(path.clone());
            let mut random = rand::rngs::StdRng::seed_from_u64(1);
            let mode = OpenMode::CreateAndMigrate;
            let store = databases::open(&url, mode, NonZeroU32::MIN, &mut random).await;
            // The last connection moves everything from the WAL to the file.
            drop(store.unwrap());
            fs::read(path).unwrap()
        })
        .await;
    fs::write(path, content).unwrap();
    Connection::open(path)
        .unwrap()
        .execute_batch(
            "UPDATE etag_key SET key = randomblob(32);
            UPDATE change_log SET epoch = randomblob(16)",
        )
        .unwrap();
}

impl Database {
    /// Makes an empty database. Over SQLite, it already has the tables.
    pub async fn fresh() -> Self {
        match env::var("TEST_DATABASE").as_deref() {
            Ok("postgres") => Self::Postgres(fresh_url().await),
            Err(_) | Ok("sqlite") => {
                let folder = crate::temporary_folder();
                write_empty_store(&folder.path().join("petstore.db")).await;
                Self::Sqlite(folder)
            }
            Ok(other) => panic!("TEST_DATABASE must be sqlite or postgres, but was {other}"),
        }
    }

    pub fn url(&self) -> DatabaseUrl {
        match self {
            Self::Sqlite(folder) => DatabaseUrl::Sqlite(folder.path().join("petstore.db")),
            Self::Postgres(url) => url.parse().unwrap(),
        }
    }

    /// Another database with the key of this one, as a copy has it.
    pub async fn copy(&self) -> Self {
        match self {
            Self::Sqlite(from) => {
                let folder = crate::temporary_folder();
                let path = folder.path().join("petstore.db").display().to_string();
                sqlite(from).execute("VACUUM INTO ?1", [path]).unwrap();
                Self::Sqlite(folder)
            }
            Self::Postgres(from) => {
                let url = fresh_url().await;
                let mut random = rand::rngs::StdRng::seed_from_u64(1);
                let (mode, one) = (OpenMode::CreateAndMigrate, NonZeroU32::MIN);
                drop(
                    databases::open(&url.parse().unwrap(), mode, one, &mut random)
                        .await
                        .unwrap(),
                );
                let key = connect(from)
                    .await
                    .query_one("SELECT key FROM etag_key", &[])
                    .await;
                let key: Vec<u8> = key.unwrap().get(0);
                let update = "UPDATE etag_key SET key = $1";
                connect(&url).await.execute(update, &[&key]).await.unwrap();
                Self::Postgres(url)
            }
        }
    }

    /// Blocks all writes until the result is dropped.
    pub async fn hold_writes(&self) -> Box<dyn Any> {
        match self {
            Self::Sqlite(folder) => {
                let holding = sqlite(folder);
                holding.execute_batch("BEGIN IMMEDIATE").unwrap();
                Box::new(holding)
            }
            Self::Postgres(url) => {
                let holding = connect(url).await;
                holding
                    .batch_execute("BEGIN; LOCK TABLE pets IN SHARE MODE")
                    .await
                    .unwrap();
                Box::new(holding)
            }
        }
    }

    /// The number of rows in a table.
    pub async fn count_rows(&self, table: &str) -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        match self {
            Self::Sqlite(folder) => sqlite(folder)
                .query_row(&sql, [], |row| row.get(0))
                .unwrap(),
            Self::Postgres(url) => connect(url)
                .await
                .query_one(&sql, &[])
                .await
                .unwrap()
                .get(0),
        }
    }

    /// Logs a change that concerns an animal, `photo.added`, and an act, `photo.checked`, as a later
    /// release would, whose types this release does not know.
    pub async fn log_of_later_release(&self, pet: i64) {
        // Only SQLite has the latest time in each row.
        let latest_at = if matches!(self, Self::Sqlite(_)) {
            ", latest_at"
        } else {
            ""
        };
        self.execute(&format!(
            "INSERT INTO changes (type, subject_id, version, pet_id, actor, request_id, at{latest_at})
                SELECT 'photo.added', 7, 1, {pet}, 'clock', 'later', at{latest_at}
                FROM changes WHERE at = (SELECT max(at) FROM changes) LIMIT 1;
             INSERT INTO acts (seq, at, type, subject_id, actor, details)
                SELECT 0, max(at), 'photo.checked', 7, 'command', '{{\"by\":\"eye\"}}' FROM changes"
        ))
        .await;
    }

    /// Runs statements by hand.
    pub async fn execute(&self, sql: &str) {
        match self {
            Self::Sqlite(folder) => sqlite(folder).execute_batch(sql).unwrap(),
            Self::Postgres(url) => connect(url).await.batch_execute(sql).await.unwrap(),
        }
    }
}

fn sqlite(folder: &TempDir) -> Connection {
    Connection::open(folder.path().join("petstore.db")).unwrap()
}
