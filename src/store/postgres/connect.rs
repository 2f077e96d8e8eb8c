//! Connecting to whichever of the servers takes writes.

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

/// How long one server may take, from the first packet until it is known
/// whether it takes writes. One that hangs must leave time to ask the others.
const ANSWERED_WITHIN: Duration = Duration::from_secs(2);

/// How long a server may take to hear that a statement is to be cancelled.
const CANCELLED_WITHIN: Duration = Duration::from_secs(1);

/// Of the settings of a session. A statement that hangs ends, also when nobody
/// waits for it any more. Whoever turned `synchronous_commit` off for
/// everybody still wants animals that were acknowledged to be on disk.
const SETTINGS: &str = "SET statement_timeout = '5s';
    SET idle_in_transaction_session_timeout = '10s';
    SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') IN ('off', 'local')";

/// Why no server could be reached: one line for the operator.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub(super) struct Unreachable(String);

impl Unreachable {
    pub(super) fn new(reason: String) -> Self {
        Self(reason)
    }
}

impl From<&tokio_postgres::Error> for Unreachable {
    fn from(error: &tokio_postgres::Error) -> Self {
        Self(chain(error).replace('\n', " "))
    }
}

impl From<tokio_postgres::Error> for Unreachable {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::from(&error)
    }
}

/// Knows the servers of a cluster.
pub(super) struct Connector {
    servers: Vec<Config>,
    tls: Option<Tls>,
    /// The server that took writes when last asked, which is asked first. What
    /// another one answers may be out of date.
    primary: AtomicUsize,
}

/// A connection to the database, with its settings.
pub(super) struct Session {
    pub(super) client: Client,
    /// Its number among those that the [`Connector`] knows.
    server: usize,
    tls: Option<Tls>,
    /// Moves bytes between the client and the socket.
    driver: JoinHandle<()>,
}

impl Connector {
    pub(super) fn new(url: &PostgresUrl) -> Result<Self, TlsError> {
        let servers = url.servers().to_vec();
        Ok(Self { servers, tls: Tls::new(url)?, primary: AtomicUsize::new(0) })
    }

    /// Connects to the first server that takes writes.
    pub(super) async fn connect(&self) -> Result<Session, Unreachable> {
        let first = self.primary.load(Ordering::Relaxed);
        let mut reasons = Vec::new();
        for step in 0..self.servers.len() {
            let number = (first + step) % self.servers.len();
            let server = &self.servers[number];
            let reason = match time::timeout(ANSWERED_WITHIN, self.connect_to(number)).await {
                Ok(Ok(session)) => {
                    self.primary.store(number, Ordering::Relaxed);
                    return Ok(session);
                }
                Ok(Err(error)) => Unreachable::from(error).0,
                Err(_) => format!("no answer within {} seconds", ANSWERED_WITHIN.as_secs()),
            };
            reasons.push(format!("{}: {reason}", name(server)));
        }
        Err(Unreachable(reasons.join("; ")))
    }

    /// Whether this is a session with the server that took writes when one was
    /// last looked for.
    pub(super) fn is_with_primary(&self, session: &Session) -> bool {
        session.server == self.primary.load(Ordering::Relaxed)
    }

    /// Notes that the server of this session hangs: the next one is asked first
    /// from now on. A former primary that nobody has told so hangs in every
    /// write, waiting for standbys that have left it.
    pub(super) fn suspect(&self, session: &Session) {
        let next = (session.server + 1) % self.servers.len();
        let relaxed = Ordering::Relaxed;
        let _ = self.primary.compare_exchange(session.server, next, relaxed, relaxed);
    }

    async fn connect_to(&self, number: usize) -> Result<Session, tokio_postgres::Error> {
        let server = &self.servers[number];
        // PostgreSQL speaks no TLS over a socket in the file system.
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
    /// Asks the server, over a connection of its own, to end the statement
    /// that runs. Whether that did anything is not known.
    pub(super) async fn cancel(&self) {
        let token = self.client.cancel_token();
        let cancelled = async {
            match self.tls.clone() {
                Some(tls) => token.cancel_query(tls).await,
                None => token.cancel_query(NoTls).await,
            }
        };
        let _ = time::timeout(CANCELLED_WITHIN, cancelled).await;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // It would wait for the answer to what was asked last, perhaps for ever.
        self.driver.abort();
    }
}

/// The server as an operator knows it.
fn name(server: &Config) -> String {
    match server.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => String::new(),
    }
}
