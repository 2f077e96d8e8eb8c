//! Connects to the server that accepts writes.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use tokio::{task::JoinHandle, time};
use tokio_postgres::{
    Client, Config, NoTls,
    config::{Host, SslMode},
};

use super::{
    tls::{Tls, TlsError},
    url::PostgresUrl,
};
use crate::observe::log::chain;

/// How long one server may take, from the first packet until it is known whether it accepts writes.
/// A server that hangs must leave time for the others.
const SERVER_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a server may take to receive a cancellation.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

/// The settings of a session. A statement that hangs ends, even if its request was dropped.
/// Acknowledged animals must be on disk, even if the database's default turns `synchronous_commit`
/// off. Each statement has an index: without the setting, one that is planned while a table is small
/// would go on reading the whole table when it has grown. The cost that PostgreSQL then gives to a
/// table without an index would start its compiler. Each statement is planned once, because no plan
/// depends on its parameters; not every engine knows these settings.
const SETTINGS: &str = "SET statement_timeout = '5s';
    SET idle_in_transaction_session_timeout = '10s';
    SET enable_seqscan = off;
    SET jit = off;
    SELECT set_config(name, CASE name WHEN 'plan_cache_mode' THEN 'force_generic_plan' ELSE 'off' END,
            false)
        FROM pg_settings WHERE name IN ('plan_cache_mode', 'enable_hashjoin', 'enable_mergejoin');
    SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') IN ('off', 'local')";

/// Why no server could be reached, in one line for the operator.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub(super) struct Unreachable(String);

impl From<&tokio_postgres::Error> for Unreachable {
    fn from(error: &tokio_postgres::Error) -> Self {
        Self(chain(error).replace('\n', " "))
    }
}

/// Knows the servers of a cluster.
pub(super) struct Connector {
    servers: Vec<Config>,
    tls: Option<Tls>,
    /// The server that accepted writes last, which is tried first. Another server may still believe
    /// that it is the primary.
    primary: AtomicUsize,
}

/// A connection to the database, with its settings.
pub(super) struct Session {
    pub(super) client: Client,
    /// Its index in the [`Connector`]'s list.
    server: usize,
    tls: Option<Tls>,
    /// The task that moves bytes between the client and the socket.
    driver: JoinHandle<()>,
}

impl Connector {
    pub(super) fn new(url: &PostgresUrl) -> Result<Self, TlsError> {
        let servers = url.servers().to_vec();
        Ok(Self { servers, tls: Tls::new(url)?, primary: AtomicUsize::new(0) })
    }

    /// Connects to the first server that accepts writes.
    pub(super) async fn connect(&self) -> Result<Session, Unreachable> {
        let first = self.primary.load(Ordering::Relaxed);
        let mut reasons = Vec::new();
        for step in 0..self.servers.len() {
            let number = (first + step) % self.servers.len();
            let server = &self.servers[number];
            let reason = match time::timeout(SERVER_TIMEOUT, self.connect_to(number)).await {
                Ok(Ok(session)) => {
                    self.primary.store(number, Ordering::Relaxed);
                    return Ok(session);
                }
                Ok(Err(error)) => Unreachable::from(&error).0,
                Err(_) => format!("no response within {} seconds", SERVER_TIMEOUT.as_secs()),
            };
            reasons.push(format!("{}: {reason}", name(server)));
        }
        Err(Unreachable(reasons.join("; ")))
    }

    /// Whether this is a session with the current primary, as far as known.
    pub(super) fn is_with_primary(&self, session: &Session) -> bool {
        session.server == self.primary.load(Ordering::Relaxed)
    }

    /// Marks the server of this session as hanging, so that the next server is tried first. A
    /// former primary that was not told about a failover hangs in every write, waiting for its
    /// standbys.
    pub(super) fn suspect(&self, session: &Session) {
        let next = (session.server + 1) % self.servers.len();
        let relaxed = Ordering::Relaxed;
        let _ = self.primary.compare_exchange(session.server, next, relaxed, relaxed);
    }

    async fn connect_to(&self, number: usize) -> Result<Session, tokio_postgres::Error> {
        let server = &self.servers[number];
        // PostgreSQL does not use TLS over Unix sockets.
        let is_local = matches!(server.get_hosts().first(), Some(Host::Unix(_)));
        let tls = self.tls.as_ref().filter(|_| !is_local).cloned();
        let (client, driver) = match tls.clone() {
            Some(tls) => {
                let (client, connection) = server.connect(tls).await?;
                (client, tokio::spawn(async { drop(connection.await) }))
            }
            None if is_local => {
                let mut server = server.clone();
                let (client, connection) = server.ssl_mode(SslMode::Disable).connect(NoTls).await?;
                (client, tokio::spawn(async { drop(connection.await) }))
            }
            None => {
                let (client, connection) = server.connect(NoTls).await?;
                (client, tokio::spawn(async { drop(connection.await) }))
            }
        };
        let session = Session { client, server: number, tls, driver };
        session.client.batch_execute(SETTINGS).await?;
        Ok(session)
    }
}

impl Session {
    /// Asks the server, over a separate connection, to cancel the running statement. Whether it did
    /// is unknown.
    pub(super) async fn cancel(&self) {
        let token = self.client.cancel_token();
        let cancelled = async {
            match self.tls.clone() {
                Some(tls) => token.cancel_query(tls).await,
                None => token.cancel_query(NoTls).await,
            }
        };
        let _ = time::timeout(CANCEL_TIMEOUT, cancelled).await;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Otherwise it would wait for the last response, perhaps forever.
        self.driver.abort();
    }
}

fn name(server: &Config) -> String {
    match server.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => String::new(),
    }
}
