//! Writing the log into the database file.

use rusqlite::Connection;
use tracing::warn;

use super::file::Files;

/// The checkpoints. SQLite would run them itself, within a commit: before anybody
/// has looked whether the database file is still as it was, and a checkpoint that
/// fails would look like a commit that failed.
#[derive(Default)]
pub(super) struct Checkpoints {
    is_failing: bool,
}

impl Checkpoints {
    /// Writes as much of the log into the database as no reader needs there.
    pub(super) fn run(&mut self, connection: &Connection, files: &mut Files) {
        let done = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        if let (Err(error), false) = (&done, self.is_failing) {
            warn!(
                "the checkpoint of {} failed, and the write-ahead log grows until one succeeds: \
                 {error}",
                files.path().display()
            );
        }
        self.is_failing = done.is_err();
        // Notes how the checkpoint left the file.
        let _ = files.check();
    }
}
