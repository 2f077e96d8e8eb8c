//! Sending spans to a collector.

use std::{str::FromStr, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Request, StatusCode, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    sync::mpsc,
    time,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{InvalidDnsNameError, ServerName},
    },
};
use tracing::{info, warn};
use url::Url;

use super::{Counted, Span, otlp};
use crate::{domain::Deployment, observe::log::chain};

/// How many spans are sent at once, and how long they gather before.
const BATCH: usize = 512;
const GATHER: Duration = Duration::from_secs(1);

/// How long the collector may take to answer.
const TAKEN_WITHIN: Duration = Duration::from_secs(10);

/// How long the rest may take at the end.
const FLUSHED_WITHIN: Duration = Duration::from_secs(2);

/// How much of an answer is read, in bytes.
const MAX_ANSWER: usize = 64 << 10;

/// Where a collector takes traces: an address such as `http://127.0.0.1:4318`,
/// to which `/v1/traces` is added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint(Url);

impl FromStr for Endpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = "a collector's address reads like http://127.0.0.1:4318";
        let mut url = Url::parse(text).map_err(|error| format!("{error}; {wanted}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wanted.to_owned());
        }
        let more = [url.password(), url.query(), url.fragment()];
        if !url.username().is_empty() || more.iter().any(Option::is_some) {
            let unwanted = "user name, password, query or fragment";
            return Err(format!("a collector's address holds no {unwanted}"));
        }
        let path = format!("{}/v1/traces", url.path().trim_end_matches('/'));
        url.set_path(&path);
        Ok(Self(url))
    }
}

/// TLS to the collector cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// Something is wrong with what the build has.
    #[error("cannot set up TLS to the collector")]
    Tls(#[from] tokio_rustls::rustls::Error),
    /// The system trusts nobody.
    #[error("no trusted certificates were found for TLS to the collector")]
    NoRoots,
}

/// Why spans were not taken.
#[derive(Debug, thiserror::Error)]
enum ExportError {
    #[error("no answer within {} seconds", TAKEN_WITHIN.as_secs())]
    TooSlow,
    #[error("cannot connect")]
    Connect(#[from] std::io::Error),
    #[error("its address cannot be one of TLS")]
    Name(#[from] InvalidDnsNameError),
    #[error("it does not speak HTTP")]
    Http(#[from] hyper::Error),
    #[error("the request cannot be made")]
    Request(#[from] hyper::http::Error),
    #[error("it answered {0}")]
    Refused(StatusCode),
}

/// Sends spans on.
pub struct Exporter {
    endpoint: Url,
    tls: Option<TlsConnector>,
    deployment: Deployment,
    queue: mpsc::Receiver<Span>,
    batch: Vec<Span>,
    counted: Arc<Counted>,
    is_failing: bool,
}

impl Exporter {
    pub(super) fn new(
        Endpoint(endpoint): Endpoint,
        deployment: Deployment,
        queue: mpsc::Receiver<Span>,
        counted: Arc<Counted>,
    ) -> Result<Self, SetupError> {
        let tls = if endpoint.scheme() == "https" { Some(tls()?) } else { None };
        let batch = Vec::with_capacity(BATCH);
        Ok(Self { endpoint, tls, deployment, queue, batch, counted, is_failing: false })
    }

    /// Sends what comes until `stop` completes, and then what is left.
    pub async fn run(mut self, stop: impl Future<Output = ()>) {
        tokio::select! {
            () = self.send_all() => {}
            () = stop => {}
        }
        self.queue.close();
        if time::timeout(FLUSHED_WITHIN, self.send_all()).await.is_err() {
            warn!(spans = self.batch.len() + self.queue.len(), "spans are left and dropped");
        }
    }

    /// Until the queue is closed. May be dropped: a batch that was not answered
    /// yet is then sent again.
    async fn send_all(&mut self) {
        loop {
            let Self { queue, batch, .. } = self;
            if batch.is_empty() && queue.recv_many(batch, BATCH).await == 0 {
                return;
            }
            let fill = async {
                while batch.len() < BATCH && queue.recv_many(batch, BATCH - batch.len()).await > 0 {
                }
            };
            let _ = time::timeout(GATHER, fill).await;
            self.send_batch().await;
        }
    }

    async fn send_batch(&mut self) {
        let sent = time::timeout(TAKEN_WITHIN, self.post()).await;
        let sent = sent.unwrap_or(Err(ExportError::TooSlow));
        let counter = if sent.is_ok() { &self.counted.sent } else { &self.counted.dropped };
        counter.add(self.batch.len());
        self.batch.clear();
        // A line when it begins to fail and when it goes on, not for each batch.
        let failing = sent.is_err();
        match sent {
            Err(error) if !self.is_failing => {
                warn!(endpoint = %self.endpoint, cause = chain(&error), "traces are dropped");
            }
            Ok(()) if self.is_failing => info!(endpoint = %self.endpoint, "traces are taken again"),
            _ => {}
        }
        self.is_failing = failing;
    }

    /// Over a connection of its own: there is one a second, or many spans in each.
    async fn post(&self) -> Result<(), ExportError> {
        let host = self.endpoint.host_str().unwrap_or_default();
        let port = self.endpoint.port_or_known_default().unwrap_or_default();
        // A literal IPv6 address stands in brackets there, and here without.
        let name = host.trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((name, port)).await?;
        match &self.tls {
            None => self.post_over(stream).await,
            Some(tls) => {
                let name = ServerName::try_from(name.to_owned())?;
                self.post_over(tls.connect(name, stream).await?).await
            }
        }
    }

    async fn post_over(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send,
    ) -> Result<(), ExportError> {
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let body = otlp::request(&self.batch, self.deployment).to_string();
        let request = Request::post(self.endpoint.path())
            .header(header::HOST, self.endpoint.authority())
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::CONNECTION, "close")
            .body(Full::new(Bytes::from(body)))?;
        let asking = async {
            let answer = sender.send_request(request).await?;
            let status = answer.status();
            // Read to its end, so that the collector is not cut off.
            let _ = Limited::new(answer.into_body(), MAX_ANSWER).collect().await;
            if status.is_success() { Ok(()) } else { Err(ExportError::Refused(status)) }
        };
        let mut asking = std::pin::pin!(asking);
        tokio::select! {
            done = asking.as_mut() => done,
            // The answer may have come with the end of the connection.
            ended = connection => { ended?; asking.await }
        }
    }
}

fn tls() -> Result<TlsConnector, SetupError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(SetupError::NoRoots);
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_for_traces_is_added_to_the_address() {
        for (text, url) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("https://collector.example/", "https://collector.example/v1/traces"),
            ("http://[::1]:4318/otlp/", "http://[::1]:4318/otlp/v1/traces"),
        ] {
            assert_eq!(text.parse::<Endpoint>().unwrap().0.as_str(), url);
        }
        for bad in [
            "",
            "127.0.0.1:4318",
            "http://",
            "grpc://collector",
            "http://me@collector/",
            "http://:secret@collector/",
            "http://collector/?token=1",
            "http://collector/#traces",
        ] {
            assert!(bad.parse::<Endpoint>().is_err(), "{bad}");
        }
    }
}
