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

/// The threads for hashes.
pub(super) struct Passwords {
    all: Queue,
    strangers: Queue,
    /// The number of hashes that were computed.
    pub(super) computed: Arc<AtomicUsize>,
}

/// Turns, and places to wait for them.
struct Queue {
    turns: Arc<Semaphore>,
    places: Arc<Semaphore>,
}

/// The place of a request in the queues for a hash, which it may give up at any time.
#[derive(Clone)]
pub(super) struct Place(Arc<Permits>);

/// The permits that a place holds until it is given up.
struct Permits {
    is_known: bool,
    _place: OwnedSemaphorePermit,
    _place_of_stranger: Option<OwnedSemaphorePermit>,
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
    /// Returns a queue with this number of turns and places.
    fn new(turns: usize, places: usize) -> Self {
        Self {
            turns: Arc::new(Semaphore::new(turns)),
            places: Arc::new(Semaphore::new(places)),
        }
    }

    /// Takes a place. Fails with 503 if all are taken.
    fn take_place(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let permit = Arc::clone(&self.places).try_acquire_owned();
        permit.map_err(|_| ApiError::from(StoreError::Overloaded))
    }

    /// Waits for a turn. The semaphore is never closed, so there is always one.
    async fn wait_for_turn(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.turns).acquire_owned().await.ok()
    }
}

impl Passwords {
    /// Takes a place. `is_known` says that the request is of a member in a session, with a link, or in a browser in which
    /// the member has signed in before. Fails with 503 if too many wait.
    pub(super) fn place(&self, is_known: bool) -> Result<Place, ApiError> {
        let place_of_stranger = if is_known {
            None
        } else {
            Some(self.strangers.take_place()?)
        };
        Ok(Place(Arc::new(Permits {
            is_known,
            _place: self.all.take_place()?,
            _place_of_stranger: place_of_stranger,
        })))
    }

    /// Hashes a new password.
    pub(super) async fn hash(
        &self,
        place: Place,
        password: Password,
        mut random: StdRng,
    ) -> Result<PasswordHash, ApiError> {
        self.run(place, move || password.hash(&mut random)).await
    }

    /// Whether this is the password of the hash. Without a hash the password is wrong, and the check takes as long.
    pub(super) async fn is_right(
        &self,
        place: Place,
        typed_password: &str,
        hash: Option<PasswordHash>,
    ) -> Result<bool, ApiError> {
        let password = Password::from_input(typed_password);
        let can_be_right = hash.is_some() && password.is_some();
        let checked_password = password.or_else(|| Password::from_input(""));
        let checked_hash = hash.unwrap_or_else(PasswordHash::unmatchable);
        let is_right = self
            .run(place, move || {
                checked_password.is_some_and(|password| checked_hash.matches(&password))
            })
            .await?;
        Ok(is_right && can_be_right)
    }

    /// Runs `work` when it is its turn. The turn ends with the work, even if nobody waits for it any
    /// more.
    async fn run<T: Send + 'static>(
        &self,
        place: Place,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        // The turn among strangers comes first, so that a stranger who waits for it holds no other turn.
        let turn_of_stranger = if place.0.is_known {
            None
        } else {
            self.strangers.wait_for_turn().await
        };
        let turn = self.all.wait_for_turn().await;
        let computed = Arc::clone(&self.computed);
        let task = task::spawn_blocking(move || {
            let _until_done = (place, turn, turn_of_stranger);
            computed.fetch_add(1, Relaxed);
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
        let run = async || passwords.run(passwords.place(true)?, work).await;
        let done = join_all((0..=MAX_REQUESTS).map(|_| run())).await;
        assert_eq!(done.iter().filter(|done| done.is_err()).count(), 1);
        assert_eq!(MOST.load(SeqCst), HASHES_AT_ONCE);
        // A request that goes away while its hash is computed leaves its turn when that is done.
        drop(run());
        assert_eq!(passwords.all.places.available_permits(), MAX_REQUESTS);
        assert!(run().await.is_ok());
    }

    #[tokio::test]
    async fn strangers_leave_half_of_the_places_and_a_turn_to_members() {
        let passwords = Passwords::default();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let ended = Arc::new(std::sync::Mutex::new(ended));
        let places: Vec<_> = (0..MAX_REQUESTS)
            .map_while(|_| passwords.place(false).ok())
            .collect();
        assert_eq!(places.len(), MAX_REQUESTS_OF_STRANGERS);
        // The first of them ends when the test says so.
        let strangers = join_all(places.into_iter().map(|place| {
            let ended = Arc::clone(&ended);
            passwords.run(place, move || drop(ended.lock().map(|ended| ended.recv())))
        }));
        let members = join_all(
            (0..MAX_REQUESTS - MAX_REQUESTS_OF_STRANGERS)
                .map(async |_| passwords.run(passwords.place(true)?, || ()).await),
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
