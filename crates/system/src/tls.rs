//! Creates the TLS connectors for connections to other servers, with different levels of
//! certificate verification.

use std::sync::Arc;

use tokio_rustls::{
    TlsConnector,
    rustls::{
        CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore,
        SignatureScheme,
        client::{
            WebPkiServerVerifier,
            danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        },
        crypto::{self, CryptoProvider, ring},
        pki_types::{CertificateDer, ServerName, UnixTime},
    },
};

/// How thoroughly the certificate of a server is verified.
pub enum CertificateCheck {
    /// Verifies only that the server has the private key of its certificate. This protects against
    /// eavesdroppers, but not against another server in its place. It is enough for the health
    /// check of this machine, and for a database whose operator asks for no more.
    Key,
    /// Also verifies the certificate chain up to one of the roots.
    Chain(RootCertStore),
    /// Also verifies that the certificate is for the name of the server.
    ChainAndName(RootCertStore),
}

/// A verifier that accepts certificates for any name. It verifies that the server has the private
/// key of its certificate and, optionally, the certificate chain.
#[derive(Debug)]
struct LenientVerifier {
    provider: Arc<CryptoProvider>,
    /// The verifier of the certificate chain, if the chain is to be verified.
    chain_verifier: Option<Arc<WebPkiServerVerifier>>,
}

/// Creates a TLS connector that verifies the certificates of servers as `check` says.
pub fn connector(check: CertificateCheck) -> Result<TlsConnector, Error> {
    let provider = Arc::new(ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match check {
        CertificateCheck::Key => Arc::new(LenientVerifier {
            provider: Arc::clone(&provider),
            chain_verifier: None,
        }),
        CertificateCheck::Chain(roots) => Arc::new(LenientVerifier {
            provider: Arc::clone(&provider),
            chain_verifier: Some(full_verifier(roots, &provider)?),
        }),
        CertificateCheck::ChainAndName(roots) => full_verifier(roots, &provider)?,
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Creates a verifier of the certificate chain and the server name.
fn full_verifier(
    roots: RootCertStore,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, Error> {
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(|error| Error::General(error.to_string()))
}

/// Loads the trusted root certificates of the system, or the certificates in the file that the
/// environment variable `SSL_CERT_FILE` names. Returns `None` if there are no certificates.
pub fn system_roots() -> Option<RootCertStore> {
    let mut roots = RootCertStore::empty();
    // A certificate that cannot be read is left out: most servers do not need it, and a connection
    // to one that does will fail.
    let loaded = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(loaded.certs);
    (!roots.is_empty()).then_some(roots)
}

impl ServerCertVerifier for LenientVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain_verifier) = &self.chain_verifier else {
            return Ok(ServerCertVerified::assertion());
        };
        match chain_verifier.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // The verifier checks the name last, so the chain is valid. The tests of `sslmode` in
            // `crates/store` would notice another order.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            result => result,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
