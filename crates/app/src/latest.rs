//! Caches the result of an expensive computation, such as the count of all animals.
//!
//! A result is computed at most once per version of the store. It is served for 100 times the duration of
//! its computation (at most 10 seconds). A fast computation therefore takes about a hundredth of the time
//! at most, however many requests there are.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use petstore_domain::{Clock, clock::truncate_to_milliseconds, store_area::Inventory};
use petstore_store::{Store, StoreError, Version, cause};
use tokio::{sync::watch, task::JoinSet};

/// How long a result is served although there is a newer version, as a multiple of the duration of its run.
const SERVING_FACTOR: u32 = 100;

/// The maximum time for which a result is served although there is a newer version.
const MAX_SERVING_TIME: Duration = Duration::from_secs(10);

/// A cache of the result of a computation. All requests share its newest run, which may still be in
/// progress.
pub(crate) struct Latest<T> {
    newest_run: Mutex<Option<Run<T>>>,
}

/// The result of a run.
#[derive(Clone)]
struct FinishedRun<T> {
    result: Result<T, StoreError>,
    duration: Duration,
}

/// A run of the computation.
struct Run<T> {
    started_at: Instant,
    /// The version of the store when the run started, if it was known.
    version: Option<Version>,
    /// What the run has computed; `None` while it is in progress. The channel closes without a
    /// result if the run panics.
    outcome: watch::Receiver<Option<FinishedRun<T>>>,
    /// Aborts the run when dropped.
    _task: JoinSet<()>,
}

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self {
            newest_run: Mutex::default(),
        }
    }
}

impl<T: Clone + Send + Sync + 'static> Latest<T> {
    /// Returns the newest result, or waits for the run in progress. `version` is the present
    /// version of the store, if it is known.
    ///
    /// Runs `computation` only if there is neither a run nor a result, or if the result is too old.
    pub(crate) async fn read(
        &self,
        clock: &Arc<dyn Clock>,
        version: Option<Version>,
        computation: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let clock = Arc::clone(clock);
        let started_at = clock.instant();
        let timed_computation = async move {
            let result = computation.await;
            let duration = clock.instant().saturating_duration_since(started_at);
            FinishedRun { result, duration }
        };
        self.read_at(started_at, version, timed_computation).await
    }

    /// Returns the result of the newest run if that is current at the time `now`, and otherwise the
    /// result of a new run.
    async fn read_at(
        &self,
        now: Instant,
        version: Option<Version>,
        computation: impl Future<Output = FinishedRun<T>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let mut outcome = self.join_or_start_run(now, version, computation);
        let finished_run = match outcome.wait_for(Option::is_some).await {
            Ok(finished_run) => finished_run.clone(),
            Err(_closed) => None,
        };
        match finished_run {
            Some(FinishedRun { result, .. }) => result,
            None => Err(StoreError::Internal(cause("the run panicked"))),
        }
    }

    /// Returns the outcome of the newest run if that is current, and otherwise starts another run.
    fn join_or_start_run(
        &self,
        now: Instant,
        version: Option<Version>,
        computation: impl Future<Output = FinishedRun<T>> + Send + 'static,
    ) -> watch::Receiver<Option<FinishedRun<T>>> {
        // Hold the lock until another run has started, so that concurrent requests share it.
        let mut newest_run = self.newest_run.lock();
        if let Some(run) = &*newest_run
            && run.is_current(now, version)
        {
            return run.outcome.clone();
        }
        let run = Run::start(now, version, computation);
        let outcome = run.outcome.clone();
        *newest_run = Some(run);
        outcome
    }
}

