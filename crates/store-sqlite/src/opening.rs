//! Opens connections to the file, with the settings that each kind of connection needs.

mod errors;
mod locks;

use std::{io, path::Path, sync::Arc};

use petstore_store::{Cause, OpenError, OpenMode};
use petstore_system::owner::{FileOwner, create_file};
use rusqlite::{MAIN_DB, OpenFlags, config::DbConfig};
use tracing::error;

pub(super) use self::{
    errors::open_error,
    locks::{BUSY_TIMEOUT, is_busy, wait_for_locks},
};
use self::{
    errors::{missing_error, read_only_error},
    locks::{reject_other_shm_file, retry_while_busy},
};
use super::{
    connection::Connection, file_identity, files_at_start, migrations, page, quick_check, wal,
    wal_index::WalIndex,
};

/// The size in bytes to which the WAL is truncated after a checkpoint.
const WAL_SIZE_LIMIT: i64 = 64 << 20;

/// The number of prepared statements that a connection keeps. The default is smaller than the number of
/// statements that a connection reuses.
const STATEMENT_CACHE_CAPACITY: usize = 64;

/// A database that was opened for writing.
pub(super) struct WritableDatabase {
    pub(super) connection: Connection,
    /// The memory through which processes coordinate their use of the WAL.
    pub(super) wal_index: WalIndex,
}

/// A database that was opened for a check, and may be damaged.
pub(super) struct CheckedDatabase {
    pub(super) connection: Connection,
    /// Whether the WAL lacks transactions that were committed to it.
    pub(super) has_lost_transactions: bool,
}

/// Opens the connection that writes. Makes the WAL durable, migrates the schema if `mode` allows, and
/// checks a few pages.
pub(super) fn open_for_writing(path: &Path, mode: OpenMode) -> Result<WritableDatabase, OpenError> {
    let path_text = path.display().to_string();
    reject_unusable_path(path, mode)?;
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    if mode != OpenMode::AsIs {
        create_file_if_root(path)?;
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    if files_at_start::has_lost_transactions(path) {
        // To refuse the database would not bring the transactions back, so only report the loss.
        error!("{}: {path_text}", quick_check::LOST_TRANSACTIONS);
    }
    let to_open_error = |error| open_error(&path_text, error);
    let mut connection = connect(path, flags).map_err(to_open_error)?;
    // Without write permission, SQLite opens the file read-only.
    if connection.is_readonly(MAIN_DB).map_err(to_open_error)? {
        return Err(read_only_error(path));
    }

    // Check before anything is written, so that a file of another program stays unchanged.
    read_usable_kind(&connection, mode, &path_text)?;
    retry_while_busy(|| set_up_wal(&connection)).map_err(to_open_error)?;
    let wal_index = make_wal_durable(&mut connection, path)?;
    migrations::run(&mut connection, mode, &path_text).map_err(to_open_error)?;
    // Check again: another process, perhaps of another release, may have migrated the file in the
    // meantime.
    read_usable_kind(&connection, mode, &path_text)?;

    if let Some(what) = quick_check::quick_check(&connection).map_err(to_open_error)? {
        return Err(OpenError::Damaged {
            path: path_text,
            what,
        });
    }
    Ok(WritableDatabase {
        connection,
        wal_index,
    })
}

/// Rejects a missing file, unless `mode` allows its creation. Even then, rejects a new file with
/// the name of a companion file, such as `petstore.db-wal`.
fn reject_unusable_path(path: &Path, mode: OpenMode) -> Result<(), OpenError> {
    if mode == OpenMode::AsIs
        && let Ok(false) = path.try_exists()
    {
        return Err(missing_error(path));
    }
    if file_identity::is_companion(path) && !path.exists() {
        return Err(OpenError::BadSetting {
            path: path.display().to_string(),
            what: "a file of this name belongs to another database; name another file".to_owned(),
        });
    }
    Ok(())
}

/// Creates a missing file if this process runs as root, so that the file belongs to the owner of its
/// folder. SQLite would create a file of root, which the service could not open.
fn create_file_if_root(path: &Path) -> Result<(), OpenError> {
    let Some(owner) = FileOwner::for_file(path) else {
        return Ok(());
    };
    match create_file(path, Some(owner)) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(OpenError::Io {
            path: path.display().to_string(),
            cause: Arc::new(error),
        }),
        // The file may exist already, and SQLite reports any other error itself.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Reads the kind of a database. Fails if the database cannot be used in this mode
/// ([`migrations::reject_unusable`]).
fn read_usable_kind(
    connection: &Connection,
    mode: OpenMode,
    path: &str,
) -> Result<migrations::DatabaseKind, OpenError> {
    let kind = migrations::read_kind(connection).map_err(|error| open_error(path, error))?;
    migrations::reject_unusable(&kind, mode, path)?;
    Ok(kind)
}

/// Makes sure that the content of the WAL is on disk. Returns the index of the WAL. Rejects a database
/// that another process has open with a different `-shm` file.
fn make_wal_durable(connection: &mut Connection, path: &Path) -> Result<WalIndex, OpenError> {
    let wal_error = |cause: Cause| OpenError::Io {
        path: path.display().to_string(),
        cause,
    };
    // SQLite keeps the WAL next to the file itself, not next to a link to it.
    let real_path = path
        .canonicalize()
        .map_err(|error| wal_error(Arc::new(error)))?;
    reject_other_shm_file(&real_path)?;
    let wal_index = WalIndex::open(&real_path).map_err(|error| wal_error(Arc::new(error)))?;
    wal::make_durable(connection, &wal_index, &real_path)
        .map_err(|error| wal_error(Arc::from(error)))?;
    Ok(wal_index)
}

/// Opens a database that may be damaged, to check it. Leaves the database unchanged: runs no checkpoint
/// and no migration.
pub(super) fn open_to_check(path: &Path) -> Result<CheckedDatabase, OpenError> {
    // Must come first: opening the database may rewrite the `-shm` file, which tells what the WAL has
    // lost.
    let has_lost_transactions = files_at_start::has_lost_transactions(path);
    Ok(CheckedDatabase {
        connection: open_read_only(path, OpenMode::AsIs)?,
        has_lost_transactions,
    })
}

/// Opens a database read-only, and leaves it unchanged even when the connection is closed. Rejects an
/// empty database. Accepts an older version if `mode` may migrate, although this does not migrate.
pub(super) fn open_read_only(path: &Path, mode: OpenMode) -> Result<Connection, OpenError> {
    let path_text = path.display().to_string();
    if let Ok(false) = path.try_exists() {
        return Err(missing_error(path));
    }
    let connection = open_for_reading(path)?;
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .map_err(|error| open_error(&path_text, error))?;
    let kind = read_usable_kind(&connection, mode, &path_text)?;
    if kind == migrations::DatabaseKind::Empty {
        return Err(OpenError::Empty(path_text));
    }
    reject_other_shm_file(path)?;
    Ok(connection)
}

/// Turns on WAL mode, and applies the settings of the connection that writes.
fn set_up_wal(connection: &Connection) -> rusqlite::Result<()> {
    // Readers never wait for the writer (WAL), and a commit returns once the WAL is on disk (FULL).
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "journal_size_limit", WAL_SIZE_LIMIT)?;
    // The writer thread runs checkpoints itself (`checkpoints.rs`), outside of commits.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    open_wal(connection)
}

/// Makes SQLite open the WAL. SQLite opens the WAL by its name at the first read of a connection,
/// so this reads while that name certainly leads to the right file.
fn open_wal(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_query_value(None, "user_version", |_| Ok(()))
}

/// Opens a connection that only reads, to a database that [`open_for_writing`] has prepared.
pub(super) fn open_for_reading(path: &Path) -> Result<Connection, OpenError> {
    connect_for_reading(path).map_err(|error| open_error(&path.display().to_string(), error))
}

/// Opens a connection that only reads, and registers the function with which it reads pages.
fn connect_for_reading(path: &Path) -> rusqlite::Result<Connection> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.pragma_update(None, "query_only", true)?;
    page::register_function(&connection)?;
    open_wal(&connection)?;
    Ok(connection)
}

