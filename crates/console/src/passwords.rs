//! Hashes passwords on blocking threads, at most two at a time. Requests that need no hash are not
//! slowed down, and the memory for hashing is bounded.

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

/// How many hashes are computed concurrently. Each takes 19 MiB.
const MAX_CONCURRENT_HASHES: usize = 2;

/// How many hashes are computed concurrently for strangers. The other permit is always left to
/// members.
const MAX_CONCURRENT_HASHES_OF_STRANGERS: usize = 1;

/// How many requests may be queued, including those whose hash is being computed. A full queue
/// takes about a second.
const MAX_REQUESTS: usize = 64;

/// How many of the queued requests may be from strangers.
const MAX_REQUESTS_OF_STRANGERS: usize = 32;

/// Computes and verifies password hashes, with a bounded queue. A stranger passes both queues, a
/// member only the first.
pub(super) struct Passwords {
    all: Queue,
    strangers: Queue,
    /// How many hashes have been computed since the start.
    pub(super) computed: Arc<AtomicUsize>,
}

/// A bounded queue of requests that need a hash.
struct Queue {
    /// One permit for each hash that may be computed concurrently.
    turns: Arc<Semaphore>,
    /// One permit for each request that may be in the queue.
    slots: Arc<Semaphore>,
}

/// Who sent a request, which decides the queues that it passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sender {
    /// A member who is signed in, presents a valid link, or uses a known browser.
    KnownMember,
    Stranger,
}

/// A request's slot in the queues. The slot is released when its last clone is dropped.
#[derive(Clone)]
pub(super) struct QueueSlot {
    sender: Sender,
    _permits: Arc<SlotPermits>,
}

/// The permits that a slot holds.
struct SlotPermits {
    _of_all: OwnedSemaphorePermit,
    _of_strangers: Option<OwnedSemaphorePermit>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self {
            all: Queue::new(MAX_CONCURRENT_HASHES, MAX_REQUESTS),
            strangers: Queue::new(
                MAX_CONCURRENT_HASHES_OF_STRANGERS,
                MAX_REQUESTS_OF_STRANGERS,
            ),
            computed: Arc::default(),
        }
    }
}

impl Queue {
    /// Returns an empty queue with this many turns and slots.
    fn new(turns: usize, slots: usize) -> Self {
        Self {
            turns: Arc::new(Semaphore::new(turns)),
            slots: Arc::new(Semaphore::new(slots)),
        }
    }

    /// Takes a slot without waiting. Fails with 503 if the queue is full.
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
    /// Takes a slot in the queues for a request of this sender. Fails with 503 if too many requests
    /// are queued.
    pub(super) fn acquire_slot(&self, sender: Sender) -> Result<QueueSlot, ApiError> {
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

    /// Whether the password matches the hash. Without a hash, the result is `false`, but the check
    /// takes equally long: the response time does not reveal whether a name exists.
    pub(super) async fn verify(
        &self,
        slot: QueueSlot,
        typed_password: &str,
        hash: Option<PasswordHash>,
    ) -> Result<bool, ApiError> {
        let password = Password::from_input(typed_password);
        let can_match = hash.is_some() && password.is_some();
        let checked_password = password.or_else(|| Password::from_input(""));
        let checked_hash = hash.unwrap_or_else(PasswordHash::unmatchable);
        let is_match = self
            .run(slot, move || {
                checked_password.is_some_and(|password| checked_hash.matches(&password))
            })
            .await?;
        Ok(is_match && can_match)
    }

    /// Runs `work` on a blocking thread, once its turn has come. The turn and the slot are held
    /// until the work has finished, even if the returned future is dropped before.
    async fn run<T: Send + 'static>(
        &self,
        slot: QueueSlot,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        // A stranger waits for the turn among strangers first, and so does not hold a turn of `all`
        // while waiting.
        let turn_of_stranger = match slot.sender {
            Sender::KnownMember => None,
            Sender::Stranger => self.strangers.wait_for_turn().await,
        };
        let turn = self.all.wait_for_turn().await;
        let computed_hashes = Arc::clone(&self.computed);
        let task = task::spawn_blocking(move || {
            let _held_until_done = (slot, turn, turn_of_stranger);
            computed_hashes.fetch_add(1, Relaxed);
            work()
        });
        task.await
            .map_err(|error| ApiError::internal(Arc::new(error)))
    }
}

/// Returns a new random number generator, seeded from this one, that can move to another thread.
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
                .run(passwords.acquire_slot(Sender::KnownMember)?, work)
                .await
        };
        let done = join_all((0..=MAX_REQUESTS).map(|_| run())).await;
        assert_eq!(done.iter().filter(|done| done.is_err()).count(), 1);
        assert_eq!(MOST.load(SeqCst), MAX_CONCURRENT_HASHES);
        // An abandoned request leaves no slot occupied.
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
            .map_while(|_| passwords.acquire_slot(Sender::Stranger).ok())
            .collect();
        assert_eq!(slots.len(), MAX_REQUESTS_OF_STRANGERS);
        // The first of them finishes when `end` is dropped.
        let strangers = join_all(slots.into_iter().map(|slot| {
            let ended = Arc::clone(&ended);
            passwords.run(slot, move || drop(ended.lock().map(|ended| ended.recv())))
        }));
        let members = join_all(
            (0..MAX_REQUESTS - MAX_REQUESTS_OF_STRANGERS).map(async |_| {
                passwords
                    .run(passwords.acquire_slot(Sender::KnownMember)?, || ())
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
