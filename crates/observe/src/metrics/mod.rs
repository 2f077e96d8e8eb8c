//! Metrics that are counted while the service runs.
//!
//! Each number is an atomic that its owner holds, so a request pays for a few additions and no
//! lookup. Memory does not grow, whether or not anyone reads the metrics.

#![expect(missing_docs, reason = "a comment says what a name does not")]

mod backups;
mod changes;
mod exposition;
mod photos;
mod sign_ins;
mod tasks;
mod webhooks;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

pub(crate) use self::tasks::TaskRuns;
pub use self::{
    backups::{BackupMetrics, BackupProblem},
    changes::ChangeMetrics,
    exposition::{Exposition, Kind},
    photos::{PhotoCounts, PhotoMetrics},
    sign_ins::SignInMetrics,
    tasks::TaskMetrics,
    webhooks::{WebhookMetrics, WebhookState},
};

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub fn count(&self) {
        self.add(1);
    }

    pub fn add(&self, count: usize) {
        self.0.fetch_add(count as u64, Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A number that grows and shrinks, such as the number of requests in progress.
#[derive(Debug, Default)]
pub struct Gauge(AtomicU64);

impl Gauge {
    /// Counts one more until the result is dropped.
    pub fn enter(&self) -> Entered<'_> {
        self.0.fetch_add(1, Relaxed);
        Entered(self)
    }

    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// One item that a [`Gauge`] counts.
#[must_use = "it is counted until it is dropped"]
pub struct Entered<'g>(&'g Gauge);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Relaxed);
    }
}

/// The distribution of values: for each of a few bounds, how many values are at most as large.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [u64],
    /// One for each bound, and one for larger values.
    buckets: Box<[AtomicU64]>,
    sum: AtomicU64,
    /// How many units of the values make one unit of the output.
    scale: f64,
}

/// The bounds in nanoseconds: from the duration of a cached page to the timeouts of clients.
const DURATIONS: &[u64] = &[
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
];

const SIZES: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// For durations from 10 microseconds to 10 seconds, shown in seconds.
impl Default for Histogram {
    fn default() -> Self {
        Self::new(DURATIONS, 1e9)
    }
}

impl Histogram {
    /// For sizes from 1 to 1,024.
    pub fn of_sizes() -> Self {
        Self::new(SIZES, 1.0)
    }

    fn new(bounds: &'static [u64], scale: f64) -> Self {
        let buckets = (0..=bounds.len()).map(|_| AtomicU64::default()).collect();
        Self {
            bounds,
            buckets,
            sum: AtomicU64::default(),
            scale,
        }
    }

    pub fn observe(&self, took: Duration) {
        self.observe_number(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    }

    pub fn observe_size(&self, size: usize) {
        self.observe_number(size as u64);
    }

    fn observe_number(&self, value: u64) {
        // Most values are small, so this takes only a few comparisons.
        let bound_index = self.bounds.iter().position(|&bound| value <= bound);
        let bucket_index = bound_index.unwrap_or(self.bounds.len());
        if let Some(bucket) = self.buckets.get(bucket_index) {
            bucket.fetch_add(1, Relaxed);
        }
        self.sum.fetch_add(value, Relaxed);
    }
}

/// The connections to a listener.
#[derive(Debug, Default)]
pub struct Connections {
    pub open: Gauge,
    /// Connections that were ever served.
    pub accepted: Counter,
    /// Connections that were closed for lack of a slot.
    pub turned_away: Counter,
}

impl Connections {
    /// Counts a connection, which is open until the result is dropped.
    pub fn begin(self: &Arc<Self>) -> OpenConnection {
        self.accepted.count();
        self.open.0.fetch_add(1, Relaxed);
        OpenConnection(Arc::clone(self))
    }
}

/// An open connection of [`Connections`].
#[must_use = "it is counted until it is dropped"]
pub struct OpenConnection(Arc<Connections>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.open.0.fetch_sub(1, Relaxed);
    }
}
