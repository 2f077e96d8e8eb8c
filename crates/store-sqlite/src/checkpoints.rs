//! Checkpoints of the WAL.

use tracing::warn;

use super::{connection::Connection, file::Files};

/// The checkpoints of the writer. SQLite's own checkpoints would run within a commit: before the check of
/// the database file, and a failed checkpoint would look like a failed commit.
#[derive(Default)]
pub(super) struct Checkpoints {
    is_failing: bool,
}

impl Checkpoints {
    /// Copies as much of the WAL into the database as readers allow.
    pub(super) fn run(&mut self, connection: &Connection, files: &mut Files) {
        let result = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        if let Err(error) = &result
            && !self.is_failing
        {
            warn!(
                "the checkpoint of {} failed, and the write-ahead log grows until one succeeds: \
                 {error}",
                files.path().display()
            );
        }
        self.is_failing = result.is_err();
        // Records the state of the file after the checkpoint.
        let _ = files.check();
    }
}
