//! Monitoring of `petstore serve`: the management listener, and traces.

use std::{env, io, net::SocketAddr, sync::Arc, time::Duration};

use anyhow::anyhow;
use clap::Args;
use petstore_api::Management;
use petstore_domain::Deployment;
use petstore_observe::traces::{self, Endpoint, Exporter, Sampler, Spans};
use petstore_web::server::{self, Limits};
use rand::Rng;
use tokio::{
    net::{TcpListener, TcpSocket},
    sync::watch,
};
use tracing::{info, warn};

use super::{args::BadSetting, values};

/// The maximum number of connections to the management listener. It is low because only the tools of
/// operators connect, and their requests are short.
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
    #[arg(long, value_name = "ADDRESS", env = "PETSTORE_MANAGEMENT_LISTEN", value_parser = values::listen_address)]
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
        let header_list = env::var("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default();
        let (headers, header_warnings) = traces::parse_headers(&header_list);
        let sampler_name = env::var("OTEL_TRACES_SAMPLER").unwrap_or_default();
        let sampler_argument = env::var("OTEL_TRACES_SAMPLER_ARG").unwrap_or_default();
        let (sampler, sampler_warnings) =
            Sampler::from_settings(sampler_name.trim(), sampler_argument.trim());
        for warning in header_warnings.into_iter().chain(sampler_warnings) {
            warn!("{warning}");
        }
        let (spans, exporter) = traces::start(endpoint, headers, sampler, deployment, random)?;
        Ok(Some(Traces {
            spans: Arc::new(spans),
            exporter,
        }))
    }
}

/// An address that this process has bound but does not listen on yet, so no client can connect.
pub(super) struct ReservedAddress {
    socket: TcpSocket,
    address: SocketAddr,
    /// The option that sets the address.
    option: &'static str,
    /// Whether to use a free port instead if another process takes this one first.
    can_use_free_port: bool,
}

/// A function that reserves an address: [`ReservedAddress::new`] or [`ReservedAddress::new_or_free`].
/// The second argument is the option that sets the address.
pub(super) type Reserve = fn(SocketAddr, &'static str) -> anyhow::Result<ReservedAddress>;

impl ReservedAddress {
    /// Reserves an address. Errors name the `option` that sets it.
    pub(super) fn new(address: SocketAddr, option: &'static str) -> anyhow::Result<Self> {
        let socket = server::bind(address).map_err(|error| listen_error(error, address, option))?;
        Ok(Self {
            socket,
            address,
            option,
            can_use_free_port: false,
        })
    }

    /// Reserves an address, or a free port on the same host if the port is in use. If the host
    /// itself cannot be used, the free port fails with the same error.
    pub(super) fn new_or_free(address: SocketAddr, option: &'static str) -> anyhow::Result<Self> {
        let mut reserved_address =
            Self::new(address, option).or_else(|_| Self::free_port(address, option))?;
        reserved_address.can_use_free_port = true;
        Ok(reserved_address)
    }

    /// Reserves a free port on the host of this address.
    fn free_port(address: SocketAddr, option: &'static str) -> anyhow::Result<Self> {
        Self::new(SocketAddr::new(address.ip(), 0), option)
    }

    /// Begins to accept connections. If another process has taken the address first, uses a free
    /// port where [`Self::new_or_free`] allows it.
    pub(super) fn listen(self) -> anyhow::Result<TcpListener> {
        let Self {
            socket,
            address,
            option,
            can_use_free_port,
        } = self;
        match server::listen(socket) {
            Ok(listener) => Ok(listener),
            // Another process that had also bound the address has listened on it first.
            Err(_) if can_use_free_port => Self::free_port(address, option)?.listen(),
            Err(error) => Err(listen_error(error, address, option)),
        }
    }
}

/// Returns the error for an address that cannot be used, with advice for the operator.
fn listen_error(error: io::Error, address: SocketAddr, option: &str) -> anyhow::Error {
    let message = format!("cannot listen on {address}: {error}");
    match error.kind() {
        io::ErrorKind::AddrInUse => anyhow!(
            "{message}; another program, perhaps another petstore, uses this port: stop it, or \
                 set another port with {option}"
        ),
        io::ErrorKind::AddrNotAvailable => anyhow!(
            "{message}; this machine does not have the address: set another address with {option}"
        ),
        io::ErrorKind::PermissionDenied => anyhow!(BadSetting(format!(
            "{message}; ports below 1024 need the capability CAP_NET_BIND_SERVICE: set \
                 another port with {option}"
        ))),
        _ => anyhow!(error).context(format!("cannot listen on {address}")),
    }
}

/// Logs the address of the management listener, if there is one.
pub(super) fn log_address(listener: Option<&TcpListener>) {
    if let Some(address) = listener.and_then(|listener| listener.local_addr().ok()) {
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
