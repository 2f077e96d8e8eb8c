//! The connections: a limited number, each used by one operation at a time. A connection is reused
//! only if no statement is running on it.

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
use petstore_observe::metrics::{Counter, Exposition, Kind};
use petstore_store::{
    StoreError,
    drivers::postgres::{Failure, Remedy},
};
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
    time,
};
use tokio_postgres::{Client, Error, Statement};

use super::connect::{Connector, Session, Unreachable};

/// The time limit for getting a connection while all are in use.
pub(super) const WAIT_LIMIT: Duration = Duration::from_secs(1);

/// The maximum age of a connection. After that, a new one is made, which finds a changed cluster
/// (another server, or another address).
const MAX_AGE: Duration = Duration::from_mins(30);

/// The idle time after which a connection is tested before it is reused: a device on its way may have
/// dropped it.
const MAX_IDLE_TIME: Duration = Duration::from_secs(30);

/// The time limit of this test, and of a cancellation.
const RESPONSE_LIMIT: Duration = Duration::from_secs(1);

/// The time that a read may take after its client has gone. Then it is cancelled.
const ABANDONED_READ_LIMIT: Duration = Duration::from_millis(100);

/// The time that a write may take after its client has gone. Then another connection replaces the
/// connection of the write.
const ABANDONED_WRITE_LIMIT: Duration = Duration::from_secs(5);

/// A statement that changes no row, but its commit waits for the synchronous standby, because a lock
/// on a row is written to the WAL. The standby then also has every earlier commit.
const CONFIRM: &str = "SELECT 1 FROM petstore_schema FOR KEY SHARE";

/// One attempt of an operation.
pub(super) type Attempt<'t, T> = BoxFuture<'t, Result<T, Failure>>;

/// The kind of an operation, which decides about its share of the connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    /// A write that may wait for somebody's lock on its animal. All such writes together use at most
    /// three quarters of the connections, so that other operations always have a quarter.
    Command,
    /// Many commands, with much work for the server: at most an eighth of the connections.
    Batch,
}

/// A connection to the database, with the statements that it has prepared.
pub struct Connection {
    session: Session,
    statements: HashMap<&'static str, Statement>,
}

impl Connection {
    /// Creates a connection without prepared statements.
    pub(super) fn new(session: Session) -> Self {
        Self {
            session,
            statements: HashMap::new(),
        }
    }

