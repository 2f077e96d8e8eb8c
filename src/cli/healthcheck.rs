//! `petstore healthcheck`: for a container, in which there is no curl.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, ensure};
use bytes::Bytes;
use clap::Args;
use http_body_util::Empty;
use hyper::{Request, StatusCode, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{ClientConfig, crypto::ring, pki_types::ServerName},
};
use url::Url;

use crate::{config, lenient_verifier::LenientVerifier};

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
        let asked = runtime.block_on(async { time::timeout(WITHIN, ask(&url)).await });
        // A name that is looked up for long must not hold up the end.
        runtime.shutdown_background();
        let status = asked
            .with_context(|| format!("{url} did not answer within {WITHIN:?}"))?
            .with_context(|| format!("cannot ask {url}"))?;
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
    let host = url.host_str().context("it names no host")?;
    // As it stands in an address: IPv6 without its brackets.
    let name = host.trim_matches(['[', ']']);
    let port = url.port_or_known_default().context("it names no port")?;
    let stream = TcpStream::connect((name, port)).await?;
    if url.scheme() == "http" {
        return ask_over(stream, url).await;
    }
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(LenientVerifier::accepting_any_certificate(
            provider,
        )))
        .with_no_client_auth();
    let name = ServerName::try_from(name.to_owned())?;
    ask_over(TlsConnector::from(Arc::new(config)).connect(name, stream).await?, url).await
}

/// Sends the request, and reads the head of the answer.
async fn ask_over(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    url: &Url,
) -> anyhow::Result<StatusCode> {
    let (mut client, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let request = Request::get(&url[url::Position::BeforePath..url::Position::AfterQuery])
        .header(header::HOST, &url[url::Position::BeforeHost..url::Position::AfterPort])
        .body(Empty::<Bytes>::new())?;
    let mut asking = std::pin::pin!(client.send_request(request));
    let answer = tokio::select! {
        answer = asking.as_mut() => answer,
        // The answer may have come with the end of the connection.
        ended = connection => {
            ended?;
            asking.await
        }
    };
    Ok(answer?.status())
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
