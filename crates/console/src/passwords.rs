//! Hashes passwords on blocking threads, at most two at a time. This bounds the memory for hashing,
//! and does not slow down requests that need no hash.

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

/// The maximum number of hashes that are computed concurrently. Each takes 19 MiB.
const MAX_CONCURRENT_HASHES: usize = 2;

/// The maximum number of hashes that are computed concurrently for strangers. It leaves one for
/// members.
const MAX_CONCURRENT_HASHES_OF_STRANGERS: usize = 1;

/// The maximum number of queued requests, including the requests whose hash is being computed. The
/// hashes of a full queue take about a second.
const MAX_REQUESTS: usize = 64;

/// The maximum number of queued requests from strangers.
const MAX_REQUESTS_OF_STRANGERS: usize = 32;

/// Computes and verifies password hashes. Requests wait in a bounded queue.
pub(super) struct Passwords {
    /// The queue for all requests.
    all: Queue,
    /// The queue through which requests of strangers must pass first.
    strangers: Queue,
    /// How many hashes have been computed since the start.
    pub(super) computed_count: Arc<AtomicUsize>,
}

/// A bounded queue of requests that need a hash. A request first takes a slot, which bounds the
/// length of the queue, and then waits for its turn to compute the hash.
struct Queue {
    /// One permit for each hash that may be computed concurrently.
    turns: Arc<Semaphore>,
    /// One permit for each request that may be in the queue, waiting or computing.
    slots: Arc<Semaphore>,
}

/// The sender of a request, which determines the queues that the request passes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sender {
    /// A member who is signed in, has opened a valid link, or uses a known browser.
    KnownMember,
    Stranger,
}

/// The slot of a request in its queues. It is released when its last clone is dropped.
#[derive(Clone)]
pub(super) struct QueueSlot {
    sender: Sender,
    _permits: Arc<SlotPermits>,
}

/// The permits that a slot holds until it is dropped.
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
            computed_count: Arc::default(),
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
    /// Takes a slot in each queue that a request of this sender passes through. Fails with 503 if
    /// one of them is full.
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

    /// Whether the typed password matches the hash. Without a hash, the result is `false`, but the
    /// check takes as long, so that the response time does not reveal whether a name exists.
    pub(super) async fn verify(
        &self,
        slot: QueueSlot,
        typed_password: &str,
        hash: Option<PasswordHash>,
    ) -> Result<bool, ApiError> {
        let password = Password::from_input(typed_password);
        let can_match = hash.is_some() && password.is_some();
        // Stand-ins for what is missing, so that a hash is always computed. The empty text is short
        // enough for a password, so `checked_password` is never `None`.
        let checked_password = password.or_else(|| Password::from_input(""));
        let checked_hash = hash.unwrap_or_else(PasswordHash::unmatchable);
        let is_match = self
            .run(slot, move || {
                checked_password.is_some_and(|password| checked_hash.matches(&password))
            })
            .await?;
        Ok(is_match && can_match)
    }

    /// Waits for a turn, and runs `work` on a blocking thread. If the returned future is dropped,
    /// the work still finishes, and holds its turn and its slot until then.
    async fn run<T: Send + 'static>(
        &self,
        slot: QueueSlot,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        // A stranger waits for the turn among strangers first, so as not to hold one of the turns
        // of all while waiting.
        let turn_of_stranger = match slot.sender {
            Sender::KnownMember => None,
            Sender::Stranger => self.strangers.wait_for_turn().await,
        };
        let turn = self.all.wait_for_turn().await;
        let computed_count = Arc::clone(&self.computed_count);
        let task = task::spawn_blocking(move || {
            let _held_until_done = (slot, turn, turn_of_stranger);
            computed_count.fetch_add(1, Relaxed);
            work()
        });
        task.await
            .map_err(|error| ApiError::internal(Arc::new(error)))
    }
}

/// Returns a random number generator that can move to another thread, seeded from this one.
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
        static RUNNING_COUNT: AtomicUsize = AtomicUsize::new(0);
        static MAX_RUNNING_COUNT: AtomicUsize = AtomicUsize::new(0);
        let passwords = Passwords::default();
        let work = || {
            let running_count = RUNNING_COUNT.fetch_add(1, SeqCst) + 1;
            MAX_RUNNING_COUNT.fetch_max(running_count, SeqCst);
            Password::from_input("some password")
                .map(|password| PasswordHash::unmatchable().matches(&password));
            RUNNING_COUNT.fetch_sub(1, SeqCst);
        };
        let run = async || {
            passwords
                .run(passwords.acquire_slot(Sender::KnownMember)?, work)
                .await
        };
        let results = join_all((0..=MAX_REQUESTS).map(|_| run())).await;
        assert_eq!(results.iter().filter(|result| result.is_err()).count(), 1);
        assert_eq!(MAX_RUNNING_COUNT.load(SeqCst), MAX_CONCURRENT_HASHES);
        // A dropped request leaves no slot occupied.
        drop(run());
        assert_eq!(passwords.all.slots.available_permits(), MAX_REQUESTS);
        assert!(run().await.is_ok());
    }

    #[tokio::test]
    async fn strangers_leave_half_of_the_places_and_a_turn_to_members() {
        let passwords = Passwords::default();
        let (end_sender, end_receiver) = std::sync::mpsc::channel::<()>();
        let end_receiver = Arc::new(std::sync::Mutex::new(end_receiver));
        let slots: Vec<_> = (0..MAX_REQUESTS)
            .map_while(|_| passwords.acquire_slot(Sender::Stranger).ok())
            .collect();
        assert_eq!(slots.len(), MAX_REQUESTS_OF_STRANGERS);
        // The work of strangers blocks until `end_sender` is dropped.
        let strangers = join_all(slots.into_iter().map(|slot| {
            let end_receiver = Arc::clone(&end_receiver);
            passwords.run(slot, move || {
                drop(end_receiver.lock().map(|receiver| receiver.recv()));
            })
        }));
        let members = async {
            let requests = (0..MAX_REQUESTS - MAX_REQUESTS_OF_STRANGERS).map(async |_| {
                passwords
                    .run(passwords.acquire_slot(Sender::KnownMember)?, || ())
                    .await
            });
            let results = join_all(requests).await;
            drop(end_sender);
            results
        };
        let (_, member_results) = tokio::join!(strangers, members);
        assert!(member_results.iter().all(Result::is_ok));
    }
}
