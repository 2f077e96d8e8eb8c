//! TLS to other servers: how their certificates are verified.

mod lenient_verifier;

use std::sync::Arc;

use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, Error, RootCertStore,
        client::{WebPkiServerVerifier, danger::ServerCertVerifier},
        crypto::ring,
    },
};

use self::lenient_verifier::LenientVerifier;

/// What is verified of a server's certificate.
pub(crate) enum Verify {
    /// That the server has its private key.
    Key,
    /// Also that it comes from one of these roots.
    Chain(RootCertStore),
    /// Also that it contains the name of the server.
    ChainAndName(RootCertStore),
}

/// Makes TLS connections.
pub(crate) fn connector(verify: Verify) -> Result<TlsConnector, Error> {
    let provider = Arc::new(ring::default_provider());
    let full = |roots| {
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .build()
            .map_err(|error| Error::General(error.to_string()))
    };
    let verifier: Arc<dyn ServerCertVerifier> = match verify {
        Verify::Key => Arc::new(LenientVerifier::accepting_any_certificate(Arc::clone(&provider))),
        Verify::Chain(roots) => {
            Arc::new(LenientVerifier::ignoring_the_name(Arc::clone(&provider), full(roots)?))
        }
        Verify::ChainAndName(roots) => full(roots)?,
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// The trusted roots of the system, or those in the file that `SSL_CERT_FILE` names. `None` if
/// there are none.
pub(crate) fn system_roots() -> Option<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    (!roots.is_empty()).then_some(roots)
}
