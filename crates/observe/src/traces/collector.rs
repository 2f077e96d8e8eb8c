//! Exports spans to an OpenTelemetry collector over HTTP. [`Endpoint`] and [`parse_headers`] parse
//! the settings, and [`Exporter`] sends the spans.
//!
//! The configured header fields usually have a secret, so no message quotes them.

use std::{error::Error, future::pending, str::FromStr, sync::Arc, time::Duration};

use bytes::Bytes;
use hyper::{
    HeaderMap, Method, Request,
    header::{self, HeaderName, HeaderValue},
};
use percent_encoding::percent_decode_str;
use petstore_domain::Deployment;
use petstore_system::{
    http_client::OutgoingRequest,
    tls::{self, CertificateCheck},
};
use tokio::{sync::mpsc, time};
use tokio_rustls::TlsConnector;
use url::Url;

use super::otlp::{self, Span, SpanCounts};

/// The maximum number of spans in a batch.
const MAX_BATCH: usize = 512;

/// How long a batch that is not full waits for more spans.
const BATCH_DELAY: Duration = Duration::from_secs(1);

/// How long the collector may take to respond.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long flushing the remaining spans may take at shutdown.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// The header fields that the exporter sets itself, and that the operator therefore cannot set.
const RESERVED_HEADERS: [HeaderName; 5] = [
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::HOST,
    header::TRANSFER_ENCODING,
];

/// The URL to which spans are posted: the address of a collector, such as `http://127.0.0.1:4318`,
/// with `/v1/traces` appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint(Url);

impl FromStr for Endpoint {
    type Err = String;

    /// Parses the address of a collector. The error is a message for the operator.
    fn from_str(text: &str) -> Result<Self, String> {
        let form = "use the form http://127.0.0.1:4318";
        let mut url = Url::parse(text).map_err(|error| format!("{error}; {form}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(form.to_owned());
        }
        let forbidden_parts = [url.password(), url.query(), url.fragment()];
        if !url.username().is_empty() || forbidden_parts.iter().any(Option::is_some) {
            let forbidden = "user name, password, query or fragment";
            return Err(format!(
                "a collector's address must not contain a {forbidden}"
            ));
        }
        let path = format!("{}/v1/traces", url.path().trim_end_matches('/'));
        url.set_path(&path);
        Ok(Self(url))
    }
}

/// The reason why TLS to the collector cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The build supports no suitable protocol version.
    #[error("cannot set up TLS to the collector")]
    Tls(#[from] tokio_rustls::rustls::Error),
    /// The system has no trusted certificates.
    #[error(
        "no trusted certificates were found for TLS to the collector; install the system's CA certificates"
    )]
    NoRoots,
}

/// The reason why spans did not reach the collector.
#[derive(Debug, thiserror::Error)]
pub enum SpansDropped {
    /// The collector did not accept a batch.
    #[error("traces are dropped, because {endpoint} does not accept them")]
    Rejected {
        /// The address of the collector.
        endpoint: Url,
        /// The reason for the failure.
        #[source]
        cause: Box<dyn Error + Send + Sync>,
    },
    /// There was no time left to send this many spans.
    #[error("{0} unsent spans are dropped at shutdown")]
    Unsent(usize),
}

/// The sending side of tracing: collects queued spans into batches, and sends the batches to the
/// collector.
pub struct Exporter {
    endpoint: Url,
    headers: HeaderMap,
    tls: Option<TlsConnector>,
    deployment: Deployment,
    queue: mpsc::Receiver<Span>,
    /// The spans of the next request, kept until the collector has accepted or rejected them.
    batch: Vec<Span>,
    counts: Arc<SpanCounts>,
}

impl Exporter {
    /// Creates an exporter, and sets up TLS if the endpoint needs it.
    pub(super) fn new(
        Endpoint(endpoint): Endpoint,
        headers: HeaderMap,
        deployment: Deployment,
        queue: mpsc::Receiver<Span>,
        counts: Arc<SpanCounts>,
    ) -> Result<Self, SetupError> {
        let tls = if endpoint.scheme() == "https" {
            Some(tls_connector()?)
        } else {
            None
        };
        let batch = Vec::with_capacity(MAX_BATCH);
        Ok(Self {
            endpoint,
            headers,
            tls,
            deployment,
            queue,
            batch,
            counts,
        })
    }

    /// Waits for the first span of the next batch, and then at most a second for more spans.
    /// Never completes if there is no span and the queue is closed.
    ///
    /// Cancel-safe: the spans that have arrived stay in the batch.
    pub async fn collect_batch(&mut self) {
        let Self { queue, batch, .. } = self;
        if batch.is_empty() {
            let received_count = queue.recv_many(batch, MAX_BATCH).await;
            if received_count == 0 {
                // The queue is closed, and has no more spans.
                pending::<()>().await;
            }
        }
        let fill = async {
            while batch.len() < MAX_BATCH {
                let received_count = queue.recv_many(batch, MAX_BATCH - batch.len()).await;
                if received_count == 0 {
                    break;
                }
            }
        };
        // A timeout only ends the wait: the spans that have arrived are in the batch.
        let _ = time::timeout(BATCH_DELAY, fill).await;
    }

