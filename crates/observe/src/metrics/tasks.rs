//! The metrics of background tasks.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering::Relaxed},
};

use jiff::Timestamp;
use parking_lot::Mutex;

use super::{Counter, Exposition, Kind};

/// The outcomes of every background task.
#[derive(Debug, Default)]
pub struct TaskMetrics {
    tasks: Mutex<Vec<RegisteredTask>>,
}

/// A background task, and the outcomes of its runs.
#[derive(Debug)]
struct RegisteredTask {
    name: &'static str,
    runs: Arc<TaskRuns>,
}

impl TaskMetrics {
    /// Registers the task `name`, and returns the metrics of its runs.
    pub fn register(&self, name: &'static str) -> Arc<TaskRuns> {
        let runs = Arc::<TaskRuns>::default();
        self.tasks.lock().push(RegisteredTask {
            name,
            runs: Arc::clone(&runs),
        });
        runs
    }

    /// Writes the metrics.
    pub fn expose(&self, exposition: &mut Exposition) {
        let tasks = self.tasks.lock();
        let name = "petstore_task_last_success_timestamp_seconds";
        exposition.begin(
            Kind::Gauge,
            name,
            "When the background task last succeeded; 0 if never.",
        );
        for task in tasks.iter() {
            let last_success = task.runs.last_success.load(Relaxed);
            exposition.sample(name, &[("task", &task.name)], last_success);
        }
        let name = "petstore_task_failures_total";
        exposition.begin(
            Kind::Counter,
            name,
            "Runs of the background task that failed.",
        );
        for task in tasks.iter() {
            exposition.sample(name, &[("task", &task.name)], task.runs.failures.get());
        }
    }
}

/// The outcomes of one background task.
#[derive(Debug, Default)]
pub struct TaskRuns {
    /// The time of the last success in seconds since 1970. It is 0 if no run has succeeded yet.
    last_success: AtomicI64,
    failures: Counter,
}

impl TaskRuns {
    /// Records a run that succeeded at this time.
    pub(crate) fn record_success(&self, time: Timestamp) {
        self.last_success.store(time.as_second(), Relaxed);
    }

    /// Counts a run that failed.
    pub(crate) fn count_failure(&self) {
        self.failures.count();
    }
}
