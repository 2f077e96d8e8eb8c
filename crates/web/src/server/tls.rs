//! TLS on a listener: handshakes, and renewal of the certificate without a restart.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{io::AsyncWriteExt, net::TcpStream, sync::watch, task, time};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        self, ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
    server::TlsStream,
};
use tracing::{debug, info, warn};

use super::io::ClientStream;

/// The file that is invalid, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TlsError(String);

/// A certificate and its private key, in two PEM files that can be renewed. TLS 1.2 and 1.3; HTTP/2
/// and HTTP/1.1 by ALPN (RFC 7301).
pub struct Tls {
    files: Files,
    last_check: Mutex<Check>,
    /// The configuration for new handshakes. Each configuration has its own session cache, so a session is resumed
    /// only under its own certificate.
    current: Mutex<Arc<ServerConfig>>,
}

impl Tls {
    /// Reads both files: the certificate with its chain, and its private key (PKCS#8, PKCS#1 or
    /// SEC1).
    pub fn load(certificate: PathBuf, key: PathBuf) -> Result<Self, TlsError> {
        let files = Files { certificate, key };
        let content = files.read()?;
        let config = files.config(&content)?;
        warn_if_exposed(&files.key, &content);
        let check = Check {
            content: Ok(content.clone()),
            settled_content: Ok(content),
            outcome: Ok(()),
        };
        Ok(Self {
            files,
            last_check: Mutex::new(check),
            current: Mutex::new(config),
        })
    }

    /// Checks the files, and uses new content for new handshakes. Called periodically: content
    /// counts only if two calls in a row find it, because the files may be half written. If the
    /// content is invalid, the previous content stays in use.
    pub async fn renew(&self) -> Result<(), TlsError> {
        let files = self.files.clone();
        let reading = task::spawn_blocking(move || files.read()).await;
        let content = reading.unwrap_or_else(|error| Err(TlsError(error.to_string())));

        let mut check = self.last_check.lock();
        let is_settled = content == check.content;
        check.content = content;
        if is_settled && check.content != check.settled_content {
            check.settled_content = check.content.clone();
            check.outcome = self.replace(&check.settled_content);
        }
        check.outcome.clone()
    }

    /// Uses new content for new handshakes. Fails if it is invalid.
    fn replace(&self, content: &Result<FileContent, TlsError>) -> Result<(), TlsError> {
        let content = content.as_ref().map_err(stays_in_use)?;
        let config = self
            .files
            .config(content)
            .map_err(|error| stays_in_use(&error))?;
        *self.current.lock() = config;
        info!("the renewed TLS certificate is in use");
        warn_if_exposed(&self.files.key, content);
        Ok(())
    }

    /// Returns what accepts new handshakes.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        let current = self.current.lock();
        Arc::clone(&current).into()
    }
}

/// Returns the error for a renewed certificate that is invalid because of `error`.
fn stays_in_use(error: &TlsError) -> TlsError {
    TlsError(format!(
        "the renewed TLS certificate is invalid; the old one stays in use: {error}"
    ))
}

/// The paths of both files.
#[derive(Clone)]
struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

/// The content of both files. Must not be printed, because it includes the private key.
#[derive(Clone, PartialEq, Eq)]
struct FileContent {
    certificate: Vec<u8>,
    key: Vec<u8>,
    /// Whether every user of the machine may read the private key.
    is_exposed: bool,
}

/// The result of a check of the files.
struct Check {
    /// The content at the last check.
    content: Result<FileContent, TlsError>,
    /// The last content that was found twice in a row.
    settled_content: Result<FileContent, TlsError>,
    /// Whether that content is in use.
    outcome: Result<(), TlsError>,
}

impl Files {
    /// Reads both files.
    fn read(&self) -> Result<FileContent, TlsError> {
        let certificate = read_file(&self.certificate)?;
        let key = read_file(&self.key)?;
        let metadata = fs::metadata(&self.key).map_err(|error| unreadable(&self.key, &error))?;
        Ok(FileContent {
            certificate,
            key,
            is_exposed: metadata.permissions().mode() & 0o004 != 0,
        })
    }

    /// Returns the configuration with this content. Fails if it is invalid.
    fn config(&self, content: &FileContent) -> Result<Arc<ServerConfig>, TlsError> {
        let certificate = self.certificate.display();
        let key = self.key.display();
        let chain = CertificateDer::pem_slice_iter(&content.certificate)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| {
                TlsError(format!(
                    "{certificate} contains no certificate in PEM format: {error}"
                ))
            })?;
        if chain.is_empty() {
            return Err(TlsError(format!(
                "{certificate} contains no certificate in PEM format"
            )));
        }
        let private_key = PrivateKeyDer::from_pem_slice(&content.key).map_err(|error| {
            TlsError(format!(
                "{key} contains no unencrypted private key in PEM format: {error}"
            ))
        })?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| {
                builder
                    .with_no_client_auth()
                    .with_single_cert(chain, private_key)
            })
            .map_err(|error| match error {
                rustls::Error::InconsistentKeys(_) => TlsError(format!(
                    "the private key in {key} does not match the certificate in {certificate}"
                )),
                error => TlsError(format!("cannot use {certificate} with {key}: {error}")),
            })?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

/// Reads a file.
fn read_file(path: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(path).map_err(|error| unreadable(path, &error))
}

/// Returns the error for a file that cannot be read.
fn unreadable(path: &Path, error: &io::Error) -> TlsError {
    TlsError(format!("cannot read {}: {error}", path.display()))
}

/// Writes to the log that others may read the private key, if they may.
fn warn_if_exposed(key: &Path, content: &FileContent) {
    if content.is_exposed {
        warn!(
            "every user of this machine may read the private key in {}",
            key.display()
        );
    }
}

/// Performs a handshake. Returns `None` if it fails, takes too long, or the server stops, since no request
/// can be lost yet.
pub(super) async fn handshake(
    acceptor: TlsAcceptor,
    stream: TcpStream,
    timeout: Duration,
    stop_signal: &mut watch::Receiver<()>,
) -> Option<TlsStream<TcpStream>> {
    let handshake = time::timeout(timeout, acceptor.accept(stream).into_fallible());
    let result = tokio::select! {
        // The sender sends nothing; it is dropped when the server stops.
        _ = stop_signal.changed() => return None,
        result = handshake => result,
    };
    match result {
        Ok(Ok(stream)) => Some(stream),
        Ok(Err((error, stream))) => {
            debug!(%error, "a TLS handshake failed");
            // Lets the client read the alert with the reason.
            let _ = ClientStream::new(stream, timeout, Arc::default())
                .shutdown()
                .await;
            None
        }
        Err(_) => None,
    }
}
