//! The connections: a bounded number of them, each used by one operation at a
//! time, and none given on that may be in the middle of something.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    ops::{Deref, DerefMut},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use deadpool::{
    Runtime,
    managed::{
        self, BuildError, Metrics, Object, PoolError, RecycleError, RecycleResult, TimeoutType,
    },
};
use futures_util::future::BoxFuture;
use tokio::{runtime::Handle, time};
use tokio_postgres::{Client, Error, Statement};

use super::{
    connect::{Connector, Session, Unreachable},
    errors::{Failure, Remedy},
};
use crate::{
    observe::metrics::{Counter, Exposition, Kind},
    store::StoreError,
};

/// How long an operation waits for a connection while all are in use.
const FREE_WITHIN: Duration = Duration::from_secs(1);

/// How long a connection lives. After it, a cluster that has changed (a
/// server more, another address behind a name) is met anew.
const MAX_AGE: Duration = Duration::from_mins(30);

/// After resting for so long, a connection is asked whether it still works:
/// something between it and the server may have forgotten it.
const MAX_REST: Duration = Duration::from_secs(30);

/// How long it may take to answer that.
const ANSWERED_WITHIN: Duration = Duration::from_secs(1);

/// How long a read whose client has gone may go on before it is cancelled.
const READ_ENDED_WITHIN: Duration = Duration::from_millis(100);

/// How long a write whose client has gone is waited for.
const WRITE_ENDED_WITHIN: Duration = Duration::from_secs(5);

/// Changes no row, but its commit waits for the synchronous standby, because a lock
/// on a row is written to the WAL. The standby then has every earlier commit, too.
const CONFIRM: &str = "SELECT 1 FROM petstore_schema FOR KEY SHARE";

/// One try of an operation.
pub(super) type Try<'t, T> = BoxFuture<'t, Result<T, Failure>>;

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// A session, and the statements that it has prepared.
pub(super) struct Connection {
    session: Session,
    statements: HashMap<&'static str, Statement>,
}

