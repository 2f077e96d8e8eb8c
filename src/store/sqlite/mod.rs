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
mod large_pages;
mod load;
mod migrations;
mod page;
mod pets;
mod readers;
mod requests;
mod rescue;
mod snapshot;
mod wal;
mod wal_index;
mod writer;
mod writer_metrics;

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::Connection;

pub(crate) use self::copy::{Copied, CopyError, copy};
use self::{
    file::Files, large_pages::LargePages, page::Listed, readers::Readers, wal_index::WalIndex,
    writer::Writer,
};
pub use self::{load::SqliteLoad, snapshot::SqliteSnapshot};
use super::{Checkup, Created, OpenError, OpenMode, Store, StoreError, Version, WritePet};
use crate::{
    domain::{
        IdempotentRequest, KeyDigest, KeyId, KeyRecord, KeyUse, NewKey, NewPet, PageRequest, Pet,
        PetId,
    },
    observe::metrics::Exposition,
};

/// A catalogue in one SQLite file.
pub struct SqliteStore {
    // Fields are dropped in this order, so that the writer's connection closes last and runs a
    // checkpoint.
    readers: Readers,
    large_pages: LargePages,
    writer: Writer,
    wal_index: WalIndex,
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
        let (writing, wal_index) = connection::open_for_writing(path, mode)?;
        let readers = Readers::open(path, wal_index)?;
        let large_pages = LargePages::open(path)?;
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
        let writer = Writer::start(writing, files).map_err(in_file)?;
        Ok(Self { readers, large_pages, writer, wal_index, wal, etag_key })
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
impl Store for SqliteStore {
    async fn list_pets(
        &self,
        request: &PageRequest,
        write: WritePet,
        page: &mut Vec<u8>,
    ) -> Result<Option<PetId>, StoreError> {
        let begins = page.len();
        let longest = begins + large_pages::USUAL;
        let list = |connection: &Connection| page::list(connection, request, write, page, longest);
        match self.readers.read(list)? {
            Listed::Whole(last_of_page) => Ok(last_of_page),
            Listed::TooLong => {
                page.truncate(begins);
                self.large_pages.list(request, write, page).await
            }
        }
    }

    async fn version(&self) -> Result<Option<Version>, StoreError> {
        Ok(Some(self.wal_index.version()))
    }

    fn etag_key(&self) -> [u8; 32] {
        self.etag_key
    }

    async fn create_pet(
        &self,
        pet: NewPet,
        retry: Option<IdempotentRequest>,
    ) -> Result<Created, StoreError> {
        let Some(request) = retry else {
            let insert = |connection: &Connection| pets::insert(connection, pet).map(Created::New);
            return self.writer.write_by_one_statement(insert).await;
        };
        self.writer.write(move |connection| requests::insert_once(connection, pet, &request)).await
    }

    async fn mark_idempotency_keys(&self, seen: Option<i64>) -> Result<i64, StoreError> {
        self.writer.write(move |connection| requests::mark(connection, seen)).await
    }

    async fn forget_idempotency_keys(&self, marks: i64, limit: u32) -> Result<usize, StoreError> {
        self.writer.write(move |connection| requests::forget(connection, marks, limit)).await
    }

    async fn first_of_lineage(&self, id: KeyId) -> Result<KeyId, StoreError> {
        self.readers.read(|connection| keys::first_of_lineage(connection, id))
    }

    async fn get_pet(&self, id: PetId) -> Result<Option<Pet>, StoreError> {
        self.readers.read(|connection| pets::get(connection, id))
    }

    async fn create_key(&self, key: NewKey) -> Result<KeyRecord, StoreError> {
        self.writer.write(move |connection| keys::insert(connection, &key)).await
    }

    async fn find_key(&self, digest: &KeyDigest) -> Result<Option<KeyRecord>, StoreError> {
        self.readers.read(|connection| keys::find(connection, digest))
    }

    async fn key_digests(&self) -> Result<Vec<KeyDigest>, StoreError> {
        self.readers.read(keys::digests)
    }

    async fn get_key(&self, id: KeyId) -> Result<Option<KeyRecord>, StoreError> {
        self.readers.read(|connection| keys::get(connection, id))
    }

    async fn list_keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.readers.read(keys::list)
    }

    async fn revoke_key(&self, id: KeyId, at: Timestamp) -> Result<Option<KeyRecord>, StoreError> {
        self.writer.write(move |connection| keys::revoke(connection, id, at)).await
    }

    async fn rotate_key(
        &self,
        id: KeyId,
        successor: NewKey,
        until: Timestamp,
    ) -> Result<Option<KeyRecord>, StoreError> {
        self.writer.write(move |connection| keys::rotate(connection, id, &successor, until)).await
    }

    async fn check_ready(&self) -> Result<(), StoreError> {
        self.writer.write(pets::try_to_insert).await
    }

    fn expose(&self, page: &mut Exposition) {
        self.writer.expose(page);
        let size = self.wal.metadata().map_or(0, |wal| wal.len());
        page.number("petstore_wal_size_bytes", "The size of the write-ahead log.", size);
    }

    async fn record_key_uses(&self, uses: Vec<KeyUse>) -> Result<(), StoreError> {
        self.writer.write(move |connection| keys::record_uses(connection, &uses)).await
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
