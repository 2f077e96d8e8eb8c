//! The certificate of the service.

use std::{path::PathBuf, sync::Arc};

use clap::Args;

use crate::server::{Tls, TlsError};

/// The certificate and its private key, for TLS.
#[derive(Debug, Args)]
#[command(next_help_heading = "TLS")]
pub(super) struct TlsArgs {
    /// The certificate for TLS, with its chain, in PEM format; the service notices
    /// a renewed certificate
    #[arg(long, value_name = "FILE", env = "PETSTORE_TLS_CERT", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// The private key of the certificate, in PEM format, unencrypted
    #[arg(long, value_name = "FILE", env = "PETSTORE_TLS_KEY", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

impl TlsArgs {
    pub(super) fn load(&self) -> Result<Option<Arc<Tls>>, TlsError> {
        let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) else {
            return Ok(None);
        };
        Tls::load(certificate.clone(), key.clone()).map(|tls| Some(Arc::new(tls)))
    }
}
