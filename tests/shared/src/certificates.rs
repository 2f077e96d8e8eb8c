//! Certificates for `localhost` from a root of the test, and clients that trust only that root.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair,
    SerialNumber,
};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore, SupportedProtocolVersion,
        crypto::ring,
        pki_types::{CertificateDer, ServerName},
    },
};

/// A root, also as `root.pem`, and the certificate and key files of a service.
pub struct Certificates {
    folder: TempDir,
    root: CertifiedIssuer<'static, KeyPair>,
}

impl Certificates {
    /// Creates the root and the first certificate, with serial number 1.
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name = DistinguishedName::new();
        params
            .distinguished_name
            .push(DnType::CommonName, "a root for tests");
        let root = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let made = Self {
            folder: TempDir::new().unwrap(),
            root,
        };
        fs::write(made.folder.path().join("root.pem"), made.root.pem()).unwrap();
        made.renew(1);
        made
    }

    pub fn certificate(&self) -> PathBuf {
        self.folder.path().join("certificate.pem")
    }

    pub fn key(&self) -> PathBuf {
        self.folder.path().join("key.pem")
    }

    /// Writes a new certificate with this serial number and a new key: first one file, then the
    /// other. Returns the certificate.
    pub fn renew(&self, serial: u64) -> CertificateDer<'static> {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.serial_number = Some(SerialNumber::from(serial));
        let certificate = params.signed_by(&key, &self.root).unwrap();
        write_private_file(&self.key(), &key.serialize_pem());
        fs::write(self.certificate(), certificate.pem()).unwrap();
        certificate.der().clone()
    }

    /// Connects and makes a handshake with one of these versions.
    pub async fn connect(
        &self,
        stream: TcpStream,
        versions: &[&'static SupportedProtocolVersion],
        protocols: &[&str],
    ) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.der().clone()).unwrap();
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = protocols
            .iter()
            .map(|name| name.as_bytes().to_vec())
            .collect();
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config))
            .connect(name, stream)
            .await
    }
}

/// The certificate that the server presented.
pub fn shown(stream: &TlsStream<TcpStream>) -> CertificateDer<'static> {
    stream.get_ref().1.peer_certificates().unwrap()[0].clone()
}

fn write_private_file(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}
