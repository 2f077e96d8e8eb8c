//! The pool of connections that read.
//!
//! Beginning and ending a read transaction takes a quarter of the time of reading a page, mostly for
//! locks, which are system calls. So a reader keeps its transaction open for later reads until the next
//! commit. It is cheaper to detect a commit ([`WalIndex`]) than to begin a transaction.
//!
//! But an open read transaction blocks checkpoints. So no transaction stays open for long, and none
//! stays open while the WAL is long enough for a checkpoint.
//!
//! Without a [`WalIndex`], no transaction stays open, and `PRAGMA data_version` detects commits.

use std::{
    path::Path,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
    thread,
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};
use petstore_store::{OpenError, StoreError};
use tokio::{runtime::Handle, time::sleep};

use super::{
    connection::Connection,
    file::LONG_WAL,
    opening,
    page_cache::set_cache_size,
    wal_index::{FileVersion, WalIndex},
};

/// How long transactions may stay open.
const MAX_OPEN_TIME: Duration = Duration::from_millis(200);

/// How long no transaction may stay open after [`MAX_OPEN_TIME`]. Another process may be waiting for
/// such a moment without readers, for example to run a checkpoint.
const PAUSE: Duration = Duration::from_millis(20);

// The phases of the readers. Each follows the one before it, and `IDLE` follows `PAUSING`.
/// The phase in which no transaction is open, and no task is running. The next read begins
/// [`OPEN`].
const IDLE: u8 = 0;
/// The phase in which transactions may stay open. A task will end them after [`MAX_OPEN_TIME`].
const OPEN: u8 = 1;
/// The phase of [`PAUSE`], in which no transaction may stay open.
const PAUSING: u8 = 2;

/// The connections that read: one for each thread that the machine can run at once. Reads do not
/// block, so more connections would never be in use at the same time.
pub(super) struct Readers(Arc<ReaderPool>);

/// The connections that read, with the state that they share with the writer and with a task.
struct ReaderPool {
    readers: Box<[Mutex<Reader>]>,
    /// The shared memory in which commits are detected. Without it, no transaction stays open.
    wal_index: Option<WalIndex>,
    /// Whether transactions may stay open: [`IDLE`], [`OPEN`] or [`PAUSING`].
    phase: AtomicU8,
    /// Whether the writer has been waiting for its lock for a while. No transaction then stays open.
    is_writer_waiting: AtomicBool,
}

/// The handle with which the writer tells the readers that it is waiting for its lock.
#[derive(Clone, Default)]
pub(super) struct WaitingWriter(Weak<ReaderPool>);

/// A connection that reads, perhaps with an open transaction.
struct Reader {
    connection: Connection,
    /// The version of the database that the open transaction sees, or an earlier one; `None` if no
    /// transaction is open.
    open_version: Option<FileVersion>,
}

impl Readers {
    /// Opens the connections for the database at `path`.
    pub(super) fn open(path: &Path, wal_index: Option<WalIndex>) -> Result<Self, OpenError> {
        let count = thread::available_parallelism().map_or(1, usize::from);
        let mut readers = Vec::with_capacity(count);
        for _ in 0..count {
            readers.push(Mutex::new(Reader::open(path, count as u64)?));
        }
        Ok(Self(Arc::new(ReaderPool {
            readers: readers.into_boxed_slice(),
            wal_index,
            phase: AtomicU8::new(IDLE),
            is_writer_waiting: AtomicBool::new(false),
        })))
    }

    /// Returns a handle for the writer.
    pub(super) fn waiting_writer(&self) -> WaitingWriter {
        WaitingWriter(Arc::downgrade(&self.0))
    }

    /// Runs `work` on a connection that is not in use. `work` sees everything that was committed before
    /// the call.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let mut reader = self.0.lock_available_reader();
        if let Some(wal_index) = self.0.wal_index {
            self.0.renew_transaction(&mut reader, wal_index.version());
        }
        let result = work(&mut reader.connection);
        if result.is_err() {
            reader.end_transaction();
        }
        result.map_err(StoreError::from)
    }

    /// Returns a value that changes with every commit, for [`petstore_store::Pets::version`].
    pub(super) fn version(&self) -> Result<FileVersion, StoreError> {
        match self.0.wal_index {
            Some(wal_index) => Ok(wal_index.version()),
            // `data_version` is comparable only within one connection, so always ask the same one.
            None => Ok(self.0.readers[0].lock().data_version()?),
        }
    }
}

