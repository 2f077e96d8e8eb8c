//! The limit of file sizes (`ulimit -f`). A write beyond it ends the process by SIGXFSZ, unless this
//! signal has a handler. With one, the write fails, as it does on a full disk.

use std::io;

use futures_util::FutureExt;
use rustix::process::{Resource, Signal, getrlimit};
use tokio::{
    runtime::{Builder, Runtime},
    signal::unix::{self, SignalKind, signal},
    task, time,
};
use tracing::error;

/// Pauses between two lines of the log.
const PAUSE: time::Duration = time::Duration::from_mins(1);

/// Whether a write of this process has reached the limit.
pub(super) struct FileSizes {
    runtime: Runtime,
    limit_reached: unix::Signal,
}

impl FileSizes {
    /// From now on until the process ends, a write beyond the limit fails.
    pub(super) fn watch() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let limit_reached = runtime.block_on(async { limit_reached() })?;
        Ok(Self { runtime, limit_reached })
    }

    /// Says why a command failed, if a write has reached the limit.
    pub(super) fn explain(mut self, error: anyhow::Error) -> anyhow::Error {
        let was_reached = self.runtime.block_on(async {
            // The runtime looks for signals in between.
            task::yield_now().await;
            self.limit_reached.recv().now_or_never().is_some()
        });
        if was_reached { error.context(problem()) } else { error }
    }
}

/// Logs that a write has reached the limit, from time to time.
pub(super) async fn log_limit() -> io::Result<()> {
    let mut limit_reached = limit_reached()?;
    while limit_reached.recv().await.is_some() {
        error!("{}", problem());
        time::sleep(PAUSE).await;
    }
    Ok(())
}

fn limit_reached() -> io::Result<unix::Signal> {
    signal(SignalKind::from_raw(Signal::XFSZ.as_raw()))
}

fn problem() -> String {
    let limit = getrlimit(Resource::Fsize).current;
    let allowed = limit.map_or_else(|| "a number of".to_owned(), |bytes| bytes.to_string());
    format!(
        "a file cannot grow beyond {allowed} bytes, the limit of file sizes; raise it (ulimit -f, \
         LimitFSIZE)"
    )
}
