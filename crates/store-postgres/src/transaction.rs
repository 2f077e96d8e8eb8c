//! Transactions of one connection.

use futures_util::FutureExt;
use petstore_store::{admin::Work, drivers::postgres::Failure};

use super::connection::Connection;

/// An open transaction. It is rolled back if it is dropped before it is committed.
pub(super) struct Transaction<'c> {
    pub(super) connection: &'c mut Connection,
    is_open: bool,
}

impl<'c> Transaction<'c> {
    /// Begins a transaction with the statement `begin`.
    pub(super) async fn begin(
        connection: &'c mut Connection,
        begin: &str,
    ) -> Result<Self, Failure> {
        let transaction = Self {
            connection,
            is_open: true,
        };
        transaction.connection.batch_execute(begin).await?;
        Ok(transaction)
    }

    /// Commits the transaction.
    pub(super) async fn commit(mut self) -> Result<(), Failure> {
        // Even if the COMMIT fails, no transaction is open afterwards.
        self.is_open = false;
        Ok(self.connection.batch_execute("COMMIT").await?)
    }

    /// Rolls the transaction back, and waits for the response.
    pub(super) async fn roll_back(mut self) -> Result<(), Failure> {
        self.is_open = false;
        Ok(self.connection.batch_execute("ROLLBACK").await?)
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // A single poll sends the statement. The server runs it before any later statement of this
            // connection, so there is no need to wait for its response.
            let _ = self.connection.batch_execute("ROLLBACK").now_or_never();
        }
    }
}

/// Runs `work` in a transaction that the statement `begin` opens, and commits it.
pub(super) async fn in_transaction<I: Sync, T>(
    begin: &str,
    connection: &mut Connection,
    input: &I,
    work: Work<Connection, I, T>,
) -> Result<T, Failure> {
    let transaction = Transaction::begin(connection, begin).await?;
    let value = work(transaction.connection, input).await?;
    transaction.commit().await?;
    Ok(value)
}
