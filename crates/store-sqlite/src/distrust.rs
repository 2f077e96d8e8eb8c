//! Distrusts the open database files once another program has removed, replaced or changed one of
//! them. Logs what happened, and makes the service shut down unless the file may come back.

use rusqlite::config::DbConfig;
use tokio::sync::watch;
use tracing::{error, info};

use super::{
    connection::Connection,
    file::{ChangeKind, ExternalChange, Files},
};

/// A receiver for the change that makes the store unusable. Its value is `None` until such a change
/// is found.
pub(super) type FatalChangeReceiver = watch::Receiver<Option<ExternalChange>>;

/// The handler for changes of the files by other programs. It reports each change only once.
#[derive(Default)]
pub(super) struct ExternalChangeHandler {
    /// Whether the change that the last check has found was logged, be it fatal or not.
    is_reported: bool,
    /// The sender of the change that makes the store unusable.
    fatal_change: watch::Sender<Option<ExternalChange>>,
}

impl ExternalChangeHandler {
    /// Returns a receiver for the change that makes the store unusable.
    pub(super) fn fatal_change(&self) -> FatalChangeReceiver {
        self.fatal_change.subscribe()
    }

    /// Handles the change that the last check of `files` has found, if any.
    ///
    /// * A missing database file is only logged, once: it may come back, and until then, only this
    ///   process can read its content.
    /// * Any other change is logged, and sent as the fatal change. After that, this does nothing.
    /// * If there is no change, a file that was missing is back.
    pub(super) fn handle_change(&mut self, connection: &Connection, files: &Files) {
        let Some(change) = files.external_change() else {
            self.report_return(files);
            return;
        };
        let has_fatal_change = self.fatal_change.borrow().is_some();
        if has_fatal_change {
            return;
        }

        let loss = Loss::new(change, files);
        let may_come_back = loss == Loss::DatabaseMissing;
        // Every check finds a missing file again. Any other loss occurs once, perhaps after the
        // file was reported as missing.
        if may_come_back && self.is_reported {
            return;
        }
        let advice = loss.advice();
        error!("animals can no longer be added, because {change}. {advice}");
        self.is_reported = true;
        if !may_come_back {
            loss.protect_wal(connection);
            self.fatal_change.send_replace(Some(change.clone()));
        }
    }

    /// Logs that the missing database file is back, if it was reported as missing.
    fn report_return(&mut self, files: &Files) {
        if self.is_reported {
            info!(
                "{} is back; animals can be added again",
                files.path().display()
            );
        }
        self.is_reported = false;
    }
}

/// What is lost because of a change by another program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loss {
    /// The database file was removed, so that only open descriptors lead to it.
    DatabaseMissing,
    /// The name of the WAL is gone, but the open file is complete.
    WalName,
    /// The `-shm` file, which is the index of the WAL, is gone.
    Index,
    /// Content may be lost.
    Content,
}

impl Loss {
    /// Determines what is lost because of a change.
    fn new(change: &ExternalChange, files: &Files) -> Self {
        match change.kind {
            // A file that cannot be examined, such as in an unreadable folder, counts as missing.
            ChangeKind::DatabaseGone if !files.path().exists() => Self::DatabaseMissing,
            ChangeKind::WalGone if files.can_checkpoint() => Self::WalName,
            ChangeKind::IndexGone => Self::Index,
            ChangeKind::DatabaseGone
            | ChangeKind::DatabaseChanged
            | ChangeKind::WalGone
            | ChangeKind::WalChanged => Self::Content,
        }
    }

    /// Makes sure that the content of the WAL is neither lost, nor written into a file to which it
    /// does not belong.
    fn protect_wal(self, connection: &Connection) {
        match self {
            // If the file comes back, the WAL belongs to it as before.
            Self::DatabaseMissing => {}
            Self::WalName => {
                // Save the content of the WAL now. The result does not matter: pages that cannot be
                // written yet, because of readers or an error, are written when the last connection
                // closes.
                let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
            }
            Self::Index | Self::Content => {
                // The WAL must stay as it is, because its content belongs to the original database
                // file. So closing the last connection must not run a checkpoint.
                let no_checkpoint = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
                // SQLite fails only if it does not know the setting.
                let _ = connection.set_db_config(no_checkpoint, true);
            }
        }
    }

    /// Returns the part of the log message that tells the operator the consequences and what to do.
    fn advice(self) -> &'static str {
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
    use crate::{file_identity::companion_path, opening::open_for_writing};
    use petstore_store::OpenMode;

    #[test]
    fn a_wal_without_a_name_is_written_only_into_a_database_that_is_still_there() {
        for is_there in [true, false] {
            let directory = tempfile::TempDir::new().unwrap();
            let path = directory.path().join("petstore.db");
            let database = open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
            let mut files = Files::open(&path, database.wal_index).unwrap();
            fs::remove_file(companion_path(&path, "-wal")).unwrap();
            assert_eq!(files.check().unwrap_err().kind, ChangeKind::WalGone);
            if !is_there {
                fs::remove_file(&path).unwrap();
            }
            let mut handler = ExternalChangeHandler::default();
            handler.handle_change(&database.connection, &files);
            assert!(handler.fatal_change().borrow().is_some());
            let no_checkpoint = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            let disables_checkpoint = database.connection.db_config(no_checkpoint).unwrap();
            assert_eq!(disables_checkpoint, !is_there);
        }
    }
}
