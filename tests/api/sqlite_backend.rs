//! A SQLite database for the tests of the interface.

use std::any::Any;

use petstore::store::DatabaseUrl;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::backend::Backend;

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

    async fn execute(&self, sql: &str) {
        self.connect().execute_batch(sql).unwrap();
    }
}
