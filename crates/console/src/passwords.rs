//! Hashes passwords on other threads, two at once, so that a request waits for a hash only if it needs one.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use petstore_domain::staff::{Password, PasswordHash};
use petstore_store::StoreError;
use petstore_web::edge::ApiError;
use rand::{SeedableRng, rngs::StdRng};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task,
};

/// The number of hashes that are computed at once. Each takes 19 MiB.
const HASHES_AT_ONCE: usize = 2;

/// The number of hashes of strangers that are computed at once. So a member waits for at most one of them.
const STRANGERS_AT_ONCE: usize = 1;

/// The number of requests that may wait for their hash or have it computed: about a second.
const MAX_REQUESTS: usize = 64;

/// The number of such requests that may be of strangers.
const MAX_REQUESTS_OF_STRANGERS: usize = 32;

/// The queues for the threads that compute hashes.
pub(super) struct Passwords {
    all: Queue,
    strangers: Queue,
    /// The number of hashes that were computed.
    pub(super) computed: Arc<AtomicUsize>,
}

/// A queue of requests that need a hash.
struct Queue {
    /// A permit for each hash that may be computed at the same time.
    turns: Arc<Semaphore>,
    /// A permit for each request that may be in the queue.
    slots: Arc<Semaphore>,
}

/// The sender of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sender {
    /// A member in a session, with a link, or in a browser in which the member has signed in before.
    KnownMember,
    Stranger,
}

/// The slot of a request in the queues. The request leaves the queues when the last copy is dropped.
#[derive(Clone)]
pub(super) struct QueueSlot {
    sender: Sender,
    _permits: Arc<SlotPermits>,
}

/// The permits of a slot.
struct SlotPermits {
    _of_all: OwnedSemaphorePermit,
    _of_strangers: Option<OwnedSemaphorePermit>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self {
            all: Queue::new(HASHES_AT_ONCE, MAX_REQUESTS),
            strangers: Queue::new(STRANGERS_AT_ONCE, MAX_REQUESTS_OF_STRANGERS),
            computed: Arc::default(),
        }
    }
}

impl Queue {
    /// Returns an empty queue with this number of turns and slots.
    fn new(turns: usize, slots: usize) -> Self {
        Self {
            turns: Arc::new(Semaphore::new(turns)),
            slots: Arc::new(Semaphore::new(slots)),
        }
    }

    /// Takes a slot. Fails with 503 if the queue is full.
    fn take_slot(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let permit = Arc::clone(&self.slots).try_acquire_owned();
        permit.map_err(|_| ApiError::from(StoreError::Overloaded))
    }

    /// Waits for a turn. Never returns `None`, because the semaphore is never closed.
    async fn wait_for_turn(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.turns).acquire_owned().await.ok()
    }
}

impl Passwords {
    /// Takes a slot in the queues for a request of this sender. Fails with 503 if too many requests wait.
    pub(super) fn enter(&self, sender: Sender) -> Result<QueueSlot, ApiError> {
        let permit_of_strangers = match sender {
            Sender::KnownMember => None,
            Sender::Stranger => Some(self.strangers.take_slot()?),
        };
        let permits = SlotPermits {
            _of_all: self.all.take_slot()?,
            _of_strangers: permit_of_strangers,
        };
        Ok(QueueSlot {
            sender,
            _permits: Arc::new(permits),
        })
    }

    /// Hashes a new password.
    pub(super) async fn hash(
        &self,
        slot: QueueSlot,
        password: Password,
        mut random: StdRng,
    ) -> Result<PasswordHash, ApiError> {
        self.run(slot, move || password.hash(&mut random)).await
    }

    /// Whether this is the password of the hash. Without a hash the password is wrong, and the check takes as long.
    pub(super) async fn is_right(
        &self,
        slot: QueueSlot,
        typed_password: &str,
        hash: Option<PasswordHash>,
    ) -> Result<bool, ApiError> {
        let password = Password::from_input(typed_password);
        let can_be_right = hash.is_some() && password.is_some();
        let checked_password = password.or_else(|| Password::from_input(""));
        let checked_hash = hash.unwrap_or_else(PasswordHash::unmatchable);
        let is_right = self
            .run(slot, move || {
                checked_password.is_some_and(|password| checked_hash.matches(&password))
            })
            .await?;
        Ok(is_right && can_be_right)
    }

    /// Runs `work` when it is its turn. The turn ends with the work, even if nobody waits for it any
    /// more.
    async fn run<T: Send + 'static>(
        &self,
        slot: QueueSlot,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        // The turn among strangers comes first, so that a stranger who waits for it holds no other turn.
        let turn_of_stranger = match slot.sender {
            Sender::KnownMember => None,
            Sender::Stranger => self.strangers.wait_for_turn().await,
        };
        let turn = self.all.wait_for_turn().await;
        let computed_hashes = Arc::clone(&self.computed);
        let task = task::spawn_blocking(move || {
            let _until_done = (slot, turn, turn_of_stranger);
            computed_hashes.fetch_add(1, Relaxed);
            work()
        });
        task.await
            .map_err(|error| ApiError::internal(Arc::new(error)))
    }
}

/// Returns a source of randomness for another thread.
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
            Password::from_input("some password")
                .map(|password| PasswordHash::unmatchable().matches(&password));
            NOW.fetch_sub(1, SeqCst);
        };
        let run = async || {
            passwords
                .run(passwords.enter(Sender::KnownMember)?, work)
                .await
        };
        let done = join_all((0..=MAX_REQUESTS).map(|_| run())).await;
        assert_eq!(done.iter().filter(|done| done.is_err()).count(), 1);
        assert_eq!(MOST.load(SeqCst), HASHES_AT_ONCE);
        // A request that goes away while its hash is computed leaves its turn when that is done.
        drop(run());
        assert_eq!(passwords.all.slots.available_permits(), MAX_REQUESTS);
        assert!(run().await.is_ok());
    }

    #[tokio::test]
    async fn strangers_leave_half_of_the_places_and_a_turn_to_members() {
        let passwords = Passwords::default();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let ended = Arc::new(std::sync::Mutex::new(ended));
        let slots: Vec<_> = (0..MAX_REQUESTS)
            .map_while(|_| passwords.enter(Sender::Stranger).ok())
            .collect();
        assert_eq!(slots.len(), MAX_REQUESTS_OF_STRANGERS);
        // The first of them ends when the test says so.
        let strangers = join_all(slots.into_iter().map(|slot| {
            let ended = Arc::clone(&ended);
            passwords.run(slot, move || drop(ended.lock().map(|ended| ended.recv())))
        }));
        let members = join_all(
            (0..MAX_REQUESTS - MAX_REQUESTS_OF_STRANGERS).map(async |_| {
                passwords
                    .run(passwords.enter(Sender::KnownMember)?, || ())
                    .await
            }),
        );
        let members = async {
            let done = members.await;
            drop(end);
            done
        };
        let (_, done) = tokio::join!(strangers, members);
        assert!(done.iter().all(Result::is_ok));
    }
}
