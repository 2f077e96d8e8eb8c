//! Reacts to database files that were removed, replaced or changed while they are open: logs what
//! happened, and saves what only this process can still read.

use std::{
    error::Error,
    fs::{self, File},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, config::DbConfig};
use tracing::{error, info};

use super::{
    check,
    file::{ChangeKind, Files},
    file_identity::companion,
};

/// The maximum number of rescued copies.
const MAX_COPIES: usize = 100;

/// What was already reported and done about the last change.
#[derive(Default)]
pub(super) struct Rescue {
    is_reported: bool,
    is_done: bool,
}

impl Rescue {
    /// Reports once what happened, and saves what can be saved.
    pub(super) fn handle_change(&mut self, connection: &Connection, files: &Files) {
        let Some(change) = files.external_change() else {
            if self.is_reported {
                info!("{} is back; animals can be added again", files.path().display());
                *self = Self::default();
            }
            return;
        };
        if self.is_done {
            return;
        }
        let outcome = match change.kind {
            ChangeKind::DatabaseGone => self.copy(connection, files),
            ChangeKind::WalGone => self.checkpoint(connection, files),
            ChangeKind::WalChanged => cannot_restore(
                "Committed animals that no checkpoint had written into the database are lost.",
            ),
            ChangeKind::DatabaseChanged => {
                cannot_restore("Acknowledged animals that are not in the WAL may be lost.")
            }
            ChangeKind::IndexGone => "All acknowledged animals are in the database and its WAL. \
                 Stop every process that uses the database, then start again."
                .to_owned(),
        };
        if change.kind != ChangeKind::DatabaseGone {
            self.is_done = true;
            // The WAL must stay as it is: its content belongs to the original file.
            let untouched = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            let _ = connection.set_db_config(untouched, true);
        }
        if self.is_done || !self.is_reported {
            error!("animals can no longer be added, because {change}. {outcome}");
        }
        self.is_reported = true;
    }

    /// The WAL has no name any more, and disappears with this process. So a checkpoint writes its
    /// content into the database.
    fn checkpoint(&mut self, connection: &Connection, files: &Files) -> String {
        if !files.can_checkpoint() {
            return self.copy(connection, files);
        }
        let checkpoint = connection.query_row("PRAGMA wal_checkpoint(FULL)", [], |row| {
            Ok(row.get::<_, i64>(0)? == 0 && row.get::<_, i64>(1)? == row.get::<_, i64>(2)?)
        });
        match checkpoint {
            // Otherwise the database was removed as well, right after its WAL.
            Ok(true) if files.has_database() => {
                "All acknowledged animals were written into the database. Restart the service."
                    .to_owned()
            }
            _ => self.copy(connection, files),
        }
    }

    /// Writes everything that was committed into a new file in the same directory. If the directory
    /// is missing, this is tried again later.
    fn copy(&mut self, connection: &Connection, files: &Files) -> String {
        let copied = copy_to_companion(connection, files.path());
        self.is_done = files.path().parent().is_some_and(Path::exists);
        match copied {
            Ok(copy) => format!(
                "All acknowledged animals were copied to {0}. Stop the service, then run: \
                 petstore restore {0} --force --database sqlite:{1}",
                copy.display(),
                files.path().display()
            ),
            Err(error) => format!(
                "The acknowledged animals could not be copied ({error}). Put the file back before \
                 this process exits; otherwise they are lost."
            ),
        }
    }
}

fn cannot_restore(lost: &str) -> String {
    format!(
        "{lost} Stop the service, copy the remaining files, and examine the database with \
         `petstore check`, or restore a backup with `petstore restore`."
    )
}

/// Writes a copy of a database into the same directory, and returns its path.
fn copy_to_companion(
    connection: &Connection,
    database: &Path,
) -> Result<PathBuf, Box<dyn Error + Send + Sync>> {
    let copy = unused_path(database)?;
    fill(connection, &copy).inspect_err(|_| {
        let _ = fs::remove_file(companion(&copy, ".partial"));
    })?;
    Ok(copy)
}

/// The path for a new copy.
fn unused_path(database: &Path) -> io::Result<PathBuf> {
    let paths = (1..=MAX_COPIES).map(|number| companion(database, &format!(".rescued-{number}")));
    for path in paths {
        if !path.try_exists()? {
            return Ok(path);
        }
    }
    Err(io::Error::other("there are too many rescued copies already"))
}

/// Writes a complete and synced copy, or nothing.
fn fill(connection: &Connection, copy: &Path) -> Result<(), Box<dyn Error + Send + Sync>> {
    let partial = companion(copy, ".partial");
    let name = partial.to_str().ok_or(io::Error::from(io::ErrorKind::InvalidFilename))?;
    let folder = copy.parent().ok_or(io::Error::from(io::ErrorKind::NotADirectory))?;
    // SQLite accepts an existing file if it is empty.
    File::options().write(true).create(true).truncate(true).mode(0o600).open(&partial)?;
    connection.execute("VACUUM INTO ?1", [name])?;
    let found = check::all(&Connection::open(&partial)?)?;
    if let Some(problem) = found.problems.into_iter().next() {
        return Err(problem.into());
    }
    File::open(&partial)?.sync_all()?;
    fs::rename(&partial, copy)?;
    Ok(File::open(folder)?.sync_all()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{OpenMode, sqlite::connection::open_for_writing};

    #[test]
    fn a_database_that_is_removed_right_after_its_wal_is_copied_and_not_checkpointed() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("petstore.db");
        let (connection, wal_index) = open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
        let mut files = Files::open(&path, wal_index).unwrap();
        fs::remove_file(companion(&path, "-wal")).unwrap();
        assert_eq!(files.check().unwrap_err().kind, ChangeKind::WalGone);
        fs::remove_file(&path).unwrap();
        Rescue::default().handle_change(&connection, &files);
        assert!(companion(files.path(), ".rescued-1").exists());
    }
}
