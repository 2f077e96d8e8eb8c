//! `petstore healthcheck`: for a container, in which there is no curl.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use bytes::Bytes;
use clap::Args;
use hyper::{Request, StatusCode};
use url::Url;

use crate::{
    config,
    http_client::{self, RequestError},
    tls::{self, Verify},
};

/// How long all of it may take.
const WITHIN: Duration = Duration::from_secs(3);

/// Ask the service on this machine whether it is well, and fail if it is not
///
/// It is found by the settings of `petstore serve`. Its certificate is not
/// checked: nothing is asked that is a secret.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Examples:\n",
    "  petstore healthcheck\n",
    "  petstore healthcheck --url http://127.0.0.1:9090/readyz"
))]
pub(super) struct Healthcheck {
    /// What to ask instead; any answer of 200 to 299 is good
    #[arg(long, value_name = "URL", env = "PETSTORE_HEALTHCHECK_URL")]
    url: Option<Url>,

    /// Where the service listens
    #[arg(long, value_name = "ADDRESS", env = "PETSTORE_LISTEN", default_value = "127.0.0.1:8080", value_parser = config::listen_address)]
    listen: SocketAddr,

    /// Where the service is managed, if anywhere: its `/livez` is asked then
    #[arg(long, value_name = "ADDRESS", env = "PETSTORE_MANAGEMENT_LISTEN", value_parser = config::listen_address)]
    management_listen: Option<SocketAddr>,

    /// The certificate of the service, if it speaks TLS
    #[arg(long, value_name = "FILE", env = "PETSTORE_TLS_CERT")]
    tls_cert: Option<PathBuf>,
}

impl Healthcheck {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let url = self.question()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let asked = runtime.block_on(ask(&url));
        // A name that is looked up for long must not hold up the end.
        runtime.shutdown_background();
        let status = asked?;
        ensure!(status.is_success(), "{url} answered {status}");
        Ok(())
    }

    /// What to ask: where the service is managed, since that has connections of
    /// its own when those of clients are all taken; or else something that needs
    /// no key.
    fn question(&self) -> anyhow::Result<Url> {
        if let Some(url) = &self.url {
            ensure!(
                matches!(url.scheme(), "http" | "https"),
                "--url begins with http:// or https://"
            );
            return Ok(url.clone());
        }
        if let Some(address) = self.management_listen {
            return Ok(format!("http://{}/livez", reachable(address)).parse()?);
        }
        let scheme = if self.tls_cert.is_some() { "https" } else { "http" };
        Ok(format!("{scheme}://{}/openapi.yaml", reachable(self.listen)).parse()?)
    }
}

/// Where somebody is reached who listens on all addresses, too.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    address
}

async fn ask(url: &Url) -> anyhow::Result<StatusCode> {
    let tls = (url.scheme() == "https").then(|| tls::connector(Verify::Key)).transpose()?;
    let request = Request::builder();
    match http_client::send(url, tls.as_ref(), request, Bytes::new(), WITHIN).await {
        Err(RequestError::TooSlow(_)) => bail!("{url} did not answer within {WITHIN:?}"),
        status => status.with_context(|| format!("cannot ask {url}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(listen: &str, management: Option<&str>, tls_cert: Option<&str>) -> String {
        let check = Healthcheck {
            url: None,
            listen: listen.parse().unwrap(),
            management_listen: management.map(|address| address.parse().unwrap()),
            tls_cert: tls_cert.map(PathBuf::from),
        };
        check.question().unwrap().to_string()
    }

    #[test]
    fn the_service_is_asked_where_it_is_reached_on_its_own_machine() {
        for (listen, management, tls_cert, url) in [
            ("127.0.0.1:8080", None, None, "http://127.0.0.1:8080/openapi.yaml"),
            ("0.0.0.0:80", None, None, "http://127.0.0.1/openapi.yaml"),
            ("[::]:8443", None, Some("x.pem"), "https://[::1]:8443/openapi.yaml"),
            ("192.0.2.1:443", None, Some("x.pem"), "https://192.0.2.1/openapi.yaml"),
            ("0.0.0.0:443", Some("0.0.0.0:9090"), Some("x.pem"), "http://127.0.0.1:9090/livez"),
        ] {
            assert_eq!(asked(listen, management, tls_cert), url);
        }
    }
}
