//! Opens the file, with its settings and error messages.

use std::{
    fs::File,
    io,
    path::{self, Path},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use petstore_store::{OpenError, OpenMode};
use petstore_system::owner::{Owner, make_file};
use rusqlite::{ErrorCode, MAIN_DB, OpenFlags, config::DbConfig};
use rustix::fs::{StatVfsMountFlags, statvfs};
use tracing::error;

use super::{
    connection::Connection, file, file_identity, migrations, page, quick_check, wal,
    wal_index::WalIndex,
};

/// How long a statement waits for a lock that another process holds.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How often it looks whether the lock is free, and after how many looks the wait is long.
const LOOK: Duration = Duration::from_millis(1);
const MANY_LOOKS: i32 = 20;

/// The advice about a database in a file system that is read-only.
const READ_ONLY: &str = "the file system is read-only there; name a file in a folder that is writable, or \
     make this one writable (with the package, by ReadWritePaths in the unit)";

/// The size in bytes to which the WAL is truncated after a checkpoint.
const WAL_SIZE_LIMIT: i64 = 64 << 20;

/// Opens the connection that writes. Syncs the WAL to disk and migrates the schema.
pub(super) fn open_for_writing(
    path: &Path,
    mode: OpenMode,
) -> Result<(Connection, WalIndex), OpenError> {
    let shown = path.display().to_string();
    let create = match mode {
        OpenMode::AsIs => match path.try_exists() {
            Ok(false) => return Err(absent(path)),
            _ => OpenFlags::empty(),
        },
        _ => OpenFlags::SQLITE_OPEN_CREATE,
    };
    if file_identity::is_companion(path) && !path.exists() {
        let what = "a file of this name belongs to another database; name another file".to_owned();
        return Err(OpenError::BadSetting { path: shown, what });
    }
    let failed = |error| cannot_open(&shown, error);
    if path
        .canonicalize()
        .is_ok_and(|path| file::has_lost_transactions(&path))
    {
        error!("{}: {shown}", quick_check::LOST_TRANSACTIONS);
    }
    if create == OpenFlags::SQLITE_OPEN_CREATE
        && let owner @ Some(_) = Owner::for_file(path)
        && let Err(error) = make_file(path, owner)
        && error.kind() == io::ErrorKind::PermissionDenied
    {
        return Err(OpenError::Io {
            path: shown,
            cause: Arc::new(error),
        });
    }
    let mut connection =
        connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | create).map_err(failed)?;
    // Without write permission, SQLite opens the file read-only.
    if connection.is_readonly(MAIN_DB).map_err(failed)? {
        return Err(match File::options().write(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {
                OpenError::BadSetting {
                    path: shown,
                    what: READ_ONLY.to_owned(),
                }
            }
            _ => OpenError::ReadOnly(shown),
        });
    }
    // Checked before anything is written, so that a file of another program stays unchanged.
    let recognised = migrations::recognise(&connection).map_err(failed)?;
    migrations::check(&recognised, mode, &shown)?;
    prepare_with_retries(&connection).map_err(failed)?;
    let wal_error = |cause| OpenError::Io {
        path: shown.clone(),
        cause,
    };
    // SQLite keeps the WAL next to the file itself, not next to a link to it.
    let path = path
        .canonicalize()
        .map_err(|error| wal_error(Arc::new(error)))?;
    reject_other_shm_file(&path)?;
    let wal_index = WalIndex::open(&path).map_err(|error| wal_error(Arc::new(error)))?;
    wal::make_durable(&mut connection, &wal_index, &path)
        .map_err(|error| wal_error(Arc::from(error)))?;
    migrations::run(&mut connection, mode, &shown).map_err(failed)?;
    // Another process, perhaps of another release, may have migrated it meanwhile.
    let recognised = migrations::recognise(&connection).map_err(failed)?;
    migrations::check(&recognised, mode, &shown)?;
    match quick_check::quick_check(&connection).map_err(failed)? {
        None => Ok((connection, wal_index)),
        Some(what) => Err(OpenError::Damaged { path: shown, what }),
    }
}

/// Opens a database that may be damaged, read-only: without recovery, checkpoint or migration.
/// Tells `look` whether the WAL lost transactions.
pub(super) fn open_to_check<T>(
    path: &Path,
    look: impl FnOnce(&mut Connection, bool) -> rusqlite::Result<T>,
) -> Result<T, OpenError> {
    let has_lost_transactions = path
        .canonicalize()
        .is_ok_and(|path| file::has_lost_transactions(&path));
    let mut connection = open_untouched(path, OpenMode::AsIs)?;
    look(&mut connection, has_lost_transactions)
        .map_err(|error| cannot_open(&path.display().to_string(), error))
}

