//! A process and the system: the runtime for the operations of a command, their randomness,
//! the reports to systemd, and the limit of file sizes.

use std::{
    env,
    ffi::OsString,
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

/// Runs the operations of a command.
pub(super) fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    // Boxed, so that the runtime is compiled once for all commands.
    let work: LocalBoxFuture<'_, _> = Box::pin(work);
    let result = runtime.block_on(work);
    // A host name lookup that takes long must not delay the exit.
    runtime.shutdown_background();
    result
}

/// Runs operations for code that blocks, also within another runtime.
pub(super) struct Waiting(Runtime);

impl Waiting {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(
            Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()?,
        ))
    }

    /// Waits for an operation.
    pub(super) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = io::Result<T>> + Send + 'static,
    ) -> io::Result<T> {
        let (done, result) = mpsc::sync_channel(1);
        self.0.spawn(async move { done.send(work.await) });
        result.recv().map_err(io::Error::other)?
    }
}

/// Randomness for keys and request ids, from the operating system.
#[expect(clippy::disallowed_methods, reason = "the only source of randomness")]
pub(super) fn random() -> StdRng {
    rand::make_rng()
}

/// Sends the `state` of the service, such as `READY=1`, to systemd (`Type=notify`, `sd_notify(3)`), in
/// one datagram to the socket that `NOTIFY_SOCKET` names. Does nothing without it.
pub(super) async fn notify(state: &str) {
    let Some(socket) = env::var_os("NOTIFY_SOCKET") else {
        return;
    };
    if let Err(error) = send(&socket, state).await {
        warn!(cause = %error, "cannot send {state} to NOTIFY_SOCKET");
    }
}

async fn send(socket: &OsString, state: &str) -> io::Result<()> {
    let address = match socket.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(socket)?,
    };
    let socket = UnixDatagram::unbound()?;
    socket.connect_addr(&address)?;
    socket.set_nonblocking(true)?;
    tokio::net::UnixDatagram::from_std(socket)?
        .send(state.as_bytes())
        .await?;
    Ok(())
}

/// The signals that end a service. One that comes before anybody waits for it is not lost.
#[derive(Debug)]
pub(super) struct EndSignals(Vec<unix::Signal>);

impl EndSignals {
    /// Needs a runtime.
    pub(super) fn watch(kinds: &[SignalKind]) -> io::Result<Self> {
        kinds
            .iter()
            .map(|kind| signal(*kind))
            .collect::<io::Result<_>>()
            .map(Self)
    }

    /// Watches the signals that end a service. Needs a runtime.
    pub(super) fn of_service() -> io::Result<Self> {
        Self::watch(&[SignalKind::terminate(), SignalKind::interrupt()])
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) {
        select_all(self.0.iter_mut().map(|signal| signal.recv().boxed())).await;
    }
}

/// Pauses between two lines of the log.
const PAUSE: Duration = Duration::from_mins(1);

/// Whether a write of this process has reached the limit of file sizes (`ulimit -f`). Such a write ends
/// the process by SIGXFSZ, unless this signal has a handler. With one, it fails, as on a full disk.
pub(super) struct FileSizes {
    runtime: Runtime,
    /// The signals of writes that reached the limit.
    signals: unix::Signal,
}

impl FileSizes {
    /// From now on until the process ends, a write beyond the limit fails.
    pub(super) fn watch() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let signals = runtime.block_on(async { limit_signals() })?;
        Ok(Self { runtime, signals })
    }

    /// Says why a command failed, if a write has reached the limit.
    pub(super) fn explain(mut self, error: anyhow::Error) -> anyhow::Error {
        let was_limit_reached = self.runtime.block_on(async {
            // One turn of the runtime, so that it delivers a pending signal.
            task::yield_now().await;
            self.signals.recv().now_or_never().is_some()
        });
        if was_limit_reached {
            error.context(limit_message())
        } else {
            error
        }
    }
}

/// Logs that a write has reached the limit, from time to time.
pub(super) async fn log_limit() -> io::Result<()> {
    let mut signals = limit_signals()?;
    while signals.recv().await.is_some() {
        error!("{}", limit_message());
        time::sleep(PAUSE).await;
    }
    Ok(())
}

/// Watches the signals of writes that reach the limit of file sizes. Needs a runtime.
fn limit_signals() -> io::Result<unix::Signal> {
    signal(SignalKind::from_raw(Signal::XFSZ.as_raw()))
}

/// Returns the message about the limit of file sizes.
fn limit_message() -> String {
    let limit = getrlimit(Resource::Fsize).current;
    let limit_text = limit.map_or_else(|| "a number of".to_owned(), |bytes| bytes.to_string());
    format!(
        "a file cannot grow beyond {limit_text} bytes, the limit of file sizes; raise it (ulimit -f, \
         LimitFSIZE)"
    )
}
