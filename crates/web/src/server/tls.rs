//! TLS on a listener: handshakes, and renewal of the certificate without a restart.

use std::{
    fs,
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

/// Which of the files is invalid, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TlsError(String);

/// A certificate and its private key, in two PEM files that can be renewed. TLS 1.2 and 1.3; HTTP/2
/// and HTTP/1.1 by ALPN (RFC 7301).
pub struct Tls {
    files: Files,
    seen: Mutex<Seen>,
    /// For new handshakes. Each configuration has its own session cache, so a session is resumed
    /// only under its own certificate.
    current: Mutex<Arc<ServerConfig>>,
}

impl Tls {
    /// Reads both files: the certificate with its chain, and its private key (PKCS#8, PKCS#1 or
    /// SEC1).
    pub fn load(certificate: PathBuf, key: PathBuf) -> Result<Self, TlsError> {
        let files = Files { certificate, key };
        let found = files.read()?;
        let config = files.config(&found)?;
        warn_if_exposed(&files.key, &found);
        let found = Ok(found);
        let seen = Seen {
            last: found.clone(),
            decided: found,
            outcome: Ok(()),
        };
        Ok(Self {
            files,
            seen: Mutex::new(seen),
            current: Mutex::new(config),
        })
    }

    /// Checks the files, and uses new content for new handshakes. Called periodically: content
    /// counts only if two calls in a row find it, because the files may be half written. If the
    /// content is invalid, the previous content stays in use.
    pub async fn renew(&self) -> Result<(), TlsError> {
        let files = self.files.clone();
        let found = task::spawn_blocking(move || files.read()).await;
        let found = found.unwrap_or_else(|error| Err(TlsError(error.to_string())));
        let mut seen = self.seen.lock();
        let is_settled = found == seen.last;
        seen.last = found;
        if is_settled && seen.last != seen.decided {
            seen.decided = seen.last.clone();
            seen.outcome = self.replace(&seen.decided);
        }
        seen.outcome.clone()
    }

    fn replace(&self, found: &Result<Found, TlsError>) -> Result<(), TlsError> {
        let renewed = found.as_ref().map_err(Clone::clone);
        let (found, config) = renewed
            .and_then(|found| Ok((found, self.files.config(found)?)))
            .map_err(|TlsError(error)| {
                TlsError(format!(
                    "the renewed TLS certificate is invalid; the old one stays in use: {error}"
                ))
            })?;
        *self.current.lock() = config;
        info!("the renewed TLS certificate is in use");
        warn_if_exposed(&self.files.key, found);
        Ok(())
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        let current = self.current.lock();
        Arc::clone(&current).into()
    }
}

#[derive(Clone)]
struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

/// The content of both files. Must not be printed, because it includes the private key.
#[derive(Clone, PartialEq, Eq)]
struct Found {
    certificate: Vec<u8>,
    key: Vec<u8>,
    /// Whether every user of the machine may read the private key.
    is_exposed: bool,
}

/// The result of a check of the files.
struct Seen {
    last: Result<Found, TlsError>,
    /// The last content that was found twice in a row.
    decided: Result<Found, TlsError>,
    /// Whether that content is in use.
    outcome: Result<(), TlsError>,
}

impl Files {
    fn read(&self) -> Result<Found, TlsError> {
        let read = |path: &Path| {
            let text = fs::read(path).and_then(|text| Ok((text, fs::metadata(path)?)));
            text.map_err(|error| TlsError(format!("cannot read {}: {error}", path.display())))
        };
        let (certificate, _) = read(&self.certificate)?;
        let (key, about_key) = read(&self.key)?;
        Ok(Found {
            certificate,
            key,
            is_exposed: about_key.permissions().mode() & 0o004 != 0,
        })
    }

    fn config(&self, found: &Found) -> Result<Arc<ServerConfig>, TlsError> {
        let (certificate, key) = (self.certificate.display(), self.key.display());
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&found.certificate).collect();
        let chain = chain.map_err(|error| {
            TlsError(format!(
                "{certificate} contains no certificate in PEM format: {error}"
            ))
        })?;
        if chain.is_empty() {
            return Err(TlsError(format!(
                "{certificate} contains no certificate in PEM format"
            )));
        }
        let private = PrivateKeyDer::from_pem_slice(&found.key).map_err(|error| {
            TlsError(format!(
                "{key} contains no unencrypted private key in PEM format: {error}"
            ))
        })?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| {
                builder
                    .with_no_client_auth()
                    .with_single_cert(chain, private)
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

fn warn_if_exposed(key: &Path, found: &Found) {
    if found.is_exposed {
        warn!(
            "every user of this machine may read the private key in {}",
            key.display()
        );
    }
}

/// Performs a handshake. `None` if it fails, takes too long, or the server stops, since no request
/// can be lost yet.
pub(super) async fn handshake(
    acceptor: TlsAcceptor,
    stream: TcpStream,
    within: Duration,
    stopped: &mut watch::Receiver<()>,
) -> Option<TlsStream<TcpStream>> {
    let handshake = time::timeout(within, acceptor.accept(stream).into_fallible());
    let done = tokio::select! {
        // The sender sends nothing; it is dropped when the server stops.
        _ = stopped.changed() => return None,
        done = handshake => done,
    };
    match done {
        Ok(Ok(stream)) => Some(stream),
        Ok(Err((error, stream))) => {
            debug!(%error, "a TLS handshake failed");
            // Lets the client read the alert with the reason.
            let _ = ClientStream::new(stream, within, Arc::default())
                .shutdown()
                .await;
            None
        }
        Err(_) => None,
    }
}