impl ReaderPool {
    /// Locks the first reader that is not in use, so that a service with little load keeps using the
    /// reader with the warm page cache. If all readers are in use, waits for the first one.
    fn lock_available_reader(&self) -> MutexGuard<'_, Reader> {
        let available_reader = self.readers.iter().find_map(Mutex::try_lock);
        available_reader.unwrap_or_else(|| self.readers[0].lock())
    }

    /// Prepares a reader for a read at this version of the database. Ends its open transaction if there
    /// was a commit since it began. Then begins a transaction, if none is open and it may stay open.
    fn renew_transaction(self: &Arc<Self>, reader: &mut Reader, version: FileVersion) {
        let is_outdated = reader
            .open_version
            .is_some_and(|open_version| open_version != version);
        if is_outdated {
            reader.end_transaction();
        }
        if reader.open_version.is_none() && self.let_stay_open(&version) {
            reader.begin(version);
        }
    }

    /// Lets a transaction that begins at this version of the database stay open, if possible, and makes
    /// sure that a task ends it in time. Returns whether it may stay open.
    fn let_stay_open(self: &Arc<Self>, version: &FileVersion) -> bool {
        let is_wal_long = version.pages_in_wal() >= LONG_WAL;
        if is_wal_long || self.is_writer_waiting.load(Ordering::Relaxed) {
            return false;
        }
        self.enter_open_phase()
    }

    /// Enters the phase [`OPEN`] if the phase is [`IDLE`], and spawns the task that ends the phase.
    /// Returns whether the phase is [`OPEN`] now. It is another one during a pause, and without a
    /// runtime for the task.
    fn enter_open_phase(self: &Arc<Self>) -> bool {
        let exchange =
            self.phase
                .compare_exchange(IDLE, OPEN, Ordering::Relaxed, Ordering::Relaxed);
        if let Err(phase) = exchange {
            return phase == OPEN;
        }
        let Ok(runtime) = Handle::try_current() else {
            self.phase.store(IDLE, Ordering::Relaxed);
            return false;
        };
        runtime.spawn(end_transactions_later(Arc::downgrade(self)));
        true
    }

    /// Ends all open transactions. If the caller has forbidden new transactions before, none is open
    /// afterwards: this locks each reader, and a read looks whether transactions are forbidden only
    /// while its reader is locked.
    fn end_transactions(&self) {
        for reader in &self.readers {
            reader.lock().end_transaction();
        }
    }
}

impl WaitingWriter {
    /// Tells the readers that the writer has been waiting for its lock for a while. Another process that
    /// runs a checkpoint can hold the lock until there is a moment without readers. So no transaction
    /// stays open until [`Self::stop_waiting`].
    pub(super) fn start_waiting(&self) {
        if let Some(pool) = self.0.upgrade() {
            pool.is_writer_waiting.store(true, Ordering::Relaxed);
            pool.end_transactions();
        }
    }

    /// Tells the readers that the writer no longer waits.
    pub(super) fn stop_waiting(&self) {
        if let Some(pool) = self.0.upgrade() {
            pool.is_writer_waiting.store(false, Ordering::Relaxed);
        }
    }
}

/// Ends the open transactions after [`MAX_OPEN_TIME`], and allows new ones after [`PAUSE`].
async fn end_transactions_later(weak_pool: Weak<ReaderPool>) {
    sleep(MAX_OPEN_TIME).await;
    if let Some(pool) = weak_pool.upgrade() {
        pool.phase.store(PAUSING, Ordering::Relaxed);
        pool.end_transactions();
    }
    sleep(PAUSE).await;
    if let Some(pool) = weak_pool.upgrade() {
        pool.phase.store(IDLE, Ordering::Relaxed);
    }
}

impl Reader {
    /// Opens a connection, with its share of the page cache of `reader_count` readers.
    fn open(path: &Path, reader_count: u64) -> Result<Self, OpenError> {
        let connection = opening::open_for_reading(path)?;
        set_cache_size(&connection, reader_count)
            .map_err(|error| opening::open_error(&path.display().to_string(), error))?;
        Ok(Self {
            connection,
            open_version: None,
        })
    }

    /// Begins a transaction that stays open. Its first read takes the snapshot, so the snapshot is of
    /// `version` or later. If this fails, each statement runs in a transaction of its own.
    fn begin(&mut self, version: FileVersion) {
        if self.run("BEGIN").is_ok() {
            self.open_version = Some(version);
        }
    }

    /// Ends the open transaction, if there is one.
    fn end_transaction(&mut self) {
        if self.open_version.take().is_some() {
            // Fails if SQLite has already ended the transaction after an error.
            let _ = self.run("ROLLBACK");
        }
    }

