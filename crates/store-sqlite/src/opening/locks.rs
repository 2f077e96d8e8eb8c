//! Waits for locks of other processes.

use std::{
    io,
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use petstore_store::OpenError;
use rusqlite::ErrorCode;

use crate::{connection::Connection, files_at_start};

/// The time limit of a statement that waits for a lock of another process.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The pause between two attempts to get a lock.
const LOCK_PAUSE: Duration = Duration::from_millis(1);

/// The number of attempts after which a wait is long.
const ATTEMPTS_OF_LONG_WAIT: i32 = 20;

/// The number of times that [`reject_other_shm_file`] looks at the locks.
const SHM_FILE_ATTEMPTS: u32 = 50;

/// The number of times that [`retry_while_busy`] does its work.
const BUSY_ATTEMPTS: u32 = 100;

/// Makes statements wait for a lock. SQLite's own wait soon looks only ten times a second, and would
/// rarely find a lock free that a busy service takes again at once. Calls `on_long_wait` if it takes
/// long.
#[expect(
    clippy::disallowed_methods,
    reason = "there is no event to wait for, and the time is real"
)]
pub(crate) fn wait_for_locks(
    connection: &mut Connection,
    limit: Duration,
    on_long_wait: impl Fn() + Send + 'static,
) -> rusqlite::Result<()> {
    let mut start = Instant::now();
    connection.busy_handler(Some(move |earlier_attempts| {
        if earlier_attempts == 0 {
            start = Instant::now();
        }
        if earlier_attempts == ATTEMPTS_OF_LONG_WAIT {
            on_long_wait();
        }
        thread::sleep(LOCK_PAUSE);
        start.elapsed() < limit
    }))
}

/// Does work for which SQLite does not wait for a lock, such as a change of the journal mode. Another
/// process that opens the same new file holds the lock only briefly.
#[expect(clippy::disallowed_methods, reason = "there is no event to wait for")]
pub(super) fn retry_while_busy(work: impl Fn() -> rusqlite::Result<()>) -> rusqlite::Result<()> {
    for _ in 1..BUSY_ATTEMPTS {
        match work() {
            Err(error) if is_busy(&error) => thread::sleep(BUSY_TIMEOUT / BUSY_ATTEMPTS),
            result => return result,
        }
    }
    work()
}

/// Whether another process holds a lock.
pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

/// Rejects a database that another process has open with another `-shm` file: the two processes
/// would overwrite each other's commits. A process that is just opening or closing the database
/// looks alike for a moment, so this attempts again.
#[expect(clippy::disallowed_methods, reason = "there is no event to wait for")]
pub(super) fn reject_other_shm_file(path: &Path) -> Result<(), OpenError> {
    for attempt in 1..=SHM_FILE_ATTEMPTS {
        let has_other_file = has_other_shm_file(path).map_err(|error| OpenError::Io {
            path: path.display().to_string(),
            cause: Arc::new(error),
        })?;
        if !has_other_file {
            return Ok(());
        }
        if attempt < SHM_FILE_ATTEMPTS {
            thread::sleep(BUSY_TIMEOUT / 250);
        }
    }
    Err(OpenError::OtherShmFile(path.display().to_string()))
}

fn has_other_shm_file(path: &Path) -> io::Result<bool> {
    files_at_start::has_other_shm_file(&path.canonicalize()?)
}
