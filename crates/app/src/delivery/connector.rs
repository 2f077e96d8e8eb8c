//! The HTTP client that delivers messages.
//!
//! Endpoint URLs come from users, so this client must not let them reach internal services (SSRF).
//! For each connection, it resolves the host name once, checks every address, and connects only to
//! the addresses that it has checked.

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use hyper::{
    Method, Request,
    header::{self, HeaderValue},
    http::{request, response},
};
use jiff::fmt::rfc2822::DateTimeParser;
use parking_lot::Mutex;
use petstore_domain::{Clock, Networks};
use petstore_system::{
    addresses::{Resolve, SharedResolver, forbidden_reason},
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

/// The usual time limit of an attempt, from resolving the name to receiving the response.
pub const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(15);

/// The maximum number of idle connections to keep per server.
const MAX_IDLE_CONNECTIONS: usize = 4;

/// How long an idle connection is kept.
const MAX_IDLE_TIME: Duration = Duration::from_secs(4);

/// The age at which a connection is no longer reused. A change of the DNS records takes effect
/// within this time.
const MAX_CONNECTION_AGE: Duration = Duration::from_mins(1);

/// A reason why an attempt has no response.
#[expect(missing_docs, reason = "the messages describe the variants")]
#[derive(Debug, thiserror::Error)]
pub enum AttemptError {
    /// The URL is not permitted, or its host name resolves to an address that is not. The operator
    /// may have permitted it when the webhook was added.
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
    /// Returns the class of the error, which the API and the metrics show.
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
            // The host name cannot be used for TLS.
            RequestError::Name(cause) => Self::Tls(io::Error::other(cause)),
            other => Self::Response(Box::new(other)),
        }
    }
}

/// The header fields of a signed message, as Standard Webhooks defines them.
#[derive(Debug, Clone)]
pub struct SignedFields {
    /// The id of the message (`webhook-id`).
    pub id: String,
    /// The Unix time of the attempt in seconds (`webhook-timestamp`).
    pub timestamp: String,
    /// The signatures of the message (`webhook-signature`).
    pub signature: String,
}

/// The response of an endpoint to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndpointResponse {
    /// The status code.
    pub status: u16,
    /// The delay that the endpoint asks for with `Retry-After`, in seconds.
    pub retry_after: Option<u64>,
}

/// A connection that carries one message after another. Its address was checked when it was opened.
struct ReusableConnection {
    connection: Connection,
    opened_at: Instant,
    /// When the last message was sent over the connection, or when it was opened.
    used_at: Instant,
}

impl ReusableConnection {
    /// Whether the connection is young enough to carry another message.
    fn is_fresh(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.used_at) < MAX_IDLE_TIME
            && now.saturating_duration_since(self.opened_at) < MAX_CONNECTION_AGE
    }
}

/// Delivers messages over HTTP, and reuses connections.
pub struct Connector {
    /// The private networks that messages may reach.
    allowed: Networks,
    resolver: SharedResolver,
    /// The TLS client. It is `None` if the system has no trusted root certificates.
    tls: Option<TlsConnector>,
    timeout: Duration,
    clock: Arc<dyn Clock>,
    /// The idle connections by origin (scheme, host and port), such as `https://shop.example:8443`.
    idle_connections: Mutex<HashMap<String, Vec<ReusableConnection>>>,
}