    /// Sends the current batch. Spans that the collector does not accept are dropped, not retried.
    ///
    /// Cancel-safe: if this future is dropped, the next call sends the batch again.
    pub async fn send(&mut self) -> Result<(), SpansDropped> {
        let result = self.post().await;
        let counter = if result.is_ok() {
            &self.counts.sent
        } else {
            &self.counts.dropped
        };
        counter.add(self.batch.len());
        self.batch.clear();
        result.map_err(|cause| SpansDropped::Rejected {
            endpoint: self.endpoint.clone(),
            cause,
        })
    }

    /// Sends the remaining spans. Drops the spans that the collector does not accept in time.
    pub async fn finish(&mut self) -> Result<(), SpansDropped> {
        self.queue.close();
        if let Ok(result) = time::timeout(FLUSH_TIMEOUT, self.send_all()).await {
            return result;
        }
        let unsent_count = self.batch.len() + self.queue.len();
        Err(SpansDropped::Unsent(unsent_count))
    }

    /// Sends batches until the queue is empty. Returns the first failure, but still sends the
    /// batches after it.
    async fn send_all(&mut self) -> Result<(), SpansDropped> {
        let mut result = Ok(());
        loop {
            if self.batch.is_empty() {
                let received_count = self.queue.recv_many(&mut self.batch, MAX_BATCH).await;
                if received_count == 0 {
                    return result;
                }
            }
            // `and` keeps the first failure.
            result = result.and(self.send().await);
        }
    }

    /// Posts the batch to the collector. Each batch gets a new connection, which costs little:
    /// there is at most one batch per second unless batches are full.
    async fn post(&self) -> Result<(), Box<dyn Error + Send + Sync>> {
        let body = otlp::render_export_request(&self.batch, self.deployment).to_string();
        let mut request = Request::builder()
            .method(Method::POST)
            .header(header::CONTENT_TYPE, "application/json");
        // There are no headers if the builder has an error, which `send` then reports.
        if let Some(headers) = request.headers_mut() {
            headers.extend(self.headers.clone());
        }
        let status = OutgoingRequest {
            url: &self.endpoint,
            tls: self.tls.as_ref(),
            request,
            body: Bytes::from(body),
            timeout: EXPORT_TIMEOUT,
        }
        .send()
        .await?;
        if status.is_success() {
            Ok(())
        } else {
            Err(format!("it responded with {status}").into())
        }
    }
}

/// Returns the connector for a collector, which trusts the certificates that the system trusts.
fn tls_connector() -> Result<TlsConnector, SetupError> {
    let roots = tls::system_roots().ok_or(SetupError::NoRoots)?;
    Ok(tls::connector(CertificateCheck::ChainAndName(roots))?)
}

/// Parses the value of `OTEL_EXPORTER_OTLP_HEADERS`, such as `api-key=secret,tenant=7`. Returns the
/// header fields, and a warning for each item that is ignored because it is invalid.
///
/// No warning quotes any part of the value, because it may be a secret.
pub fn parse_headers(text: &str) -> (HeaderMap, Vec<String>) {
    let mut headers = HeaderMap::new();
    let mut warnings = Vec::new();
    for (index, pair) in text.split(',').enumerate() {
        if pair.trim().is_empty() {
            continue;
        }
        let number = index + 1;
        if let Some((name, value)) = parse_header(pair) {
            headers.append(name, value);
        } else {
            warnings.push(format!(
                "OTEL_EXPORTER_OTLP_HEADERS must be a list such as name=value,name=value, with \
                 values in percent-encoding and without fields that the service sets itself; \
                 item {number} is ignored"
            ));
        }
    }
    (headers, warnings)
}

/// Parses an item such as `api-key=secret`. Returns `None` if it is invalid, or names a reserved
/// field.
fn parse_header(pair: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = pair.split_once('=')?;
    let name: HeaderName = name.trim().parse().ok()?;
    if RESERVED_HEADERS.contains(&name) {
        return None;
    }
    let decoded_value: Vec<u8> = percent_decode_str(value.trim()).collect();
    let mut header_value = HeaderValue::from_bytes(&decoded_value).ok()?;
    header_value.set_sensitive(true);
    Some((name, header_value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_for_traces_is_added_to_the_address() {
        for (text, url) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            (
                "https://collector.example/",
                "https://collector.example/v1/traces",
            ),
            (
                "http://[::1]:4318/otlp/",
                "http://[::1]:4318/otlp/v1/traces",
            ),
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
