//! The connection pool: a limited number of connections, each leased to one operation at a time. A
//! connection returns to the pool only when no statement is running on it.

use std::{num::NonZeroU32, pin::pin, sync::Arc, time::Duration};

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
use tokio_postgres::{Client, Error};

use super::{
    connect::{Connector, Unreachable},
    connection::Connection,
};

/// The time limit for leasing a connection while all are in use.
pub(super) const WAIT_LIMIT: Duration = Duration::from_secs(1);

/// The maximum age of a connection. The pool replaces older ones, so that it notices when the cluster moves
/// to another server or address.
const MAX_AGE: Duration = Duration::from_mins(30);

/// How long a connection may be idle before the pool tests it on reuse. A firewall or load balancer may
/// have dropped an idle connection.
const MAX_IDLE_TIME: Duration = Duration::from_secs(30);

/// The time limit for the response to the test of an idle connection, and to a read that was cancelled.
const RESPONSE_LIMIT: Duration = Duration::from_secs(1);

/// How long an abandoned read may continue before it is cancelled. A statement is abandoned if its
/// operation is dropped, for example at a timeout.
const ABANDONED_READ_LIMIT: Duration = Duration::from_millis(100);

/// How long an abandoned write may continue before its connection leaves the pool, so that a new one can
/// take its place.
const ABANDONED_WRITE_LIMIT: Duration = Duration::from_secs(5);

/// One attempt of an operation.
pub(super) type Attempt<'t, T> = BoxFuture<'t, Result<T, Failure>>;

/// The kind of an operation. Some kinds may use only a share of the connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    /// A write that may wait for another transaction's lock on its animal. All such writes together
    /// use at most three quarters of the connections, so that a quarter is always left for other
    /// operations.
    Command,
    /// A request with many commands, which is much work for the server. All such requests together use at
    /// most an eighth of the connections, but at least one.
    Batch,
}

/// The connection pool of a store.
pub(super) struct Pool {
    connections: managed::Pool<Connector>,
    /// The permits for [`Access::Command`].
    commands: Arc<Semaphore>,
    /// The permits for [`Access::Batch`].
    batches: Arc<Semaphore>,
    /// The permits for connections that left the pool while their write was still running. Such
    /// connections stay open on the server, so their number is limited to the size of the pool.
    abandoned_writes: Arc<Semaphore>,
    /// The number of operations rejected because no connection became free in time.
    timeouts: Counter,
}

impl Pool {
    /// Creates a pool of at most `max_connections` connections, which are opened on demand.
    pub(super) fn new(
        connector: Connector,
        max_connections: NonZeroU32,
    ) -> Result<Self, BuildError> {
        let size = max_connections.get() as usize;
        let connections = managed::Pool::builder(connector)
            .max_size(size)
            // Reuse the most recently used connection first, so that surplus ones stay idle.
            .queue_mode(managed::QueueMode::Lifo)
            .wait_timeout(Some(WAIT_LIMIT))
            .recycle_timeout(Some(RESPONSE_LIMIT))
            .runtime(Runtime::Tokio1)
            .build()?;
        Ok(Self {
            connections,
            commands: Arc::new(Semaphore::new(size - size / 4)),
            batches: Arc::new(Semaphore::new((size / 8).max(1))),
            abandoned_writes: Arc::new(Semaphore::new(size)),
            timeouts: Counter::default(),
        })
    }

    /// Leases a connection. If this kind of operation has a limited share of the pool, first waits for a
    /// permit, and then for a free connection. Each of the two waits fails after [`WAIT_LIMIT`].
    pub(super) async fn lease(&self, access: Access) -> Result<Lease, StoreError> {
        let permit = match access {
            Access::Read | Access::Write => None,
            Access::Command => Some(self.acquire_permit(&self.commands).await?),
            Access::Batch => Some(self.acquire_permit(&self.batches).await?),
        };
        match self.connections.get().await {
            Ok(connection) => Ok(Lease {
                access,
                abandoned_writes: Arc::clone(&self.abandoned_writes),
                connection: Some(LeasedConnection { connection, permit }),
            }),
            Err(PoolError::Timeout(TimeoutType::Wait)) => Err(self.count_overload()),
            Err(error) => Err(StoreError::Unavailable(Arc::new(error))),
        }
    }

    /// Waits for a permit of a limited share. Fails after [`WAIT_LIMIT`].
    async fn acquire_permit(
        &self,
        share: &Arc<Semaphore>,
    ) -> Result<OwnedSemaphorePermit, StoreError> {
        match time::timeout(WAIT_LIMIT, Arc::clone(share).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            // The semaphores are never closed, so this is a timeout.
            Ok(Err(_)) | Err(_) => Err(self.count_overload()),
        }
    }

    /// Counts an operation that got no connection in time, and returns its error.
    pub(super) fn count_overload(&self) -> StoreError {
        self.timeouts.count();
        StoreError::Overloaded
    }

    /// Closes the idle connections. The caller does this after a connection has failed because of
    /// its server: the idle ones probably lead to the same server, and would fail as well.
    pub(super) fn close_idle_connections(&self) {
        let _closed_connections = self.connections.retain(|_, _| false);
    }

