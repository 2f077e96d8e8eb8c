//! The runtime for the operations of a command, and their randomness.

use std::{io, sync::mpsc};

use rand::rngs::StdRng;
use tokio::runtime::{Builder, Runtime};

/// Runs the operations of a command.
pub(super) fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(work);
    // A host name lookup that takes long must not delay the exit.
    runtime.shutdown_background();
    done
}

/// Runs operations for code that blocks, also within another runtime.
pub(super) struct Waiting(Runtime);

impl Waiting {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(Builder::new_multi_thread().worker_threads(1).enable_all().build()?))
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
