//! The connections that read.
//!
//! To begin and end a read transaction costs a quarter of what a page costs, most
//! of it in locks that are system calls. So a transaction is kept open for the
//! reads that follow, as long as nobody has written, which is cheaper to ask
//! ([`WalIndex`]). Whoever folds the log into the file has to wait for readers.
//! So none is kept while the log is long enough to be folded, nor for long.

use std::{
    fs,
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak,
        atomic::{AtomicU8, Ordering},
    },
    thread,
    time::Duration,
};

use rusqlite::Connection;
use tokio::{runtime::Handle, time::sleep};

use super::{connection, wal_index::WalIndex};
use crate::store::{OpenError, StoreError, Version};

/// For how long a transaction is kept at most.
const KEPT_FOR: Duration = Duration::from_millis(200);

/// For how long none is kept after that, so that another process that waits for
/// a moment without readers finds one.
const PAUSE: Duration = Duration::from_millis(20);

/// From how many pages in the log on none is kept. From there on, there is a
/// checkpoint after every batch of writes until one reaches the end of the log.
pub(super) const LONG_LOG: u32 = 1_000;

/// How many bytes of pages SQLite keeps in memory for a connection by default.
const FEW_PAGES: u64 = 2_000 << 10;

/// How many bytes of pages all readers together may keep, if each can so keep the
/// whole file. See [`page_cache`].
const ALL_PAGES: u64 = 48 << 20;

/// As many connections as the machine runs threads at once: a read never waits
/// on a runtime thread, so no more than that are ever at work.
pub(super) struct Readers(Arc<Shared>);

struct Shared {
    readers: Box<[Mutex<Reader>]>,
    wal_index: WalIndex,
    phase: AtomicU8,
}

/// Nothing is kept, and nobody has to end it.
const IDLE: u8 = 0;
/// Transactions may be kept; a task will end them.
const KEEPING: u8 = 1;
/// Nothing is kept, nor may be.
const PAUSING: u8 = 2;

struct Reader {
    connection: Connection,
    /// What was committed when the transaction that is kept open began, or
    /// somewhat less.
    kept: Option<Version>,
}

impl Readers {
    pub(super) fn open(path: &Path, wal_index: WalIndex) -> Result<Self, OpenError> {
        let count = thread::available_parallelism().map_or(1, usize::from);
        let failed = |error| connection::cannot_open(&path.display().to_string(), error);
        let file = fs::metadata(path).map_or(u64::MAX, |file| file.len());
        let kibibytes = (page_cache(file, count as u64) >> 10).cast_signed();
        let reader = || {
            let connection = connection::open_for_reading(path)?;
            // Pages if it is positive.
            connection.pragma_update(None, "cache_size", -kibibytes).map_err(failed)?;
            Ok(Mutex::new(Reader { connection, kept: None }))
        };
        let readers = (0..count).map(|_| reader()).collect::<Result<_, _>>()?;
        Ok(Self(Arc::new(Shared { readers, wal_index, phase: AtomicU8::new(IDLE) })))
    }

    /// Runs `work` on a free connection. It sees all that was committed before.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let mut reader = self.0.free();
        let version = self.0.wal_index.version();
        if reader.kept.is_some_and(|kept| kept != version) {
            reader.let_go();
        }
        if reader.kept.is_none() && WalIndex::pages_in_log(&version) < LONG_LOG && self.0.may_keep()
        {
            reader.keep(version);
        }
        let done = work(&reader.connection);
        if done.is_err() {
            reader.let_go();
        }
        Ok(done?)
    }
}

/// How many bytes of pages each of so many readers keeps of a file of this size.
///
/// What is there is spared a copy from the system's cache. But of a large file, more
/// than a few pages are still only a part, and make what is not among them dearer
/// than that saves (`docs/performance.md`).
fn page_cache(file: u64, readers: u64) -> u64 {
    let each = ALL_PAGES / readers;
    // SQLite counts what it needs to find a page, too.
    if file <= each / 8 * 7 { each.max(FEW_PAGES) } else { FEW_PAGES }
}

impl Shared {
    /// The first one that is free, so that a quiet service keeps using the one
    /// whose page cache is warm.
    fn free(&self) -> MutexGuard<'_, Reader> {
        let free = self.readers.iter().find_map(|reader| match reader.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        });
        free.unwrap_or_else(|| lock(&self.readers[0]))
    }

    /// Whether a transaction may be kept, since a task will end it soon.
    fn may_keep(self: &Arc<Self>) -> bool {
        let relaxed = Ordering::Relaxed;
        if let Err(phase) = self.phase.compare_exchange(IDLE, KEEPING, relaxed, relaxed) {
            return phase == KEEPING;
        }
        let Ok(runtime) = Handle::try_current() else {
            self.phase.store(IDLE, relaxed);
            return false;
        };
        runtime.spawn(end_soon(Arc::downgrade(self)));
        true
    }

    /// Ends what is kept. Readers look at the phase while they are locked, so
    /// none begins to keep anything behind our back.
    fn let_go(&self) {
        self.phase.store(PAUSING, Ordering::Relaxed);
        for reader in &self.readers {
            lock(reader).let_go();
        }
    }
}

async fn end_soon(shared: Weak<Shared>) {
    sleep(KEPT_FOR).await;
    if let Some(shared) = shared.upgrade() {
        shared.let_go();
    }
    sleep(PAUSE).await;
    if let Some(shared) = shared.upgrade() {
        shared.phase.store(IDLE, Ordering::Relaxed);
    }
}

/// A panic leaves nothing half done in a reader: what it keeps is still kept.
fn lock(reader: &Mutex<Reader>) -> MutexGuard<'_, Reader> {
    reader.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Reader {
    /// Keeps the transaction that the next statement begins.
    fn keep(&mut self, version: Version) {
        if self.run("BEGIN").is_ok() {
            self.kept = Some(version);
        }
    }

    fn let_go(&mut self) {
        if self.kept.take().is_some() {
            // Fails if SQLite has ended it itself, after an error.
            let _ = self.run("ROLLBACK");
        }
    }

    fn run(&self, sql: &str) -> rusqlite::Result<usize> {
        self.connection.prepare_cached(sql)?.execute([])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::OpenMode;

    #[test]
    fn every_reader_has_its_share_of_the_page_cache() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = directory.path().join("petstore.db");
        let (_writing, wal_index) =
            connection::open_for_writing(&path, OpenMode::CreateAndMigrate).unwrap();
        let readers = Readers::open(&path, wal_index).unwrap();
        let count = readers.0.readers.len() as u64;
        for reader in &readers.0.readers {
            let kibibytes: i64 = lock(reader)
                .connection
                .pragma_query_value(None, "cache_size", |row| row.get(0))
                .unwrap();
            assert!(kibibytes < 0, "they would be pages");
            assert_eq!(kibibytes.unsigned_abs(), page_cache(0, count) >> 10);
        }
    }

    #[test]
    fn a_file_is_kept_whole_where_that_takes_no_more_memory_than_it_may() {
        let mebibyte = 1 << 20;
        assert_eq!(page_cache(0, 1), ALL_PAGES);
        assert_eq!(page_cache(42 * mebibyte, 1), ALL_PAGES);
        assert_eq!(page_cache(42 * mebibyte + 1, 1), FEW_PAGES);
        assert_eq!(page_cache(42 * mebibyte, 2), FEW_PAGES);
        assert_eq!(page_cache(21 * mebibyte, 2), ALL_PAGES / 2);
        assert_eq!(page_cache(mebibyte, 64), FEW_PAGES);
    }
}