impl Connection {
    /// The statement, prepared when this connection runs it for the first time.
    pub(super) async fn prepared(&mut self, sql: &'static str) -> Result<Statement, Error> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.session.client.prepare(sql).await?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }

    /// Waits until the synchronous standby has everything that this connection has
    /// read. Required before a row of an earlier try is acknowledged: if the server
    /// ended that try's wait for the standby, the row is visible, but a failover can
    /// still lose it.
    pub(super) async fn confirm(&mut self) -> Result<(), Error> {
        let statement = self.prepared(CONFIRM).await?;
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

/// All connections of a store.
pub(super) struct Pool {
    connections: managed::Pool<Connector>,
    /// Those who waited for one in vain.
    timeouts: Counter,
}

impl Pool {
    pub(super) fn new(connector: Connector, connections: NonZeroU32) -> Result<Self, BuildError> {
        managed::Pool::builder(connector)
            .max_size(connections.get() as usize)
            // The one that was used last is the one that rests least.
            .queue_mode(managed::QueueMode::Lifo)
            .wait_timeout(Some(FREE_WITHIN))
            .recycle_timeout(Some(ANSWERED_WITHIN))
            .runtime(Runtime::Tokio1)
            .build()
            .map(|connections| Self { connections, timeouts: Counter::default() })
    }

    /// A connection for one operation.
    pub(super) async fn lease(&self, access: Access) -> Result<Lease, StoreError> {
        match self.connections.get().await {
            Ok(connection) => Ok(Lease { connection: Some(connection), access }),
            Err(PoolError::Timeout(TimeoutType::Wait)) => {
                self.timeouts.count();
                Err(StoreError::Overloaded)
            }
            Err(error) => Err(StoreError::Unavailable(Arc::new(error))),
        }
    }

    /// Closes the connections that rest: what one of them found out about its
    /// server, the others would find out one after the other.
    pub(super) fn distrust_all(&self) {
        drop(self.connections.retain(|_, _| false));
    }
}

impl Pool {
    /// Shows how many connections there are, and who waits for one.
    pub(super) fn expose(&self, page: &mut Exposition) {
        let managed::Status { max_size, size, available, waiting } = self.connections.status();
        let name = "db_client_connection_count";
        page.begin(Kind::Gauge, name, "Connections to PostgreSQL.");
        for (state, count) in [("idle", available), ("used", size.saturating_sub(available))] {
            page.sample(name, &[("db_client_connection_state", &state)], count);
        }
        page.number("db_client_connection_max", "How many there may be.", max_size);
        let help = "Operations that wait for a connection.";
        page.number("db_client_connection_pending_requests", help, waiting);
        let help = "Operations that waited for one in vain, answered 503.";
        page.counter("db_client_connection_timeouts_total", help, &self.timeouts);
    }
}

impl managed::Manager for Connector {
    type Type = Connection;
    type Error = Unreachable;

    async fn create(&self) -> Result<Connection, Unreachable> {
        Ok(Connection { session: self.connect().await?, statements: HashMap::new() })
    }

    async fn recycle(
        &self,
        connection: &mut Connection,
        metrics: &Metrics,
    ) -> RecycleResult<Unreachable> {
        if connection.is_closed() || metrics.age() > MAX_AGE {
            return Err(RecycleError::message("it is closed, or old"));
        }
        if !self.is_with_primary(&connection.session) {
            return Err(RecycleError::message("another server takes the writes"));
        }
        if metrics.last_used() > MAX_REST {
            connection.check_connection().await.map_err(Unreachable::from)?;
        }
        Ok(())
    }
}

/// A connection for one operation. Dropped in the middle of it, it goes back
/// to the others once the server has answered.
pub(super) struct Lease {
    /// There until it is given back.
    connection: Option<Object<Connector>>,
    access: Access,
}

impl Lease {
    /// Does `work`, and gives the connection back or, if it is of no more use,
    /// closes it.
    pub(super) async fn use_for<W, T>(
        mut self,
        work: &impl for<'t> Fn(&'t mut Connection, &'t mut W) -> Try<'t, T>,
        what: &mut W,
    ) -> Result<T, Failure> {
        let Some(connection) = self.connection.as_deref_mut() else {
            return Err(Failure::Raced);
        };
        let done = work(connection, what).await;
        let connection = self.connection.take();
        if done.as_ref().is_err_and(|failure| failure.remedy() == Remedy::Reconnect) {
            drop(connection.map(Object::take));
        }
        done
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else {
            return;
        };
        match Handle::try_current() {
            // Bounded by the pool: until it has ended, its place is taken.
            Ok(runtime) => drop(runtime.spawn(settle(connection, self.access))),
            Err(_) => drop(Object::take(connection)),
        }
    }
}

/// Waits until the server has answered what nobody waits for any more, and
/// gives the connection back, or closes it if that takes too long. Only a server
/// that gives no answer at all is suspected: a read that takes long, or a
/// connection that breaks, says nothing about the server.
///
/// A write is never cancelled: PostgreSQL would end its wait for a synchronous
/// standby, and show to everybody an animal that a failover can still lose.
async fn settle(connection: Object<Connector>, access: Access) {
    if !has_settled(&connection, access).await {
        drop(Object::take(connection));
    }
}

/// Whether the connection can be used again.
async fn has_settled(connection: &Object<Connector>, access: Access) -> bool {
    // Answered after all that was sent before, a ROLLBACK of the transaction
    // included that was dropped with the operation.
    let mut idle = pin!(connection.simple_query(""));
    let patience = match access {
        Access::Read => READ_ENDED_WITHIN,
        Access::Write => WRITE_ENDED_WITHIN,
    };
    if let Ok(answered) = time::timeout(patience, idle.as_mut()).await {
        return answered.is_ok();
    }
    let is_silent = access == Access::Write || {
        connection.session.cancel().await;
        time::timeout(ANSWERED_WITHIN, idle).await.is_err()
    };
    if is_silent && let Some(pool) = Object::pool(connection) {
        pool.manager().suspect(&connection.session);
    }
    // A cancellation may come late, and would end what is done next.
    false
}
