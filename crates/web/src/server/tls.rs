//! TLS for a listener: handshakes, and reloading a renewed certificate without a restart.

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

/// The error if a certificate or key file cannot be read or is invalid. The message names the file
/// and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TlsError(String);

/// The TLS configuration of a listener, from two PEM files that may be renewed while it runs: a
/// certificate and its private key. Offers TLS 1.2 and 1.3, and negotiates HTTP/2 or HTTP/1.1 by
/// ALPN (RFC 7301).
pub struct Tls {
    files: CertificateFiles,
    renewal: Mutex<RenewalState>,
    /// The configuration for new handshakes. Each configuration has its own session cache, so a
    /// session is resumed only under its own certificate.
    current: Mutex<Arc<ServerConfig>>,
}

/// The paths of the certificate and of its private key.
#[derive(Clone)]
struct CertificateFiles {
    certificate: PathBuf,
    key: PathBuf,
}

/// The content of the certificate file and of the key file. It must not be printed, because it
/// includes the private key.
#[derive(Clone, PartialEq, Eq)]
struct FileContent {
    certificate: Vec<u8>,
    key: Vec<u8>,
    /// Whether the private key is readable by every user of the machine.
    is_exposed: bool,
}

/// What the calls of [`Tls::renew`] have found so far. Content is settled once two consecutive
/// calls have read it, because a file may be half written. The same is true of the error if a file
/// cannot be read.
struct RenewalState {
    /// What the last call has read.
    previous_content: Result<FileContent, TlsError>,
    /// The last content that was settled.
    settled_content: Result<FileContent, TlsError>,
    /// Whether the settled content is in use, or why not.
    outcome: Result<(), TlsError>,
}

impl Tls {
    /// Loads the certificate with its chain, and its private key (PKCS#8, PKCS#1 or SEC1).
    pub fn load(certificate: PathBuf, key: PathBuf) -> Result<Self, TlsError> {
        let files = CertificateFiles { certificate, key };
        let content = files.read()?;
        let config = files.build_config(&content)?;
        warn_if_exposed(&files.key, &content);
        let renewal = RenewalState {
            previous_content: Ok(content.clone()),
            settled_content: Ok(content),
            outcome: Ok(()),
        };
        Ok(Self {
            files,
            renewal: Mutex::new(renewal),
            current: Mutex::new(config),
        })
    }

    /// Rereads the certificate and the key, and uses new content for new handshakes.
    ///
    /// A task calls this at regular intervals. New content is used only after two consecutive calls
    /// have read it, because a file may be half written. If the content is invalid, the previous
    /// certificate stays in use, and each call fails until a file changes.
    pub async fn renew(&self) -> Result<(), TlsError> {
        let files = self.files.clone();
        let reading = task::spawn_blocking(move || files.read()).await;
        let content = reading.unwrap_or_else(|error| Err(TlsError(error.to_string())));

        let mut renewal = self.renewal.lock();
        // Two errors are equal if they have the same message.
        let is_settled = content == renewal.previous_content;
        if is_settled && content != renewal.settled_content {
            renewal.outcome = match &content {
                Ok(content) => self.apply_renewal(content),
                Err(error) => Err(renewal_error(error)),
            };
            renewal.settled_content = content.clone();
        }
        renewal.previous_content = content;
        renewal.outcome.clone()
    }

    /// Uses new content for new handshakes. Fails if the content is invalid.
    fn apply_renewal(&self, content: &FileContent) -> Result<(), TlsError> {
        let config = self
            .files
            .build_config(content)
            .map_err(|error| renewal_error(&error))?;
        *self.current.lock() = config;
        info!("the renewed TLS certificate is in use");
        warn_if_exposed(&self.files.key, content);
        Ok(())
    }

    /// Returns an acceptor for a new handshake, with the current certificate.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        let current = self.current.lock();
        Arc::clone(&current).into()
    }
}

/// Returns the error for a renewed certificate that cannot be used because of `error`.
fn renewal_error(error: &TlsError) -> TlsError {
    TlsError(format!(
        "the renewed TLS certificate is invalid; the old one stays in use: {error}"
    ))
}

impl CertificateFiles {
    /// Reads both files.
    fn read(&self) -> Result<FileContent, TlsError> {
        let certificate = read_file(&self.certificate)?;
        let key = read_file(&self.key)?;
        let metadata = fs::metadata(&self.key).map_err(|error| read_error(&self.key, &error))?;
        Ok(FileContent {
            certificate,
            key,
            is_exposed: metadata.permissions().mode() & 0o004 != 0,
        })
    }

    /// Builds a rustls configuration from this content. Fails if the content is invalid.
    fn build_config(&self, content: &FileContent) -> Result<Arc<ServerConfig>, TlsError> {
        let certificate_path = self.certificate.display();
        let key_path = self.key.display();
        let chain = self.parse_chain(&content.certificate)?;
        let private_key = PrivateKeyDer::from_pem_slice(&content.key).map_err(|error| {
            TlsError(format!(
                "{key_path} contains no unencrypted private key in PEM format: {error}"
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
                    "the private key in {key_path} does not match the certificate in {certificate_path}"
                )),
                error => TlsError(format!("cannot use {certificate_path} with {key_path}: {error}")),
            })?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }

    /// Parses a chain of certificates, which begins with the certificate of the server. Fails if
    /// the text contains no certificate.
    fn parse_chain(&self, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
        let path = self.certificate.display();
        let mut chain = Vec::new();
        for result in CertificateDer::pem_slice_iter(pem) {
            let certificate = result.map_err(|error| {
                TlsError(format!(
                    "{path} contains no certificate in PEM format: {error}"
                ))
            })?;
            chain.push(certificate);
        }
        if chain.is_empty() {
            return Err(TlsError(format!(
                "{path} contains no certificate in PEM format"
            )));
        }
        Ok(chain)
    }
}

/// Reads a file.
fn read_file(path: &Path) -> Result<Vec<u8>, TlsError> {
    fs::read(path).map_err(|error| read_error(path, &error))
}

/// Returns the error for a file that cannot be read.
fn read_error(path: &Path, error: &io::Error) -> TlsError {
    TlsError(format!("cannot read {}: {error}", path.display()))
}

/// Logs a warning if every user of the machine may read the private key.
fn warn_if_exposed(key: &Path, content: &FileContent) {
    if content.is_exposed {
        warn!(
            "every user of this machine may read the private key in {}",
            key.display()
        );
    }
}

/// Performs a handshake. Returns `None` if it fails, if it takes too long, or if the server stops.
///
/// In all three cases no request is lost, because the client has not sent one yet.
pub(super) async fn perform_handshake(
    acceptor: TlsAcceptor,
    stream: TcpStream,
    timeout: Duration,
    stop_signal: &mut watch::Receiver<()>,
) -> Option<TlsStream<TcpStream>> {
    let handshake = time::timeout(timeout, acceptor.accept(stream).into_fallible());
    let result = tokio::select! {
        // Nothing is ever sent; dropping the sender is the signal.
        _ = stop_signal.changed() => return None,
        result = handshake => result,
    };
    match result {
        Ok(Ok(stream)) => Some(stream),
        Ok(Err((error, stream))) => {
            debug!(%error, "a TLS handshake failed");
            // Lingers, so that the client can read the alert with the reason. The connection ends
            // even if this fails. It gets an activity of its own, which nothing reads.
            let _ = ClientStream::new(stream, timeout, Arc::default())
                .shutdown()
                .await;
            None
        }
        // The handshake took too long.
        Err(_) => None,
    }
}
