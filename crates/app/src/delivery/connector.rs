//! One attempt to deliver a message: resolve the name once, judge every address, and connect to an
//! address that was judged.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use hyper::{
    Method, Request, header,
    http::{request, response},
};
use jiff::fmt::rfc2822::DateTimeParser;
use parking_lot::Mutex;
use petstore_domain::{Clock, Networks};
use petstore_system::{
    addresses::{Lookups, Resolve, judge},
    http_client::{Connection, RequestError},
    tls::{self, CertificateCheck},
};
use tokio::time;
use tokio_rustls::{
    TlsConnector,
    rustls::{self, RootCertStore},
};
use url::{Position, Url};

use super::EndpointUrl;

/// The longest time for an attempt, from the name to the response.
pub const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(15);

/// A reason for an attempt without a response.
#[derive(Debug, thiserror::Error)]
pub enum AttemptError {
    /// The URL is not permitted any more, or an address of its name is not.
    #[error("{0}")]
    Forbidden(String),
    #[error("cannot resolve the name")]
    Name(#[source] io::Error),
    #[error("cannot connect")]
    Connect(#[source] io::Error),
    #[error("TLS failed")]
    Tls(#[source] io::Error),
    #[error("no response in time")]
    Timeout,
    #[error("no valid response")]
    Response(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl AttemptError {
    /// Returns the class of the error, as the interface shows it.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Forbidden(_) => "address",
            Self::Name(_) => "dns",
            Self::Connect(_) => "connect",
            Self::Tls(_) => "tls",
            Self::Timeout => "timeout",
            Self::Response(_) => "protocol",
        }
    }
}

impl From<RequestError> for AttemptError {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::TooSlow(_) => Self::Timeout,
            RequestError::Connect(cause) => Self::Connect(cause),
            RequestError::Tls(cause) => Self::Tls(cause),
            RequestError::Name(cause) => Self::Tls(io::Error::other(cause)),
            other => Self::Response(Box::new(other)),
        }
    }
}

/// A response to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndpointResponse {
    pub status: u16,
    /// The seconds that the endpoint asks to wait (`Retry-After`).
    pub retry_after: Option<u64>,
}

/// The number of connections to a server that are kept for the next messages.
const MAX_IDLE_CONNECTIONS: usize = 4;

/// The time for which a connection is kept without a message.
const MAX_IDLE_TIME: Duration = Duration::from_secs(4);

/// The age at which a connection is closed. A change of the name's addresses is unnoticed until then.
const MAX_CONNECTION_AGE: Duration = Duration::from_mins(1);

/// A connection that waits for the next message. Its address was judged when it was opened.
struct IdleConnection {
    connection: Connection,
    opened_at: Instant,
    used_at: Instant,
}

impl IdleConnection {
    /// Whether the connection may carry another message.
    fn is_fresh(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.used_at) < MAX_IDLE_TIME
            && now.saturating_duration_since(self.opened_at) < MAX_CONNECTION_AGE
    }
}

/// The fields of a signed message, by Standard Webhooks.
#[derive(Debug, Clone)]
pub struct SignedFields {
    pub id: String,
    /// The time in seconds since 1970.
    pub timestamp: String,
    pub signature: String,
}

/// Delivers messages.
pub struct Connector {
    /// The private networks that messages may reach.
    allowed: Networks,
    lookups: Lookups,
    /// The TLS client; `None` if the system has no trusted certificates.
    tls: Option<TlsConnector>,
    timeout: Duration,
    clock: Arc<dyn Clock>,
    /// The connections that wait, by scheme, host and port.
    idle_connections: Mutex<HashMap<String, Vec<IdleConnection>>>,
}