impl Connector {
    /// Returns a connector that trusts the certificates `roots`, and reaches private networks only
    /// if they are in `allowed`. `timeout` limits each attempt, and is usually [`ATTEMPT_TIMEOUT`].
    ///
    /// Fails only if the TLS library was built without a suitable protocol version.
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
            resolver: SharedResolver::new(resolver),
            tls,
            timeout,
            clock,
            idle_connections: Mutex::default(),
        })
    }

    /// Sends `body` to `url` with these header fields, and returns the status code of the response
    /// with the delay that it asks for. Does not follow redirects, and uses no proxy.
    pub async fn deliver(
        &self,
        url: &str,
        fields: &SignedFields,
        body: Bytes,
    ) -> Result<EndpointResponse, AttemptError> {
        // Check the URL at each attempt, because the operator may have changed which networks are
        // permitted.
        let url = EndpointUrl::parse(url, &self.allowed).map_err(AttemptError::Forbidden)?;
        let exchange = self.send_message(url.get(), fields, body);
        match time::timeout(self.timeout, exchange).await {
            Ok(result) => result,
            Err(_elapsed) => Err(AttemptError::Timeout),
        }
    }

    /// Closes the idle connections that have expired. Must be called periodically.
    pub fn close_old(&self) {
        let now = self.clock.instant();
        self.idle_connections.lock().retain(|_, connections| {
            connections.retain(|connection| connection.is_fresh(now));
            !connections.is_empty()
        });
    }

    /// Sends a message over an idle connection if there is one, or else over a new connection.
    async fn send_message(
        &self,
        url: &Url,
        fields: &SignedFields,
        body: Bytes,
    ) -> Result<EndpointResponse, AttemptError> {
        if let Some(mut reusable) = self.take_connection(url) {
            let result = reusable
                .connection
                .send(url, build_request(fields), body.clone())
                .await;
            // The server may close an idle connection just as it is reused. In that case, send the
            // message over a new connection. After a parse error, do not send it again: the server
            // has responded, so it may have received the message.
            let was_closed = matches!(&result, Err(RequestError::Http(error)) if !error.is_parse());
            if !was_closed {
                return self.finish_exchange(url, reusable, result);
            }
        }

        let mut reusable = self.open_connection(url).await?;
        let result = reusable
            .connection
            .send(url, build_request(fields), body)
            .await;
        self.finish_exchange(url, reusable, result)
    }

    /// Resolves the host name, checks all addresses, and opens a connection to one of them.
    async fn open_connection(&self, url: &Url) -> Result<ReusableConnection, AttemptError> {
        let addresses = self.resolve_permitted(url).await?;
        let tls = self.tls_for(url)?;
        let now = self.clock.instant();
        let connection = Connection::open(url, tls, &addresses[..]).await?;
        Ok(ReusableConnection {
            connection,
            opened_at: now,
            used_at: now,
        })
    }

    /// Returns the TLS client for an `https` URL. Returns `None` for plain HTTP. Fails if the
    /// system has no trusted certificates.
    fn tls_for(&self, url: &Url) -> Result<Option<&TlsConnector>, AttemptError> {
        if url.scheme() != "https" {
            return Ok(None);
        }
        let Some(tls) = &self.tls else {
            let error = io::Error::other("the system has no trusted certificates");
            return Err(AttemptError::Tls(error));
        };
        Ok(Some(tls))
    }

    /// Returns the relevant parts of the response, and keeps the connection for reuse. Closes the
    /// connection if the attempt failed.
    fn finish_exchange(
        &self,
        url: &Url,
        reusable: ReusableConnection,
        result: Result<response::Parts, RequestError>,
    ) -> Result<EndpointResponse, AttemptError> {
        let head = result?;
        self.keep_connection(url, reusable);

        let retry_after = head
            .headers
            .get(header::RETRY_AFTER)
            .and_then(|value| self.parse_retry_after(value));
        Ok(EndpointResponse {
            status: head.status.as_u16(),
            retry_after,
        })
    }

    /// Takes the most recently used connection to this server that is still usable.
    fn take_connection(&self, url: &Url) -> Option<ReusableConnection> {
        let now = self.clock.instant();
        let mut idle_connections = self.idle_connections.lock();
        let server_connections = idle_connections.get_mut(&url[..Position::BeforePath])?;
        while let Some(mut reusable) = server_connections.pop() {
            if reusable.is_fresh(now) && reusable.connection.is_idle() {
                return Some(reusable);
            }
        }
        None
    }

    /// Keeps a connection for the next message, unless enough are idle already.
    fn keep_connection(&self, url: &Url, mut reusable: ReusableConnection) {
        reusable.used_at = self.clock.instant();
        let mut idle_connections = self.idle_connections.lock();
        let server_connections = idle_connections
            .entry(url[..Position::BeforePath].to_owned())
            .or_default();
        if server_connections.len() < MAX_IDLE_CONNECTIONS && reusable.connection.is_idle() {
            server_connections.push(reusable);
        }
    }

    /// Parses the value of a `Retry-After` header (RFC 9110, section 10.2.3), and returns the delay
    /// in seconds. Returns `None` if the value is invalid.
    ///
    /// The value is a number such as `120`, or a date such as `Sat, 28 Nov 2026 12:00:00 GMT`. A
    /// date in the past means no delay.
    fn parse_retry_after(&self, value: &HeaderValue) -> Option<u64> {
        let text = value.to_str().ok()?.trim();
        if let Ok(seconds) = text.parse() {
            return Some(seconds);
        }
        let date = DateTimeParser::new().parse_timestamp(text).ok()?;
        let seconds = date.duration_since(self.clock.now()).as_secs();
        // A negative number is a date in the past.
        Some(u64::try_from(seconds).unwrap_or(0))
    }

    /// Resolves the host of the URL to its addresses. Fails if any of them is not permitted.
    async fn resolve_permitted(&self, url: &Url) -> Result<Vec<SocketAddr>, AttemptError> {
        let addresses = self
            .resolver
            .resolve_url(url)
            .await
            .map_err(AttemptError::Name)?;
        for address in &addresses {
            let ip = address.ip();
            if let Some(kind) = forbidden_reason(ip, &self.allowed) {
                let message = format!("the name leads to {ip} ({kind})");
                return Err(AttemptError::Forbidden(message));
            }
            if url.scheme() == "http" && !self.allowed.contains(ip) {
                let message = format!("plain HTTP to {ip} is not permitted");
                return Err(AttemptError::Forbidden(message));
            }
        }
        Ok(addresses)
    }
}

/// Returns a builder for the request that delivers a message, with all headers set.
fn build_request(fields: &SignedFields) -> request::Builder {
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
