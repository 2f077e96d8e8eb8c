//! The metrics of the store area: its changes and its reservations.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

use jiff::Timestamp;
use petstore_domain::store_area::{Change, ChangeType, Reservations};

use super::{Counter, Exposition, Kind};

/// The number of changes by type, and the state of the reservations.
#[derive(Debug, Default)]
pub struct ChangeMetrics {
    /// The numbers of changes, in the order of [`ChangeType::ALL`].
    counts: [Counter; ChangeType::ALL.len()],
    /// The number of open reservations, as of the last count.
    open: AtomicU64,
    /// The end of the reservation that ends first, in milliseconds since 1970. It is 0 if nothing
    /// is reserved.
    first_end: AtomicI64,
}

impl ChangeMetrics {
    /// Counts changes after they are committed.
    pub fn count(&self, changes: &[Change]) {
        for change in changes {
            if let Some(index) = ChangeType::ALL.iter().position(|&kind| kind == change.kind) {
                self.counts[index].count();
            }
        }
    }

    /// Records the state of the open reservations.
    pub fn record_reservations(&self, reservations: Reservations) {
        self.open.store(reservations.open, Relaxed);
        let first_end = reservations.first_end.map_or(0, Timestamp::as_millisecond);
        self.first_end.store(first_end, Relaxed);
    }

    /// Writes the metrics as of `now`.
    pub fn expose(&self, exposition: &mut Exposition, now: Timestamp) {
        let name = "petstore_changes_total";
        exposition.begin(
            Kind::Counter,
            name,
            "Changes that this process made, by type.",
        );
        for (kind, counter) in ChangeType::ALL.into_iter().zip(&self.counts) {
            exposition.sample(name, &[("type", &kind.as_str())], counter.get());
        }
        let help = "Open reservations, counted once a minute.";
        exposition.number("petstore_reservations", help, self.open.load(Relaxed));
        let overdue_seconds = match self.first_end.load(Relaxed) {
            0 => 0,
            first_end => (now.as_millisecond() - first_end).max(0) / 1000,
        };
        let help = "How long the oldest open reservation should have expired.";
        exposition.number("petstore_expiry_lag_seconds", help, overdue_seconds);
    }
}