/// Opens a connection with a single setting: temporary data stays in memory. On a machine without a
/// folder for temporary files, a statement that needs such a file would fail midway, and SQLite would
/// roll back its whole transaction.
#[expect(
    clippy::disallowed_methods,
    reason = "every other function opens connections through this one"
)]
pub(super) fn open_connection(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = rusqlite::Connection::open_with_flags(path, flags)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(Connection::new(connection))
}

/// Opens a connection with the settings that all connections of a store share.
fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    // Only one thread at a time uses a connection.
    let mut connection = open_connection(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    let ignore_long_wait = || {};
    wait_for_locks(&mut connection, BUSY_TIMEOUT, ignore_long_wait)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_CAPACITY);
    // Turn on the query planner stability guarantee. Without it, the bundled build of SQLite (STAT4)
    // plans a statement again whenever a bound value changes.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicBool, Ordering::Relaxed},
        thread,
    };

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
        let writing = open_for_writing(&path, OpenMode::CreateAndMigrate)
            .unwrap()
            .connection;
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
        let writing = open_for_writing(&path, OpenMode::CreateAndMigrate)
            .unwrap()
            .connection;
        let reading = open_for_reading(&path).unwrap();
        let checking = open_read_only(&path, OpenMode::AsIs).unwrap();
        for connection in [writing, reading, checking] {
            assert_eq!(pragma(&connection, "temp_store"), MEMORY);
        }
    }

    /// The statements that hold the lock for some more milliseconds, and take it again at once.
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
                .connection
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
            let attempts = (0..5).map(|_| waiting.execute_batch("BEGIN IMMEDIATE; COMMIT"));
            let turns = attempts.collect();
            stop.store(true, Relaxed);
            turns
        });
        turns.unwrap();
    }
}
