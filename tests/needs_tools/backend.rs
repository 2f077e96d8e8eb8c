//! A PostgreSQL database for the tests of the interface.

use std::any::Any;

use petstore::store::DatabaseUrl;

use crate::{
    backend::Backend,
    postgres_cluster::{connect, fresh_url},
};

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

    async fn execute(&self, sql: &str) {
        connect(&self.0).await.batch_execute(sql).await.unwrap();
    }
}
