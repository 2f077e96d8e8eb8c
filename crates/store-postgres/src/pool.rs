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

/// How long an operation waits for a connection while all are in use.
pub(super) const FREE_WITHIN: Duration = Duration::from_secs(1);

/// How long a connection lives. After that, a new one is made, which finds a changed cluster
/// (another server, or another address).
const MAX_AGE: Duration = Duration::from_mins(30);

/// After it was idle for this long, a connection is tested before it is reused: a device on its way
/// may have dropped it.
const MAX_REST: Duration = Duration::from_secs(30);

/// How long the test may take.
const ANSWERED_WITHIN: Duration = Duration::from_secs(1);

/// How long a read whose client has gone may go on before it is cancelled.
const READ_ENDED_WITHIN: Duration = Duration::from_millis(100);

/// How long a write whose client has gone is waited for before another connection replaces its own.
const WRITE_ENDED_WITHIN: Duration = Duration::from_secs(5);

/// Changes no row, but its commit waits for the synchronous standby, because a lock
/// on a row is written to the WAL. The standby then also has every earlier commit.
const CONFIRM: &str = "SELECT 1 FROM petstore_schema FOR KEY SHARE";

/// One try of an operation.
pub(super) type Try<'t, T> = BoxFuture<'t, Result<T, Failure>>;

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    /// A write that may wait for somebody's lock on its animal. All of these together use at most
    /// three quarters of the connections, so that others always have the rest.
    Command,
    /// Many commands, with much work for the server: at most an eighth of the connections.
    Batch,
}

/// A session, and the statements that it has prepared.
pub struct Connection {
    session: Session,
    statements: HashMap<&'static str, Statement>,
}

impl Connection {
    pub(super) fn new(session: Session) -> Self {
        Self {
            session,
            statements: HashMap::new(),
        }
    }

    /// Returns the statement, prepared when this connection runs it for the first time.
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

/// The connections of a store.
pub(super) struct Pool {
    connections: managed::Pool<Connector>,
    /// For [`Access::Command`].
    commands: Arc<Semaphore>,
    /// For [`Access::Batch`].
    batches: Arc<Semaphore>,
    /// Connections that were replaced although their write has not ended. The server keeps its side
    /// of each, so there may be as many of them as of the others.
    abandoned: Arc<Semaphore>,
    /// Operations that did not get a connection in time.
    pub(super) timeouts: Counter,
}

impl Pool {
    pub(super) fn new(connector: Connector, connections: NonZeroU32) -> Result<Self, BuildError> {
        let size = connections.get() as usize;
        managed::Pool::builder(connector)
            .max_size(size)
            // Reuses the last connection first, so that few connections are idle.
            .queue_mode(managed::QueueMode::Lifo)
            .wait_timeout(Some(FREE_WITHIN))
            .recycle_timeout(Some(ANSWERED_WITHIN))
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

    pub(super) async fn lease(&self, access: Access) -> Result<Lease, StoreError> {
        let share = match access {
            Access::Read | Access::Write => None,
            Access::Command => Some(&self.commands),
            Access::Batch => Some(&self.batches),
        };
        let share = match share {
            Some(share) => {
                match time::timeout(FREE_WITHIN, Arc::clone(share).acquire_owned()).await {
                    Ok(permit) => permit.ok(),
                    Err(_) => return Err(self.overloaded()),
                }
            }
            None => None,
        };
        match self.connections.get().await {
            Ok(connection) => Ok(Lease {
                access,
                abandoned: Arc::clone(&self.abandoned),
                held: Some((connection, share)),
            }),
            Err(PoolError::Timeout(TimeoutType::Wait)) => Err(self.overloaded()),
            Err(error) => Err(StoreError::Unavailable(Arc::new(error))),
        }
    }

    fn overloaded(&self) -> StoreError {
        self.timeouts.count();
        StoreError::Overloaded
    }

    /// Closes the idle connections. When one of them fails because of its server, the others would
    /// fail as well.
    pub(super) fn distrust_all(&self) {
        drop(self.connections.retain(|_, _| false));
    }

    pub(super) fn expose(&self, page: &mut Exposition) {
        let managed::Status {
            max_size,
            size,
            available,
            waiting,
        } = self.connections.status();
        let name = "db_client_connection_count";
        page.begin(Kind::Gauge, name, "Connections to PostgreSQL.");
        for (state, count) in [
            ("idle", available),
            ("used", size.saturating_sub(available)),
        ] {
            page.sample(name, &[("db_client_connection_state", &state)], count);
        }
        page.number(
            "db_client_connection_max",
            "How many there may be.",
            max_size,
        );
        let help = "Operations that wait for a connection.";
        page.number("db_client_connection_pending_requests", help, waiting);
        let help = "Operations rejected with 503 because no connection became free.";
        page.counter("db_client_connection_timeouts_total", help, &self.timeouts);
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
        if metrics.last_used() > MAX_REST {
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
    /// See [`Pool::abandoned`].
    abandoned: Arc<Semaphore>,
    /// `Some` until it is returned.
    held: Option<Held>,
}

/// A connection, with the share of the connections that it counts against.
type Held = (Object<Connector>, Option<OwnedSemaphorePermit>);

impl Lease {
    /// Runs `work`, then returns the connection to the pool, or closes it if it is broken.
    pub(super) async fn use_for<W, T>(
        mut self,
        work: &impl for<'t> Fn(&'t mut Connection, &'t mut W) -> Try<'t, T>,
        what: &mut W,
    ) -> Result<T, Failure> {
        let Some((connection, _)) = &mut self.held else {
            return Err(Failure::Raced);
        };
        let done = work(connection, what).await;
        let held = self.held.take();
        if done
            .as_ref()
            .is_err_and(|failure| failure.remedy() == Remedy::Reconnect)
        {
            drop(held.map(|(connection, _)| Object::take(connection)));
        }
        done
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(held) = self.held.take() else {
            return;
        };
        match Handle::try_current() {
            // The pool limits these tasks: each keeps the slot of its connection, or a permit.
            Ok(runtime) => {
                let abandoned = Arc::clone(&self.abandoned);
                drop(runtime.spawn(settle(held, self.access, abandoned)));
            }
            Err(_) => drop(Object::take(held.0)),
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
async fn settle(held: Held, access: Access, abandoned: Arc<Semaphore>) {
    let (connection, _share) = held;
    if has_settled(&connection, access).await {
        return;
    }
    match (access, abandoned.try_acquire()) {
        (Access::Read, _) => drop(Object::take(connection)),
        (_, Ok(_permit)) => {
            let connection = Object::take(connection);
            drop(connection.simple_query("").await);
        }
        (_, Err(_)) => drop(connection.simple_query("").await),
    }
}

async fn has_settled(connection: &Object<Connector>, access: Access) -> bool {
    // The response comes after those to all earlier statements, including the ROLLBACK of the
    // dropped transaction.
    let mut idle = pin!(connection.simple_query(""));
    let patience = match access {
        Access::Read => READ_ENDED_WITHIN,
        Access::Write | Access::Command | Access::Batch => WRITE_ENDED_WITHIN,
    };
    if let Ok(answered) = time::timeout(patience, idle.as_mut()).await {
        return answered.is_ok();
    }
    let is_silent = access != Access::Read || {
        connection.session.cancel().await;
        time::timeout(ANSWERED_WITHIN, idle).await.is_err()
    };
    if is_silent && let Some(pool) = Object::pool(connection) {
        pool.manager().suspect(&connection.session);
    }
    // A late cancellation would cancel the next statement.
    false
}
