//! Opening the file: settings, and what to say when it cannot be opened.

use std::{io, path::Path, sync::Arc, thread, time::Duration};

use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, config::DbConfig};
use tracing::error;

use super::{check, file, migrations, page, wal, wal_index::WalIndex};
use crate::store::{OpenError, OpenMode};

/// How long a statement waits for a lock that another process holds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes that the write-ahead log keeps after it was folded into the file.
const WAL_SIZE_LIMIT: i64 = 64 << 20;

/// Opens the connection that writes, and brings the log to the disk and the
/// schema up to date.
pub(super) fn open_for_writing(
    path: &Path,
    mode: OpenMode,
) -> Result<(Connection, WalIndex), OpenError> {
    let shown = path.display().to_string();
    let create = match mode {
        OpenMode::CreateAndMigrate | OpenMode::Create => OpenFlags::SQLITE_OPEN_CREATE,
        OpenMode::AsIs => match path.try_exists() {
            Ok(false) => return Err(OpenError::Absent(shown)),
            _ => OpenFlags::empty(),
        },
    };
    let failed = |error| cannot_open(&shown, error);
    if path.canonicalize().is_ok_and(|path| file::has_lost_log(&path)) {
        error!("{}: {shown}", check::LOST_LOG);
    }
    let mut connection =
        connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | create).map_err(failed)?;
    // SQLite settles for reading where it may not write.
    if connection.is_readonly(MAIN_DB).map_err(failed)? {
        return Err(OpenError::ReadOnly(shown));
    }
    // Before anything is written: a file that is not ours stays as it was.
    let recognised = migrations::recognise(&connection).map_err(failed)?;
    migrations::check(&recognised, mode, &shown)?;
    prepare_patiently(&connection).map_err(failed)?;
    let in_log = |cause| OpenError::Io { path: shown.clone(), cause };
    // SQLite has its log beside the file itself, whatever link leads there.
    let path = path.canonicalize().map_err(|error| in_log(Arc::new(error)))?;
    refuse_if_shared_apart(&path)?;
    let wal_index = WalIndex::open(&path).map_err(|error| in_log(Arc::new(error)))?;
    wal::bring_to_disk(&mut connection, &wal_index, &path)
        .map_err(|error| in_log(Arc::from(error)))?;
    migrations::run(&mut connection, mode, &shown).map_err(failed)?;
    // Another process may have made it meanwhile, one of another release.
    let recognised = migrations::recognise(&connection).map_err(failed)?;
    migrations::check(&recognised, mode, &shown)?;
    match check::glance(&connection).map_err(failed)? {
        None => Ok((connection, wal_index)),
        Some(what) => Err(OpenError::Damaged { path: shown, what }),
    }
}

/// Opens a database that may be damaged, and only reads it: nothing is
/// recovered, checkpointed or migrated. Tells whether its log was lost.
pub(super) fn open_to_check<T>(
    path: &Path,
    look: impl FnOnce(&Connection, bool) -> rusqlite::Result<T>,
) -> Result<T, OpenError> {
    let has_lost_log = path.canonicalize().is_ok_and(|path| file::has_lost_log(&path));
    let connection = open_untouched(path, OpenMode::AsIs)?;
    look(&connection, has_lost_log).map_err(|error| cannot_open(&path.display().to_string(), error))
}

/// Opens a database only to read it, and leaves it as it is. One of an older
/// version will do, unless `mode` says otherwise.
pub(super) fn open_untouched(path: &Path, mode: OpenMode) -> Result<Connection, OpenError> {
    let shown = path.display().to_string();
    if let Ok(false) = path.try_exists() {
        return Err(OpenError::Absent(shown));
    }
    let failed = |error| cannot_open(&shown, error);
    let connection = open_for_reading(path)?;
    let no_fold = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    connection.set_db_config(no_fold, true).map_err(failed)?;
    let recognised = migrations::recognise(&connection).map_err(failed)?;
    migrations::check(&recognised, mode, &shown)?;
    refuse_if_shared_apart(path)?;
    Ok(connection)
}

/// Two processes that have the same database open, but not the same `-shm` file
/// beside it, would overwrite each other's commits. A process that is only now
/// opening the database, or closing it, looks like that for a moment.
#[expect(clippy::disallowed_methods, reason = "nothing tells when the other one is done")]
fn refuse_if_shared_apart(path: &Path) -> Result<(), OpenError> {
    let io_error = |cause: io::Error| OpenError::Io {
        path: path.display().to_string(),
        cause: Arc::new(cause),
    };
    let mut tries = 50;
    while path.canonicalize().and_then(|path| file::is_shared_apart(&path)).map_err(io_error)? {
        tries -= 1;
        if tries == 0 {
            return Err(OpenError::SharedApart(path.display().to_string()));
        }
        thread::sleep(BUSY_TIMEOUT / 250);
    }
    Ok(())
}

/// Changing the journal mode is the one statement that does not wait for a
/// lock. Another process that opens the same new file at this moment holds it
/// only briefly.
#[expect(clippy::disallowed_methods, reason = "nothing tells when the lock is free")]
fn prepare_patiently(connection: &Connection) -> rusqlite::Result<()> {
    let mut tries = 100;
    loop {
        tries -= 1;
        match prepare(connection) {
            Err(error) if tries > 0 && is_busy(&error) => {
                thread::sleep(BUSY_TIMEOUT / 100);
            }
            done => return done,
        }
    }
}

/// Whether another process holds a lock.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    // Readers never wait for the writer (WAL), and a commit returns once the
    // log is on disk (FULL).
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "journal_size_limit", WAL_SIZE_LIMIT)?;
    // None within a commit: the writer runs them (`writer.rs`).
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    open_log(connection)
}

/// SQLite opens the log, by its name, when it first reads: so it does now, while
/// the name is known to lead there.
fn open_log(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_query_value(None, "user_version", |_| Ok(()))
}

/// Opens a connection that reads a database which the writer has prepared.
pub(super) fn open_for_reading(path: &Path) -> Result<Connection, OpenError> {
    let open = || -> rusqlite::Result<Connection> {
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.pragma_update(None, "query_only", true)?;
        page::prepare(&connection)?;
        open_log(&connection)?;
        Ok(connection)
    };
    open().map_err(|error| cannot_open(&path.display().to_string(), error))
}

fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    // Every connection is used by one thread at a time.
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Without it, the bundled build (STAT4) plans a statement anew whenever a
    // bound value changes.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

pub(super) fn cannot_open(path: &str, error: rusqlite::Error) -> OpenError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => OpenError::NotADatabase(path),
        Some(ErrorCode::DatabaseCorrupt) => OpenError::Damaged { path, what: error.to_string() },
        _ => OpenError::Io { path, cause: Arc::new(error) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pragma(connection: &Connection, name: &str) -> i64 {
        connection.pragma_query_value(None, name, |row| row.get(0)).unwrap()
    }

    #[test]
    fn a_commit_waits_for_the_disk_and_a_reader_cannot_write() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("petstore.db");
        let (writing, _) = open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
        assert_eq!(pragma(&writing, "synchronous"), 2, "FULL");
        let reading = open_for_reading(&path).unwrap();
        assert_eq!(pragma(&reading, "query_only"), 1);
        assert!(reading.db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG).unwrap());
    }
}
