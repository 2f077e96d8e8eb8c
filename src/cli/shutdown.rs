//! How `petstore serve` shuts down.

use std::time::Duration;

use clap::Args;

use super::values;

/// The options for the shutdown.
#[derive(Debug, Args)]
#[command(next_help_heading = "Shutdown")]
pub(super) struct ShutdownArgs {
    /// How long to accept requests after SIGTERM or Ctrl-C while /readyz is 503, so
    /// that load balancers stop sending requests; a second signal ends this delay
    #[arg(
        id = "shutdown_delay",
        long = "shutdown-delay",
        value_name = "DURATION",
        env = "PETSTORE_SHUTDOWN_DELAY",
        default_value = "0s",
        value_parser = values::duration
    )]
    pub(super) delay: Duration,

    /// How long requests in flight may take after the shutdown delay
    #[arg(
        id = "shutdown_timeout",
        long = "shutdown-timeout",
        value_name = "DURATION",
        env = "PETSTORE_SHUTDOWN_TIMEOUT",
        default_value = "10s",
        value_parser = values::duration
    )]
    pub(super) timeout: Duration,
}
