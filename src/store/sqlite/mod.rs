//! The embedded store: one SQLite file, with one connection that writes and a few that read.
//!
//! Reads run on the calling thread: a usual page takes microseconds, less than passing it to
//! another thread. Writes go to the writer, whose own thread waits for the disk.

mod check;
mod checkpoints;
mod connection;
mod copy;
mod file;
mod keys;
mod load;
mod log;
mod migrations;
mod page;
mod pets;
mod readers;
mod requests;
mod rescue;
mod slow_reads;
mod snapshot;
mod staff;
mod store_area;
mod wal;
mod wal_index;
mod webhooks;
mod writer;
mod writer_metrics;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use async_trait::async_trait;

pub(crate) use self::copy::{Copied, CopyError, copy};
use self::{file::Files, readers::Readers, slow_reads::SlowReads, writer::Writer};
pub use self::{load::SqliteLoad, snapshot::SqliteSnapshot};
use super::{Checkup, Health, OpenError, OpenMode, StoreError};
use crate::observe::metrics::Exposition;

/// A catalogue in one SQLite file.
pub struct SqliteStore {
    // Fields are dropped in this order, so that the writer's connection closes last and runs a
    // checkpoint.
    readers: Readers,
    large_pages: SlowReads,
    searches: SlowReads,
    counts: SlowReads,
    unmerged: AtomicU64,
    writer: Writer,
    wal: PathBuf,
    etag_key: [u8; 32],
}

impl SqliteStore {
    /// Opens the file at `path`.
    ///
    /// # Errors
    ///
    /// See [`OpenError`]. After an error, nothing was changed.
    pub fn open(path: &Path, mode: OpenMode) -> Result<Self, OpenError> {
        let before = file::device_and_inode(path).ok();
        let (mut writing, wal_index) = connection::open_for_writing(path, mode)?;
        let readers = Readers::open(path, Some(wal_index))?;
        let (waits, waiting_writer) = (readers.waiting_writer(), readers.waiting_writer());
        connection::wait_for_locks(&mut writing, connection::BUSY_TIMEOUT, move || waits.begin())
            .map_err(|error| connection::cannot_open(&path.display().to_string(), error))?;
        let slow_reads = || SlowReads::open(path);
        let (large_pages, searches, counts) = (slow_reads()?, slow_reads()?, slow_reads()?);
        let key = writing.query_row("SELECT key FROM etag_key", [], |row| row.get(0));
        let etag_key =
            key.map_err(|error| connection::cannot_open(&path.display().to_string(), error))?;
        let in_file =
            |cause| OpenError::Io { path: path.display().to_string(), cause: Arc::new(cause) };
        let files = Files::open(path, wal_index).map_err(in_file)?;
        // A restore may have replaced the file while this waited for it.
        if before.is_some_and(|before| !files.is(before)) {
            return Err(in_file(io::Error::other("it was replaced meanwhile")));
        }
        let wal = files.wal().to_owned();
        let writer = Writer::start(writing, files, waiting_writer).map_err(in_file)?;
        Ok(Self {
            readers,
            large_pages,
            searches,
            counts,
            unmerged: AtomicU64::default(),
            writer,
            wal,
            etag_key,
        })
    }
}

/// Checks the whole file at `path`. See [`super::check`].
pub(super) fn check(path: &Path) -> Result<Checkup, OpenError> {
    connection::open_to_check(path, |connection, has_lost_transactions| {
        let mut found = check::all(connection)?;
        found.problems.extend(has_lost_transactions.then(|| check::LOST_TRANSACTIONS.to_owned()));
        Ok(found)
    })
}

#[async_trait]
impl Health for SqliteStore {
    async fn check_ready(&self) -> Result<(), StoreError> {
        self.writer.write(pets::try_to_insert).await
    }

    fn expose(&self, page: &mut Exposition) {
        self.writer.expose(page);
        let size = self.wal.metadata().map_or(0, |wal| wal.len());
        page.number("petstore_wal_size_bytes", "The size of the write-ahead log.", size);
        let help = "New and changed animals that a search by name or category reads one by one.";
        let unmerged = self.unmerged.load(Ordering::Relaxed);
        page.number("petstore_search_unmerged_animals", help, unmerged);
    }
}

/// Distinguishes failures that may pass from invalid states.
impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        match error.sqlite_error_code() {
            Some(
                Code::DatabaseBusy
                | Code::DatabaseLocked
                | Code::DiskFull
                | Code::SystemIoFailure
                | Code::CannotOpen
                | Code::ReadOnly
                | Code::FileLockingProtocolFailed
                | Code::OutOfMemory,
            ) => Self::Unavailable(Arc::new(error)),
            _ => Self::Internal(Arc::new(error)),
        }
    }
}
