//! HTTP requests to other servers.

use std::{io, net::SocketAddr, pin::pin, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Request, Response, StatusCode,
    body::Incoming,
    client::conn::http1,
    header,
    http::{request, response},
};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, ToSocketAddrs},
    time,
};
use tokio_rustls::{
    TlsConnector,
    rustls::pki_types::{InvalidDnsNameError, ServerName},
};
use url::{Position, Url};

/// How much of a response's body is read, in bytes, and for how long.
const MAX_BODY: usize = 64 << 10;
const BODY_TIME: Duration = Duration::from_secs(1);

/// The length of a response's head, in bytes.
const MAX_HEAD: usize = 16 << 10;

/// Why there is no response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    #[error("no response within {0:?}")]
    TooSlow(Duration),
    #[error("the URL contains no host")]
    NoHost,
    #[error("cannot connect")]
    Connect(#[source] io::Error),
    #[error("TLS failed")]
    Tls(#[source] io::Error),
    #[error("TLS is not possible with this host name")]
    Name(#[from] InvalidDnsNameError),
    #[error("the response is not valid HTTP")]
    Http(#[from] hyper::Error),
    #[error("cannot build the request")]
    Request(#[from] hyper::http::Error),
}

/// A request for a server.
pub(crate) struct Outgoing<'r> {
    pub(crate) url: &'r Url,
    /// Makes the connection if the URL begins with `https`.
    pub(crate) tls: Option<&'r TlsConnector>,
    pub(crate) request: request::Builder,
    pub(crate) body: Bytes,
    /// How long all of it may take.
    pub(crate) limit: Duration,
}

impl Outgoing<'_> {
    /// Sends the request over a new connection to the server that the URL names, and returns the
    /// status code of the response. Safe to drop.
    pub(crate) async fn send(self) -> Result<StatusCode, RequestError> {
        let port = self.url.port_or_known_default().ok_or(RequestError::NoHost)?;
        let name = name(self.url)?.to_owned();
        Ok(self.send_to((name, port)).await?.status)
    }

    /// The same over a connection to one of these addresses, whatever the name in the URL means.
    /// Returns the head of the response. Does not follow a redirect.
    pub(crate) async fn send_to_one(
        self,
        addresses: &[SocketAddr],
    ) -> Result<response::Parts, RequestError> {
        self.send_to(addresses).await
    }

    async fn send_to(self, server: impl ToSocketAddrs) -> Result<response::Parts, RequestError> {
        let Self { url, tls, request, body, limit } = self;
        let exchange = async {
            let request = request
                .uri(&url[Position::BeforePath..Position::AfterQuery])
                .header(header::HOST, &url[Position::BeforeHost..Position::AfterPort])
                .header(header::CONNECTION, "close")
                .body(Full::new(body))?;
            let stream = TcpStream::connect(server).await.map_err(RequestError::Connect)?;
            match tls {
                None => exchange(stream, request).await,
                Some(tls) => {
                    let name = ServerName::try_from(name(url)?.to_owned())?;
                    let stream = tls.connect(name, stream).await.map_err(RequestError::Tls)?;
                    exchange(stream, request).await
                }
            }
        };
        time::timeout(limit, exchange).await.unwrap_or(Err(RequestError::TooSlow(limit)))
    }
}

/// The name or address of the server. The URL has a literal IPv6 address in brackets.
fn name(url: &Url) -> Result<&str, RequestError> {
    Ok(url.host_str().ok_or(RequestError::NoHost)?.trim_matches(['[', ']']))
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    request: Request<Full<Bytes>>,
) -> Result<response::Parts, RequestError> {
    let handshake = http1::Builder::new().max_buf_size(MAX_HEAD).handshake(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await?;
    let exchange = async {
        let response: Response<Incoming> = sender.send_request(request).await?;
        let (head, body) = response.into_parts();
        // Reads the body of a usual response, so that the connection is not reset.
        let _ = time::timeout(BODY_TIME, Limited::new(body, MAX_BODY).collect()).await;
        Ok(head)
    };
    let mut exchange = pin!(exchange);
    tokio::select! {
        done = exchange.as_mut() => done,
        // The connection can close at the same time as the response arrives.
        ended = connection => { ended?; exchange.await }
    }
}
