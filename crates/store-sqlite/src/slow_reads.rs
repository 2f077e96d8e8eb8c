//! Reads that would block a runtime thread for too long: pages with very long names (up to 6.5 MB, and
//! 15 ms of work), searches, the inventory, and the first decision about a batch of commands.
//!
//! On runtime threads, the reads of a few clients would delay all other clients. So slow reads run on
//! threads for blocking work, one read of each kind at a time. Each kind then uses at most one core.

use std::{path::Path, sync::Arc};

use parking_lot::Mutex;
use petstore_store::{OpenError, StoreError};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task,
};

use super::{connection::Connection, opening, transaction::Transaction};

/// The maximum total size, in bytes, of the names on a page that is read on a runtime thread: a fifth
/// of a millisecond of work. The names of a hundred animals usually take 1 KB.
pub(super) const MAX_FAST_PAGE_BYTES: usize = 128 << 10;

/// The number of reads of one kind that may be queued or running. Further ones are rejected.
const MAX_WAITING_READS: usize = 256;

/// The result of a slow read, with its turn. The next read of the same kind starts when the turn is
/// dropped. A caller that keeps the turn for as long as it uses the value is the only one with such
/// a value in memory.
pub(super) struct ReadInTurn<T> {
    pub(super) value: T,
    pub(super) turn: OwnedSemaphorePermit,
}

/// The slow reads of one kind, which run one at a time.
pub(super) struct SlowReads {
    /// A connection of its own, so that slow reads never occupy one of the readers.
    connection: Arc<Mutex<Connection>>,
    /// The permits to queue or run.
    queue_slots: Semaphore,
    /// The single permit to run.
    turn: Arc<Semaphore>,
}

impl SlowReads {
    /// Opens a connection for reads of one kind.
    pub(super) fn open(path: &Path) -> Result<Self, OpenError> {
        Ok(Self {
            connection: Arc::new(Mutex::new(opening::open_for_reading(path)?)),
            queue_slots: Semaphore::new(MAX_WAITING_READS),
            turn: Arc::new(Semaphore::new(1)),
        })
    }

    /// Waits for a turn, and then runs `work` on a snapshot of the database. Returns the result
    /// with the turn. Fails with [`StoreError::Overloaded`] if too many reads are waiting.
    pub(super) async fn read_in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<ReadInTurn<T>, StoreError> {
        let Ok(_queue_slot) = self.queue_slots.try_acquire() else {
            return Err(StoreError::Overloaded);
        };
        let turn = Arc::clone(&self.turn)
            .acquire_owned()
            .await
            .map_err(|error| StoreError::Internal(Arc::new(error)))?;
        let connection = Arc::clone(&self.connection);
        let read_task = task::spawn_blocking(move || -> rusqlite::Result<_> {
            let mut connection = connection.lock();
            let mut snapshot = Transaction::begin(&mut connection, "BEGIN")?;
            let value = work(&mut snapshot)?;
            // This moves the turn into the closure, so that it lasts until the work is done, even
            // if the request is dropped.
            Ok(ReadInTurn { value, turn })
        });
        match read_task.await {
            Ok(result) => result.map_err(StoreError::from),
            Err(error) => Err(StoreError::Internal(Arc::new(error))),
        }
    }
}
