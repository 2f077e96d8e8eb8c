//! Metrics of the running service, for Prometheus.
//!
//! Each value is an atomic, and belongs to the component that updates it. A request therefore pays
//! for a few additions, and for no lookup by name. Memory use does not grow, whether or not
//! anything scrapes the metrics.

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

/// A value that only increases.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Counts one event.
    pub fn count(&self) {
        self.add(1);
    }

    /// Counts this many events.
    pub fn add(&self, count: usize) {
        self.0.fetch_add(count as u64, Relaxed);
    }

    /// Returns the number of events so far.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A value that increases and decreases, such as the number of requests in flight.
#[derive(Debug, Default)]
pub struct Gauge(AtomicU64);

impl Gauge {
    /// Adds one until the returned guard is dropped.
    pub fn enter(&self) -> GaugeGuard<'_> {
        self.0.fetch_add(1, Relaxed);
        GaugeGuard(self)
    }

    /// Returns the present value.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A guard for one item that a [`Gauge`] counts.
#[must_use = "it is counted until it is dropped"]
pub struct GaugeGuard<'g>(&'g Gauge);

impl Drop for GaugeGuard<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Relaxed);
    }
}

/// The distribution of values. Each bucket counts the values above the bound of the bucket before
/// it, up to its own bound.
#[derive(Debug)]
pub struct Histogram {
    /// The upper bounds of the buckets, in ascending order.
    bounds: &'static [u64],
    /// One bucket for each bound, and one for larger values. These are not cumulative, unlike the
    /// buckets of the exposition.
    buckets: Box<[AtomicU64]>,
    /// The sum of all recorded values.
    sum: AtomicU64,
    /// The number of recorded units in one exposed unit, such as 1e9 for nanoseconds exposed as
    /// seconds.
    scale: f64,
}

/// The bucket bounds for durations, in nanoseconds: from the time to serve a cached page to the
/// timeouts of clients.
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

/// The bucket bounds for sizes, such as the number of writes in a batch.
const SIZES: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// A histogram of durations from 10 microseconds to 10 seconds, exposed in seconds.
impl Default for Histogram {
    fn default() -> Self {
        Self::new(DURATIONS, 1e9)
    }
}

impl Histogram {
    /// Returns a histogram of sizes from 1 to 1,024.
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

    /// Records a duration.
    pub fn observe(&self, duration: Duration) {
        self.observe_number(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Records a size.
    pub fn observe_size(&self, size: usize) {
        self.observe_number(size as u64);
    }

    /// Records a value in the unit of the bucket bounds.
    fn observe_number(&self, value: u64) {
        // Most values are small, so a linear search takes only a few comparisons.
        let bound_index = self.bounds.iter().position(|&bound| value <= bound);
        // The last bucket, which has no bound, counts larger values.
        let bucket_index = bound_index.unwrap_or(self.bounds.len());
        if let Some(bucket) = self.buckets.get(bucket_index) {
            bucket.fetch_add(1, Relaxed);
        }
        self.sum.fetch_add(value, Relaxed);
    }
}

/// The metrics of the connections to a listener.
#[derive(Debug, Default)]
pub struct Connections {
    /// Connections that are open now.
    pub open: Gauge,
    /// Connections that were accepted and served, whether or not they are still open.
    pub accepted: Counter,
    /// Connections that were closed at once for lack of a free slot.
    pub turned_away: Counter,
}

impl Connections {
    /// Counts an accepted connection, which is open until the returned guard is dropped.
    pub fn begin(self: &Arc<Self>) -> OpenConnection {
        self.accepted.count();
        self.open.0.fetch_add(1, Relaxed);
        OpenConnection(Arc::clone(self))
    }
}

/// A guard for an open connection that [`Connections`] counts.
#[must_use = "it is counted until it is dropped"]
pub struct OpenConnection(Arc<Connections>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.open.0.fetch_sub(1, Relaxed);
    }
}
