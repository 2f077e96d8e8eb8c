//! Connections to the database, which prepare each statement only once.

use std::{
    collections::HashMap,
    ops::{Deref, DerefMut},
};

use petstore_store::admin::Parameters;
use tokio_postgres::{Client, Error, RowStream, Statement};

use super::connect::Session;

/// A statement that waits until the synchronous standby has every earlier commit. It changes no row,
/// but its row lock is written to the WAL, so its own commit waits for the standby.
const CONFIRM: &str = "SELECT 1 FROM petstore_schema FOR KEY SHARE";

/// A connection to the database, with a cache of its prepared statements.
pub struct Connection {
    pub(super) session: Session,
    /// The prepared statements, by their SQL.
    statements: HashMap<&'static str, Statement>,
}

impl Connection {
    /// Wraps a session, without any prepared statements yet.
    pub(super) fn new(session: Session) -> Self {
        Self {
            session,
            statements: HashMap::new(),
        }
    }

    /// Returns the prepared statement for `sql`. Prepares it only the first time on this
    /// connection.
    pub(super) async fn prepare_once(&mut self, sql: &'static str) -> Result<Statement, Error> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.session.client.prepare(sql).await?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }

    /// Begins a query, and waits until the server has accepted it.
    pub(super) async fn begin_query(
        &mut self,
        sql: &'static str,
        values: Parameters<'_>,
    ) -> Result<RowStream, Error> {
        let statement = self.prepare_once(sql).await?;
        let values = values.iter().map(|value| value.for_postgres());
        self.query_raw(&statement, values).await
    }

    /// Waits until the synchronous standby has everything that this connection has read.
    ///
    /// Call this before acknowledging a row that an earlier attempt wrote. If that attempt stopped
    /// waiting for the standby, its row is already visible, but a failover can still lose it.
    pub(super) async fn confirm(&mut self) -> Result<(), Error> {
        let statement = self.prepare_once(CONFIRM).await?;
        self.execute(&statement, &[]).await?;
        Ok(())
    }
}

impl Deref for Connection {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.session.client
    }
}

impl DerefMut for Connection {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.session.client
    }
}
