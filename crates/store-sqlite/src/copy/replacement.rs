//! Prepares an existing database for its replacement by a copy.

use std::{
    fs::{File, OpenOptions},
    io,
    path::Path,
    sync::Arc,
    time::Duration,
};

use petstore_store::Cause;
use rusqlite::{MAIN_DB, OpenFlags, config::DbConfig, ffi};
use rustix::{
    fs::{FlockOperation, fcntl_lock},
    io::Errno,
};

use crate::{copy_error::CopyError, errors::is_damage, file_identity::files_of, opening};

/// The database to replace.
pub(super) struct ReplacedDatabase {
    /// The database file. The lock on it lasts until this is dropped.
    pub(super) file: File,
    /// Whether the database is too damaged for a checkpoint, so that it may have companion files.
    pub(super) is_damaged: bool,
}

/// Prepares the database at `path` for its replacement. Returns `None` if the file is missing.
///
/// A checkpoint makes the database a single file, unless it is too damaged for that. A lock keeps other
/// processes out until the result is dropped.
pub(super) fn prepare_replacement(path: &Path) -> Result<Option<ReplacedDatabase>, CopyError> {
    let path_text = path.display().to_string();
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() => return Err(CopyError::NotAFile(path_text)),
        Ok(_) => {}
        // A file that cannot be examined counts as missing. Writing the copy next to it then fails for
        // the same reason, unless the file is a link whose target is unreachable, which is replaced.
        Err(_) => return Ok(None),
    }

    let is_damaged = checkpoint_unless_damaged(path)?;
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .map_err(|error| CopyError::from_write(path, error))?;
    // Every process that has the database open in WAL mode holds a lock that conflicts with this one.
    match fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(ReplacedDatabase { file, is_damaged })),
        Err(Errno::AGAIN | Errno::ACCESS) => Err(CopyError::InUse(path_text)),
        Err(error) => Err(CopyError::from_write(path, error.into())),
    }
}

/// Makes the database a single file by a checkpoint. Returns whether the database is too damaged for
/// that.
///
/// SQLite also reports some failed reads as damage. So after a first report of damage, this reads all
/// files to their end, and fails if that is impossible. Otherwise, a second checkpoint shows whether the
/// database is damaged.
fn checkpoint_unless_damaged(path: &Path) -> Result<bool, CopyError> {
    let mut result = checkpoint(path);
    if result.as_ref().is_err_and(is_damage) {
        read_files(path).map_err(|error| checkpoint_error(path, Arc::new(error)))?;
        result = checkpoint(path);
    }
    match result {
        Ok(()) => Ok(false),
        Err(error) if opening::is_busy(&error) => Err(CopyError::InUse(path.display().to_string())),
        Err(error) if is_damage(&error) => Ok(true),
        // After any other error, such as a full disk, the content of the WAL may be intact, so the
        // database must not be replaced.
        Err(error) => Err(checkpoint_error(path, Arc::new(error))),
    }
}

/// Returns the error for a failed checkpoint of a database that is not known to be damaged.
fn checkpoint_error(path: &Path, cause: Cause) -> CopyError {
    CopyError::Checkpoint {
        path: path.display().to_string(),
        cause,
    }
}

/// Reads all files of a database to their end. Fails at the first read error.
fn read_files(path: &Path) -> io::Result<()> {
    for file_path in files_of(path) {
        let mut file = match File::open(file_path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        io::copy(&mut file, &mut io::sink())?;
    }
    Ok(())
}

/// Writes the WAL into the database and removes the WAL, by switching the database to DELETE mode. Does
/// not wait for locks.
fn checkpoint(path: &Path) -> rusqlite::Result<()> {
    let connection = opening::open_connection(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // Without write permission, SQLite opens the file read-only.
    if connection.is_readonly(MAIN_DB)? {
        return Err(sqlite_error(ffi::SQLITE_READONLY));
    }
    connection.busy_timeout(Duration::ZERO)?;
    // After a failure here, closing must not run a partial checkpoint.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get(0))?;
    // SQLite returns the mode that is now in effect, which is still `wal` if the switch failed.
    if mode == "delete" {
        Ok(())
    } else {
        Err(sqlite_error(ffi::SQLITE_IOERR))
    }
}

/// Returns an error with a result code of SQLite, without a message.
fn sqlite_error(code: i32) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
}
