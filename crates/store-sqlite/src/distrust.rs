//! Reacts to database files that another program has removed, replaced or changed while they are open:
//! logs what happened, and makes the service end unless the file may come back.

use std::mem;

use rusqlite::config::DbConfig;
use tokio::sync::watch;
use tracing::{error, info};

use super::{
    connection::Connection,
    file::{ChangeKind, ExternalChange, Files},
};

/// A receiver for the change that makes a store unusable; its value is `None` until that happens.
pub(super) type EndOfUse = watch::Receiver<Option<ExternalChange>>;

/// The handler for changes of the files by other programs. It reports each change only once.
#[derive(Default)]
pub(super) struct Distrust {
    /// Whether the current change was logged.
    is_reported: bool,
    /// The sender for [`EndOfUse`].
    end: watch::Sender<Option<ExternalChange>>,
}

impl Distrust {
    /// Returns a receiver for the change that makes the store unusable.
    pub(super) fn end_of_use(&self) -> EndOfUse {
        self.end.subscribe()
    }

    /// Handles the change that the last check of `files` has found, if any: logs it once, and makes
    /// the store unusable. But if the database file is missing, the store stays in use: the file
    /// may come back, and until then, only this process can read its content.
    pub(super) fn handle_change(&mut self, connection: &Connection, files: &Files) {
        let Some(change) = files.external_change() else {
            if mem::take(&mut self.is_reported) {
                info!(
                    "{} is back; animals can be added again",
                    files.path().display()
                );
            }
            return;
        };
        if self.end.borrow().is_some() {
            return;
        }

        let loss = Loss::new(change, files);
        if loss != Loss::DatabaseMissing || !self.is_reported {
            let outcome = loss.outcome();
            error!("animals can no longer be added, because {change}. {outcome}");
        }
        self.is_reported = true;
        match loss {
            Loss::DatabaseMissing => return,
            Loss::WalName => {
                // Save the content of the WAL now. The pages that readers still hold back are written
                // when the last connection closes.
                let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
            }
            Loss::Index | Loss::Content => {
                // The WAL must stay as it is, because its content belongs to the original database
                // file. So closing the last connection must not run a checkpoint.
                let no_checkpoint = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
                let _ = connection.set_db_config(no_checkpoint, true);
            }
        }
        self.end.send_replace(Some(change.clone()));
    }
}

/// The damage that a change by another program has done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loss {
    /// The database file was removed, so that only open descriptors lead to it.
    DatabaseMissing,
    /// The name of the WAL is gone, but the open file is complete.
    WalName,
    /// The `-shm` file is gone.
    Index,
    /// Content may be lost.
    Content,
}

impl Loss {
    fn new(change: &ExternalChange, files: &Files) -> Self {
        match change.kind {
            ChangeKind::DatabaseGone if !files.path().exists() => Self::DatabaseMissing,
            ChangeKind::WalGone if files.can_checkpoint() => Self::WalName,
            ChangeKind::IndexGone => Self::Index,
            ChangeKind::DatabaseGone
            | ChangeKind::DatabaseChanged
            | ChangeKind::WalGone
            | ChangeKind::WalChanged => Self::Content,
        }
    }

    /// Returns the sentences that tell the operator the consequences and what to do.
    fn outcome(self) -> &'static str {
        match self {
            Self::DatabaseMissing => {
                "Put the file back before this process ends; otherwise acknowledged animals are lost."
            }
            Self::WalName => {
                "The service ends, and writes all acknowledged animals into the database. Start it \
                 again."
            }
            Self::Index => {
                "The service ends. Nothing is lost. Stop every process that uses the database, then \
                 start again."
            }
            Self::Content => {
                "The service ends. Acknowledged animals may be lost. Copy the remaining files, and \
                 examine the database with `petstore check`, or restore a backup with \
                 `petstore restore --force`."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{file_identity::companion, opening::open_for_writing};
    use petstore_store::OpenMode;

    #[test]
    fn a_wal_without_a_name_is_written_into_the_database_only_if_that_is_still_there() {
        for is_there in [true, false] {
            let directory = tempfile::TempDir::new().unwrap();
            let path = directory.path().join("petstore.db");
            let (connection, wal_index) =
                open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
            let mut files = Files::open(&path, wal_index).unwrap();
            fs::remove_file(companion(&path, "-wal")).unwrap();
            assert_eq!(files.check().unwrap_err().kind, ChangeKind::WalGone);
            if !is_there {
                fs::remove_file(&path).unwrap();
            }
            let mut distrust = Distrust::default();
            distrust.handle_change(&connection, &files);
            assert!(distrust.end_of_use().borrow().is_some());
            let no_checkpoint = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            assert_eq!(connection.db_config(no_checkpoint).unwrap(), !is_there);
        }
    }
}