impl Connector {
    /// Returns a connector that trusts these roots, and reaches only what is permitted. An attempt
    /// may take as long as `timeout`, usually [`ATTEMPT_TIMEOUT`]. Fails only if the build supports no
    /// suitable protocol version.
    pub fn new(
        allowed: Networks,
        resolver: Box<dyn Resolve>,
        roots: Option<RootCertStore>,
        timeout: Duration,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, rustls::Error> {
        let tls = match roots {
            Some(roots) => Some(tls::connector(CertificateCheck::ChainAndName(roots))?),
            None => None,
        };
        Ok(Self {
            allowed,
            lookups: Lookups::new(resolver),
            tls,
            timeout,
            clock,
            idle_connections: Mutex::default(),
        })
    }

    /// Sends `body` to `url` with these header fields. Does not follow redirects, uses no proxy, and
    /// keeps nothing of the response but its head.
    pub async fn deliver(
        &self,
        url: &str,
        fields: &SignedFields,
        body: Bytes,
    ) -> Result<EndpointResponse, AttemptError> {
        // The URL is judged at each attempt, because the operator may have changed what is permitted.
        let url = EndpointUrl::parse(url, &self.allowed).map_err(AttemptError::Forbidden)?;
        let response = self.attempt(url.get(), fields, body);
        match time::timeout(self.timeout, response).await {
            Ok(result) => result,
            Err(_) => Err(AttemptError::Timeout),
        }
    }

    /// Closes the connections that are kept for too long. To be called again and again.
    pub fn close_old(&self) {
        let now = self.clock.instant();
        self.idle_connections.lock().retain(|_, connections| {
            connections.retain(|connection| connection.is_fresh(now));
            !connections.is_empty()
        });
    }

    /// Sends a message over a kept connection or a new one.
    async fn attempt(
        &self,
        url: &Url,
        fields: &SignedFields,
        body: Bytes,
    ) -> Result<EndpointResponse, AttemptError> {
        if let Some(mut idle) = self.take_connection(url) {
            let result = idle
                .connection
                .send(url, signed_request(fields), body.clone())
                .await;
            // If the server closed the connection at the same time, the message goes over a new one.
            let was_closed = matches!(&result, Err(RequestError::Http(error)) if !error.is_parse());
            if !was_closed {
                return self.finish(url, idle, result);
            }
        }

        let mut idle = self.open_connection(url).await?;
        let result = idle
            .connection
            .send(url, signed_request(fields), body)
            .await;
        self.finish(url, idle, result)
    }

    /// Opens a connection to an address of the host that was judged.
    async fn open_connection(&self, url: &Url) -> Result<IdleConnection, AttemptError> {
        let addresses = self.resolve_permitted(url).await?;
        let mut tls = None;
        if url.scheme() == "https" {
            tls = self.tls.as_ref();
            if tls.is_none() {
                let error = io::Error::other("the system has no trusted certificates");
                return Err(AttemptError::Tls(error));
            }
        }
        let now = self.clock.instant();
        let connection = Connection::open(url, tls, &addresses[..]).await?;
        Ok(IdleConnection {
            connection,
            opened_at: now,
            used_at: now,
        })
    }

    /// Returns the response of an attempt, and keeps its connection. A connection that failed is closed.
    fn finish(
        &self,
        url: &Url,
        idle: IdleConnection,
        result: Result<response::Parts, RequestError>,
    ) -> Result<EndpointResponse, AttemptError> {
        let head = result?;
        self.keep_connection(url, idle);

        let retry_after = head.headers.get(header::RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| value.to_str().ok());
        Ok(EndpointResponse {
            status: head.status.as_u16(),
            retry_after: retry_after.and_then(|value| self.parse_retry_after(value.trim())),
        })
    }

    /// Takes the connection to this server that was used last, if one can still be used.
    fn take_connection(&self, url: &Url) -> Option<IdleConnection> {
        let now = self.clock.instant();
        let mut idle_connections = self.idle_connections.lock();
        let server_connections = idle_connections.get_mut(&url[..Position::BeforePath])?;
        while let Some(mut idle) = server_connections.pop() {
            if idle.is_fresh(now) && idle.connection.is_idle() {
                return Some(idle);
            }
        }
        None
    }

    /// Keeps a connection for the next message, unless there are enough.
    fn keep_connection(&self, url: &Url, mut idle: IdleConnection) {
        idle.used_at = self.clock.instant();
        let mut idle_connections = self.idle_connections.lock();
        let server_connections = idle_connections
            .entry(url[..Position::BeforePath].to_owned())
            .or_default();
        if server_connections.len() < MAX_IDLE_CONNECTIONS && idle.connection.is_idle() {
            server_connections.push(idle);
        }
    }

    /// Returns the seconds in a `Retry-After` (RFC 9110, section 10.2.3): a number such as `120`, or the time until
    /// a date such as `Sat, 28 Nov 2026 12:00:00 GMT`.
    fn parse_retry_after(&self, text: &str) -> Option<u64> {
        if let Ok(seconds) = text.parse() {
            return Some(seconds);
        }
        let date = DateTimeParser::new().parse_timestamp(text).ok()?;
        let seconds = date.duration_since(self.clock.now()).as_secs();
        Some(seconds.try_into().unwrap_or(0))
    }

    /// Returns the addresses of the URL's host, all permitted.
    async fn resolve_permitted(&self, url: &Url) -> Result<Vec<SocketAddr>, AttemptError> {
        let addresses = self
            .lookups
            .addresses(url)
            .await
            .map_err(AttemptError::Name)?;
        for address in &addresses {
            let ip = address.ip();
            if let Some(kind) = judge(ip, &self.allowed) {
                let message = format!("the name leads to {ip} ({kind})");
                return Err(AttemptError::Forbidden(message));
            }
            if url.scheme() == "http" && !self.allowed.contain(ip) {
                let message = format!("plain HTTP to {ip} is not permitted");
                return Err(AttemptError::Forbidden(message));
            }
        }
        Ok(addresses)
    }
}

/// Returns the start of the request with a message.
fn signed_request(fields: &SignedFields) -> request::Builder {
    Request::builder()
        .method(Method::POST)
        .header(header::CONTENT_TYPE, "application/json")
        .header(
            header::USER_AGENT,
            concat!("petstore/", env!("CARGO_PKG_VERSION")),
        )
        .header("webhook-id", &fields.id)
        .header("webhook-timestamp", &fields.timestamp)
        .header("webhook-signature", &fields.signature)
}
