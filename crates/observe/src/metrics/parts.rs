//! The metrics of the parts of the service: background tasks, the store area, photos and webhooks.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use jiff::Timestamp;
use parking_lot::Mutex;
use petstore_domain::store_area::{Change, ChangeType, Reservations, WebhookId};

use super::{Counter, Exposition, Histogram, Kind};

/// The outcomes of every background task.
#[derive(Debug, Default)]
pub struct TaskMetrics(Mutex<Vec<(&'static str, Arc<TaskRuns>)>>);

/// The outcomes of one background task.
#[derive(Debug, Default)]
pub struct TaskRuns {
    /// The time of the last success in seconds since 1970; 0 if no run succeeded yet.
    last_success: AtomicI64,
    failures: Counter,
}

impl TaskRuns {
    pub fn succeeded(&self, time: Timestamp) {
        self.last_success.store(time.as_second(), Relaxed);
    }

    pub fn failed(&self) {
        self.failures.count();
    }
}

impl TaskMetrics {
    /// Adds a task, and returns the metrics of its runs.
    pub fn add(&self, task: &'static str) -> Arc<TaskRuns> {
        let runs = Arc::<TaskRuns>::default();
        self.0.lock().push((task, Arc::clone(&runs)));
        runs
    }

    pub fn expose(&self, exposition: &mut Exposition) {
        let tasks = self.0.lock();
        let name = "petstore_task_last_success_timestamp_seconds";
        exposition.begin(
            Kind::Gauge,
            name,
            "When the background task last succeeded; 0 if never.",
        );
        for (task, runs) in tasks.iter() {
            exposition.sample(name, &[("task", task)], runs.last_success.load(Relaxed));
        }
        let name = "petstore_task_failures_total";
        exposition.begin(
            Kind::Counter,
            name,
            "Runs of the background task that failed.",
        );
        for (task, runs) in tasks.iter() {
            exposition.sample(name, &[("task", task)], runs.failures.get());
        }
    }
}

/// Counts changes by their type, and shows the state of the reservations.
#[derive(Debug, Default)]
pub struct ChangeMetrics {
    counts: [Counter; ChangeType::ALL.len()],
    open: AtomicU64,
    /// The end of the first reservation in milliseconds since 1970; 0 if nothing is reserved.
    first_end: AtomicI64,
}

impl ChangeMetrics {
    /// Counts changes that are committed.
    pub fn count(&self, changes: &[Change]) {
        for change in changes {
            if let Some(index) = ChangeType::ALL.iter().position(|&kind| kind == change.kind) {
                self.counts[index].count();
            }
        }
    }

    /// Notes the open reservations.
    pub fn note(&self, reservations: Reservations) {
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
        let overdue = match self.first_end.load(Relaxed) {
            0 => 0,
            first_end => (now.as_millisecond() - first_end).max(0) / 1000,
        };
        let help = "How long the oldest open reservation should have expired.";
        exposition.number("petstore_expiry_lag_seconds", help, overdue);
    }
}

/// The ways to sign in, and their results, as labels spell them.
const SIGN_INS: [(&str, &str); 8] = [
    ("password", "accepted"),
    ("password", "rejected"),
    ("passkey", "accepted"),
    ("passkey", "rejected"),
    ("link", "accepted"),
    ("provider", "accepted"),
    ("provider", "rejected"),
    ("provider", "unavailable"),
];

/// Counts the attempts to sign in to the console.
#[derive(Debug, Default)]
pub struct SignInMetrics([Counter; SIGN_INS.len()]);

impl SignInMetrics {
    pub fn count(&self, method: &str, result: &str) {
        if let Some(index) = SIGN_INS.iter().position(|known| *known == (method, result)) {
            self.0[index].count();
        }
    }

    pub fn expose(&self, exposition: &mut Exposition) {
        let name = "petstore_console_sign_ins_total";
        exposition.begin(Kind::Counter, name, "Attempts to sign in to the console.");
        for ((method, result), counter) in SIGN_INS.iter().zip(&self.0) {
            exposition.sample(
                name,
                &[("method", method), ("result", result)],
                counter.get(),
            );
        }
    }
}

/// The outcomes of pictures, and the number of their files.
#[derive(Debug, Default)]
pub struct PhotoMetrics {
    /// How long it took to decode and encode each picture.
    pub decoded: Histogram,
    /// Photos whose files were written.
    pub stored: Counter,
    /// Pictures that were rejected.
    pub invalid: Counter,
    /// Writes, reads and deletions of files that failed.
    pub failures: Counter,
    /// Photos, bytes of their files, photos without files, and databases.
    counted: [AtomicU64; 4],
}

impl PhotoMetrics {
    /// Notes how many photos have files, their length, how many have none, and how many databases have a
    /// mark in their place.
    pub fn note(&self, counted: [u64; 4]) {
        for (number, counted) in self.counted.iter().zip(counted) {
            number.store(counted, Relaxed);
        }
    }

    /// Writes the metrics.
    pub fn expose(&self, exposition: &mut Exposition) {
        let help = "Duration of decoding and encoding a picture.";
        exposition.histogram(
            "petstore_photo_decode_duration_seconds",
            help,
            &self.decoded,
        );
        let help = "Photos whose files this process wrote.";
        exposition.counter("petstore_photos_stored_total", help, &self.stored);
        let help = "Pictures that this process rejected.";
        exposition.counter("petstore_photos_invalid_total", help, &self.invalid);
        let help = "Failed writes, reads and deletions of the files of photos.";
        exposition.counter("petstore_photo_file_failures_total", help, &self.failures);
        let [photos, bytes, missing, databases] = &self.counted;
        let help = "Photos with files, counted once an hour, with those that wait for deletion.";
        exposition.number("petstore_photos", help, photos.load(Relaxed));
        let help = "Length of the files of photos, counted once an hour.";
        exposition.number("petstore_photo_bytes", help, bytes.load(Relaxed));
        let help = "Photos of animals without all of their files, counted once an hour.";
        exposition.number("petstore_photos_missing", help, missing.load(Relaxed));
        let help = "Databases with a mark in the place of photos; above 1, no files are deleted.";
        exposition.number("petstore_photo_databases", help, databases.load(Relaxed));
    }
}

/// The outcomes of the backups that this process makes itself.
#[derive(Debug, Default)]
pub struct BackupMetrics {
    /// Whether the service can make backups of its store.
    pub is_possible: AtomicBool,
    /// The time between two backups in seconds; 0 if the service makes none.
    pub interval: AtomicU64,
    /// The time of the last backup in seconds since 1970; 0 if there is none.
    last_success: AtomicI64,
    /// The duration of the last backup in milliseconds.
    duration: AtomicU64,
    bytes: AtomicU64,
    pub failures: Counter,
}

/// A reason to warn the people of a store about its backups.
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

    /// Notes the newest backup of an earlier process.
    pub fn record_earlier_backup(&self, time: Timestamp) {
        let _ = self
            .last_success
            .compare_exchange(0, time.as_second(), Relaxed, Relaxed);
    }

    /// Notes a backup.
    pub fn record_backup(&self, time: Timestamp, duration: Duration, bytes: u64) {
        self.last_success.store(time.as_second(), Relaxed);
        self.duration.store(
            u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            Relaxed,
        );
        self.bytes.store(bytes, Relaxed);
    }

    /// Returns the reason to warn the people of a store with this number of animals, if there is one.
    pub fn problem(&self, animal_count: u64, now: Timestamp) -> Option<BackupProblem> {
        let last_success = self.last_success.load(Relaxed);
        let interval = self.interval.load(Relaxed);
        if interval == 0 {
            let needs_backups = self.is_possible.load(Relaxed) && animal_count > Self::MANY_ANIMALS;
            return needs_backups.then_some(BackupProblem::NoBackup);
        }
        if last_success == 0 {
            let has_failed = self.failures.get() > 0;
            return has_failed.then_some(BackupProblem::NoBackup);
        }

        let age = now.as_second().saturating_sub(last_success);
        let age = u64::try_from(age).unwrap_or_default();
        if age <= interval.saturating_mul(3) {
            return None;
        }
        let last_backup = Timestamp::from_second(last_success).ok()?;
        Some(BackupProblem::OldBackup(last_backup))
    }

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

/// The state of a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WebhookState {
    pub is_enabled: bool,
    pub is_failing: bool,
    /// How many changes it is behind the log.
    pub lag: i64,
    /// How many of its messages failed, or wait behind one that did; `None` if another process
    /// serves it, or none.
    pub waiting: Option<usize>,
}

/// The outcomes of attempts, as their label spells them.
const OUTCOMES: [&str; 9] = [
    "delivered",
    "status",
    "redirect",
    "timeout",
    "connect",
    "tls",
    "dns",
    "address",
    "protocol",
];

/// Counts the attempts of this process, and shows the state of the webhooks.
#[derive(Debug, Default)]
pub struct WebhookMetrics {
    attempts: [Counter; OUTCOMES.len()],
    states: Mutex<BTreeMap<WebhookId, WebhookState>>,
}

impl WebhookMetrics {
    /// Counts an attempt, by the class of its failure.
    pub fn count(&self, error: Option<&str>) {
        let outcome = error.unwrap_or("delivered");
        if let Some(index) = OUTCOMES.iter().position(|&known| known == outcome) {
            self.attempts[index].count();
        }
    }

    pub fn note(&self, states: BTreeMap<WebhookId, WebhookState>) {
        *self.states.lock() = states;
    }

    pub fn expose(&self, exposition: &mut Exposition) {
        let name = "petstore_webhook_attempts_total";
        exposition.begin(
            Kind::Counter,
            name,
            "Attempts of this process to deliver a message, by outcome.",
        );
        for (outcome, counter) in OUTCOMES.iter().zip(&self.attempts) {
            exposition.sample(name, &[("outcome", outcome)], counter.get());
        }
        let states = self.states.lock().clone();
        let mut gauge = |name, help, value: fn(&WebhookState) -> Option<i64>| {
            exposition.begin(Kind::Gauge, name, help);
            for (id, state) in &states {
                if let Some(value) = value(state) {
                    exposition.sample(name, &[("webhook", id)], value);
                }
            }
        };
        gauge(
            "petstore_webhook_enabled",
            "Whether the webhook is enabled: 1, or 0.",
            |state| Some(state.is_enabled.into()),
        );
        gauge(
            "petstore_webhook_served",
            "Whether this process serves the webhook: 1, or 0.",
            |state| Some(state.waiting.is_some().into()),
        );
        gauge(
            "petstore_webhook_failing",
            "Whether the last attempt failed: 1, or 0.",
            |state| Some(state.is_failing.into()),
        );
        gauge(
            "petstore_webhook_lag_changes",
            "How many changes the webhook is behind the log.",
            |state| Some(state.lag),
        );
        gauge(
            "petstore_webhook_waiting_messages",
            "Messages that failed, or wait for one that did. Only in the process that serves it.",
            |state| {
                state
                    .waiting
                    .map(|waiting| i64::try_from(waiting).unwrap_or(i64::MAX))
            },
        );
    }
}
