//! What runs the operations of a command, and their randomness.

use rand::rngs::StdRng;

/// Runs the operations of a command.
pub(super) fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(work);
    // A host name lookup that takes long must not delay the exit.
    runtime.shutdown_background();
    done
}

/// Randomness for keys and request ids, from the operating system.
#[expect(clippy::disallowed_methods, reason = "the only source of randomness")]
pub(super) fn random() -> StdRng {
    rand::make_rng()
}
