//! A result that costs much, computed at most for a hundredth of the time and once for each version of
//! the store; and the one of how many animals there are.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use petstore_domain::{Clock, clock::to_milliseconds, store_area::Inventory};
use petstore_store::{Store, StoreError, Version, cause};
use tokio::{sync::watch, task::JoinSet};

/// How long a result is served although there is a newer version: so many times as long as it took,
/// and at most so long.
const KEPT_FOR_TIMES: u32 = 100;
const KEPT_FOR: Duration = Duration::from_secs(10);

/// The newest result, finished or not.
pub(crate) struct Latest<T>(Mutex<Option<Run<T>>>);

/// The result, and how long it took.
type Finished<T> = (Result<T, StoreError>, Duration);

struct Run<T> {
    begun: Instant,
    version: Option<Version>,
    result: watch::Receiver<Option<Finished<T>>>,
    /// Ends the run if it is dropped.
    _task: JoinSet<()>,
}

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone + Send + Sync + 'static> Latest<T> {
    /// Returns the newest result. Only if it is too old, and no run is in progress, begins `run`.
    /// `version`: that of the store, if it is known.
    pub(crate) async fn read(
        &self,
        clock: &Arc<dyn Clock>,
        version: Option<Version>,
        run: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (clock, begun) = (Arc::clone(clock), clock.instant());
        let run = async move {
            let result = run.await;
            (result, clock.instant().saturating_duration_since(begun))
        };
        self.at(begun, version, run).await
    }

    async fn at(
        &self,
        now: Instant,
        version: Option<Version>,
        run: impl Future<Output = Finished<T>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let mut result = {
            let mut last = self.0.lock();
            let current = last.take().filter(|last| last.is_current(now, version));
            last.insert(current.unwrap_or_else(|| Run::begin(now, version, run)))
                .result
                .clone()
        };
        let finished = result
            .wait_for(Option::is_some)
            .await
            .map(|finished| finished.clone());
        let finished = finished.ok().flatten();
        let (result, _) =
            finished.ok_or_else(|| StoreError::Internal(cause("the run panicked")))?;
        result
    }
}

impl<T: Send + Sync + 'static> Run<T> {
    fn begin(
        now: Instant,
        version: Option<Version>,
        run: impl Future<Output = Finished<T>> + Send + 'static,
    ) -> Self {
        let (sender, result) = watch::channel(None);
        let mut task = JoinSet::new();
        // A task, because a run must not end with the request that began it.
        task.spawn(async move {
            sender.send_replace(Some(run.await));
        });
        Self {
            begun: now,
            version,
            result,
            _task: task,
        }
    }

    /// Whether it goes on, is of this version, or is not too old.
    fn is_current(&self, now: Instant, version: Option<Version>) -> bool {
        match &*self.result.borrow() {
            None => self.result.has_changed().is_ok(),
            Some((Ok(_), _)) if version.is_some() && version == self.version => true,
            Some((Ok(_), took)) => {
                now.saturating_duration_since(self.begun) < KEPT_FOR.min(*took * KEPT_FOR_TIMES)
            }
            Some((Err(_), _)) => false,
        }
    }
}

/// Counts the animals of a store, at most for a hundredth of the time.
pub struct InventoryCount {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    last: Latest<Inventory>,
}

impl InventoryCount {
    pub(super) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            clock,
            last: Latest::default(),
        }
    }

    /// How many animals there are, at most some seconds ago.
    pub async fn read(&self) -> Result<Inventory, StoreError> {
        let store = Arc::clone(&self.store);
        let now = to_milliseconds(self.clock.now());
        let count = async move { store.count_inventory(now).await };
        self.last.read(&self.clock, None, count).await
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt, future::join_all};
    use tokio::sync::oneshot;

    use super::*;

    #[expect(
        clippy::disallowed_methods,
        reason = "an Instant can only be had from the machine"
    )]
    fn start() -> Instant {
        Instant::now()
    }

    async fn read(
        last: &Latest<u64>,
        now: Instant,
        result: Result<u64, StoreError>,
    ) -> Option<u64> {
        last.at(now, None, async { (result, KEPT_FOR) }).await.ok()
    }

    #[tokio::test]
    async fn one_run_serves_all_requests_and_outlives_the_first_one() {
        let last = Latest::default();
        let now = start();
        let (finish, finished) = oneshot::channel();
        let slow = last.at(now, None, async { (Ok(finished.await.unwrap()), KEPT_FOR) });
        // The request that began it ends before it.
        assert!(slow.now_or_never().is_none());
        let later = now + Duration::from_mins(1);
        let others = join_all((0..9).map(|_| read(&last, later, Ok(2))));
        finish.send(1).unwrap();
        assert_eq!(others.await, [Some(1); 9]);
    }

    #[tokio::test]
    async fn results_are_kept_for_10_seconds_and_errors_are_not() {
        let last = Latest::default();
        let now = start();
        assert_eq!(read(&last, now, Err(StoreError::Overloaded)).await, None);
        assert_eq!(read(&last, now, Ok(1)).await, Some(1));
        let almost = now + Duration::from_millis(9_999);
        assert_eq!(read(&last, almost, Ok(2)).await, Some(1));
        assert_eq!(read(&last, now + KEPT_FOR, Ok(2)).await, Some(2));
        // Of the same version, they are kept for longer.
        for (at, version, expected) in [(2, [1], 3), (9, [1], 3), (9, [2], 11)] {
            let run = async move { (Ok(u64::from(at) + u64::from(version[0])), KEPT_FOR) };
            let read = last
                .at(now + KEPT_FOR * at, Some(Version::new(version)), run)
                .await;
            assert_eq!(read.ok(), Some(expected));
        }
    }

    #[tokio::test]
    async fn after_a_panic_the_next_request_begins_again() {
        let last = Latest::default();
        let now = start();
        let panics = async || -> Finished<u64> { panic!("on purpose") };
        assert!(last.at(now, None, panics()).await.is_err());
        assert_eq!(read(&last, now, Ok(1)).await, Some(1));
    }
}
