//! The management listener of `petstore serve`.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context;
use clap::Args;
use tokio::net::TcpListener;
use tracing::info;

use crate::{
    http::Management,
    server::{self, Limits},
};

/// Few look at it, and nobody needs long.
const MAX_CONNECTIONS: usize = 64;
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// How operators watch the service.
#[derive(Debug, Args)]
pub(super) struct ManagementArgs {
    /// Where to answer /livez, /readyz and /metrics, without a key; nowhere if
    /// not given. Take a private address
    #[arg(long, value_name = "ADDRESS", env = "PETSTORE_MANAGEMENT_LISTEN")]
    management_listen: Option<SocketAddr>,
}

impl ManagementArgs {
    /// Listens, if it was asked for.
    pub(super) fn listen(&self) -> anyhow::Result<Option<TcpListener>> {
        let Some(address) = self.management_listen else {
            return Ok(None);
        };
        let listener =
            server::listen(address).with_context(|| format!("cannot listen on {address}"))?;
        Ok(Some(listener))
    }
}

/// Says where the service is managed.
pub(super) fn welcome(listener: Option<&TcpListener>) {
    if let Some(address) = listener.and_then(|listener| listener.local_addr().ok()) {
        info!("managed at http://{address}");
    }
}

/// Serves `management` until `stop` completes, within the limits of clients.
pub(super) async fn serve(
    listener: Option<TcpListener>,
    management: Arc<Management>,
    limits: &Limits,
    stop: impl Future<Output = ()>,
) {
    let Some(listener) = listener else {
        return;
    };
    let limits = Limits {
        max_connections: MAX_CONNECTIONS,
        max_connections_per_address: MAX_CONNECTIONS,
        shutdown_timeout: SHUTDOWN_TIMEOUT,
        ..limits.clone()
    };
    server::serve(listener, None, management, &limits, stop).await;
}
