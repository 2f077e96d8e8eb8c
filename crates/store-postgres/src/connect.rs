//! Connects to the primary: the server of the cluster that accepts writes.

use std::{
    error::Error,
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use petstore_observe::log::error_chain;
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

/// The time limit for connecting to one server, including the check whether it accepts writes. A server
/// that hangs must leave time to try the next ones.
const SERVER_TIMEOUT: Duration = Duration::from_secs(2);

/// The time limit for sending a cancellation to a server.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

/// The settings of each session.
///
/// - The timeouts end a statement that hangs, even if its request was dropped.
/// - `synchronous_commit`: acknowledged animals must be on disk, even if the database turns this setting
///   off by default.
/// - `enable_seqscan`: every statement has an index to use. Otherwise, a plan that was made while a table
///   was small would keep scanning the whole table after it has grown.
/// - `jit`: with `enable_seqscan` off, PostgreSQL adds a penalty to the cost of an unavoidable sequential
///   scan, and this high cost would trigger its JIT compiler.
/// - `plan_cache_mode`: each statement is planned only once, because no plan depends on its parameters.
///   This setting and the two for joins are set only if they exist, because not every compatible engine
///   has them.
const SETTINGS: &str = "SET statement_timeout = '5s';
    SET idle_in_transaction_session_timeout = '10s';
    SET enable_seqscan = off;
    SET jit = off;
    SELECT set_config(name, CASE name WHEN 'plan_cache_mode' THEN 'force_generic_plan' ELSE 'off' END,
            false)
        FROM pg_settings WHERE name IN ('plan_cache_mode', 'enable_hashjoin', 'enable_mergejoin');
    SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') IN ('off', 'local')";

/// The reason why the database cannot be reached or opened, in one line for the operator.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{reason}")]
pub(super) struct Unreachable {
    reason: String,
    /// Whether retrying is pointless until an operator changes something, such as a wrong password.
    is_permanent: bool,
}

/// The servers of a cluster. Opens sessions with the primary.
pub(super) struct Connector {
    servers: Vec<Config>,
    /// The TLS configuration; `None` if the URL disables TLS.
    tls: Option<Tls>,
    /// The index of the server that is considered the primary, and tried first. It usually is the
    /// last server that accepted writes. If the servers were tried in the order of the URL, a
    /// session could be with a former primary that still believes that it is the primary.
    primary: AtomicUsize,
}

/// A connection to one server of the cluster, with [`SETTINGS`] applied.
pub(super) struct Session {
    pub(super) client: Client,
    /// The index of the server in [`Connector::servers`].
    server_index: usize,
    /// The TLS configuration with which the session was opened; `None` without TLS.
    tls: Option<Tls>,
    /// The task that drives the I/O between the client and the socket.
    driver: JoinHandle<()>,
}

impl From<&tokio_postgres::Error> for Unreachable {
    fn from(error: &tokio_postgres::Error) -> Self {
        let operator_advice = advice_for(error);
        // Only an error that the server reports has a code. Any other error, such as one of TLS,
        // may be temporary even if there is advice about it.
        let is_from_server = error.code().is_some();
        let mut reason = error_chain(error).replace('\n', " ");
        if let Some(operator_advice) = operator_advice {
            reason = format!("{reason}; {operator_advice}");
        }
        Self {
            reason,
            is_permanent: operator_advice.is_some() && is_from_server,
        }
    }
}

impl Unreachable {
    /// Converts the reason into the error for a command that could not open the database at `url`.
    pub(super) fn into_open_error(self, url: &str) -> OpenError {
        let path = url.to_owned();
        if self.is_permanent {
            return OpenError::BadSetting {
                path,
                what: self.reason,
            };
        }
        OpenError::Io {
            path,
            cause: Arc::new(self),
        }
    }
}

/// Returns what an operator can do about an error. Returns `None` if no remedy is known, as for
/// most errors that may be temporary.
fn advice_for(error: &tokio_postgres::Error) -> Option<&'static str> {
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
        None if is_certificate_error(error) => Some(
            "name the file with the authority of the server's certificate with sslrootcert; a certificate \
             that signed itself works only with sslmode=require",
        ),
        Some(_) | None => None,
    }
}

/// Whether the connection failed because the certificate of the server is not trusted.
fn is_certificate_error(error: &tokio_postgres::Error) -> bool {
    let Some(source) = error.source() else {
        return false;
    };
    let Some(io_error) = source.downcast_ref::<io::Error>() else {
        return false;
    };
    let tls_error = io_error
        .get_ref()
        .and_then(|cause| cause.downcast_ref::<rustls::Error>());
    matches!(tls_error, Some(rustls::Error::InvalidCertificate(_)))
}

