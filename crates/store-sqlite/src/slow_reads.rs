//! Reads that take longer than a request may keep a runtime thread: pages with very long names (up
//! to 6.5 MB, and 15 ms of work), searches, the inventory, and the
//! first decision about a batch.
//!
//! On a runtime thread, a few clients that request them would delay all other clients. So a separate
//! thread runs them one at a time, and the reads of one kind never use more than one processor.

use std::{path::Path, sync::Arc};

use parking_lot::Mutex;
use petstore_store::{OpenError, StoreError};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task,
};

use super::{connection::Connection, opening, transaction::Transaction};

/// The maximum size in bytes of the names on a page that a runtime thread reads: a fifth of a
/// millisecond of work. The names of a hundred animals usually have 1 KB.
pub(super) const USUAL_PAGE: usize = 128 << 10;

/// The number of reads of one kind that may wait.
const MAX_WAITING_READS: usize = 256;

/// The slow reads of one kind, which run one at a time.
pub(super) struct SlowReads {
    /// A connection in addition to the readers, which never wait for each other.
    connection: Arc<Mutex<Connection>>,
    slots: Semaphore,
    turn: Arc<Semaphore>,
}

impl SlowReads {
    /// Opens a connection for reads of one kind.
    pub(super) fn open(path: &Path) -> Result<Self, OpenError> {
        Ok(Self {
            connection: Arc::new(Mutex::new(opening::open_for_reading(path)?)),
            slots: Semaphore::new(MAX_WAITING_READS),
            turn: Arc::new(Semaphore::new(1)),
        })
    }

    /// Runs `work`, which sees one state of the database. The turn lasts until it is dropped, so that
    /// the result can be used in it.
    pub(super) async fn read_in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<(T, OwnedSemaphorePermit), StoreError> {
        let Ok(_slot) = self.slots.try_acquire() else {
            return Err(StoreError::Overloaded);
        };
        let turn = Arc::clone(&self.turn)
            .acquire_owned()
            .await
            .map_err(|error| StoreError::Internal(Arc::new(error)))?;
        let connection = Arc::clone(&self.connection);
        let reading = task::spawn_blocking(move || -> rusqlite::Result<_> {
            let mut connection = connection.lock();
            let mut snapshot = Transaction::begin(&mut connection, "BEGIN")?;
            // The turn ends when the work is done, even if the request was dropped.
            let value = work(&mut snapshot)?;
            Ok((value, turn))
        });
        match reading.await {
            Ok(result) => result.map_err(StoreError::from),
            Err(error) => Err(StoreError::Internal(Arc::new(error))),
        }
    }
}
