//! The metrics of the writer.

use petstore_domain::{Clock, SystemClock};
use petstore_observe::metrics::{Counter, Exposition, Histogram};

/// The metrics of batches of writes, and of their commits.
pub(super) struct WriterMetrics {
    /// The number of writes in each committed batch.
    batch_sizes: Histogram,
    commit_durations: Histogram,
    /// The number of batches that could not begin or commit.
    pub(super) failures: Counter,
    /// The number of writes rejected because the queue was full.
    pub(super) refusals: Counter,
}

impl Default for WriterMetrics {
    fn default() -> Self {
        Self {
            batch_sizes: Histogram::of_sizes(),
            commit_durations: Histogram::default(),
            failures: Counter::default(),
            refusals: Counter::default(),
        }
    }
}

impl WriterMetrics {
    /// Calls `commit`, and records its duration and the size of its batch. Returns its result.
    pub(super) fn time_commit<E>(
        &self,
        batch_size: usize,
        commit: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        // The system clock, because this measures the disk, even if the service runs with another clock.
        let start = SystemClock.instant();
        let result = commit();
        let duration = SystemClock.instant().saturating_duration_since(start);
        self.commit_durations.observe(duration);
        self.batch_sizes.observe_size(batch_size);
        result
    }

    /// Writes the metrics of the writer.
    pub(super) fn expose(&self, exposition: &mut Exposition) {
        let help = "Writes rejected with 503 because the queue was full.";
        exposition.counter("petstore_writer_refusals_total", help, &self.refusals);
        let help = "Writes per commit.";
        exposition.histogram("petstore_writer_batch_size", help, &self.batch_sizes);
        let help = "How long a commit took, including the wait for the disk.";
        let durations = &self.commit_durations;
        exposition.histogram("petstore_commit_duration_seconds", help, durations);
        let help = "Batches of writes that could not begin or commit.";
        exposition.counter("petstore_commit_failures_total", help, &self.failures);
    }
}
