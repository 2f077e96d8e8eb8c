//! `petstore healthcheck`, for containers without curl, and for operators.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use anyhow::{Context, bail, ensure};
use bytes::Bytes;
use clap::Args;
use hyper::{Request, StatusCode};
use petstore_system::{
    http_client::{OutgoingRequest, RequestError},
    tls::{self, CertificateCheck},
};
use url::Url;

use super::values;

/// How long the whole check may take.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The advice if a request without TLS fails, perhaps because the port uses TLS.
const TLS_ADVICE: &str = "if this port uses TLS, set --tls-cert (PETSTORE_TLS_CERT) as for `petstore serve`, or \
                        use --url https://…";

/// The advice if a request with TLS fails, perhaps because the port does not use TLS.
const NO_TLS_ADVICE: &str = "if this port uses no TLS, leave out --tls-cert (PETSTORE_TLS_CERT), or use --url \
                           http://…";

/// Check that the service on this machine responds
///
/// The command finds the service by the variables of `petstore serve`. It fails if
/// the service does not respond within 3 seconds. It does not validate the
/// certificate, because it sends and receives no secret.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  petstore healthcheck\n",
    "  petstore healthcheck --url http://127.0.0.1:9090/readyz"
))]
pub(super) struct Healthcheck {
    /// The URL to check instead; any status code from 200 to 299 is a success
    #[arg(long, value_name = "URL", env = "PETSTORE_HEALTHCHECK_URL", value_parser = parse_url)]
    url: Option<Url>,

    /// The address on which the service listens
    #[arg(long, value_name = "ADDRESS", env = "PETSTORE_LISTEN", default_value = "127.0.0.1:8080", value_parser = values::parse_listen_address)]
    listen: SocketAddr,

    /// The address of the management listener; if it is set, the command checks
    /// its /livez
    #[arg(long, value_name = "ADDRESS", env = "PETSTORE_MANAGEMENT_LISTEN", value_parser = values::parse_listen_address)]
    management_listen: Option<SocketAddr>,

    /// The certificate of the service; if it is set, the command uses TLS
    #[arg(long, value_name = "FILE", env = "PETSTORE_TLS_CERT")]
    tls_cert: Option<PathBuf>,
}

impl Healthcheck {
    /// Requests the URL to check. Fails unless the response is a success.
    pub(super) fn run(self) -> anyhow::Result<()> {
        let url = self.choose_url()?;
        let status = super::runtime::block_on(request_status(&url))?;
        ensure!(status.is_success(), "{url} responded with {status}");
        Ok(())
    }

    /// Chooses the URL to check: the one of the option, or a default.
    ///
    /// By default, it is a URL of the management listener, which accepts connections even when
    /// clients use all connections of the service. Without a management listener, it is the URL of
    /// a document that needs no key.
    fn choose_url(&self) -> anyhow::Result<Url> {
        if let Some(url) = &self.url {
            return Ok(url.clone());
        }
        if let Some(address) = self.management_listen {
            return Ok(format!("http://{}/livez", values::reachable_address(address)).parse()?);
        }
        let scheme = if self.tls_cert.is_some() {
            "https"
        } else {
            "http"
        };
        Ok(format!(
            "{scheme}://{}/openapi.yaml",
            values::reachable_address(self.listen)
        )
        .parse()?)
    }
}

/// Parses a URL with the scheme `http` or `https`.
fn parse_url(text: &str) -> Result<Url, &'static str> {
    match text.parse::<Url>() {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(url),
        _ => Err("it must begin with http:// or https://, such as http://127.0.0.1:9090/readyz"),
    }
}

/// Requests a URL, and returns the status code of the response. An error says what to change if the
/// service probably uses TLS and the URL does not, or the other way round.
async fn request_status(url: &Url) -> anyhow::Result<StatusCode> {
    let connector = if url.scheme() == "https" {
        Some(tls::connector(CertificateCheck::Key)?)
    } else {
        None
    };
    let result = OutgoingRequest {
        url,
        tls: connector.as_ref(),
        request: Request::builder(),
        body: Bytes::new(),
        timeout: TIMEOUT,
    }
    .send()
    .await;
    match result {
        Err(RequestError::TooSlow(_)) => bail!("{url} did not respond within {TIMEOUT:?}"),
        Err(error @ RequestError::Http(_)) if url.scheme() == "http" => {
            Err(error).with_context(|| format!("cannot reach {url}; {TLS_ADVICE}"))
        }
        Err(error @ RequestError::Tls(_)) => {
            Err(error).with_context(|| format!("cannot reach {url}; {NO_TLS_ADVICE}"))
        }
        other_result => other_result.with_context(|| format!("cannot reach {url}")),
    }
}
