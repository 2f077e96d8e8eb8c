//! One connection that writes, and a few that read; whether the store can write, and its metrics.

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
    connection::Connection, file::Files, file_identity::device_and_inode, opening,
    readers::Readers, slow_reads::SlowReads, writer::Writer,
};

const INSERT: &str =
    "INSERT INTO pets (name, category_id, status) VALUES ('trial', 0, 'available')";

/// A catalogue in one SQLite file.
pub struct SqliteStore {
    // Fields are dropped in this order, so that the writer's connection closes last and runs a
    // checkpoint.
    pub(super) readers: Readers,
    pub(super) large_pages: SlowReads,
    pub(super) searches: SlowReads,
    /// Those of the log, so that no search delays the clients that follow it.
    pub(super) followers: SlowReads,
    /// Those of the public, so that they delay no member of the staff and no program.
    pub(super) offers: SlowReads,
    pub(super) counts: SlowReads,
    pub(super) batches: SlowReads,
    pub(super) unmerged: AtomicU64,
    pub(super) writer: Writer,
    pub(super) wal: PathBuf,
    pub(super) etag_key: [u8; 32],
}

impl SqliteStore {
    /// Opens the file at `path`.
    ///
    /// # Errors
    ///
    /// See [`OpenError`]. After an error, nothing was changed.
    pub fn open(path: &Path, mode: OpenMode) -> Result<Self, OpenError> {
        let before = device_and_inode(path).ok();
        let (mut writing, wal_index) = opening::open_for_writing(path, mode)?;
        let readers = Readers::open(path, Some(wal_index))?;
        let waits = readers.waiting_writer();
        let waiting_writer = readers.waiting_writer();
        opening::wait_for_locks(&mut writing, opening::BUSY_TIMEOUT, move || waits.begin())
            .map_err(|error| opening::cannot_open(&path.display().to_string(), error))?;
        let slow_reads = || SlowReads::open(path);
        let large_pages = slow_reads()?;
        let searches = slow_reads()?;
        let followers = slow_reads()?;
        let offers = slow_reads()?;
        let counts = slow_reads()?;
        let batches = slow_reads()?;
        let key = writing.query_row("SELECT key FROM etag_key", [], |row| row.get(0));
        let etag_key =
            key.map_err(|error| opening::cannot_open(&path.display().to_string(), error))?;
        let in_file = |cause| OpenError::Io {
            path: path.display().to_string(),
            cause: Arc::new(cause),
        };
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
            followers,
            offers,
            counts,
            batches,
            unmerged: AtomicU64::default(),
            writer,
            wal,
            etag_key,
        })
    }
}

#[async_trait]
impl Health for SqliteStore {
    async fn check_ready(&self) -> Result<(), StoreError> {
        self.writer.write(|on| try_to_insert(on)).await
    }

    async fn wait_for_end(&self) -> StoreError {
        let mut ended = self.writer.ended();
        match ended
            .wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|change| change.clone())
        {
            Some(change) => change.into(),
            // The store is being closed.
            None => pending().await,
        }
    }

    fn expose(&self, page: &mut Exposition) {
        self.writer.expose(page);
        let size = self.wal.metadata().map_or(0, |wal| wal.len());
        page.number(
            "petstore_wal_size_bytes",
            "The size of the write-ahead log.",
            size,
        );
        let help = "New and changed animals that a search reads one by one.";
        let unmerged = self.unmerged.load(Ordering::Relaxed);
        page.number("petstore_search_unmerged_animals", help, unmerged);
    }
}

/// Adds an animal and rolls it back. The commit still writes the pages that were changed and
/// restored.
fn try_to_insert(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("SAVEPOINT trial")?;
    connection.execute(INSERT, [])?;
    connection.execute_batch("ROLLBACK TO trial; RELEASE trial")
}
