//! Hashes passwords on other threads, two at once, so that no request waits for a hash except those
//! that need one.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use rand::{SeedableRng, rngs::StdRng};
use tokio::{sync::Semaphore, task};

use crate::{
    domain::staff::{Password, PasswordHash},
    http::ApiError,
    store::StoreError,
};

/// How many hashes are computed at once. Each takes 19 MiB.
const AT_ONCE: usize = 2;

/// How many requests may wait for their hash, with those that are computed: about a second.
const WAITING: usize = 64;

/// The threads for hashes.
pub(super) struct Passwords {
    slots: Arc<Semaphore>,
    queue: Arc<Semaphore>,
    /// How many hashes were computed.
    pub(super) computed: Arc<AtomicUsize>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self {
            slots: Arc::new(Semaphore::new(AT_ONCE)),
            queue: Arc::new(Semaphore::new(WAITING)),
            computed: Arc::default(),
        }
    }
}

impl Passwords {
    /// Hashes a new password. Fails with 503 if too many wait.
    pub(super) async fn hash(
        &self,
        password: Password,
        mut random: StdRng,
    ) -> Result<PasswordHash, ApiError> {
        self.run(move || password.hash(&mut random)).await
    }

    /// Whether this was typed for the hash. Without a hash it is wrong, and takes as long. Fails
    /// with 503 if too many wait.
    pub(super) async fn is_right(
        &self,
        typed: &str,
        hash: Option<PasswordHash>,
    ) -> Result<bool, ApiError> {
        let password = Password::typed(typed);
        let exists = hash.is_some() && password.is_some();
        let password = password.or_else(|| Password::typed(""));
        let hash = hash.unwrap_or_else(PasswordHash::of_nobody);
        let is_of = move || password.is_some_and(|password| hash.is_of(&password));
        Ok(self.run(is_of).await? && exists)
    }

    /// Runs `work` when it is its turn. The turn ends with the work, also if nobody waits for it any
    /// more.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let full = |_| ApiError::from(StoreError::Overloaded);
        let queued = Arc::clone(&self.queue).try_acquire_owned().map_err(full)?;
        let slot = Arc::clone(&self.slots).acquire_owned().await;
        let computed = Arc::clone(&self.computed);
        let work = task::spawn_blocking(move || {
            let _turn = (queued, slot);
            computed.fetch_add(1, Relaxed);
            work()
        });
        work.await.map_err(|error| ApiError::internal(Arc::new(error)))
    }
}

/// A source of randomness for another thread.
pub(super) fn random_for_thread(random: &mut StdRng) -> StdRng {
    StdRng::from_rng(random)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use futures_util::future::join_all;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn at_most_two_hashes_are_computed_at_once_and_others_wait_up_to_a_limit() {
        static NOW: AtomicUsize = AtomicUsize::new(0);
        static MOST: AtomicUsize = AtomicUsize::new(0);
        let passwords = Passwords::default();
        let work = || {
            MOST.fetch_max(NOW.fetch_add(1, SeqCst) + 1, SeqCst);
            Password::typed("some password")
                .map(|password| PasswordHash::of_nobody().is_of(&password));
            NOW.fetch_sub(1, SeqCst);
        };
        let done = join_all((0..=WAITING).map(|_| passwords.run(work))).await;
        assert_eq!(done.iter().filter(|done| done.is_err()).count(), 1);
        assert_eq!(MOST.load(SeqCst), AT_ONCE);
        // A request that goes away while its hash is computed leaves its turn when that is done.
        drop(passwords.run(work));
        assert_eq!(passwords.queue.available_permits(), WAITING);
        assert!(passwords.run(work).await.is_ok());
    }
}