    /// Returns a version from `data_version`, which changes with every commit of another connection.
    fn data_version(&self) -> rusqlite::Result<FileVersion> {
        let number: i64 = self
            .connection
            .pragma_query_value(None, "data_version", |row| row.get(0))?;
        Ok(FileVersion::from_number(number))
    }

    /// Runs a statement without parameters.
    fn run(&self, sql: &str) -> rusqlite::Result<usize> {
        self.connection.prepare_cached(sql)?.execute([])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page_cache::{LAST_PET, choose_cache_size};
    use petstore_store::OpenMode;

    // Nothing is awaited, so no transaction ends by its time.
    #[tokio::test]
    async fn a_checkpoint_that_waits_for_readers_gets_a_moment_without_them_while_the_writer_waits()
    {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("petstore.db");
        let database = opening::open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
        let mut writing = database.connection;
        let readers = Readers::open(&path, Some(database.wal_index)).unwrap();
        let waiting_writer = readers.waiting_writer();
        let handler_copy = waiting_writer.clone();
        let limit = opening::BUSY_TIMEOUT;
        opening::wait_for_locks(&mut writing, limit, move || handler_copy.start_waiting()).unwrap();
        let read = || {
            readers
                .read(|connection| connection.query_row(LAST_PET, [], |_| Ok(())))
                .unwrap();
        };
        let is_open = || {
            readers
                .0
                .readers
                .iter()
                .any(|reader| reader.lock().open_version.is_some())
        };
        read();
        assert!(is_open());
        writing
            .execute("UPDATE change_log SET epoch = randomblob(16)", [])
            .unwrap();
        let checkpoint = thread::spawn(move || {
            let other = opening::open_connection(&path, rusqlite::OpenFlags::default()).unwrap();
            other
                .query_row("PRAGMA wal_checkpoint(FULL)", [], |row| {
                    row.get::<_, bool>(0)
                })
                .unwrap()
        });
        while !checkpoint.is_finished() {
            writing.execute_batch("BEGIN IMMEDIATE; COMMIT").unwrap();
        }
        assert!(!checkpoint.join().unwrap(), "it was incomplete");
        read();
        assert!(!is_open());
        waiting_writer.stop_waiting();
        read();
        assert!(is_open());
    }

    #[test]
    fn every_reader_has_its_share_of_the_page_cache_size() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("petstore.db");
        let database = opening::open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
        let readers = Readers::open(&path, Some(database.wal_index)).unwrap();
        let count = readers.0.readers.len() as u64;
        for reader in &readers.0.readers {
            let kibibytes: i64 = reader
                .lock()
                .connection
                .pragma_query_value(None, "cache_size", |row| row.get(0))
                .unwrap();
            assert!(kibibytes < 0, "they would be pages");
            assert_eq!(kibibytes.unsigned_abs(), choose_cache_size(0, count) >> 10);
        }
    }

    #[tokio::test]
    async fn commits_are_noticed_with_the_wal_index_and_without_it() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("petstore.db");
        let database = opening::open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
        let writing = database.connection;
        let other = crate::opening::open_connection(&path, rusqlite::OpenFlags::default()).unwrap();
        let both = [Some(database.wal_index), None]
            .map(|wal_index| Readers::open(&path, wal_index).unwrap());
        let insert = "INSERT INTO pets (name, category_id, status) VALUES ('Frank', 1, 'sold')";
        let insert_and_roll_back = format!("BEGIN; {insert}; ROLLBACK");
        let mut animals: i64 = 0;
        for (connection, sql, added) in [
            (&writing, insert, 1),
            (&other, insert, 1),
            (&writing, &insert_and_roll_back, 0),
            (&other, "DELETE FROM pets", -2),
            (&writing, insert, 1),
            (&writing, "SELECT 1", 0),
        ] {
            let versions = || both.each_ref().map(|readers| readers.version().unwrap());
            let versions_before = versions();
            connection.execute_batch(sql).unwrap();
            animals += added;
            let changed = versions_before
                .iter()
                .zip(versions())
                .map(|(before, after)| *before != after);
            assert_eq!(changed.collect::<Vec<_>>(), [added != 0; 2], "{sql}");
            for readers in &both {
                let now = readers.version().unwrap();
                let count = "SELECT count(*) FROM pets";
                let counted: Result<i64, _> =
                    readers.read(|reading| reading.query_row(count, [], |row| row.get(0)));
                assert_eq!(counted.unwrap(), animals, "{sql}");
                assert_eq!(readers.version().unwrap(), now);
            }
        }
    }
}
