//! The store: one connection that writes, and a few that read.

use std::{
    future::pending,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use petstore_observe::metrics::Exposition;
use petstore_store::{Health, OpenError, OpenMode, StoreError};

use super::{
    connection::Connection,
    file::Files,
    file_identity::FileIdentity,
    opening::{self, WritableDatabase},
    readers::{Readers, WaitingWriter},
    slow_reads::SlowReads,
    wal_index::WalIndex,
    writer::Writer,
};

/// The statement that adds an animal for [`try_to_insert`], which is never committed.
const INSERT_TRIAL: &str =
    "INSERT INTO pets (name, category_id, status) VALUES ('trial', 0, 'available')";

/// The store of a service, in one SQLite file.
pub struct SqliteStore {
    // Fields are dropped in this order. The writer comes after all readers, so its connection is the
    // last one that closes, and SQLite then runs a checkpoint.
    /// The connections for reads that take microseconds.
    pub(super) readers: Readers,
    /// The reads of pages with very long names or texts.
    pub(super) large_pages: SlowReads,
    pub(super) searches: SlowReads,
    /// The reads of the log. They are separate so that searches do not delay clients that follow
    /// the log.
    pub(super) followers: SlowReads,
    /// The reads of the public. They are separate so that they delay neither the staff nor
    /// programs.
    pub(super) offers: SlowReads,
    /// The reads that go through the rows of whole tables, mainly to count them.
    pub(super) counts: SlowReads,
    /// The first decisions about batches of commands.
    pub(super) batches: SlowReads,
    /// The number of new and changed animals that are not yet merged into the index of the search. A
    /// search reads them one by one.
    pub(super) unmerged_animals: AtomicU64,
    pub(super) writer: Writer,
    pub(super) wal_path: PathBuf,
    /// The key with which the service computes `ETag` headers.
    pub(super) etag_key: [u8; 32],
}

impl SqliteStore {
    /// Opens the database at `path`. Creates or migrates it if `mode` allows.
    ///
    /// # Errors
    ///
    /// See [`OpenError`]. A failed migration leaves the database unchanged.
    pub fn open(path: &Path, mode: OpenMode) -> Result<Self, OpenError> {
        // A new database has no file yet. If the file cannot be examined, opening it reports the
        // error.
        let former_identity = FileIdentity::read(path).ok();
        let WritableDatabase {
            mut connection,
            wal_index,
        } = opening::open_for_writing(path, mode)?;
        let readers = Readers::open(path, Some(wal_index))?;
        let waiting_writer = readers.waiting_writer();
        let path_text = path.display().to_string();
        announce_long_waits(&mut connection, waiting_writer.clone())
            .map_err(|error| opening::open_error(&path_text, error))?;
        let etag_key =
            read_etag_key(&connection).map_err(|error| opening::open_error(&path_text, error))?;
        let files =
            open_files(path, wal_index, former_identity).map_err(|error| io_error(path, error))?;
        Ok(Self {
            readers,
            large_pages: SlowReads::open(path)?,
            searches: SlowReads::open(path)?,
            followers: SlowReads::open(path)?,
            offers: SlowReads::open(path)?,
            counts: SlowReads::open(path)?,
            batches: SlowReads::open(path)?,
            unmerged_animals: AtomicU64::default(),
            wal_path: files.wal_path().to_owned(),
            writer: Writer::start(connection, files, waiting_writer)
                .map_err(|error| io_error(path, error))?,
            etag_key,
        })
    }
}

/// Makes the connection that writes tell the readers when its wait for a lock becomes long.
fn announce_long_waits(
    connection: &mut Connection,
    waiting_writer: WaitingWriter,
) -> rusqlite::Result<()> {
    opening::wait_for_locks(connection, opening::BUSY_TIMEOUT, move || {
        waiting_writer.start_waiting();
    })
}

/// Reads the key with which the service computes `ETag` headers.
fn read_etag_key(connection: &Connection) -> rusqlite::Result<[u8; 32]> {
    connection.query_row("SELECT key FROM etag_key", [], |row| row.get(0))
}

/// Records the files of the database at `path`. Fails if the database had a `former_identity`
/// before it was opened, and now has another one: a restore may have replaced the database while
/// this process waited for a lock.
fn open_files(
    path: &Path,
    wal_index: WalIndex,
    former_identity: Option<FileIdentity>,
) -> io::Result<Files> {
    let files = Files::open(path, wal_index)?;
    match former_identity {
        Some(identity) if !files.has_identity(identity) => {
            Err(io::Error::other("it was replaced meanwhile"))
        }
        _ => Ok(files),
    }
}

/// Returns the error for a database at `path` whose files cannot be used.
fn io_error(path: &Path, error: io::Error) -> OpenError {
    OpenError::Io {
        path: path.display().to_string(),
        cause: Arc::new(error),
    }
}

#[async_trait]
impl Health for SqliteStore {
    async fn check_ready(&self) -> Result<(), StoreError> {
        self.writer
            .write(|connection| try_to_insert(connection))
            .await
    }

    async fn wait_for_fatal_error(&self) -> StoreError {
        let mut fatal_change = self.writer.fatal_change();
        if let Ok(found_change) = fatal_change.wait_for(Option::is_some).await
            && let Some(change) = found_change.clone()
        {
            return change.into();
        }
        // The writer is gone, because the store is being closed.
        pending().await
    }

    fn expose(&self, exposition: &mut Exposition) {
        self.writer.expose(exposition);
        let wal_size = self.wal_path.metadata().map_or(0, |wal| wal.len());
        exposition.number(
            "petstore_wal_size_bytes",
            "The size of the write-ahead log.",
            wal_size,
        );
        let help = "New and changed animals that a search reads one by one.";
        let unmerged_animals = self.unmerged_animals.load(Ordering::Relaxed);
        exposition.number("petstore_search_unmerged_animals", help, unmerged_animals);
    }
}

/// Adds an animal and rolls that back, as a readiness check. The commit that follows still writes the
/// pages that were changed and restored. So the commit fails if the disk is not writable.
fn try_to_insert(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("SAVEPOINT trial")?;
    connection.execute(INSERT_TRIAL, [])?;
    connection.execute_batch("ROLLBACK TO trial; RELEASE trial")
}
