//! TLS to other servers: how their certificates are verified.

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

/// The part of a server's certificate that is verified.
pub enum Verify {
    /// That the server has its private key.
    Key,
    /// Also that it comes from one of these roots.
    Chain(RootCertStore),
    /// Also that it contains the name of the server.
    ChainAndName(RootCertStore),
}

/// Makes TLS connections.
pub fn connector(verify: Verify) -> Result<TlsConnector, Error> {
    let provider = Arc::new(ring::default_provider());
    let full = |roots| {
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .build()
            .map_err(|error| Error::General(error.to_string()))
    };
    let verifier: Arc<dyn ServerCertVerifier> = match verify {
        Verify::Key => Arc::new(LenientVerifier::accepting_any_certificate(Arc::clone(
            &provider,
        ))),
        Verify::Chain(roots) => Arc::new(LenientVerifier::ignoring_the_name(
            Arc::clone(&provider),
            full(roots)?,
        )),
        Verify::ChainAndName(roots) => full(roots)?,
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Returns the trusted roots of the system, or those in the file that `SSL_CERT_FILE` names. `None`
/// if there are none.
pub fn system_roots() -> Option<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    (!roots.is_empty()).then_some(roots)
}

/// Verifies that a server has the private key of its certificate, and optionally the certificate
/// chain.
#[derive(Debug)]
struct LenientVerifier {
    provider: Arc<CryptoProvider>,
    /// Verifies the certificate chain.
    chain: Option<Arc<WebPkiServerVerifier>>,
}

impl LenientVerifier {
    fn accepting_any_certificate(provider: Arc<CryptoProvider>) -> Self {
        Self {
            provider,
            chain: None,
        }
    }

    /// Accepts a certificate from a trusted root, whatever name it contains.
    fn ignoring_the_name(provider: Arc<CryptoProvider>, chain: Arc<WebPkiServerVerifier>) -> Self {
        Self {
            provider,
            chain: Some(chain),
        }
    }
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
        let Some(chain) = &self.chain else {
            return Ok(ServerCertVerified::assertion());
        };
        match chain.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
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
