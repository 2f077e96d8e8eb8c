//! Monitoring of `petstore serve`: the management listener, and traces.

use std::{env, net::SocketAddr, sync::Arc, time::Duration};

use clap::Args;
use petstore_api::Management;
use petstore_domain::Deployment;
use petstore_observe::traces::{self, Endpoint, Exporter, Sampler, Spans};
use petstore_web::server::{self, Limits};
use rand::Rng;
use tokio::{net::TcpListener, sync::watch};
use tracing::{info, warn};

use super::{reserved_address::ReservedAddress, values};

/// The maximum number of connections to the management listener. It is low because only the tools
/// of operators connect, and their requests are short.
const MAX_CONNECTIONS: usize = 64;

/// How long requests to the management listener may take at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The two ends of the queue for spans, which are the parts of traces.
pub(super) struct Traces {
    /// The end that requests and deliveries fill.
    pub(super) spans: Arc<Spans>,
    /// The end that sends the spans to the collector.
    pub(super) exporter: Exporter,
}

/// The options for monitoring.
#[derive(Debug, Args)]
#[command(next_help_heading = "Logs and monitoring")]
pub(super) struct ManagementArgs {
    /// The address for /livez, /readyz and /metrics; off by default. Requests need
    /// no API key, so use a private address
    #[arg(long, value_name = "ADDRESS", env = "PETSTORE_MANAGEMENT_LISTEN", value_parser = values::parse_listen_address)]
    management_listen: Option<SocketAddr>,

    /// The address of an OpenTelemetry collector (OTLP over HTTP), such as
    /// `http://127.0.0.1:4318`; by default, the service sends no traces
    #[arg(long, value_name = "URL", env = "OTEL_EXPORTER_OTLP_ENDPOINT")]
    otlp_endpoint: Option<Endpoint>,
}

impl ManagementArgs {
    /// Reserves the address of the management listener, if one is configured.
    pub(super) fn reserve(&self) -> anyhow::Result<Option<ReservedAddress>> {
        let Some(address) = self.management_listen else {
            return Ok(None);
        };
        let reserved_address = ReservedAddress::new(address, "--management-listen")?;
        Ok(Some(reserved_address))
    }

    /// Prepares traces for the collector, with the settings in the variables of OpenTelemetry. Logs
    /// warnings about invalid settings. Returns `None` if no collector is configured.
    pub(super) fn prepare_traces(
        &self,
        deployment: Deployment,
        random: &mut impl Rng,
    ) -> anyhow::Result<Option<Traces>> {
        let Some(endpoint) = self.otlp_endpoint.clone() else {
            return Ok(None);
        };
        // A variable that is not set counts as empty.
        let header_list = env::var("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default();
        let (headers, header_warnings) = traces::parse_headers(&header_list);
        let sampler_name = env::var("OTEL_TRACES_SAMPLER").unwrap_or_default();
        let sampler_argument = env::var("OTEL_TRACES_SAMPLER_ARG").unwrap_or_default();
        let (sampler, sampler_warnings) =
            Sampler::from_settings(sampler_name.trim(), sampler_argument.trim());
        for warning in header_warnings.into_iter().chain(sampler_warnings) {
            warn!("{warning}");
        }
        let (spans, exporter) = traces::channel(endpoint, headers, sampler, deployment, random)?;
        Ok(Some(Traces {
            spans: Arc::new(spans),
            exporter,
        }))
    }
}

/// Logs the address of the management listener, if there is one.
pub(super) fn log_address(listener: Option<&TcpListener>) {
    // The log line does not matter enough to fail if the address cannot be found out.
    if let Some(listener) = listener
        && let Ok(address) = listener.local_addr()
    {
        info!("management listener at http://{address}");
    }
}

/// Serves `management` until the sender of `service_ended` is dropped. Returns at once without a
/// listener.
///
/// `limits` are the limits for clients. They apply here, too, except that connections are fewer and
/// the shutdown is short.
pub(super) async fn serve_management(
    listener: Option<TcpListener>,
    management: Arc<Management>,
    limits: &Limits,
    mut service_ended: watch::Receiver<()>,
) {
    let Some(listener) = listener else { return };
    let limits = Limits {
        max_connections: MAX_CONNECTIONS,
        max_connections_per_address: MAX_CONNECTIONS,
        shutdown_timeout: SHUTDOWN_TIMEOUT,
        ..limits.clone()
    };
    // Nothing is ever sent, so `changed` completes only when the sender is dropped.
    let end = async { drop(service_ended.changed().await) };
    let no_tls = None;
    server::serve(listener, no_tls, management, &limits, Box::pin(end)).await;
}
