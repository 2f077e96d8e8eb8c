//! The metrics of backups, and the warnings for the staff that follow from them.

use std::{
    sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use jiff::Timestamp;

use super::{Counter, Exposition};

/// The outcomes of the backups that this process makes.
#[derive(Debug, Default)]
pub struct BackupMetrics {
    /// Whether the service can make backups of its store.
    pub is_possible: AtomicBool,
    /// The time between two backups in seconds. It is 0 if the service makes none.
    pub interval: AtomicU64,
    /// The time of the last backup in seconds since 1970. It is 0 if there is none.
    last_success: AtomicI64,
    /// The duration of the last backup in milliseconds.
    duration: AtomicU64,
    /// The compressed size of the last backup in bytes.
    bytes: AtomicU64,
    /// Backups that failed.
    pub failures: Counter,
}

/// A reason to warn the staff about the backups of their store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackupProblem {
    /// The store has no backup, although it needs one, or although the service tried to make one.
    NoBackup,
    /// The last backup was made at this time, more than three intervals ago.
    OldBackup(Timestamp),
}

impl BackupMetrics {
    /// The number of animals above which a store needs backups.
    const MANY_ANIMALS: u64 = 20;

    /// The age of the last backup, in intervals, above which it is old. A single failure is no
    /// reason to warn the staff.
    const MAX_INTERVALS: u64 = 3;

    /// Records the newest backup that an earlier process made, unless a backup is recorded already.
    pub fn record_earlier_backup(&self, time: Timestamp) {
        // Fails if a backup is recorded already. Its time then stays.
        let _ = self
            .last_success
            .compare_exchange(0, time.as_second(), Relaxed, Relaxed);
    }

    /// Records a backup that this process has made.
    pub fn record_backup(&self, time: Timestamp, duration: Duration, bytes: u64) {
        self.last_success.store(time.as_second(), Relaxed);
        self.duration.store(
            u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            Relaxed,
        );
        self.bytes.store(bytes, Relaxed);
    }

    /// Returns the reason to warn the staff of a store with `animal_count` animals, if there is
    /// one.
    pub fn problem(&self, animal_count: u64, now: Timestamp) -> Option<BackupProblem> {
        let last_success = self.last_success.load(Relaxed);
        let interval = self.interval.load(Relaxed);
        if interval == 0 {
            let needs_backups = self.is_possible.load(Relaxed) && animal_count > Self::MANY_ANIMALS;
            return needs_backups.then_some(BackupProblem::NoBackup);
        }
        if last_success == 0 {
            // Without a failure, the first backup is only not complete yet.
            let has_failed = self.failures.get() > 0;
            return has_failed.then_some(BackupProblem::NoBackup);
        }

        // If the clock was set back since the backup, its age counts as 0.
        let seconds_since_success = now.as_second().saturating_sub(last_success);
        let age = u64::try_from(seconds_since_success).unwrap_or_default();
        if age <= interval.saturating_mul(Self::MAX_INTERVALS) {
            return None;
        }
        // The seconds came from a timestamp, so they can be converted back.
        let last_backup = Timestamp::from_second(last_success).ok()?;
        Some(BackupProblem::OldBackup(last_backup))
    }

    /// Writes the metrics.
    #[expect(
        clippy::cast_precision_loss,
        reason = "exact for any duration that matters"
    )]
    pub fn expose(&self, exposition: &mut Exposition) {
        let help = "Time between two backups that the service makes; 0 if it makes none.";
        exposition.number(
            "petstore_backup_interval_seconds",
            help,
            self.interval.load(Relaxed),
        );
        let help = "When the last backup was made; 0 if there is none.";
        let name = "petstore_backup_last_success_timestamp_seconds";
        exposition.number(name, help, self.last_success.load(Relaxed));
        let duration = self.duration.load(Relaxed) as f64 / 1e3;
        let help = "How long this process took for the last backup.";
        exposition.number("petstore_backup_duration_seconds", help, duration);
        let help = "Compressed size of the last backup of this process.";
        exposition.number("petstore_backup_bytes", help, self.bytes.load(Relaxed));
        let help = "Backups of this process that failed.";
        exposition.counter("petstore_backup_failures_total", help, &self.failures);
    }
}
