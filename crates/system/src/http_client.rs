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

/// The limits of the body of a response that nobody needs.
const UNUSED_BODY_LIMITS: BodyLimits = BodyLimits {
    length: 64 << 10,
    time: Duration::from_secs(1),
};

/// The maximum length of a response's head, in bytes.
const MAX_HEAD_BYTES: usize = 16 << 10;

/// The reason why there is no response.
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

/// The limits of the body of a response.
#[derive(Debug, Clone, Copy)]
pub struct BodyLimits {
    /// The maximum length, in bytes.
    pub length: usize,
    /// The maximum time from the end of the head to the end of the body.
    pub time: Duration,
}

/// The head of a response, and its body if that could be read.
pub struct FetchedResponse {
    pub head: response::Parts,
    pub body: Result<Bytes, BodyError>,
}

/// A request to another server.
pub struct OutgoingRequest<'r> {
    pub url: &'r Url,
    /// Makes the connection if the URL begins with `https`.
    pub tls: Option<&'r TlsConnector>,
    pub request: request::Builder,
    pub body: Bytes,
    /// The maximum time until the response.
    pub limit: Duration,
}

impl OutgoingRequest<'_> {
    /// Sends the request over a new connection to the server that the URL names, and returns the
    /// status code of the response. Dropping the future closes the connection.
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
            let mut connection = Connection::open(url, tls, (server_name(url)?, port)).await?;
            let request = request.header(header::CONNECTION, "close");
            Ok(connection.send(url, request, body).await?.status)
        };
        match time::timeout(limit, exchange).await {
            Ok(result) => result,
            Err(_) => Err(RequestError::TooSlow(limit)),
        }
    }
}

/// A connection to a server, for one request at a time. Dropping it closes it.
pub struct Connection {
    sender: http1::SendRequest<Full<Bytes>>,
    driver: Fuse<BoxFuture<'static, hyper::Result<()>>>,
}

impl Connection {
    /// Connects to an address of `server`, whatever the name in the URL means.
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
            return Self::handshake(stream).await;
        };
        let name = ServerName::try_from(server_name(url)?.to_owned())?;
        let tls_stream = tls.connect(name, stream).await.map_err(RequestError::Tls)?;
        Self::handshake(tls_stream).await
    }

    /// Prepares a stream for HTTP/1.1.
    async fn handshake(
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> Result<Self, RequestError> {
        let (sender, driver) = http1::Builder::new()
            .max_buf_size(MAX_HEAD_BYTES)
            .handshake(TokioIo::new(stream))
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
        let response = self.fetch(url, request, body, UNUSED_BODY_LIMITS).await?;
        Ok(response.head)
    }

    /// Sends a request, and returns the response with its body, if the body keeps the limits.
    pub async fn fetch(
        &mut self,
        url: &Url,
        request: request::Builder,
        body: Bytes,
        limits: BodyLimits,
    ) -> Result<FetchedResponse, RequestError> {
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
            let body = read_body(body, limits).await;
            Ok(FetchedResponse { head, body })
        };
        let mut exchange = pin!(exchange);
        tokio::select! {
            result = exchange.as_mut() => result,
            // The connection can fail at the same time as the response arrives, which then counts.
            driver_result = driver => match exchange.await {
                Ok(response) => Ok(response),
                Err(error) => Err(driver_result.err().map_or(error, RequestError::Http)),
            },
        }
    }

    /// Whether the connection can carry another request: the response was read to its end, and the server has
    /// neither closed the connection nor sent more.
    pub fn is_idle(&mut self) -> bool {
        (&mut self.driver).now_or_never().is_none() && self.sender.is_ready()
    }
}

async fn read_body(body: Incoming, limits: BodyLimits) -> Result<Bytes, BodyError> {
    let reading = Limited::new(body, limits.length).collect();
    match time::timeout(limits.time, reading).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(BodyError::TooLong),
        Ok(Err(_)) => Err(BodyError::Broken),
        Err(_) => Err(BodyError::TooSlow),
    }
}

/// Returns the name or the address of the server: `::1` for `https://[::1]:8080`.
fn server_name(url: &Url) -> Result<&str, RequestError> {
    Ok(url
        .host_str()
        .ok_or(RequestError::NoHost)?
        .trim_matches(['[', ']']))
}
