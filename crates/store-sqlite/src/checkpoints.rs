//! Checkpoints of the WAL, which copy its content into the database file.

use tracing::warn;

use super::{connection::Connection, file::Files};

/// The checkpoints that the writer runs between commits.
///
/// SQLite's automatic checkpoints are off, because they run inside a commit. They would write to the
/// database file before [`Files::check`] has examined it, and their failure would look like a failed
/// commit.
#[derive(Default)]
pub(super) struct Checkpoints {
    /// Whether the last checkpoint failed, so that a series of failures is reported only once.
    is_failing: bool,
}

impl Checkpoints {
    /// Copies as much of the WAL into the database as is possible without waiting for readers.
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
        // The checkpoint has changed the database file, so record its new state. The check before the
        // next commit reports an error that is ignored here.
        let _ = files.check();
    }
}
