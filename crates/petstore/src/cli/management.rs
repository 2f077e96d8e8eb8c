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

/// Only the tools of operators connect, and their requests are short.
const MAX_CONNECTIONS: usize = 64;
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

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
    /// Reserves the address, if one is configured.
    pub(super) fn bind(&self) -> anyhow::Result<Option<Bound>> {
        let bind = |address| Bound::new(address, "--management-listen");
        self.management_listen.map(bind).transpose()
    }

    /// Records spans and sends them, if a collector is configured.
    pub(super) fn traces(
        &self,
        deployment: Deployment,
        random: &mut impl Rng,
    ) -> anyhow::Result<Option<(Arc<Spans>, Exporter)>> {
        let Some(endpoint) = self.otlp_endpoint.clone() else {
            return Ok(None);
        };
        let variable = |name| env::var(name).unwrap_or_default();
        let (headers, bad_headers) = traces::headers(&variable("OTEL_EXPORTER_OTLP_HEADERS"));
        let name = variable("OTEL_TRACES_SAMPLER");
        let argument = variable("OTEL_TRACES_SAMPLER_ARG");
        let (sampler, bad_values) = Sampler::from_settings(name.trim(), argument.trim());
        for warning in bad_headers.into_iter().chain(bad_values) {
            warn!("{warning}");
        }
        let (spans, exporter) = traces::start(endpoint, headers, sampler, deployment, random)?;
        Ok(Some((Arc::new(spans), exporter)))
    }
}

/// An address that an option sets. No other process gets it, but nothing accepts connections yet.
pub(super) struct Bound {
    socket: TcpSocket,
    address: SocketAddr,
    option: &'static str,
    /// Whether any other port will do.
    or_free: bool,
}

/// Reserves an address, which an option sets.
pub(super) type Bind = fn(SocketAddr, &'static str) -> anyhow::Result<Bound>;

impl Bound {
    pub(super) fn new(address: SocketAddr, option: &'static str) -> anyhow::Result<Self> {
        let socket = explain(server::bind(address), address, option)?;
        Ok(Self {
            socket,
            address,
            option,
            or_free: false,
        })
    }

    /// Returns the same, or a free port if this one is in use.
    pub(super) fn or_free(address: SocketAddr, option: &'static str) -> anyhow::Result<Self> {
        let bound = Self::new(address, option).or_else(|_| Self::free(address, option))?;
        Ok(Self {
            or_free: true,
            ..bound
        })
    }

    fn free(address: SocketAddr, option: &'static str) -> anyhow::Result<Self> {
        Self::new(SocketAddr::new(address.ip(), 0), option)
    }

    /// Accepts connections from now on.
    pub(super) fn listen(self) -> anyhow::Result<TcpListener> {
        let Self {
            socket,
            address,
            option,
            or_free,
        } = self;
        match server::listen(socket) {
            // Another process that had reserved it was faster.
            Err(_) if or_free => Self::free(address, option)?.listen(),
            done => explain(done, address, option),
        }
    }
}

/// Says what to do if an address cannot be used, which this option sets.
fn explain<T>(done: io::Result<T>, address: SocketAddr, option: &str) -> anyhow::Result<T> {
    done.map_err(|error| {
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
    })
}

pub(super) fn log_address(listener: Option<&TcpListener>) {
    if let Some(address) = listener.and_then(|listener| listener.local_addr().ok()) {
        info!("management listener at http://{address}");
    }
}

/// Serves `management`, within the limits of clients, until the sender of `service_ended` is dropped.
pub(super) async fn run(
    listener: Option<TcpListener>,
    management: Arc<Management>,
    limits: &Limits,
    mut service_ended: watch::Receiver<()>,
) {
    let limits = Limits {
        max_connections: MAX_CONNECTIONS,
        max_connections_per_address: MAX_CONNECTIONS,
        shutdown_timeout: SHUTDOWN_TIMEOUT,
        ..limits.clone()
    };
    if let Some(listener) = listener {
        let end = async { drop(service_ended.changed().await) };
        server::serve(listener, None, management, &limits, Box::pin(end)).await;
    }
}
