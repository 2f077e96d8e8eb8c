//! TLS for connections to the database: adapts rustls to the traits of the driver.

use std::{
    error::Error,
    fs, io,
    path::Path,
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::future::BoxFuture;
use petstore_system::tls::{self, CertificateCheck};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::{
    Socket,
    tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream},
};
use tokio_rustls::{
    TlsConnector, client,
    rustls::{
        self, RootCertStore,
        pki_types::{CertificateDer, ServerName, pem::PemObject},
    },
};

use super::url::{PostgresUrl, SslMode};

/// The reason why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub(super) enum TlsError {
    #[error("cannot read the certificates in {path}: {cause}")]
    File { path: String, cause: String },
    #[error("no trusted certificates were found; name a file with sslrootcert")]
    NoSystemRoots,
    #[error("cannot set up TLS: {0}")]
    Setup(#[from] rustls::Error),
}

/// The TLS configuration for a cluster. The driver starts handshakes with it.
#[derive(Clone)]
pub(super) struct Tls(TlsConnector);

impl Tls {
    /// Creates the configuration that `url` selects; `None` if `url` disables TLS.
    pub(super) fn new(url: &PostgresUrl) -> Result<Option<Self>, TlsError> {
        let certificate_check = match url.ssl_mode() {
            SslMode::Disable => return Ok(None),
            // As in libpq, these modes accept any certificate. So they protect only from listeners, and
            // not from a server that pretends to be the database. In the mode `Prefer`, the driver also
            // connects to a server without TLS.
            SslMode::Prefer | SslMode::Require => CertificateCheck::Key,
            mode @ (SslMode::VerifyCa | SslMode::VerifyFull) => {
                let roots = match url.root_certificate() {
                    Some(path) => read_roots(path).map_err(|error| TlsError::File {
                        path: path.display().to_string(),
                        cause: error.to_string(),
                    })?,
                    None => tls::system_roots().ok_or(TlsError::NoSystemRoots)?,
                };
                if mode == SslMode::VerifyFull {
                    CertificateCheck::ChainAndName(roots)
                } else {
                    CertificateCheck::Chain(roots)
                }
            }
        };
        Ok(Some(Self(tls::connector(certificate_check)?)))
    }
}

/// Reads the trusted root certificates from a PEM file. Fails if it contains none.
fn read_roots(path: &Path) -> Result<RootCertStore, Box<dyn Error>> {
    let content = fs::read(path)?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&content) {
        roots.add(certificate?)?;
    }
    if roots.is_empty() {
        return Err("the file contains no certificate".into());
    }
    Ok(roots)
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = EncryptedStream;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        Ok(Handshake {
            connector: self.0.clone(),
            name,
        })
    }
}

/// A TLS handshake with one server, which has not started yet.
pub(super) struct Handshake {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = EncryptedStream;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<EncryptedStream>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let stream = self.connector.connect(self.name, socket).await?;
            Ok(EncryptedStream(Box::new(stream)))
        })
    }
}

/// An encrypted connection to a server.
pub(super) struct EncryptedStream(Box<client::TlsStream<Socket>>);

impl TlsStream for EncryptedStream {
    /// Returns no channel binding, so the driver authenticates by SCRAM without it.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for EncryptedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for EncryptedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(context, buffer)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(context)
    }
}