/// Opens a database read-only and leaves it unchanged. Accepts an older version, depending on
/// `mode`.
pub(super) fn open_untouched(path: &Path, mode: OpenMode) -> Result<Connection, OpenError> {
    let shown = path.display().to_string();
    if let Ok(false) = path.try_exists() {
        return Err(absent(path));
    }
    let failed = |error| cannot_open(&shown, error);
    let connection = open_for_reading(path)?;
    let no_checkpoint = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    connection
        .set_db_config(no_checkpoint, true)
        .map_err(failed)?;
    let recognised = migrations::recognise(&connection).map_err(failed)?;
    migrations::check(&recognised, mode, &shown)?;
    if recognised == migrations::Recognised::Empty {
        return Err(OpenError::Empty(shown));
    }
    reject_other_shm_file(path)?;
    Ok(connection)
}

/// Rejects a database that another process has open with another `-shm` file: the two processes
/// would overwrite each other's commits. A process that is just opening or closing the database
/// looks the same for a moment, so this attempts again.
#[expect(clippy::disallowed_methods, reason = "there is no event to wait for")]
fn reject_other_shm_file(path: &Path) -> Result<(), OpenError> {
    let io_error = |cause: io::Error| OpenError::Io {
        path: path.display().to_string(),
        cause: Arc::new(cause),
    };
    let mut attempts = 50;
    while path
        .canonicalize()
        .and_then(|path| file::has_other_shm_file(&path))
        .map_err(io_error)?
    {
        attempts -= 1;
        if attempts == 0 {
            return Err(OpenError::OtherShmFile(path.display().to_string()));
        }
        thread::sleep(BUSY_TIMEOUT / 250);
    }
    Ok(())
}

/// Changing the journal mode is the only statement that does not wait for a lock. Another process
/// that opens the same new file holds the lock only briefly.
#[expect(clippy::disallowed_methods, reason = "there is no event to wait for")]
fn prepare_with_retries(connection: &Connection) -> rusqlite::Result<()> {
    let mut attempts = 100;
    loop {
        attempts -= 1;
        match prepare(connection) {
            Err(error) if attempts > 0 && is_busy(&error) => {
                thread::sleep(BUSY_TIMEOUT / 100);
            }
            done => return done,
        }
    }
}

/// Whether another process holds a lock.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    // Readers never wait for the writer (WAL), and a commit returns once the WAL is on disk (FULL).
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "journal_size_limit", WAL_SIZE_LIMIT)?;
    // The writer runs checkpoints itself (`writer.rs`), not within a commit.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    open_wal(connection)
}

/// SQLite opens the WAL by name at the first read. So the first read happens here, while the name
/// is known to be right.
fn open_wal(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_query_value(None, "user_version", |_| Ok(()))
}

/// Opens a connection that reads a database, which the writer has prepared.
pub(super) fn open_for_reading(path: &Path) -> Result<Connection, OpenError> {
    let open = || -> rusqlite::Result<Connection> {
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.pragma_update(None, "query_only", true)?;
        page::prepare(&connection)?;
        open_wal(&connection)?;
        Ok(connection)
    };
    open().map_err(|error| cannot_open(&path.display().to_string(), error))
}

/// Opens a file, without any other setting. What a statement has to put aside stays in memory: a
/// machine can be without a folder for temporary files, and then the statement would fail after it has
/// begun, and SQLite would undo its whole transaction.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the function that all others call"
)]
pub(super) fn open(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = rusqlite::Connection::open_with_flags(path, flags)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(Connection::new(connection))
}

fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    // Only one thread at a time uses a connection.
    let mut connection = open(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    wait_for_locks(&mut connection, BUSY_TIMEOUT, || {})?;
    // The default is fewer than what one connection runs again and again.
    connection.set_prepared_statement_cache_capacity(64);
    // Without this, the bundled build (STAT4) plans a statement again whenever a bound value
    // changes.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

/// Makes statements wait for a lock. SQLite's own wait soon looks only ten times a second, and would
/// rarely find a lock free that a busy service takes again at once. Calls `long_wait` if it takes long.
#[expect(
    clippy::disallowed_methods,
    reason = "there is no event to wait for, and the time is real"
)]
pub(super) fn wait_for_locks(
    connection: &mut Connection,
    limit: Duration,
    long_wait: impl Fn() + Send + 'static,
) -> rusqlite::Result<()> {
    let mut began = Instant::now();
    connection.busy_handler(Some(move |looks| {
        if looks == 0 {
            began = Instant::now();
        }
        if looks == MANY_LOOKS {
            long_wait();
        }
        thread::sleep(LOOK);
        began.elapsed() < limit
    }))
}

