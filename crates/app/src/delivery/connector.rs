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
use hyper::{Method, Request, header, http::response};
use jiff::fmt::rfc2822::DateTimeParser;
use parking_lot::Mutex;
use petstore_domain::{Clock, Networks};
use petstore_system::{
    addresses::{Lookups, Resolve, judge},
    http_client::{Connection, RequestError},
    tls::{self, Verify},
};
use tokio::time;
use tokio_rustls::{
    TlsConnector,
    rustls::{self, RootCertStore},
};
use url::{Position, Url};

use super::EndpointUrl;

/// How long an attempt may take, from the name to the response.
pub const ATTEMPT_LIMIT: Duration = Duration::from_secs(15);

/// Why an attempt had no response.
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
pub struct Delivered {
    pub status: u16,
    /// How long the endpoint asks to wait, in seconds (`Retry-After`).
    pub retry_after: Option<u64>,
}

/// How many connections to a server are kept for the next messages, for how long without a message,
/// and for how long altogether: so long may a change of the name's addresses be unnoticed.
const MAX_KEPT: usize = 4;
const IDLE: Duration = Duration::from_secs(4);
const LIFE: Duration = Duration::from_mins(1);

/// A connection that waits for the next message. Its address was judged when it was made.
struct Kept {
    connection: Connection,
    made: Instant,
    used: Instant,
}

impl Kept {
    fn is_fresh(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.used) < IDLE
            && now.saturating_duration_since(self.made) < LIFE
    }
}

/// Delivers messages.
pub struct Connector {
    allowed: Networks,
    lookups: Lookups,
    tls: Option<TlsConnector>,
    limit: Duration,
    clock: Arc<dyn Clock>,
    /// By scheme, host and port.
    kept: Mutex<HashMap<String, Vec<Kept>>>,
}

impl Connector {
    /// Returns a connector that trusts these roots, and reaches only what is permitted. An attempt
    /// may take as long as `limit`, usually [`ATTEMPT_LIMIT`]. Fails only if the build supports no
    /// suitable protocol version.
    pub fn new(
        allowed: Networks,
        resolver: Box<dyn Resolve>,
        roots: Option<RootCertStore>,
        limit: Duration,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, rustls::Error> {
        let tls = roots
            .map(Verify::ChainAndName)
            .map(tls::connector)
            .transpose()?;
        let lookups = Lookups::new(resolver);
        Ok(Self {
            allowed,
            lookups,
            tls,
            limit,
            clock,
            kept: Mutex::default(),
        })
    }

    /// Sends `body` to `url` with these header fields. Does not follow redirects, uses no proxy, and
    /// keeps nothing of the response but its head.
    pub async fn deliver(
        &self,
        url: &str,
        fields: [(&'static str, String); 3],
        body: Bytes,
    ) -> Result<Delivered, AttemptError> {
        // Judged again, because the operator may have changed what is permitted.
        let url = EndpointUrl::parse(url, &self.allowed).map_err(AttemptError::Forbidden)?;
        let attempt = self.attempt(url.get(), fields, body);
        time::timeout(self.limit, attempt)
            .await
            .unwrap_or(Err(AttemptError::Timeout))
    }

    /// Closes the connections that are kept for too long. To be called again and again.
    pub fn close_old(&self) {
        let now = self.clock.instant();
        self.kept.lock().retain(|_, kept| {
            kept.retain(|kept| kept.is_fresh(now));
            !kept.is_empty()
        });
    }

    async fn attempt(
        &self,
        url: &Url,
        fields: [(&'static str, String); 3],
        body: Bytes,
    ) -> Result<Delivered, AttemptError> {
        let request = || {
            let request = Request::builder()
                .method(Method::POST)
                .header(header::CONTENT_TYPE, "application/json")
                .header(
                    header::USER_AGENT,
                    concat!("petstore/", env!("CARGO_PKG_VERSION")),
                );
            fields.iter().fold(request, |request, (name, value)| {
                request.header(*name, value)
            })
        };
        if let Some(mut kept) = self.take(url) {
            match kept.connection.send(url, request(), body.clone()).await {
                // The server closed it at the same time. The message goes over a new one.
                Err(RequestError::Http(error)) if !error.is_parse() => {}
                sent => return self.delivered(url, kept, sent),
            }
        }
        let addresses = self.addresses(url).await?;
        let tls = match (url.scheme(), &self.tls) {
            ("https", Some(tls)) => Some(tls),
            ("https", None) => {
                return Err(AttemptError::Tls(io::Error::other(
                    "the system has no trusted certificates",
                )));
            }
            _ => None,
        };
        let made = self.clock.instant();
        let mut connection = Connection::open(url, tls, &addresses[..]).await?;
        let sent = connection.send(url, request(), body).await;
        self.delivered(
            url,
            Kept {
                connection,
                made,
                used: made,
            },
            sent,
        )
    }

    /// Keeps the connection, unless it failed.
    fn delivered(
        &self,
        url: &Url,
        kept: Kept,
        sent: Result<response::Parts, RequestError>,
    ) -> Result<Delivered, AttemptError> {
        let head = sent?;
        self.keep(url, kept);
        let retry_after = head.headers.get(header::RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| self.seconds(value.to_str().ok()?.trim()));
        Ok(Delivered {
            status: head.status.as_u16(),
            retry_after,
        })
    }

    fn take(&self, url: &Url) -> Option<Kept> {
        let now = self.clock.instant();
        let mut all = self.kept.lock();
        let kept = all.get_mut(&url[..Position::BeforePath])?;
        while let Some(mut one) = kept.pop() {
            if one.is_fresh(now) && one.connection.is_idle() {
                return Some(one);
            }
        }
        None
    }

    fn keep(&self, url: &Url, mut one: Kept) {
        one.used = self.clock.instant();
        let mut all = self.kept.lock();
        let kept = all
            .entry(url[..Position::BeforePath].to_owned())
            .or_default();
        if kept.len() < MAX_KEPT && one.connection.is_idle() {
            kept.push(one);
        }
    }

    /// Returns the seconds in a `Retry-After`: a number, or the time until a date.
    fn seconds(&self, retry_after: &str) -> Option<u64> {
        retry_after.parse().ok().or_else(|| {
            let until = DateTimeParser::new().parse_timestamp(retry_after).ok()?;
            Some(
                until
                    .duration_since(self.clock.now())
                    .as_secs()
                    .try_into()
                    .unwrap_or(0),
            )
        })
    }

    /// Returns the addresses of the URL's host, all permitted.
    async fn addresses(&self, url: &Url) -> Result<Vec<SocketAddr>, AttemptError> {
        let addresses = self
            .lookups
            .addresses(url)
            .await
            .map_err(AttemptError::Name)?;
        for address in &addresses {
            if let Some(what) = judge(address.ip(), &self.allowed) {
                let message = format!("the name leads to {} ({what})", address.ip());
                return Err(AttemptError::Forbidden(message));
            }
            if url.scheme() == "http" && !self.allowed.contain(address.ip()) {
                let message = format!("plain HTTP to {} is not permitted", address.ip());
                return Err(AttemptError::Forbidden(message));
            }
        }
        Ok(addresses)
    }
}
