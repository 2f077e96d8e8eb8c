//! The metrics of background tasks.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicI64, Ordering::Relaxed},
};

use jiff::Timestamp;

use super::{Counter, Exposition, Kind};

/// The outcomes of every background task.
#[derive(Debug, Default)]
pub struct TaskMetrics(Mutex<Vec<(&'static str, Arc<TaskRuns>)>>);

/// The outcomes of one background task.
#[derive(Debug, Default)]
pub struct TaskRuns {
    /// In seconds since 1970; 0 if no run succeeded yet.
    last_success: AtomicI64,
    failures: Counter,
}

impl TaskRuns {
    pub fn succeeded(&self, at: Timestamp) {
        self.last_success.store(at.as_second(), Relaxed);
    }

    pub fn failed(&self) {
        self.failures.count();
    }
}

impl TaskMetrics {
    pub fn of(&self, task: &'static str) -> Arc<TaskRuns> {
        let runs = Arc::<TaskRuns>::default();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((task, Arc::clone(&runs)));
        runs
    }

    pub fn expose(&self, page: &mut Exposition) {
        let tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = "petstore_task_last_success_timestamp_seconds";
        page.begin(Kind::Gauge, name, "When the background task last succeeded; 0 if never.");
        for (task, runs) in tasks.iter() {
            page.sample(name, &[("task", task)], runs.last_success.load(Relaxed));
        }
        let name = "petstore_task_failures_total";
        page.begin(Kind::Counter, name, "Runs of the background task that failed.");
        for (task, runs) in tasks.iter() {
            page.sample(name, &[("task", task)], runs.failures.get());
        }
    }
}
