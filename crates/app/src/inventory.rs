//! Counts the animals of a store. Counting takes long, so all requests share one count, and its
//! result is cached.
//!
//! A result is served for 100 times as long as the count took, and for at most 10 seconds after the
//! start of the count. For example, if a count takes 20 milliseconds, the next one starts at least
//! 2 seconds later. However many requests there are, counting therefore takes at most a hundredth
//! of the time, unless a count takes longer than 100 milliseconds.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use petstore_domain::{Clock, clock::truncate_to_milliseconds, store_area::Inventory};
use petstore_store::{Store, StoreError, cause};
use tokio::{sync::watch, task::JoinSet};

/// How long a result is served, as a multiple of the time that its computation took.
const SERVING_FACTOR: u32 = 100;

/// The maximum time for which a result is served.
const MAX_SERVING_TIME: Duration = Duration::from_secs(10);

/// Counts the animals of a store.
pub struct InventoryCount {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    cache: RunCache<Inventory>,
}

/// A cache of the result of a computation. All requests share its newest run, which may still be in
/// progress.
struct RunCache<T> {
    newest_run: Mutex<Option<Run<T>>>,
}

/// A run of the computation, in progress or finished.
struct Run<T> {
    started_at: Instant,
    /// What the run has computed. It is `None` while the run is in progress. The channel closes
    /// without a result if the run panics.
    outcome: watch::Receiver<Option<FinishedRun<T>>>,
    /// Aborts the run when dropped.
    _task: JoinSet<()>,
}

/// The result of a run.
#[derive(Clone)]
struct FinishedRun<T> {
    result: Result<T, StoreError>,
    duration: Duration,
}

impl InventoryCount {
    pub(super) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            clock,
            cache: RunCache::default(),
        }
    }

    /// Returns the numbers of animals, which may be a few seconds old.
    pub async fn read(&self) -> Result<Inventory, StoreError> {
        let store = Arc::clone(&self.store);
        let clock = Arc::clone(&self.clock);
        let counted_at = truncate_to_milliseconds(clock.now());
        let started_at = clock.instant();
        let count = async move {
            let result = store.count_inventory(counted_at).await;
            let duration = clock.instant().saturating_duration_since(started_at);
            FinishedRun { result, duration }
        };
        self.cache.read(started_at, count).await
    }
}

impl<T> Default for RunCache<T> {
    fn default() -> Self {
        Self {
            newest_run: Mutex::default(),
        }
    }
}

impl<T: Clone + Send + Sync + 'static> RunCache<T> {
    /// Returns the result of the newest run if that is current at the time `now`. Otherwise, runs
    /// `computation`, and returns its result.
    async fn read(
        &self,
        now: Instant,
        computation: impl Future<Output = FinishedRun<T>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let mut outcome = self.join_or_start_run(now, computation);
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
        computation: impl Future<Output = FinishedRun<T>> + Send + 'static,
    ) -> watch::Receiver<Option<FinishedRun<T>>> {
        // Hold the lock until another run has started, so that concurrent requests share it.
        let mut newest_run = self.newest_run.lock();
        if let Some(run) = &*newest_run
            && run.is_current(now)
        {
            return run.outcome.clone();
        }

        let (sender, outcome) = watch::channel(None);
        // The run is a task, so that it continues if the request that started it is cancelled.
        let mut task = JoinSet::new();
        task.spawn(async move {
            sender.send_replace(Some(computation.await));
        });
        *newest_run = Some(Run {
            started_at: now,
            outcome: outcome.clone(),
            _task: task,
        });
        outcome
    }
}

impl<T> Run<T> {
    /// Whether requests at the time `now` can share this run: it is in progress, or it has a result
    /// that is young enough. Errors are not cached.
    fn is_current(&self, now: Instant) -> bool {
        let Some(finished_run) = &*self.outcome.borrow() else {
            // If the run panics, its task drops the sender. `has_changed` then fails.
            let has_panicked = self.outcome.has_changed().is_err();
            return !has_panicked;
        };
        if finished_run.result.is_err() {
            return false;
        }
        let serving_time = MAX_SERVING_TIME.min(finished_run.duration * SERVING_FACTOR);
        now.saturating_duration_since(self.started_at) < serving_time
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt, future::join_all};
    use tokio::sync::oneshot;

    use super::*;

    #[expect(
        clippy::disallowed_methods,
        reason = "only the clock of the machine makes an `Instant`"
    )]
    fn start() -> Instant {
        Instant::now()
    }

    /// Reads from the cache at the time `now`. A new run would take 10 seconds and have this
    /// result.
    async fn read(
        cache: &RunCache<u64>,
        now: Instant,
        result: Result<u64, StoreError>,
    ) -> Option<u64> {
        let run = async {
            FinishedRun {
                result,
                duration: MAX_SERVING_TIME,
            }
        };
        cache.read(now, run).await.ok()
    }

    #[tokio::test]
    async fn one_run_serves_all_requests_and_outlives_the_first_one() {
        let cache = RunCache::default();
        let now = start();
        let (finish, finished) = oneshot::channel();
        let first_request = cache.read(now, async {
            FinishedRun {
                result: Ok(finished.await.unwrap()),
                duration: MAX_SERVING_TIME,
            }
        });
        // The request that started the run is dropped before the run completes.
        assert!(first_request.now_or_never().is_none());
        let later = now + Duration::from_mins(1);
        let others = join_all((0..9).map(|_| read(&cache, later, Ok(2))));
        finish.send(1).unwrap();
        assert_eq!(others.await, [Some(1); 9]);
    }

    #[tokio::test]
    async fn results_are_kept_for_10_seconds_and_errors_are_not() {
        let cache = RunCache::default();
        let now = start();
        assert_eq!(read(&cache, now, Err(StoreError::Overloaded)).await, None);
        assert_eq!(read(&cache, now, Ok(1)).await, Some(1));
        let almost = now + Duration::from_millis(9_999);
        assert_eq!(read(&cache, almost, Ok(2)).await, Some(1));
        assert_eq!(read(&cache, now + MAX_SERVING_TIME, Ok(2)).await, Some(2));
    }

    #[tokio::test]
    async fn after_a_panic_the_next_request_begins_again() {
        let cache = RunCache::default();
        let now = start();
        let panics = async || -> FinishedRun<u64> { panic!("on purpose") };
        assert!(cache.read(now, panics()).await.is_err());
        assert_eq!(read(&cache, now, Ok(1)).await, Some(1));
    }
}