/// With its whole path: the wrong folder is a frequent cause.
fn absent(path: &Path) -> OpenError {
    let whole = path::absolute(path);
    OpenError::Absent(whole.as_deref().unwrap_or(path).display().to_string())
}

pub(super) fn cannot_open(path: &str, error: rusqlite::Error) -> OpenError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) => OpenError::BadSetting {
            what: why_not_at(Path::new(&path)),
            path,
        },
        Some(ErrorCode::NotADatabase) => OpenError::NotADatabase(path),
        Some(ErrorCode::DatabaseCorrupt) => OpenError::Damaged {
            path,
            what: error.to_string(),
        },
        _ => OpenError::Io {
            path,
            cause: Arc::new(error),
        },
    }
}

/// Whether the file system of a folder is read-only for this process.
fn is_read_only(folder: &Path) -> bool {
    statvfs(folder).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// Why no database can be opened or created at `path`, of which SQLite says no
/// more than that.
fn why_not_at(path: &Path) -> String {
    if path.is_dir() {
        let file = path.join("petstore.db");
        return format!(
            "it is a folder; name a file in it, such as {}",
            file.display()
        );
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let shown = folder.display();
    match File::options().read(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            "this user has no permission to read and write it; run the command as the user that \
             owns it"
                .to_owned()
        }
        Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => READ_ONLY.to_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !folder.exists() => {
            format!("the folder {shown} does not exist; create it, or name another path")
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => error.to_string(),
        _ if is_read_only(folder) => READ_ONLY.to_owned(),
        // SQLite also creates files next to it.
        _ => format!(
            "no file can be created in the folder {shown}; run the command as a user that may \
             write there, or name another path"
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    use super::*;

    fn pragma(connection: &Connection, name: &str) -> i64 {
        connection
            .pragma_query_value(None, name, |row| row.get(0))
            .unwrap()
    }

    #[test]
    fn a_commit_waits_for_the_disk_and_a_reader_cannot_write() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("petstore.db");
        let (writing, _) = open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
        assert_eq!(pragma(&writing, "synchronous"), 2, "FULL");
        let reading = open_for_reading(&path).unwrap();
        assert_eq!(pragma(&reading, "query_only"), 1);
        assert!(
            reading
                .db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG)
                .unwrap()
        );
    }

    #[test]
    fn no_connection_needs_a_folder_for_temporary_files() {
        const MEMORY: i64 = 2;
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("petstore.db");
        let (writing, _) = open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
        let reading = open_for_reading(&path).unwrap();
        let checking = open_untouched(&path, OpenMode::AsIs).unwrap();
        for connection in [writing, reading, checking] {
            assert_eq!(pragma(&connection, "temp_store"), MEMORY);
        }
    }

    /// Continues to hold the lock for some milliseconds, and takes it again at once.
    const LONG_WRITE: &str = "UPDATE change_log SET epoch = randomblob(16) WHERE 4000 =
            (WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers LIMIT 4000)
            SELECT count(*) FROM numbers);
        COMMIT; BEGIN IMMEDIATE";

    #[test]
    fn a_write_gets_its_turn_while_another_process_takes_the_lock_again_at_once() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("petstore.db");
        let open = || {
            open_for_writing(&path, OpenMode::CreateAndMigrate)
                .unwrap()
                .0
        };
        let busy = open();
        let mut waiting = open();
        // On a machine with much other work, the time that a service waits is not enough.
        wait_for_locks(&mut waiting, 20 * BUSY_TIMEOUT, || {}).unwrap();
        let stop = AtomicBool::new(false);
        let turns: rusqlite::Result<Vec<()>> = thread::scope(|scope| {
            let stop = &stop;
            busy.execute_batch("BEGIN IMMEDIATE").unwrap();
            scope.spawn(move || {
                while !stop.load(Relaxed) {
                    busy.execute_batch(LONG_WRITE).unwrap();
                }
            });
            let turns = (0..5).map(|_| waiting.execute_batch("BEGIN IMMEDIATE; COMMIT"));
            let turns = turns.collect();
            stop.store(true, Relaxed);
            turns
        });
        turns.unwrap();
    }
}
