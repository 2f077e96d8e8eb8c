//! One attempt to deliver a message: resolve the name once, judge every address, and connect to an
//! address that was judged.

use std::{io, net::SocketAddr, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use hyper::{Method, Request, header};
use tokio::{net, time};
use tokio_rustls::{
    TlsConnector,
    rustls::{self, RootCertStore},
};
use url::{Host, Url};

use super::{EndpointUrl, judge};
use crate::{
    domain::Networks,
    http_client::{Outgoing, RequestError},
    tls::{self, Verify},
};

/// How long an attempt may take, from the name to the response.
pub const ATTEMPT_LIMIT: Duration = Duration::from_secs(15);

/// Finds the addresses of a name.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// All addresses of this name, with this port.
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>>;
}

/// The resolver of the machine.
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(net::lookup_host((name, port)).await?.collect())
    }
}

/// Why an attempt had no response.
#[derive(Debug, thiserror::Error)]
pub enum AttemptError {
    /// The URL is not permitted any more, or an address of its name is not.
    #[error("{0}")]
    Forbidden(String),
    /// The name has no address.
    #[error("cannot resolve the name")]
    Name(#[source] io::Error),
    /// There was no connection.
    #[error("cannot connect")]
    Connect(#[source] io::Error),
    /// The certificate or the protocol of TLS is not valid.
    #[error("TLS failed")]
    Tls(#[source] io::Error),
    /// There was no response in time.
    #[error("no response in time")]
    Timeout,
    /// The connection ended before a valid response.
    #[error("no valid response")]
    Response(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl AttemptError {
    /// The class of the error, as the interface shows it.
    #[must_use]
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

/// A response to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivered {
    /// Its status code.
    pub status: u16,
    /// How long the endpoint asks to wait, in seconds (`Retry-After`).
    pub retry_after: Option<u64>,
}

/// Delivers messages.
pub struct Connector {
    allowed: Networks,
    resolver: Box<dyn Resolve>,
    tls: Option<TlsConnector>,
    limit: Duration,
}

impl Connector {
    /// A connector that trusts these roots, and reaches only what is permitted. An attempt may take
    /// as long as `limit`, usually [`ATTEMPT_LIMIT`].
    ///
    /// # Errors
    ///
    /// Only if the build supports no suitable protocol version.
    pub fn new(
        allowed: Networks,
        resolver: Box<dyn Resolve>,
        roots: Option<RootCertStore>,
        limit: Duration,
    ) -> Result<Self, rustls::Error> {
        let tls = roots.map(Verify::ChainAndName).map(tls::connector).transpose()?;
        Ok(Self { allowed, resolver, tls, limit })
    }

    /// Sends `body` to `url` with these header fields. Does not follow redirects, uses no proxy, and
    /// keeps nothing of the response but its head.
    ///
    /// # Errors
    ///
    /// See [`AttemptError`].
    pub async fn deliver(
        &self,
        url: &str,
        fields: [(&'static str, String); 3],
        body: Bytes,
    ) -> Result<Delivered, AttemptError> {
        // Judged again, because the operator may have changed what is permitted.
        let url = EndpointUrl::parse(url, &self.allowed).map_err(AttemptError::Forbidden)?;
        let attempt = self.attempt(url.get(), fields, body);
        time::timeout(self.limit, attempt).await.unwrap_or(Err(AttemptError::Timeout))
    }

    async fn attempt(
        &self,
        url: &Url,
        fields: [(&'static str, String); 3],
        body: Bytes,
    ) -> Result<Delivered, AttemptError> {
        let addresses = self.addresses(url).await?;
        let tls = match (url.scheme(), &self.tls) {
            ("https", Some(tls)) => Some(tls),
            ("https", None) => return Err(AttemptError::Tls(io::Error::other(NoRoots))),
            _ => None,
        };
        let mut request = Request::builder()
            .method(Method::POST)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::USER_AGENT, concat!("petstore/", env!("CARGO_PKG_VERSION")));
        for (name, value) in fields {
            request = request.header(name, value);
        }
        let outgoing = Outgoing { url, tls, request, body, limit: self.limit };
        let head = outgoing.send_to_one(&addresses).await.map_err(|error| match error {
            RequestError::TooSlow(_) => AttemptError::Timeout,
            RequestError::Connect(cause) => AttemptError::Connect(cause),
            RequestError::Tls(cause) => AttemptError::Tls(cause),
            RequestError::Name(cause) => AttemptError::Tls(io::Error::other(cause)),
            other => AttemptError::Response(Box::new(other)),
        })?;
        let retry_after = head.headers.get(header::RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| value.to_str().ok()?.trim().parse().ok());
        Ok(Delivered { status: head.status.as_u16(), retry_after })
    }

    /// The addresses of the URL's host, all permitted.
    async fn addresses(&self, url: &Url) -> Result<Vec<SocketAddr>, AttemptError> {
        let port = url.port_or_known_default().unwrap_or_default();
        let addresses = match url.host() {
            Some(Host::Ipv4(address)) => vec![(address, port).into()],
            Some(Host::Ipv6(address)) => vec![(address, port).into()],
            Some(Host::Domain(name)) => {
                self.resolver.resolve(name, port).await.map_err(AttemptError::Name)?
            }
            None => vec![],
        };
        if addresses.is_empty() {
            return Err(AttemptError::Name(io::Error::other(NoAddress)));
        }
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

#[derive(Debug, thiserror::Error)]
#[error("the system has no trusted certificates")]
struct NoRoots;

#[derive(Debug, thiserror::Error)]
#[error("the name has no address")]
struct NoAddress;
