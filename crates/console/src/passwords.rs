//! Hashes passwords on other threads, two at once, so that no request waits for a hash except those
//! that need one.

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

/// How many hashes are computed at once. Each takes 19 MiB.
const AT_ONCE: usize = 2;

/// How many hashes of strangers are computed at once. So at most one of them is before that of a
/// member.
const STRANGERS_AT_ONCE: usize = 1;

/// How many requests may wait for their hash, with those that are computed: about a second.
const WAITING: usize = 64;

/// How many of them may be of strangers.
const STRANGERS_WAITING: usize = 32;

/// The threads for hashes.
pub(super) struct Passwords {
    all: Queue,
    strangers: Queue,
    /// How many hashes were computed.
    pub(super) computed: Arc<AtomicUsize>,
}

/// Turns, and places to wait for them.
struct Queue {
    turns: Arc<Semaphore>,
    places: Arc<Semaphore>,
}

/// A place of a request among those that wait for their hashes, which it may give up at any time.
#[derive(Clone)]
pub(super) struct Place(Arc<Permits>);

struct Permits {
    is_known: bool,
    _places: (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>),
}

impl Default for Passwords {
    fn default() -> Self {
        Self {
            all: Queue::new(AT_ONCE, WAITING),
            strangers: Queue::new(STRANGERS_AT_ONCE, STRANGERS_WAITING),
            computed: Arc::default(),
        }
    }
}

impl Queue {
    fn new(turns: usize, places: usize) -> Self {
        let semaphore = |permits| Arc::new(Semaphore::new(permits));
        Self {
            turns: semaphore(turns),
            places: semaphore(places),
        }
    }

    fn place(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let full = |_| ApiError::from(StoreError::Overloaded);
        Arc::clone(&self.places).try_acquire_owned().map_err(full)
    }

    async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        // It is never closed.
        Arc::clone(&self.turns).acquire_owned().await.ok()
    }
}

impl Passwords {
    /// Takes a place. `is_known`: for a member in a session, with a link, or in a browser in which
    /// the member has signed in before. Fails with 503 if too many wait.
    pub(super) fn place(&self, is_known: bool) -> Result<Place, ApiError> {
        let of_stranger = if is_known {
            None
        } else {
            Some(self.strangers.place()?)
        };
        Ok(Place(Arc::new(Permits {
            is_known,
            _places: (self.all.place()?, of_stranger),
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

    /// Whether this was typed for the hash. Without a hash it is wrong, and takes as long.
    pub(super) async fn is_right(
        &self,
        place: Place,
        typed: &str,
        hash: Option<PasswordHash>,
    ) -> Result<bool, ApiError> {
        let password = Password::typed(typed);
        let exists = hash.is_some() && password.is_some();
        let password = password.or_else(|| Password::typed(""));
        let hash = hash.unwrap_or_else(PasswordHash::of_nobody);
        let is_of = move || password.is_some_and(|password| hash.is_of(&password));
        Ok(self.run(place, is_of).await? && exists)
    }

    /// Runs `work` when it is its turn. The turn ends with the work, even if nobody waits for it any
    /// more.
    async fn run<T: Send + 'static>(
        &self,
        place: Place,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let of_stranger = if place.0.is_known {
            None
        } else {
            self.strangers.turn().await
        };
        let turn = (self.all.turn().await, of_stranger);
        let computed = Arc::clone(&self.computed);
        let work = task::spawn_blocking(move || {
            let _until_done = (place, turn);
            computed.fetch_add(1, Relaxed);
            work()
        });
        work.await
            .map_err(|error| ApiError::internal(Arc::new(error)))
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
        let run = async || passwords.run(passwords.place(true)?, work).await;
        let done = join_all((0..=WAITING).map(|_| run())).await;
        assert_eq!(done.iter().filter(|done| done.is_err()).count(), 1);
        assert_eq!(MOST.load(SeqCst), AT_ONCE);
        // A request that goes away while its hash is computed leaves its turn when that is done.
        drop(run());
        assert_eq!(passwords.all.places.available_permits(), WAITING);
        assert!(run().await.is_ok());
    }

    #[tokio::test]
    async fn strangers_leave_half_of_the_places_and_a_turn_to_members() {
        let passwords = Passwords::default();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let ended = Arc::new(std::sync::Mutex::new(ended));
        let places: Vec<_> = (0..WAITING)
            .map_while(|_| passwords.place(false).ok())
            .collect();
        assert_eq!(places.len(), STRANGERS_WAITING);
        // The first of them ends when the test says so.
        let strangers = join_all(places.into_iter().map(|place| {
            let ended = Arc::clone(&ended);
            passwords.run(place, move || drop(ended.lock().map(|ended| ended.recv())))
        }));
        let members = join_all(
            (0..WAITING - STRANGERS_WAITING)
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
