//! Reacts to database files that were removed, replaced or changed while they are open: says what
//! happened, and ends the use of the store.

use std::mem;

use rusqlite::config::DbConfig;
use tokio::sync::watch;
use tracing::{error, info};

use super::{
    connection::Connection,
    file::{ChangeKind, ExternalChange, Files},
};

/// Why the use of a store has ended; `None` until it has.
pub(super) type Ended = watch::Receiver<Option<ExternalChange>>;

/// The messages and steps about the last change so far.
#[derive(Default)]
pub(super) struct Distrust {
    is_reported: bool,
    ended: watch::Sender<Option<ExternalChange>>,
}

impl Distrust {
    pub(super) fn ended(&self) -> Ended {
        self.ended.subscribe()
    }

    /// Says once what happened. The store ends, unless the database file is missing: it may come
    /// back, and until then only this process can read what is in it.
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
        if self.ended.borrow().is_some() {
            return;
        }
        let is_missing = change.kind == ChangeKind::DatabaseGone && !files.path().exists();
        let is_whole = change.kind == ChangeKind::WalGone && files.can_checkpoint();
        let outcome = match change.kind {
            _ if is_missing => {
                "Put the file back before this process ends; otherwise acknowledged animals are lost."
            }
            _ if is_whole => {
                "The service ends, and writes all acknowledged animals into the database. Start it \
                 again."
            }
            ChangeKind::IndexGone => {
                "The service ends. Nothing is lost. Stop every process that uses the database, then \
                 start again."
            }
            _ => {
                "The service ends. Acknowledged animals may be lost. Copy the remaining files, and \
                 examine the database with `petstore check`, or restore a backup with \
                 `petstore restore --force`."
            }
        };
        if !is_missing || !self.is_reported {
            error!("animals can no longer be added, because {change}. {outcome}");
        }
        self.is_reported = true;
        if is_missing {
            return;
        }
        if is_whole {
            // What readers hold back now, the last connection writes when it closes.
            let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        } else {
            // The WAL must stay as it is: its content belongs to the original file.
            let untouched = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            let _ = connection.set_db_config(untouched, true);
        }
        self.ended.send_replace(Some(change.clone()));
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
            assert!(distrust.ended().borrow().is_some());
            let untouched = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            assert_eq!(connection.db_config(untouched).unwrap(), !is_there);
        }
    }
}
