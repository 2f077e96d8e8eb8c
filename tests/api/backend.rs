//! The databases that the interface is tested on, and direct access to them.

use std::any::Any;

use petstore::store::DatabaseUrl;

/// A fresh database.
pub(crate) trait Backend: Sized {
    async fn fresh() -> Self;

    fn url(&self) -> DatabaseUrl;

    /// Blocks all writes until the result is dropped.
    async fn hold_writes(&self) -> Box<dyn Any>;

    /// The number of rows in a table.
    async fn count_rows(&self, table: &str) -> i64;

    /// Runs statements by hand.
    async fn execute(&self, sql: &str);
}
