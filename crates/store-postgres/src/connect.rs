//! Connects to the server that accepts writes.

use std::{
    error::Error,
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use petstore_observe::log::chain;
use petstore_store::OpenError;
use tokio::{task::JoinHandle, time};
use tokio_postgres::{
    Client, Config, NoTls,
    config::{Host, SslMode},
    error::SqlState,
};
use tokio_rustls::rustls;

use super::{
    tls::{Tls, TlsError},
    url::PostgresUrl,
};

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

/// The failure to reach any server, in one line for the operator.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{text}")]
pub(super) struct Unreachable {
    text: String,
    /// Whether every server fails until an operator changes something.
    is_permanent: bool,
}

impl From<&tokio_postgres::Error> for Unreachable {
    fn from(error: &tokio_postgres::Error) -> Self {
        let advice = advice(error);
        let text = chain(error).replace('\n', " ");
        Self {
            text: advice.map_or_else(|| text.clone(), |advice| format!("{text}; {advice}")),
            is_permanent: advice.is_some() && error.code().is_some(),
        }
    }
}

impl Unreachable {
    /// Returns the error of a command that could not open the database at `url`.
    pub(super) fn opening(self, url: &str) -> OpenError {
        let path = url.to_owned();
        if self.is_permanent {
            return OpenError::BadSetting {
                path,
                what: self.text,
            };
        }
        OpenError::Io {
            path,
            cause: Arc::new(self),
        }
    }
}

/// Returns what an operator can do about an error; `None` if it may pass by itself.
fn advice(error: &tokio_postgres::Error) -> Option<&'static str> {
    match error.code() {
        Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
            Some("correct the user and the password in the URL, or pg_hba.conf of the server")
        }
        Some(&SqlState::INVALID_CATALOG_NAME) => {
            Some("correct the name in the URL, or create the database with createdb")
        }
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => Some(
            "GRANT the role what it needs, or run the command as the owner of the database (docs/postgres.md)",
        ),
        Some(_) => None,
        None => is_about_certificate(error).then_some(
            "name the file with the authority of the server's certificate with sslrootcert; a certificate \
             that signed itself works only with sslmode=require",
        ),
    }
}

/// Whether the certificate of the server was refused.
fn is_about_certificate(error: &tokio_postgres::Error) -> bool {
    let cause = error
        .source()
        .and_then(<dyn Error>::downcast_ref::<io::Error>);
    let cause = cause.and_then(|cause| cause.get_ref()?.downcast_ref::<rustls::Error>());
    matches!(cause, Some(rustls::Error::InvalidCertificate(_)))
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
        Ok(Self {
            servers,
            tls: Tls::new(url)?,
            primary: AtomicUsize::new(0),
        })
    }

    /// Connects to the first server that accepts writes.
    pub(super) async fn connect(&self) -> Result<Session, Unreachable> {
        let first = self.primary.load(Ordering::Relaxed);
        let mut reasons = Vec::new();
        let mut is_permanent = true;
        for step in 0..self.servers.len() {
            let number = (first + step) % self.servers.len();
            let server = &self.servers[number];
            let reason = match time::timeout(SERVER_TIMEOUT, self.connect_to(number)).await {
                Ok(Ok(session)) => {
                    self.primary.store(number, Ordering::Relaxed);
                    return Ok(session);
                }
                Ok(Err(error)) => {
                    let failure = Unreachable::from(&error);
                    is_permanent &= failure.is_permanent;
                    failure.text
                }
                Err(_) => {
                    is_permanent = false;
                    format!("no response within {} seconds", SERVER_TIMEOUT.as_secs())
                }
            };
            reasons.push(format!("{}: {reason}", name(server)));
        }
        Err(Unreachable {
            text: reasons.join("; "),
            is_permanent,
        })
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
        let _ = self
            .primary
            .compare_exchange(session.server, next, relaxed, relaxed);
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
        let session = Session {
            client,
            server: number,
            tls,
            driver,
        };
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
