//! How many animals there are, counted at most for a hundredth of the time.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::{sync::watch, task::JoinSet};

use crate::{
    domain::{Clock, clock::to_milliseconds, store_area::Inventory},
    store::{Store, StoreError},
};

/// How long a count is served: so many times as long as it took, and at most so long.
const KEPT_FOR_TIMES: u32 = 100;
const KEPT_FOR: Duration = Duration::from_secs(10);

/// Counts the animals of a store.
pub(crate) struct InventoryCount {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    last: LastCount,
}

impl InventoryCount {
    pub(super) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, last: LastCount::default() }
    }

    /// How many animals there are, at most some seconds ago.
    pub(crate) async fn read(&self) -> Result<Inventory, StoreError> {
        let (store, now) = (Arc::clone(&self.store), to_milliseconds(self.clock.now()));
        let (clock, begun) = (Arc::clone(&self.clock), self.clock.instant());
        let count = async move {
            let counted = store.count_inventory(now).await;
            (counted, clock.instant().saturating_duration_since(begun))
        };
        self.last.read(begun, count).await
    }
}

/// The newest count, finished or not.
#[derive(Default)]
struct LastCount(Mutex<Option<Count>>);

/// The numbers, and how long it took to count them.
type Counted = (Result<Inventory, StoreError>, Duration);

struct Count {
    begun: Instant,
    result: watch::Receiver<Option<Counted>>,
    /// Ends the count if it is dropped.
    _task: JoinSet<()>,
}

impl Count {
    fn begin(now: Instant, count: impl Future<Output = Counted> + Send + 'static) -> Self {
        let (sender, result) = watch::channel(None);
        let mut task = JoinSet::new();
        // A task, because a count must not end with the request that began it.
        task.spawn(async move {
            sender.send_replace(Some(count.await));
        });
        Self { begun: now, result, _task: task }
    }

    /// Whether it goes on, or its numbers are not too old.
    fn is_current(&self, now: Instant) -> bool {
        match &*self.result.borrow() {
            None => self.result.has_changed().is_ok(),
            Some((Ok(_), took)) => {
                now.saturating_duration_since(self.begun) < KEPT_FOR.min(*took * KEPT_FOR_TIMES)
            }
            Some((Err(_), _)) => false,
        }
    }
}

impl LastCount {
    /// The newest numbers. Only if they are too old, and no count is in progress, begins `count`.
    async fn read(
        &self,
        now: Instant,
        count: impl Future<Output = Counted> + Send + 'static,
    ) -> Result<Inventory, StoreError> {
        let mut result = {
            let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let current = last.take().filter(|last| last.is_current(now));
            last.insert(current.unwrap_or_else(|| Count::begin(now, count))).result.clone()
        };
        let counted = result.wait_for(Option::is_some).await.map(|counted| counted.clone());
        let counted = counted.ok().flatten();
        let (counted, _) = counted.ok_or_else(|| StoreError::Internal(Arc::new(NotCounted)))?;
        counted
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the count of the animals panicked")]
struct NotCounted;

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt, future::join_all};
    use jiff::Timestamp;
    use tokio::sync::oneshot;

    use super::*;

    fn of(available: u64) -> Inventory {
        let counted_at = Timestamp::UNIX_EPOCH;
        Inventory { available, pending: 0, sold: 0, withdrawn: 0, counted_at }
    }

    #[expect(clippy::disallowed_methods, reason = "an Instant can only be had from the machine")]
    fn start() -> Instant {
        Instant::now()
    }

    async fn available(
        last: &LastCount,
        now: Instant,
        count: Result<Inventory, StoreError>,
    ) -> Option<u64> {
        last.read(now, async { (count, KEPT_FOR) }).await.ok().map(|inventory| inventory.available)
    }

    #[tokio::test]
    async fn one_count_serves_all_requests_and_outlives_the_first_one() {
        let (last, now) = (LastCount::default(), start());
        let (finish, finished) = oneshot::channel();
        let slow = last.read(now, async { (Ok(finished.await.unwrap()), KEPT_FOR) });
        // The request that began it ends before it.
        assert!(slow.now_or_never().is_none());
        let later = now + Duration::from_mins(1);
        let others = join_all((0..9).map(|_| available(&last, later, Ok(of(2)))));
        finish.send(of(1)).unwrap();
        assert_eq!(others.await, [Some(1); 9]);
    }

    #[tokio::test]
    async fn numbers_are_kept_for_10_seconds_and_errors_are_not() {
        let (last, now) = (LastCount::default(), start());
        assert_eq!(available(&last, now, Err(StoreError::Overloaded)).await, None);
        assert_eq!(available(&last, now, Ok(of(1))).await, Some(1));
        let almost = now + Duration::from_millis(9_999);
        assert_eq!(available(&last, almost, Ok(of(2))).await, Some(1));
        assert_eq!(available(&last, now + KEPT_FOR, Ok(of(2))).await, Some(2));
    }

    #[tokio::test]
    async fn after_a_panic_the_next_request_counts() {
        let (last, now) = (LastCount::default(), start());
        let panics = async || -> Counted { panic!("on purpose") };
        assert!(last.read(now, panics()).await.is_err());
        assert_eq!(available(&last, now, Ok(of(1))).await, Some(1));
    }
}
