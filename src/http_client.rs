//! HTTP requests to other servers.

use std::{io, pin::pin, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Request, StatusCode, client::conn::http1, header, http::request};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time,
};
use tokio_rustls::{
    TlsConnector,
    rustls::pki_types::{InvalidDnsNameError, ServerName},
};
use url::{Position, Url};

/// How much of a response is read, in bytes.
const MAX_RESPONSE: usize = 64 << 10;

/// Why there is no response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    #[error("no response within {0:?}")]
    TooSlow(Duration),
    #[error("the URL contains no host")]
    NoHost,
    #[error("cannot connect")]
    Connect(#[from] io::Error),
    #[error("TLS is not possible with this host name")]
    Name(#[from] InvalidDnsNameError),
    #[error("the response is not valid HTTP")]
    Http(#[from] hyper::Error),
    #[error("cannot build the request")]
    Request(#[from] hyper::http::Error),
}

/// Sends a request to `url` over a new connection, with TLS if there is a connector, and returns
/// the status code of the response. All of it may take as long as `limit`. Safe to drop.
pub(crate) async fn send(
    url: &Url,
    tls: Option<&TlsConnector>,
    request: request::Builder,
    body: Bytes,
    limit: Duration,
) -> Result<StatusCode, RequestError> {
    let exchange = async {
        let request = request
            .uri(&url[Position::BeforePath..Position::AfterQuery])
            .header(header::HOST, &url[Position::BeforeHost..Position::AfterPort])
            .header(header::CONNECTION, "close")
            .body(Full::new(body))?;
        let host = url.host_str().ok_or(RequestError::NoHost)?;
        // The URL has a literal IPv6 address in brackets, which the socket address lacks.
        let name = host.trim_matches(['[', ']']);
        let port = url.port_or_known_default().ok_or(RequestError::NoHost)?;
        let stream = TcpStream::connect((name, port)).await?;
        match tls {
            None => exchange(stream, request).await,
            Some(tls) => {
                let name = ServerName::try_from(name.to_owned())?;
                exchange(tls.connect(name, stream).await?, request).await
            }
        }
    };
    time::timeout(limit, exchange).await.unwrap_or(Err(RequestError::TooSlow(limit)))
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    request: Request<Full<Bytes>>,
) -> Result<StatusCode, RequestError> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let exchange = async {
        let response = sender.send_request(request).await?;
        let status = response.status();
        // Reads the whole response, so that the connection is not reset.
        let _ = Limited::new(response.into_body(), MAX_RESPONSE).collect().await;
        Ok(status)
    };
    let mut exchange = pin!(exchange);
    tokio::select! {
        done = exchange.as_mut() => done,
        // The connection can close at the same time as the response arrives.
        ended = connection => { ended?; exchange.await }
    }
}