    /// Writes the metrics of the pool.
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
        let help = "How many there may be.";
        exposition.number("db_client_connection_max", help, max_size);
        let help = "Operations that wait for a connection.";
        exposition.number("db_client_connection_pending_requests", help, waiting);
        let help = "Operations rejected with 503 because no connection became free.";
        exposition.counter("db_client_connection_timeouts_total", help, &self.timeouts);
    }
}

impl managed::Manager for Connector {
    type Type = Connection;
    type Error = Unreachable;

    /// Opens a connection to the primary.
    async fn create(&self) -> Result<Connection, Unreachable> {
        Ok(Connection::new(self.connect().await?))
    }

    /// Checks whether the pool may lease this connection again. If not, the pool closes the connection.
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
        // This check waits for the server. A connection in frequent use does without it, because
        // its operations notice a failure.
        if metrics.last_used() > MAX_IDLE_TIME {
            connection
                .check_connection()
                .await
                .map_err(|error| Unreachable::from(&error))?;
        }
        Ok(())
    }
}

/// A connection leased to one operation. If the operation is dropped midway, the connection returns to
/// the pool once the server has responded.
pub(super) struct Lease {
    access: Access,
    /// The permits of [`Pool::abandoned_writes`].
    abandoned_writes: Arc<Semaphore>,
    /// The connection; `None` once [`Self::run`] has finished with it.
    connection: Option<LeasedConnection>,
}

/// A leased connection, with the permit for its operation's share of the pool, if that is limited.
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
    pub(super) async fn run<I, T>(
        mut self,
        work: &impl for<'t> Fn(&'t mut Connection, &'t mut I) -> Attempt<'t, T>,
        input: &mut I,
    ) -> Result<T, Failure> {
        // The connection is never missing here: only this method and `drop` take it out, and this
        // method consumes the lease.
        let Some(leased_connection) = &mut self.connection else {
            return Err(Failure::Raced);
        };
        let result = work(&mut leased_connection.connection, input).await;

        // The server has responded, so `drop` has nothing to wait for. It does nothing without the
        // connection.
        let leased_connection = self.connection.take();
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
    /// Reclaims the connection in a task of its own if the operation was dropped midway.
    fn drop(&mut self) {
        let Some(leased_connection) = self.connection.take() else {
            return;
        };
        match Handle::try_current() {
            // The number of such tasks is bounded: each one holds the slot of its connection in the
            // pool, or a permit.
            Ok(runtime) => {
                let abandoned_writes = Arc::clone(&self.abandoned_writes);
                let _task = runtime.spawn(reclaim_connection(
                    leased_connection,
                    self.access,
                    abandoned_writes,
                ));
            }
            // Without a runtime, there is no task that could wait for the response.
            Err(_) => leased_connection.close(),
        }
    }
}

/// Reclaims the connection of a dropped operation: waits for the response to its statement, then returns
/// the connection to the pool. If the response takes too long, the connection leaves the pool, so that
/// a new connection can take its place.
///
/// A read is cancelled, but a write never is: PostgreSQL would stop the wait of the write for a
/// synchronous standby, and make an animal visible that a failover can lose.
///
/// Without a reachable standby, each abandoned write would leave one more connection open on the server.
/// So when the permits of [`Pool::abandoned_writes`] run out, the connection keeps its slot in the pool
/// until the server responds.
async fn reclaim_connection(
    leased_connection: LeasedConnection,
    access: Access,
    abandoned_writes: Arc<Semaphore>,
) {
    let is_reusable = drain_responses(&leased_connection.connection, access).await;
    if is_reusable {
        return;
    }
    if access == Access::Read {
        leased_connection.close();
        return;
    }
    // It only matters when the response ends, and not whether it is an error.
    match abandoned_writes.try_acquire() {
        Ok(_permit) => {
            let connection = Object::take(leased_connection.connection);
            let _ = wait_for_responses(&connection).await;
        }
        Err(_) => {
            let _ = wait_for_responses(&leased_connection.connection).await;
        }
    }
}

/// Waits until the server has responded to everything that a dropped operation has sent, or until
/// the limit for this kind of operation is over. Returns whether the connection can be reused.
///
/// A read that exceeds its limit is cancelled. The server is marked as unresponsive if a write
/// exceeds its limit, or if the server does not respond to the cancellation of a read. New
/// connections then try this server last.
async fn drain_responses(connection: &Object<Connector>, access: Access) -> bool {
    let mut last_response = pin!(wait_for_responses(connection));
    let limit = match access {
        Access::Read => ABANDONED_READ_LIMIT,
        Access::Write | Access::Command | Access::Batch => ABANDONED_WRITE_LIMIT,
    };
    if let Ok(result) = time::timeout(limit, last_response.as_mut()).await {
        return result.is_ok();
    }

    let is_unresponsive = if access == Access::Read {
        connection.session.cancel().await;
        time::timeout(RESPONSE_LIMIT, last_response).await.is_err()
    } else {
        true
    };
    if is_unresponsive && let Some(pool) = Object::pool(connection) {
        pool.manager().mark_unresponsive(&connection.session);
    }
    // A write may still run, and a late cancellation of a read would cancel the next statement.
    false
}

/// Waits until the server has responded to everything that was sent over a connection. For this,
/// sends an empty query: responses arrive in order, so its response follows those to all earlier
/// statements, including the ROLLBACK of a dropped transaction.
async fn wait_for_responses(client: &Client) -> Result<(), Error> {
    client.simple_query("").await?;
    Ok(())
}
