//! Reads that take longer than a request may keep a runtime thread: pages with very long names (up
//! to 6.5 MB, and 15 ms of work), searches, and the inventory.
//!
//! On a runtime thread, a few clients that request them would delay all others. So a separate
//! thread runs them one at a time, and those of one kind never use more than one processor.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::Connection;
use tokio::{sync::Semaphore, task};

use super::connection;
use crate::store::{OpenError, StoreError};

/// The maximum size in bytes of a page that is made on a runtime thread: a fifth of a millisecond
/// of work. A page of a hundred animals usually has 6 KB.
pub(super) const USUAL_PAGE: usize = 128 << 10;

/// How many reads of one kind may wait.
const MAX_WAITING: usize = 256;

/// Runs slow reads of one kind, one at a time.
pub(super) struct SlowReads {
    /// In addition to the readers, which never wait for each other.
    connection: Arc<Mutex<Connection>>,
    slots: Semaphore,
    turn: Arc<Semaphore>,
}

impl SlowReads {
    pub(super) fn open(path: &Path) -> Result<Self, OpenError> {
        Ok(Self {
            connection: Arc::new(Mutex::new(connection::open_for_reading(path)?)),
            slots: Semaphore::new(MAX_WAITING),
            turn: Arc::new(Semaphore::new(1)),
        })
    }

    /// Runs `work`, which sees one state of the database.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let Ok(_slot) = self.slots.try_acquire() else {
            return Err(StoreError::Overloaded);
        };
        let turn = Arc::clone(&self.turn).acquire_owned().await;
        let turn = turn.map_err(|error| StoreError::Internal(Arc::new(error)))?;
        let connection = Arc::clone(&self.connection);
        let reading = task::spawn_blocking(move || {
            // Held until the work is done, even if the request was dropped.
            let _turn = turn;
            let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            let moment = connection.unchecked_transaction()?;
            work(&moment)
        });
        Ok(reading.await.map_err(|error| StoreError::Internal(Arc::new(error)))??)
    }
}
