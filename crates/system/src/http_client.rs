//! A small HTTP/1.1 client for requests to other servers.

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

/// The limits for reading a response body whose content is discarded.
const DISCARDED_BODY_LIMITS: BodyLimits = BodyLimits {
    length: 64 << 10,
    timeout: Duration::from_secs(1),
};

/// The maximum length of a response head, in bytes.
const MAX_HEAD_BYTES: usize = 16 << 10;

/// The reason why a request got no response.
#[expect(missing_docs, reason = "the messages describe the variants")]
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

/// The reason why the body of a response could not be read, although its head arrived.
#[expect(missing_docs, reason = "the messages describe the variants")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    #[error("the body is too long")]
    TooLong,
    #[error("the body did not arrive in time")]
    TooSlow,
    #[error("the body broke off")]
    Broken,
}

/// The limits for reading a response body.
#[derive(Debug, Clone, Copy)]
pub struct BodyLimits {
    /// The maximum length, in bytes.
    pub length: usize,
    /// The maximum time from the end of the head to the end of the body.
    pub timeout: Duration,
}

/// A response whose head has arrived.
pub struct FetchedResponse {
    /// The status code and the header fields.
    pub head: response::Parts,
    /// The body, or the reason why it could not be read.
    pub body: Result<Bytes, BodyError>,
}

/// A request to another server, to be sent over a connection of its own.
pub struct OutgoingRequest<'r> {
    /// The URL, which names the server.
    pub url: &'r Url,
    /// The connector for `https` URLs. Without it, the request is sent in plain text.
    pub tls: Option<&'r TlsConnector>,
    /// The method and the header fields.
    pub request: request::Builder,
    /// The body of the request.
    pub body: Bytes,
    /// The timeout for the whole exchange, from connecting to the response.
    pub timeout: Duration,
}

impl OutgoingRequest<'_> {
    /// Sends the request over a new connection to the server in the URL, and returns the status
    /// code of the response. Dropping the future closes the connection.
    pub async fn send(self) -> Result<StatusCode, RequestError> {
        let Self {
            url,
            tls,
            request,
            body,
            timeout,
        } = self;
        let exchange = async {
            let port = url.port_or_known_default().ok_or(RequestError::NoHost)?;
            let server = (server_name(url)?, port);
            let mut connection = Connection::open(url, tls, server).await?;
            let request = request.header(header::CONNECTION, "close");
            Ok(connection.send(url, request, body).await?.status)
        };
        match time::timeout(timeout, exchange).await {
            Ok(result) => result,
            Err(_elapsed) => Err(RequestError::TooSlow(timeout)),
        }
    }
}

/// A connection to a server, for one request at a time. It is closed when it is dropped.
pub struct Connection {
    sender: http1::SendRequest<Full<Bytes>>,
    /// Performs the I/O of the connection. It must be polled while a request is in flight, and ends
    /// when the connection is closed.
    driver: Fuse<BoxFuture<'static, hyper::Result<()>>>,
}

impl Connection {
    /// Connects to `server`, without resolving the host name in the URL. The caller can therefore
    /// check the resolved addresses first.
    ///
    /// With `tls`, the certificate is still checked for the host name in the URL. Without it,
    /// requests are sent in plain text.
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

    /// Starts HTTP/1.1 on a connected stream.
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

    /// Sends a request, and returns the head of the response. Discards the body, and follows no
    /// redirects.
    pub async fn send(
        &mut self,
        url: &Url,
        request: request::Builder,
        body: Bytes,
    ) -> Result<response::Parts, RequestError> {
        // Reading a body of ordinary length lets the connection close cleanly. Otherwise, it would
        // be reset.
        let response = self
            .fetch(url, request, body, DISCARDED_BODY_LIMITS)
            .await?;
        Ok(response.head)
    }

    /// Sends a request, and returns the response with its body. Follows no redirects. If the body
    /// is not within the limits, the response has a [`BodyError`] in its place.
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
            // The connection can end just as the response arrives. The response then takes
            // precedence. Without a response, the error of the connection says more.
            driver_result = driver => match (exchange.await, driver_result) {
                (Ok(response), _) => Ok(response),
                (Err(_), Err(connection_error)) => Err(RequestError::Http(connection_error)),
                (Err(error), Ok(())) => Err(error),
            },
        }
    }

    /// Whether the connection can be reused for another request: the previous response was read to
    /// its end, and the server has neither closed the connection nor sent unexpected data.
    pub fn is_idle(&mut self) -> bool {
        let was_closed = (&mut self.driver).now_or_never().is_some();
        !was_closed && self.sender.is_ready()
    }
}

/// Reads the body of a response within the limits.
async fn read_body(body: Incoming, limits: BodyLimits) -> Result<Bytes, BodyError> {
    let reading = Limited::new(body, limits.length).collect();
    let Ok(result) = time::timeout(limits.timeout, reading).await else {
        return Err(BodyError::TooSlow);
    };
    match result {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(BodyError::TooLong),
        Err(_) => Err(BodyError::Broken),
    }
}

/// Returns the host name or IP address of the server, such as `::1` for `https://[::1]:8080`.
fn server_name(url: &Url) -> Result<&str, RequestError> {
    Ok(url
        .host_str()
        .ok_or(RequestError::NoHost)?
        .trim_matches(['[', ']']))
}
