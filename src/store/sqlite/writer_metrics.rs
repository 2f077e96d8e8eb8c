//! What is counted of writes.

use crate::{
    domain::{Clock, SystemClock},
    observe::metrics::{Counter, Exposition, Histogram},
};

/// Counts writes, and how their commits end.
pub(super) struct WriterMetrics {
    batch_sizes: Histogram,
    commits: Histogram,
    failures: Counter,
    pub(super) refusals: Counter,
}

impl Default for WriterMetrics {
    fn default() -> Self {
        Self {
            batch_sizes: Histogram::of_sizes(),
            commits: Histogram::of_durations(),
            failures: Counter::default(),
            refusals: Counter::default(),
        }
    }
}

impl WriterMetrics {
    /// Counts a batch of so many writes, and how long it takes to commit them;
    /// nothing if they changed nothing.
    pub(super) fn watch<E>(
        &self,
        batch: Option<usize>,
        commit: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(size) = batch else {
            return commit();
        };
        // What the disk takes is the machine's time, whatever clock the service has.
        let started = SystemClock.instant();
        let done = commit();
        self.commits.observe(SystemClock.instant().saturating_duration_since(started));
        self.batch_sizes.observe_size(size);
        done
    }

    /// Notes that a batch could not be begun or committed.
    pub(super) fn note_failure(&self) {
        self.failures.count();
    }

    pub(super) fn expose(&self, page: &mut Exposition) {
        let help = "Writes above the limit of the queue, answered 503.";
        page.counter("petstore_writer_refusals_total", help, &self.refusals);
        let help = "Writes that were committed together.";
        page.histogram("petstore_writer_batch_size", help, &self.batch_sizes);
        let help = "How long a commit took, with its wait for the disk.";
        page.histogram("petstore_commit_duration_seconds", help, &self.commits);
        let help = "Batches of writes that could not be begun or committed.";
        page.counter("petstore_commit_failures_total", help, &self.failures);
    }
}
