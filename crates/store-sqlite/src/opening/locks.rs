//! Waits for locks that other processes hold.

use std::{
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use petstore_store::OpenError;
use rusqlite::ErrorCode;

use crate::{connection::Connection, files_at_start::has_other_shm_file};

/// How long a statement waits for a lock of another process.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The pause between two attempts to get a lock.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(1);

/// The number of attempts after which a wait counts as long.
const ATTEMPTS_OF_LONG_WAIT: i32 = 20;

/// The number of times that [`reject_other_shm_file`] checks the locks.
const SHM_FILE_ATTEMPTS: u32 = 50;

/// The pause between two checks of the locks. All checks together take a second.
const SHM_FILE_RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// The number of attempts that [`retry_while_busy`] makes.
const BUSY_ATTEMPTS: u32 = 100;

/// Installs a busy handler, with which statements wait for a lock for up to `limit`. Calls
/// `on_long_wait` once in each wait that becomes long.
///
/// The handler polls the lock every millisecond. SQLite's own handler soon polls only ten times a
/// second, and would rarely get the lock of a busy service, which takes it again at once.
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
        thread::sleep(LOCK_RETRY_INTERVAL);
        start.elapsed() < limit
    }))
}

/// Retries `work` while another process holds a lock. This is for work that does not invoke SQLite's
/// busy handler, such as changing the journal mode. Another process that opens the same new file holds
/// the lock only briefly.
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

/// Whether the error says that another process or connection holds a lock.
pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

/// Rejects a database that another process has open with a different `-shm` file, because the two
/// processes would overwrite each other's commits. For a moment, a process that is just opening or
/// closing the database holds the same locks, so this checks repeatedly before it fails.
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
            thread::sleep(SHM_FILE_RETRY_INTERVAL);
        }
    }
    Err(OpenError::OtherShmFile(path.display().to_string()))
}
