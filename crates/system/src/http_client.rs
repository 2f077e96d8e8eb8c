//! HTTP requests to other servers.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{io, pin::pin, time::Duration};

use bytes::Bytes;
use futures_util::{
    FutureExt,
    future::{BoxFuture, Fuse},
};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::{
    Response, StatusCode,
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
pub enum RequestError {
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

/// The reason why there is no body of a response whose head has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    #[error("the body is too long")]
    TooLong,
    #[error("the body did not arrive in time")]
    TooSlow,
    #[error("the body broke off")]
    Broken,
}

/// The head of a response, and its body if that could be read.
pub struct Fetched {
    pub head: response::Parts,
    pub body: Result<Bytes, BodyError>,
}

/// A request for a server.
pub struct Outgoing<'r> {
    pub url: &'r Url,
    /// Makes the connection if the URL begins with `https`.
    pub tls: Option<&'r TlsConnector>,
    pub request: request::Builder,
    pub body: Bytes,
    /// How long all of it may take.
    pub limit: Duration,
}

impl Outgoing<'_> {
    /// Sends the request over a new connection to the server that the URL names, and returns the
    /// status code of the response. Safe to drop.
    pub async fn send(self) -> Result<StatusCode, RequestError> {
        let Self {
            url,
            tls,
            request,
            body,
            limit,
        } = self;
        let exchange = async {
            let port = url.port_or_known_default().ok_or(RequestError::NoHost)?;
            let mut connection = Connection::open(url, tls, (name(url)?, port)).await?;
            let request = request.header(header::CONNECTION, "close");
            Ok(connection.send(url, request, body).await?.status)
        };
        time::timeout(limit, exchange)
            .await
            .unwrap_or(Err(RequestError::TooSlow(limit)))
    }
}

/// A connection to a server, for one request at a time. Dropping it closes it.
pub struct Connection {
    sender: http1::SendRequest<Full<Bytes>>,
    driver: Fuse<BoxFuture<'static, hyper::Result<()>>>,
}

impl Connection {
    /// Connects to one of these addresses, whatever the name in the URL means.
    pub async fn open(
        url: &Url,
        tls: Option<&TlsConnector>,
        server: impl ToSocketAddrs,
    ) -> Result<Self, RequestError> {
        let stream = TcpStream::connect(server)
            .await
            .map_err(RequestError::Connect)?;
        stream.set_nodelay(true).map_err(RequestError::Connect)?;
        let Some(tls) = tls else {
            return Self::over(stream).await;
        };
        let name = ServerName::try_from(name(url)?.to_owned())?;
        Self::over(tls.connect(name, stream).await.map_err(RequestError::Tls)?).await
    }

    async fn over(
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> Result<Self, RequestError> {
        let stream = TokioIo::new(stream);
        let (sender, driver) = http1::Builder::new()
            .max_buf_size(MAX_HEAD)
            .handshake(stream)
            .await?;
        Ok(Self {
            sender,
            driver: driver.boxed().fuse(),
        })
    }

    /// Sends a request, and returns the head of the response. Does not follow a redirect.
    pub async fn send(
        &mut self,
        url: &Url,
        request: request::Builder,
        body: Bytes,
    ) -> Result<response::Parts, RequestError> {
        // Reads the body of a usual response, so that the connection is not reset.
        Ok(self
            .fetch(url, request, body, (MAX_BODY, BODY_TIME))
            .await?
            .head)
    }

    /// Sends a request, and returns the response with its body, if that has at most `max` bytes and arrives within this time.
    pub async fn fetch(
        &mut self,
        url: &Url,
        request: request::Builder,
        body: Bytes,
        (max, within): (usize, Duration),
    ) -> Result<Fetched, RequestError> {
        let request = request
            .uri(&url[Position::BeforePath..Position::AfterQuery])
            .header(
                header::HOST,
                &url[Position::BeforeHost..Position::AfterPort],
            )
            .body(Full::new(body))?;
        let Self { sender, driver } = self;
        let exchange = async {
            let response: Response<Incoming> = sender.send_request(request).await?;
            let (head, body) = response.into_parts();
            let body = match time::timeout(within, Limited::new(body, max).collect()).await {
                Ok(Ok(whole)) => Ok(whole.to_bytes()),
                Ok(Err(error)) if error.is::<LengthLimitError>() => Err(BodyError::TooLong),
                Ok(Err(_)) => Err(BodyError::Broken),
                Err(_) => Err(BodyError::TooSlow),
            };
            Ok(Fetched { head, body })
        };
        let mut exchange = pin!(exchange);
        tokio::select! {
            done = exchange.as_mut() => done,
            // The connection can fail at the same time as the response arrives, which then counts.
            ended = driver => match exchange.await {
                Ok(response) => Ok(response),
                Err(error) => Err(ended.err().map_or(error, RequestError::Http)),
            },
        }
    }

    /// Whether it can carry another request: the response was read to its end, and the server has
    /// neither closed the connection nor sent more.
    pub fn is_idle(&mut self) -> bool {
        (&mut self.driver).now_or_never().is_none() && self.sender.is_ready()
    }
}

/// Returns the name or address of the server. The URL has a literal IPv6 address in brackets.
fn name(url: &Url) -> Result<&str, RequestError> {
    Ok(url
        .host_str()
        .ok_or(RequestError::NoHost)?
        .trim_matches(['[', ']']))
}
