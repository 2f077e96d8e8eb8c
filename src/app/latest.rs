//! A result that costs much, computed at most for a hundredth of the time and once for each version of
//! the store; and the one of how many animals there are.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::{sync::watch, task::JoinSet};

use crate::{
    domain::{Clock, clock::to_milliseconds, store_area::Inventory},
    store::{Store, StoreError, Version, cause},
};

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
    /// The newest result. Only if it is too old, and no run is in progress, begins `run`. `version`: that
    /// of the store, if it is known.
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
            let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let current = last.take().filter(|last| last.is_current(now, version));
            last.insert(current.unwrap_or_else(|| Run::begin(now, version, run))).result.clone()
        };
        let finished = result.wait_for(Option::is_some).await.map(|finished| finished.clone());
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
        Self { begun: now, version, result, _task: task }
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
pub(crate) struct InventoryCount {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    last: Latest<Inventory>,
}

impl InventoryCount {
    pub(super) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, last: Latest::default() }
    }

    /// How many animals there are, at most some seconds ago.
    pub(crate) async fn read(&self) -> Result<Inventory, StoreError> {
        let (store, now) = (Arc::clone(&self.store), to_milliseconds(self.clock.now()));
        let count = async move { store.count_inventory(now).await };
        self.last.read(&self.clock, None, count).await
    }
}

#[cfg(test)]
#[path = "../../tests/inside/app/latest.rs"]
mod tests;
