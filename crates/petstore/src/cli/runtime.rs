//! Access to the system: a runtime for asynchronous operations, randomness, signals, notifications
//! of systemd, and the detection of writes beyond the limit of file sizes.

use std::{
    env,
    ffi::OsStr,
    io,
    os::{
        linux::net::SocketAddrExt,
        unix::{
            ffi::OsStrExt,
            net::{SocketAddr, UnixDatagram},
        },
    },
    sync::mpsc,
    time::Duration,
};

use futures_util::{
    FutureExt,
    future::{LocalBoxFuture, select_all},
};
use rand::rngs::StdRng;
use rustix::process::{Resource, Signal, getrlimit};
use tokio::{
    runtime::{Builder, Runtime},
    signal::unix::{self, SignalKind, signal},
    task, time,
};
use tracing::{error, warn};

/// The minimum time between two log lines about the limit of file sizes.
const LIMIT_LOG_INTERVAL: Duration = Duration::from_mins(1);

/// Runs the asynchronous work of a command to completion.
pub(super) fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    // Boxed, so that `Runtime::block_on` is compiled once and not for each command.
    let work: LocalBoxFuture<'_, _> = Box::pin(work);
    let result = runtime.block_on(work);
    // A slow host name lookup must not delay the exit.
    runtime.shutdown_background();
    result
}

/// A runtime on a thread of its own, for blocking code that waits for asynchronous work. Even code
/// that runs within another runtime can wait on it.
pub(super) struct BlockingRuntime(Runtime);

impl BlockingRuntime {
    /// Starts the runtime and its thread.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(
            Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()?,
        ))
    }

    /// Runs `work` on the runtime, and blocks the calling thread until it completes.
    pub(super) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = io::Result<T>> + Send + 'static,
    ) -> io::Result<T> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.0.spawn(async move { sender.send(work.await) });
        match receiver.recv() {
            Ok(result) => result,
            // The work has panicked, so the sender was dropped without a result.
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

/// Returns a random number generator for keys and request ids, with a seed from the operating
/// system.
#[expect(clippy::disallowed_methods, reason = "the only source of randomness")]
pub(super) fn random() -> StdRng {
    rand::make_rng()
}

/// Notifies systemd of the `state` of the service, such as `READY=1` (`Type=notify`,
/// `sd_notify(3)`). Sends it as a datagram to the socket that the variable `NOTIFY_SOCKET` names.
/// Does nothing if the variable is not set.
pub(super) async fn notify(state: &str) {
    let Some(socket) = env::var_os("NOTIFY_SOCKET") else {
        return;
    };
    if let Err(error) = send_datagram(&socket, state).await {
        warn!(cause = %error, "cannot send {state} to NOTIFY_SOCKET");
    }
}

/// Sends a datagram to a Unix socket. If the name of the socket begins with `@`, it is an abstract
/// socket, and otherwise it is a path.
async fn send_datagram(socket_name: &OsStr, content: &str) -> io::Result<()> {
    let address = match socket_name.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(socket_name)?,
    };
    let socket = UnixDatagram::unbound()?;
    socket.connect_addr(&address)?;
    socket.set_nonblocking(true)?;
    tokio::net::UnixDatagram::from_std(socket)?
        .send(content.as_bytes())
        .await?;
    Ok(())
}

/// The signals that end a service. If a signal arrives while nothing waits, the next wait gets it.
#[derive(Debug)]
pub(super) struct EndSignals(Vec<unix::Signal>);

impl EndSignals {
    /// Watches these kinds of signals. Must be called within a runtime.
    pub(super) fn watch(kinds: &[SignalKind]) -> io::Result<Self> {
        let mut signals = Vec::new();
        for &kind in kinds {
            signals.push(signal(kind)?);
        }
        Ok(Self(signals))
    }

    /// Watches SIGTERM and SIGINT, the signals that end a service. Must be called within a runtime.
    pub(super) fn for_service() -> io::Result<Self> {
        Self::watch(&[SignalKind::terminate(), SignalKind::interrupt()])
    }

    /// Waits for the next signal of any kind.
    pub(super) async fn next(&mut self) {
        select_all(self.0.iter_mut().map(|signal| signal.recv().boxed())).await;
    }
}

/// A watch for writes of this process beyond the limit of file sizes (`ulimit -f`).
///
/// Without a handler for SIGXFSZ, such a write kills the process. With a handler, the write fails,
/// as it would on a full disk.
pub(super) struct FileSizeWatch {
    runtime: Runtime,
    /// The pending signals of writes beyond the limit.
    signals: unix::Signal,
}

impl FileSizeWatch {
    /// Starts the watch. From now on until the process ends, a write beyond the limit fails.
    pub(super) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let signals = runtime.block_on(async { watch_limit_signals() })?;
        Ok(Self { runtime, signals })
    }

    /// Adds the limit of file sizes to the error of a failed command, if a write went beyond the
    /// limit.
    pub(super) fn explain(mut self, error: anyhow::Error) -> anyhow::Error {
        let has_reached_limit = self.runtime.block_on(async {
            // Yields to the runtime once, so that it delivers a pending signal.
            task::yield_now().await;
            self.signals.recv().now_or_never().is_some()
        });
        if has_reached_limit {
            error.context(limit_message())
        } else {
            error
        }
    }
}

/// Logs when writes go beyond the limit of file sizes, at most once a minute.
pub(super) async fn log_file_size_limit() -> io::Result<()> {
    let mut signals = watch_limit_signals()?;
    while signals.recv().await.is_some() {
        error!("{}", limit_message());
        time::sleep(LIMIT_LOG_INTERVAL).await;
    }
    Ok(())
}

/// Watches the signals of writes beyond the limit of file sizes. Must be called within a runtime.
fn watch_limit_signals() -> io::Result<unix::Signal> {
    signal(SignalKind::from_raw(Signal::XFSZ.as_raw()))
}

/// Returns the message about a write beyond the limit of file sizes.
fn limit_message() -> String {
    let limit = match getrlimit(Resource::Fsize).current {
        Some(bytes) => bytes.to_string(),
        // The limit was removed after the write.
        None => "a number of".to_owned(),
    };
    format!(
        "a file cannot grow beyond {limit} bytes, the limit of file sizes; raise it (ulimit -f, \
         LimitFSIZE)"
    )
}
