//! The stores that the interface is tested on, and direct access to their databases.

use std::any::Any;

use petstore::config::DatabaseUrl;
use rusqlite::Connection;
use tempfile::TempDir;

use super::postgres_cluster::{connect, fresh_url};

/// A fresh database.
pub(crate) trait Backend: Sized {
    async fn fresh() -> Self;

    fn url(&self) -> DatabaseUrl;

    /// Blocks all writes until the result is dropped.
    async fn hold_writes(&self) -> Box<dyn Any>;

    /// The number of rows in a table.
    async fn count_rows(&self, table: &str) -> i64;
}

pub(crate) struct Sqlite(TempDir);

impl Sqlite {
    fn connect(&self) -> Connection {
        Connection::open(self.0.path().join("petstore.db")).unwrap()
    }
}

impl Backend for Sqlite {
    async fn fresh() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn url(&self) -> DatabaseUrl {
        DatabaseUrl::Sqlite(self.0.path().join("petstore.db"))
    }

    async fn hold_writes(&self) -> Box<dyn Any> {
        let holding = self.connect();
        holding.execute_batch("BEGIN IMMEDIATE").unwrap();
        Box::new(holding)
    }

    async fn count_rows(&self, table: &str) -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        self.connect().query_row(&sql, [], |row| row.get(0)).unwrap()
    }
}

pub(crate) struct Postgres(String);

impl Backend for Postgres {
    async fn fresh() -> Self {
        Self(fresh_url().await)
    }

    fn url(&self) -> DatabaseUrl {
        self.0.parse().unwrap()
    }

    async fn hold_writes(&self) -> Box<dyn Any> {
        let holding = connect(&self.0).await;
        holding.batch_execute("BEGIN; LOCK TABLE pets IN SHARE MODE").await.unwrap();
        Box::new(holding)
    }

    async fn count_rows(&self, table: &str) -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        connect(&self.0).await.query_one(&sql, &[]).await.unwrap().get(0)
    }
}