impl Connector {
    /// Creates a connector for the servers of this URL, without connecting to them.
    pub(super) fn new(url: &PostgresUrl) -> Result<Self, TlsError> {
        Ok(Self {
            servers: url.servers().to_vec(),
            tls: Tls::new(url)?,
            primary: AtomicUsize::new(0),
        })
    }

    /// Connects to the first server that accepts writes. Tries the servers in turn, beginning with the
    /// last known primary.
    ///
    /// If no server accepts writes, the error has the reason for each server, and is permanent only if
    /// all reasons are.
    pub(super) async fn connect(&self) -> Result<Session, Unreachable> {
        let first_index = self.primary.load(Ordering::Relaxed);
        let mut reasons = Vec::new();
        let mut is_permanent = true;
        for offset in 0..self.servers.len() {
            let index = (first_index + offset) % self.servers.len();
            let failure = match self.connect_in_time(index).await {
                Ok(session) => {
                    self.primary.store(index, Ordering::Relaxed);
                    return Ok(session);
                }
                Err(failure) => failure,
            };
            is_permanent &= failure.is_permanent;
            let name = server_name(&self.servers[index]);
            reasons.push(format!("{name}: {}", failure.reason));
        }
        Err(Unreachable {
            reason: reasons.join("; "),
            is_permanent,
        })
    }

    /// Connects to the server with this index. Fails after [`SERVER_TIMEOUT`].
    async fn connect_in_time(&self, index: usize) -> Result<Session, Unreachable> {
        match time::timeout(SERVER_TIMEOUT, self.connect_to(index)).await {
            Ok(result) => result.map_err(|error| Unreachable::from(&error)),
            Err(_) => Err(Unreachable {
                reason: format!("no response within {} seconds", SERVER_TIMEOUT.as_secs()),
                is_permanent: false,
            }),
        }
    }

    /// Connects to the server with this index, and applies [`SETTINGS`].
    async fn connect_to(&self, index: usize) -> Result<Session, tokio_postgres::Error> {
        let mut server = self.servers[index].clone();
        // PostgreSQL does not support TLS over Unix sockets.
        let is_local = matches!(server.get_hosts().first(), Some(Host::Unix(_)));
        let tls = if is_local {
            server.ssl_mode(SslMode::Disable);
            None
        } else {
            self.tls.clone()
        };
        // The task drops the errors of the connection, because the client reports them, too.
        let (client, driver) = if let Some(tls) = tls.clone() {
            let (client, connection) = server.connect(tls).await?;
            (client, tokio::spawn(async { drop(connection.await) }))
        } else {
            let (client, connection) = server.connect(NoTls).await?;
            (client, tokio::spawn(async { drop(connection.await) }))
        };
        let session = Session {
            client,
            server_index: index,
            tls,
            driver,
        };
        session.client.batch_execute(SETTINGS).await?;
        Ok(session)
    }

    /// Whether this is a session with the server that is currently considered the primary.
    pub(super) fn is_with_primary(&self, session: &Session) -> bool {
        session.server_index == self.primary.load(Ordering::Relaxed)
    }

    /// Marks the server of this session as unresponsive, so that the next server is tried first.
    /// For example, a former primary that missed a failover hangs in every write, because it waits
    /// for its standbys.
    pub(super) fn mark_unresponsive(&self, session: &Session) {
        let next_index = (session.server_index + 1) % self.servers.len();
        // If the exchange fails, another server is considered the primary already.
        let _ = self.primary.compare_exchange(
            session.server_index,
            next_index,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
    }
}

impl Session {
    /// Asks the server, over a separate connection, to cancel the running statement. Ignores
    /// failures, because even a success does not tell whether the statement was cancelled.
    pub(super) async fn cancel(&self) {
        let token = self.client.cancel_token();
        let _ = match self.tls.clone() {
            Some(tls) => time::timeout(CANCEL_TIMEOUT, token.cancel_query(tls)).await,
            None => time::timeout(CANCEL_TIMEOUT, token.cancel_query(NoTls)).await,
        };
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Otherwise, the task would wait for the last response, perhaps forever.
        self.driver.abort();
    }
}

/// Returns the host of a server, for messages.
fn server_name(server: &Config) -> String {
    match server.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => String::new(),
    }
}
