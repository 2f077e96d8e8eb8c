//! Values that all visitors need and that take long to make: made once for each version of what the public sees, by
//! one task at a time. While a new one is made, the one before is used.

use std::{panic::AssertUnwindSafe, pin::pin, time::Duration};

use futures_util::FutureExt;
use parking_lot::Mutex;
use petstore_store::{StoreError, Version, cause};
use tokio::{sync::watch, task::JoinSet, time::sleep};

/// How long a page waits for a new value while there is an earlier one.
const PATIENCE: Duration = Duration::from_secs(1);

/// The newest value of a kind, and the task that makes the next one.
pub(super) struct Refreshed<T> {
    state: watch::Sender<State<T>>,
    /// The task that makes a value. It ends with this.
    tasks: Mutex<JoinSet<()>>,
}

/// A value, and whether it is of the version that a page needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading<T> {
    pub(super) value: T,
    pub(super) is_current: bool,
}

struct State<T> {
    newest: Option<VersionedValue<T>>,
    /// The error of the last run, if it failed.
    error: Option<StoreError>,
    is_running: bool,
}

/// A value, and the version for which it was made.
struct VersionedValue<T> {
    version: Version,
    value: T,
}

impl<T: Clone> State<T> {
    /// Returns the newest value, if there is one, for a page at this version.
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
    /// Returns the value of this version, which `make` makes unless it was made before. Returns an earlier value if
    /// that takes longer than [`PATIENCE`] or fails. Fails if there is no value at all.
    pub(super) async fn read<F>(
        &self,
        version: Version,
        make: impl Fn() -> F,
    ) -> Result<Reading<T>, StoreError>
    where
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        let mut changes = self.state.subscribe();
        let mut patience = pin!(sleep(PATIENCE));
        let mut is_too_late = false;
        loop {
            let reading = changes.borrow_and_update().reading(version);
            let has_earlier_value = reading.is_some();
            if let Some(reading) = reading
                && reading.is_current
            {
                return Ok(reading);
            }

            self.begin(version, &make);
            tokio::select! {
                _ = changes.changed() => {}
                () = &mut patience, if has_earlier_value => is_too_late = true,
            }

            let state = self.state.borrow();
            match (state.reading(version), &state.error) {
                (None, Some(error)) => return Err(error.clone()),
                (Some(reading), error) if is_too_late || error.is_some() => return Ok(reading),
                // A run has ended, perhaps one for an earlier version.
                _ => {}
            }
        }
    }

    /// Begins a run, unless one goes on.
    fn begin<F>(&self, version: Version, make: impl Fn() -> F)
    where
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        if !self.mark_running() {
            return;
        }

        let state = self.state.clone();
        let run = AssertUnwindSafe(make()).catch_unwind();
        let mut tasks = self.tasks.lock();
        while tasks.try_join_next().is_some() {}
        // A task, because a run must not end with the request that began it.
        tasks.spawn(async move {
            let result = run.await.unwrap_or_else(|_| {
                let panic_cause = cause("making a part of a page panicked");
                Err(StoreError::Internal(panic_cause))
            });
            state.send_modify(|state| state.end_run(version, result));
        });
    }

    /// Notes that a run goes on. Returns `false` if one went on before. Pages that wait do not notice the change.
    fn mark_running(&self) -> bool {
        let mut was_running = false;
        self.state.send_if_modified(|state| {
            was_running = state.is_running;
            if !was_running {
                state.is_running = true;
                state.error = None;
            }
            false
        });
        !was_running
    }
}

impl<T> State<T> {
    /// Notes the result of a run for this version.
    fn end_run(&mut self, version: Version, result: Result<T, StoreError>) {
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
        let value = Refreshed::default();
        let runs = Arc::new(AtomicUsize::new(0));
        let make = || {
            let runs = Arc::clone(&runs);
            async move { Ok(runs.fetch_add(1, Relaxed)) }
        };
        let readings = join_all((0..9).map(|_| value.read(version(1), make))).await;
        for reading in readings {
            assert_eq!(
                reading.unwrap(),
                Reading {
                    value: 0,
                    is_current: true
                }
            );
        }
        assert_eq!(value.read(version(2), make).await.unwrap().value, 1);
        assert_eq!(runs.load(Relaxed), 2);
    }

    #[tokio::test]
    async fn while_a_value_is_made_the_former_one_is_used_and_afterwards_the_new_one() {
        let value = Refreshed::default();
        let first = value.read(version(1), async || Ok("first")).await.unwrap();
        assert!(first.is_current);
        let gate = Arc::new(Semaphore::new(0));
        let make = || {
            let gate = Arc::clone(&gate);
            async move {
                drop(gate.acquire().await);
                Ok("second")
            }
        };
        let waiting = value.read(version(2), make).await.unwrap();
        assert_eq!(
            waiting,
            Reading {
                value: "first",
                is_current: false
            }
        );
        gate.add_permits(1);
        let second = value.read(version(2), make).await.unwrap();
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
        let value = Refreshed::default();
        assert!(
            value
                .read(version(1), async || Err(StoreError::Overloaded))
                .await
                .is_err()
        );
        let panics = || async { panic!("on purpose") };
        assert!(value.read(version(1), panics).await.is_err());
        assert_eq!(
            value.read(version(1), async || Ok(1)).await.unwrap().value,
            1
        );
        let failed = value
            .read(version(2), async || Err(StoreError::Overloaded))
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