impl<T: Send + Sync + 'static> Run<T> {
    /// Spawns a run as a task, so that it continues if the request that started it is cancelled.
    fn start(
        now: Instant,
        version: Option<Version>,
        computation: impl Future<Output = FinishedRun<T>> + Send + 'static,
    ) -> Self {
        let (sender, outcome) = watch::channel(None);
        let mut task = JoinSet::new();
        task.spawn(async move {
            sender.send_replace(Some(computation.await));
        });
        Self {
            started_at: now,
            version,
            outcome,
            _task: task,
        }
    }

    /// Whether requests can share this run: it is in progress, or it has a result that is of this
    /// version or young enough. Errors are not cached.
    fn is_current(&self, now: Instant, version: Option<Version>) -> bool {
        let Some(finished_run) = &*self.outcome.borrow() else {
            // `has_changed` fails if the channel is closed.
            let has_panicked = self.outcome.has_changed().is_err();
            return !has_panicked;
        };
        if finished_run.result.is_err() {
            return false;
        }
        if version.is_some() && version == self.version {
            return true;
        }
        let serving_time = MAX_SERVING_TIME.min(finished_run.duration * SERVING_FACTOR);
        now.saturating_duration_since(self.started_at) < serving_time
    }
}

/// Counts the animals of a store. Counting takes long, so the result is cached.
pub struct InventoryCount {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    latest: Latest<Inventory>,
}

impl InventoryCount {
    pub(super) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            clock,
            latest: Latest::default(),
        }
    }

    /// Returns the numbers of animals, which may be a few seconds old.
    pub async fn read(&self) -> Result<Inventory, StoreError> {
        let store = Arc::clone(&self.store);
        let now = truncate_to_milliseconds(self.clock.now());
        let count = async move { store.count_inventory(now).await };
        self.latest.read(&self.clock, None, count).await
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
        latest: &Latest<u64>,
        now: Instant,
        result: Result<u64, StoreError>,
    ) -> Option<u64> {
        latest
            .read_at(now, None, async {
                FinishedRun {
                    result,
                    duration: MAX_SERVING_TIME,
                }
            })
            .await
            .ok()
    }

    #[tokio::test]
    async fn one_run_serves_all_requests_and_outlives_the_first_one() {
        let latest = Latest::default();
        let now = start();
        let (finish, finished) = oneshot::channel();
        let first_request = latest.read_at(now, None, async {
            FinishedRun {
                result: Ok(finished.await.unwrap()),
                duration: MAX_SERVING_TIME,
            }
        });
        // The request that started the run is dropped before the run completes.
        assert!(first_request.now_or_never().is_none());
        let later = now + Duration::from_mins(1);
        let others = join_all((0..9).map(|_| read(&latest, later, Ok(2))));
        finish.send(1).unwrap();
        assert_eq!(others.await, [Some(1); 9]);
    }

    #[tokio::test]
    async fn results_are_kept_for_10_seconds_and_errors_are_not() {
        let latest = Latest::default();
        let now = start();
        assert_eq!(read(&latest, now, Err(StoreError::Overloaded)).await, None);
        assert_eq!(read(&latest, now, Ok(1)).await, Some(1));
        let almost = now + Duration::from_millis(9_999);
        assert_eq!(read(&latest, almost, Ok(2)).await, Some(1));
        assert_eq!(read(&latest, now + MAX_SERVING_TIME, Ok(2)).await, Some(2));
        // A result is served for longer while the version stays the same.
        for (factor, version, expected) in [(2, [1], 3), (9, [1], 3), (9, [2], 11)] {
            let run = async move {
                FinishedRun {
                    result: Ok(u64::from(factor) + u64::from(version[0])),
                    duration: MAX_SERVING_TIME,
                }
            };
            let read_time = now + MAX_SERVING_TIME * factor;
            let result = latest
                .read_at(read_time, Some(Version::new(version)), run)
                .await;
            assert_eq!(result.ok(), Some(expected));
        }
    }

    #[tokio::test]
    async fn after_a_panic_the_next_request_begins_again() {
        let latest = Latest::default();
        let now = start();
        let panics = async || -> FinishedRun<u64> { panic!("on purpose") };
        assert!(latest.read_at(now, None, panics()).await.is_err());
        assert_eq!(read(&latest, now, Ok(1)).await, Some(1));
    }
}