    /// Returns the statement, prepared when this connection runs it for the first time.
    pub(super) async fn prepare_once(&mut self, sql: &'static str) -> Result<Statement, Error> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.session.client.prepare(sql).await?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }

    /// Waits until the synchronous standby has everything that this connection has
    /// read. Required before a row of an earlier attempt is acknowledged: if the server
    /// ended the wait of that attempt for the standby, the row is visible, but a failover
    /// can still lose it.
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

/// The connections of a store.
pub(super) struct Pool {
    connections: managed::Pool<Connector>,
    /// The permits for [`Access::Command`].
    commands: Arc<Semaphore>,
    /// The permits for [`Access::Batch`].
    batches: Arc<Semaphore>,
    /// The permits for connections that were replaced although their write has not ended. The server
    /// keeps its side of each, so there may be as many of them as connections in use.
    abandoned: Arc<Semaphore>,
    /// The number of operations that did not get a connection in time.
    pub(super) timeouts: Counter,
}

impl Pool {
    /// Creates a pool of at most `connections` connections, which are made when they are needed.
    pub(super) fn new(connector: Connector, connections: NonZeroU32) -> Result<Self, BuildError> {
        let size = connections.get() as usize;
        managed::Pool::builder(connector)
            .max_size(size)
            // Reuses the last connection first, so that few connections are idle.
            .queue_mode(managed::QueueMode::Lifo)
            .wait_timeout(Some(WAIT_LIMIT))
            .recycle_timeout(Some(RESPONSE_LIMIT))
            .runtime(Runtime::Tokio1)
            .build()
            .map(|connections| Self {
                connections,
                commands: Arc::new(Semaphore::new(size - size / 4)),
                batches: Arc::new(Semaphore::new((size / 8).max(1))),
                abandoned: Arc::new(Semaphore::new(size)),
                timeouts: Counter::default(),
            })
    }

    /// Waits for a connection, and for a permit if the kind of the operation has a share. Fails after
    /// [`WAIT_LIMIT`].
    pub(super) async fn lease(&self, access: Access) -> Result<Lease, StoreError> {
        let share = match access {
            Access::Read | Access::Write => None,
            Access::Command => Some(&self.commands),
            Access::Batch => Some(&self.batches),
        };
        let permit = match share {
            Some(share) => {
                match time::timeout(WAIT_LIMIT, Arc::clone(share).acquire_owned()).await {
                    Ok(permit) => permit.ok(),
                    Err(_) => return Err(self.count_overload()),
                }
            }
            None => None,
        };

        match self.connections.get().await {
            Ok(connection) => Ok(Lease {
                access,
                abandoned: Arc::clone(&self.abandoned),
                leased: Some(LeasedConnection { connection, permit }),
            }),
            Err(PoolError::Timeout(TimeoutType::Wait)) => Err(self.count_overload()),
            Err(error) => Err(StoreError::Unavailable(Arc::new(error))),
        }
    }

    /// Counts an operation that did not get a connection in time, and returns its error.
    fn count_overload(&self) -> StoreError {
        self.timeouts.count();
        StoreError::Overloaded
    }

    /// Closes the idle connections. When one of them fails because of its server, the others would
    /// fail as well.
    pub(super) fn close_idle_connections(&self) {
        let _closed_connections = self.connections.retain(|_, _| false);
    }

    /// Writes the metrics.
    pub(super) fn expose(&self, exposition: &mut Exposition) {
        let managed::Status {
            max_size,
            size,
            available,
            waiting,
        } = self.connections.status();
        let name = "db_client_connection_count";
        exposition.begin(Kind::Gauge, name, "Connections to PostgreSQL.");
        let used_count = size.saturating_sub(available);
        exposition.sample(name, &[("db_client_connection_state", &"idle")], available);
        exposition.sample(name, &[("db_client_connection_state", &"used")], used_count);
        exposition.number(
            "db_client_connection_max",
            "How many there may be.",
            max_size,
        );
        let help = "Operations that wait for a connection.";
        exposition.number("db_client_connection_pending_requests", help, waiting);
        let help = "Operations rejected with 503 because no connection became free.";
        exposition.counter("db_client_connection_timeouts_total", help, &self.timeouts);
    }
}

impl managed::Manager for Connector {
    type Type = Connection;
    type Error = Unreachable;

    async fn create(&self) -> Result<Connection, Unreachable> {
        Ok(Connection::new(self.connect().await?))
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
            return Err(RecycleError::message("another server accepts the writes"));
        }
        if metrics.last_used() > MAX_IDLE_TIME {
            connection
                .check_connection()
                .await
                .map_err(|error| Unreachable::from(&error))?;
        }
        Ok(())
    }
}

/// A connection for one operation. If the operation is dropped, the connection returns to the pool
/// after the server's response.
pub(super) struct Lease {
    access: Access,
    /// The permits of [`Pool::abandoned`].
    abandoned: Arc<Semaphore>,
    /// The connection; `None` after it was returned.
    leased: Option<LeasedConnection>,
}

/// A connection, with the permit for the share of the connections that it counts against.
struct LeasedConnection {
    connection: Object<Connector>,
    permit: Option<OwnedSemaphorePermit>,
}

impl LeasedConnection {
    /// Closes the connection instead of returning it to the pool.
    fn close(self) {
        drop(Object::take(self.connection));
        drop(self.permit);
    }
}

impl Lease {
    /// Runs `work`, then returns the connection to the pool, or closes it if it is broken.
    pub(super) async fn run<W, T>(
        mut self,
        work: &impl for<'t> Fn(&'t mut Connection, &'t mut W) -> Attempt<'t, T>,
        input: &mut W,
    ) -> Result<T, Failure> {
        let Some(leased_connection) = &mut self.leased else {
            return Err(Failure::Raced);
        };
        let result = work(&mut leased_connection.connection, input).await;

        // The server has responded, so `drop` has nothing to wait for.
        let leased_connection = self.leased.take();
        if let Err(failure) = &result
            && failure.remedy() == Remedy::Reconnect
            && let Some(leased_connection) = leased_connection
        {
            leased_connection.close();
        }
        result
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(leased_connection) = self.leased.take() else {
            return;
        };
        match Handle::try_current() {
            // The pool limits these tasks: each keeps the slot of its connection, or a permit.
            Ok(runtime) => {
                let abandoned = Arc::clone(&self.abandoned);
                let _task = runtime.spawn(settle(leased_connection, self.access, abandoned));
            }
            // Without a runtime, nobody can wait for the response.
            Err(_) => leased_connection.close(),
        }
    }
}

/// Waits for the response to the statement of a dropped operation, and returns the connection to
/// the pool. If that takes too long, a new connection takes its place. A server that does not
/// respond at all is tried last from then on. A slow read or a broken connection says nothing about
/// the server.
///
/// A write is never cancelled: PostgreSQL would stop its wait for a synchronous standby, and make
/// an animal visible that a failover can lose. Without such a standby, each write would leave one
/// more connection behind on the server, so after [`Pool::abandoned`] the next one keeps its place.
async fn settle(
    leased_connection: LeasedConnection,
    access: Access,
    abandoned_connections: Arc<Semaphore>,
) {
    if settle_within_limit(&leased_connection.connection, access).await {
        return;
    }
    if access == Access::Read {
        leased_connection.close();
        return;
    }
    match abandoned_connections.try_acquire() {
        Ok(_abandoned_permit) => {
            let connection = Object::take(leased_connection.connection);
            let _ = connection.simple_query("").await;
        }
        Err(_) => {
            let _ = leased_connection.connection.simple_query("").await;
        }
    }
}

/// Waits for the response to the statement of a dropped operation, within the limit for its kind. Returns
/// whether the connection can be reused.
async fn settle_within_limit(connection: &Object<Connector>, access: Access) -> bool {
    // The response comes after the responses to all earlier statements, including the ROLLBACK of the
    // dropped transaction.
    let mut response = pin!(connection.simple_query(""));
    let limit = match access {
        Access::Read => ABANDONED_READ_LIMIT,
        Access::Write | Access::Command | Access::Batch => ABANDONED_WRITE_LIMIT,
    };
    if let Ok(result) = time::timeout(limit, response.as_mut()).await {
        return result.is_ok();
    }

    let is_silent = if access == Access::Read {
        connection.session.cancel().await;
        time::timeout(RESPONSE_LIMIT, response).await.is_err()
    } else {
        true
    };
    if is_silent && let Some(pool) = Object::pool(connection) {
        pool.manager().suspect(&connection.session);
    }
    // A late cancellation would cancel the next statement.
    false
}
