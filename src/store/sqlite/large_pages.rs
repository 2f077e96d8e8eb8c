//! Pages with very long names: up to 6.5 MB, and 15 ms of work.
//!
//! On a runtime thread, a few clients that request such pages would delay all others. So a separate
//! thread makes them one at a time, and they never use more than one processor.

use std::{
    mem,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::Connection;
use tokio::{sync::Semaphore, task};

use super::{
    connection,
    page::{self, Listed},
};
use crate::{
    domain::{PageRequest, PetId},
    store::{OpenError, StoreError, WritePet},
};

/// The maximum size in bytes of a page that is made on a runtime thread: a fifth of a millisecond
/// of work. A page of a hundred animals usually has 6 KB.
pub(super) const USUAL: usize = 128 << 10;

/// How many requests may wait for their large page.
const MAX_WAITING: usize = 256;

/// Makes large pages, one at a time.
pub(super) struct LargePages {
    /// In addition to the readers, which never wait for each other.
    connection: Arc<Mutex<Connection>>,
    slots: Semaphore,
    turn: Arc<Semaphore>,
}

impl LargePages {
    pub(super) fn open(path: &Path) -> Result<Self, OpenError> {
        Ok(Self {
            connection: Arc::new(Mutex::new(connection::open_for_reading(path)?)),
            slots: Semaphore::new(MAX_WAITING),
            turn: Arc::new(Semaphore::new(1)),
        })
    }

    /// Appends a page of any size to `text`, and returns its last animal if more follow.
    pub(super) async fn list(
        &self,
        request: &PageRequest,
        write: WritePet,
        text: &mut Vec<u8>,
    ) -> Result<Option<PetId>, StoreError> {
        let Ok(_slot) = self.slots.try_acquire() else {
            return Err(StoreError::Overloaded);
        };
        let turn = Arc::clone(&self.turn).acquire_owned().await;
        let turn = turn.map_err(|error| StoreError::Internal(Arc::new(error)))?;
        let (connection, request) = (Arc::clone(&self.connection), *request);
        let mut page = mem::take(text);
        let listing = task::spawn_blocking(move || {
            // Held until the page is complete, even if the request was dropped.
            let _turn = turn;
            let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            let listed = page::list(&connection, &request, write, &mut page, usize::MAX)?;
            Ok::<_, rusqlite::Error>((listed, page))
        });
        let listed = listing.await.map_err(|error| StoreError::Internal(Arc::new(error)))?;
        let (listed, page) = listed?;
        *text = page;
        match listed {
            Listed::Whole(last) => Ok(last),
            Listed::TooLong => Ok(None),
        }
    }
}
