//! The connections that read.

use std::{
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError, TryLockError},
    thread,
};

use rusqlite::Connection;

use super::connection;
use crate::store::{OpenError, StoreError};

/// As many connections as the machine runs threads at once: a read never waits
/// on a runtime thread, so no more than that are ever at work.
pub(super) struct Readers(Box<[Mutex<Connection>]>);

impl Readers {
    pub(super) fn open(path: &Path) -> Result<Self, OpenError> {
        let count = thread::available_parallelism().map_or(1, usize::from);
        (0..count)
            .map(|_| connection::open_for_reading(path).map(Mutex::new))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Runs `work` on a free connection.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        Ok(work(&self.free())?)
    }

    /// The first one that is free, so that a quiet service keeps using the one
    /// whose page cache is warm.
    fn free(&self) -> MutexGuard<'_, Connection> {
        let free = self.0.iter().find_map(|connection| match connection.try_lock() {
            Ok(guard) => Some(guard),
            // A reader holds no state that a panic could have left half done.
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        });
        free.unwrap_or_else(|| self.0[0].lock().unwrap_or_else(PoisonError::into_inner))
    }
}
