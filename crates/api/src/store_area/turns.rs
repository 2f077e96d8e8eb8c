//! Fairness for slow reads, such as searches.
//!
//! The store runs them one at a time, from a queue, which a client with many requests must not fill. So each
//! slow read needs a turn of its API key before it may enter the queue, and each key has few turns at once.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use petstore_app::Caller;
use petstore_domain::KeyId;
use petstore_web::edge::ApiError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::access::auth;

/// The maximum number of slow reads that one API key may have in the queue of the store. Its further reads
/// wait here.
const MAX_READS_IN_QUEUE: usize = 2;

/// The semaphore of each API key that has a slow read now. Other keys take no memory.
#[derive(Default)]
pub(super) struct Turns(Mutex<HashMap<KeyId, Weak<Semaphore>>>);

impl Turns {
    /// Waits for a turn of the caller's key. The turn lasts until the returned permit is dropped.
    pub(super) async fn take(
        &self,
        caller: Option<&Caller>,
    ) -> Result<OwnedSemaphorePermit, ApiError> {
        let caller = caller.ok_or_else(auth::missing_key)?;
        let permit = self.semaphore_of(caller.key_id()).acquire_owned().await;
        permit.map_err(|error| ApiError::internal(Arc::new(error)))
    }

    /// Returns the semaphore of a key. Creates it if the key has no slow read now.
    fn semaphore_of(&self, key: KeyId) -> Arc<Semaphore> {
        let mut semaphores = self.0.lock();
        if let Some(semaphore) = semaphores.get(&key).and_then(Weak::upgrade) {
            return semaphore;
        }
        // Remove the semaphores that no read holds or waits for.
        semaphores.retain(|_, semaphore| semaphore.strong_count() > 0);
        let semaphore = Arc::new(Semaphore::new(MAX_READS_IN_QUEUE));
        semaphores.insert(key, Arc::downgrade(&semaphore));
        semaphore
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_two_turns_and_takes_none_of_another_key() {
        let turns = Turns::default();
        let take = |key| turns.semaphore_of(KeyId(key)).try_acquire_owned();
        let permits = [take(1).unwrap(), take(1).unwrap()];
        assert!(take(1).is_err());
        assert!(take(2).is_ok());
        drop(permits);
        assert!(take(1).is_ok());
        // Only keys with a request are in memory.
        assert!(take(3).is_ok());
        assert_eq!(turns.0.lock().len(), 1);
    }
}
