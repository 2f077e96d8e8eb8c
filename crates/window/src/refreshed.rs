//! A stale-while-revalidate cache for a single value that all visitors need and that is slow to
//! compute. A background task computes the value once per version of the public data. In the meantime,
//! requests use the previous value.

use std::{panic::AssertUnwindSafe, pin::pin, time::Duration};

use futures_util::FutureExt;
use parking_lot::Mutex;
use petstore_store::{StoreError, Version, cause};
use tokio::{sync::watch, task::JoinSet, time::sleep};

/// How long a request waits for the new value before it falls back to the previous one.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// A cached value that is recomputed in the background when the version of the public data changes.
pub(super) struct Refreshed<T> {
    state: watch::Sender<State<T>>,
    /// The task that is computing a value, if any. Dropping the set aborts the task.
    tasks: Mutex<JoinSet<()>>,
}

/// A value, and whether it is of the requested version or an earlier one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading<T> {
    pub(super) value: T,
    pub(super) is_current: bool,
}

/// The state that requests watch.
struct State<T> {
    newest: Option<VersionedValue<T>>,
    /// The error of the last run, if it failed. Cleared when the next run starts.
    error: Option<StoreError>,
    /// Whether a task is computing a value.
    is_running: bool,
}

/// A value, and the version for which it was computed.
struct VersionedValue<T> {
    version: Version,
    value: T,
}

impl<T: Clone> State<T> {
    /// Returns the newest value, if there is one, and whether it is of this version.
    fn reading(&self, version: Version) -> Option<Reading<T>> {
        let newest = self.newest.as_ref()?;
        Some(Reading {
            value: newest.value.clone(),
            is_current: newest.version == version,
        })
    }
}

impl<T> Default for Refreshed<T> {
    fn default() -> Self {
        let state = State {
            newest: None,
            error: None,
            is_running: false,
        };
        Self {
            state: watch::Sender::new(state),
            tasks: Mutex::default(),
        }
    }
}

impl<T: Clone + Send + Sync + 'static> Refreshed<T> {
    /// Returns the value of this version. If there is none yet, computes it with `compute` in the
    /// background.
    ///
    /// Returns the previous value if the computation fails, or takes longer than [`MAX_WAIT`]. Without a
    /// previous value, waits until the computation ends, and returns its error if it fails.
    pub(super) async fn get<F>(
        &self,
        version: Version,
        compute: impl Fn() -> F,
    ) -> Result<Reading<T>, StoreError>
    where
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        let mut changes = self.state.subscribe();
        let mut wait_limit = pin!(sleep(MAX_WAIT));
        loop {
            // This also marks the state as seen, so `changed` waits for the next change of it.
            let reading = changes.borrow_and_update().reading(version);
            let has_previous_value = reading.is_some();
            if let Some(reading) = reading
                && reading.is_current
            {
                return Ok(reading);
            }

            self.start_run(version, &compute);
            // Without a previous value, there is nothing to fall back to, so there is no time limit.
            // `changed` cannot fail: it would only if `self.state`, the sender, was dropped.
            let has_timed_out = tokio::select! {
                _ = changes.changed() => false,
                () = &mut wait_limit, if has_previous_value => true,
            };

            let state = self.state.borrow();
            if let Some(error) = &state.error {
                return state.reading(version).ok_or_else(|| error.clone());
            }
            if has_timed_out && let Some(reading) = state.reading(version) {
                return Ok(reading);
            }
            // Either the value is ready, or a run for another version has ended: check again.
        }
    }

    /// Starts computing the value of this version in a background task, unless a task is already
    /// running.
    fn start_run<F>(&self, version: Version, compute: impl Fn() -> F)
    where
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        if !self.try_mark_running() {
            return;
        }

        let state = self.state.clone();
        let run = AssertUnwindSafe(compute()).catch_unwind();
        let mut tasks = self.tasks.lock();
        // Removes finished tasks, so that the set does not grow.
        while tasks.try_join_next().is_some() {}
        // In a task of its own, the computation continues if the request that started it is cancelled.
        tasks.spawn(async move {
            let result = run.await.unwrap_or_else(|_| {
                let panic_cause = cause("making a part of a page panicked");
                Err(StoreError::Internal(panic_cause))
            });
            state.send_modify(|state| state.finish_run(version, result));
        });
    }

    /// Marks a run as started, and clears the error of the last run. Returns `false` if a run is in
    /// progress already.
    fn try_mark_running(&self) -> bool {
        let mut was_running = false;
        self.state.send_if_modified(|state| {
            was_running = state.is_running;
            if !was_running {
                state.is_running = true;
                state.error = None;
            }
            // Waiting requests need not know that a run has started, so do not wake them.
            false
        });
        !was_running
    }
}

impl<T> State<T> {
    /// Records the result of a run for this version.
    fn finish_run(&mut self, version: Version, result: Result<T, StoreError>) {
        self.is_running = false;
        match result {
            Ok(value) => {
                self.newest = Some(VersionedValue { version, value });
                self.error = None;
            }
            Err(error) => self.error = Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    };

    use futures_util::future::join_all;
    use tokio::sync::Semaphore;

    use super::*;

    fn version(number: u8) -> Version {
        Version::new([number])
    }

    #[tokio::test]
    async fn all_who_ask_for_a_version_at_once_get_the_value_of_one_run() {
        let cached = Refreshed::default();
        let runs = Arc::new(AtomicUsize::new(0));
        let compute = || {
            let runs = Arc::clone(&runs);
            async move { Ok(runs.fetch_add(1, Relaxed)) }
        };
        let requests = (0..9).map(|_| cached.get(version(1), compute));
        let readings = join_all(requests).await;
        for reading in readings {
            assert_eq!(
                reading.unwrap(),
                Reading {
                    value: 0,
                    is_current: true
                }
            );
        }
        assert_eq!(cached.get(version(2), compute).await.unwrap().value, 1);
        assert_eq!(runs.load(Relaxed), 2);
    }

    #[tokio::test]
    async fn while_a_value_is_made_the_former_one_is_used_and_afterwards_the_new_one() {
        let cached = Refreshed::default();
        let first = cached.get(version(1), async || Ok("first")).await.unwrap();
        assert!(first.is_current);
        let gate = Arc::new(Semaphore::new(0));
        let compute = || {
            let gate = Arc::clone(&gate);
            async move {
                drop(gate.acquire().await);
                Ok("second")
            }
        };
        let waiting = cached.get(version(2), compute).await.unwrap();
        assert_eq!(
            waiting,
            Reading {
                value: "first",
                is_current: false
            }
        );
        gate.add_permits(1);
        let second = cached.get(version(2), compute).await.unwrap();
        assert_eq!(
            second,
            Reading {
                value: "second",
                is_current: true
            }
        );
    }

    #[tokio::test]
    async fn without_a_former_value_a_failure_is_the_result_and_the_next_request_tries_again() {
        let cached = Refreshed::default();
        assert!(
            cached
                .get(version(1), async || Err(StoreError::Overloaded))
                .await
                .is_err()
        );
        let panics = || async { panic!("on purpose") };
        assert!(cached.get(version(1), panics).await.is_err());
        assert_eq!(
            cached.get(version(1), async || Ok(1)).await.unwrap().value,
            1
        );
        let failed = cached
            .get(version(2), async || Err(StoreError::Overloaded))
            .await
            .unwrap();
        assert_eq!(
            failed,
            Reading {
                value: 1,
                is_current: false
            }
        );
    }
}
