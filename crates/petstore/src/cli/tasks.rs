//! The background tasks of `petstore serve`.
//!
//! A [`Task`] waits until it is due, runs, and repeats this until the shutdown. A run that takes
//! longer than its limit is cancelled.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{FutureExt, TryFutureExt, future::BoxFuture};
use petstore_app::{App, delivery::Dispatcher};
use petstore_domain::{Clock, SystemClock};
use petstore_observe::{
    tasks::{Failure, Task, Tasks},
    traces::Exporter,
};
use petstore_store::{Store, StoreError};
use petstore_web::server::{Tls, TlsError};
use tokio::time::{self, Interval, MissedTickBehavior};

use super::backups::{BACKUP_TIMEOUT, BackupMaker};
use crate::backups::{BackupOutcome, Backups};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);

/// The time limit of a run of most tasks.
const RUN_LIMIT: Duration = MINUTE;

/// The time limit of a run that may build indexes, as on PostgreSQL after an upgrade.
const INDEX_LIMIT: Duration = Duration::from_hours(24);

/// The time limit of a run that saves when keys were used. Only the operator sees these times, so
/// the run does not wait long for a database that is unreachable.
const KEY_USE_LIMIT: Duration = SECOND;

/// The time limit of a run that reads the files of a certificate. A read that hangs blocks a thread
/// even after the run is cancelled, so the limit is long to keep the number of such threads small.
const CERTIFICATE_LIMIT: Duration = HOUR;

/// The time limit of a run that delivers webhooks.
const DELIVERY_LIMIT: Duration = Duration::from_secs(20);

/// The time limit of a run that sends spans. The exporter itself has a shorter limit.
const EXPORT_LIMIT: Duration = Duration::from_secs(15);

/// A function that does a limited amount of work, and returns whether there is more to do.
type Step = for<'a> fn(&'a App) -> BoxFuture<'a, Result<bool, StoreError>>;

/// Starts all background tasks of a service.
pub(super) fn start(
    app: &Arc<App>,
    store: &Arc<dyn Store>,
    tls: Option<&Arc<Tls>>,
    exporter: Option<Exporter>,
    dispatcher: Dispatcher,
    backups: Option<BackupMaker>,
) -> Tasks {
    let mut tasks = Tasks::new(Arc::new(SystemClock), Arc::clone(&app.tasks));
    start_upkeep(&mut tasks, app);
    start_photos(&mut tasks, app);
    start_search(&mut tasks, store);
    let save_key_uses = SaveKeyUses {
        app: Arc::clone(app),
        timer: new_timer(SaveKeyUses::INTERVAL),
    };
    tasks.start("save_key_uses", KEY_USE_LIMIT, save_key_uses);
    let follow_log = FollowLog {
        app: Arc::clone(app),
    };
    tasks.start("follow_log", RUN_LIMIT, follow_log);
    if let Some(tls) = tls {
        start_certificate_renewal(&mut tasks, tls);
    }
    if let Some(backup_maker) = backups {
        let make_backup = MakeBackup::new(Arc::clone(app), backup_maker);
        // The backup itself has a shorter limit.
        tasks.start("make_backup", 2 * BACKUP_TIMEOUT, make_backup);
    }
    tasks.start("deliver_webhooks", DELIVERY_LIMIT, Deliver { dispatcher });
    if let Some(exporter) = exporter {
        tasks.start("export_spans", EXPORT_LIMIT, SendSpans { exporter });
    }
    tasks
}

/// Starts the tasks that delete old data, expire reservations, and number changes.
fn start_upkeep(tasks: &mut Tasks, app: &Arc<App>) {
    start_steps(tasks, app, "forget_old_requests", MINUTE, |app| {
        app.forget_old_requests().boxed()
    });
    start_steps(tasks, app, "forget_old_sessions", MINUTE, |app| {
        app.forget_old_sessions().boxed()
    });
    start_steps(tasks, app, "expire_orders", MINUTE, |app| {
        app.expire_orders().boxed()
    });
    start_steps(tasks, app, "erase_contacts", 10 * MINUTE, |app| {
        app.erase_contacts().boxed()
    });
    start_steps(tasks, app, "forget_old_changes", MINUTE, |app| {
        app.forget_old_changes().boxed()
    });
    // A change gets its number in the log of changes when the log is next read. Reading it each
    // second keeps few changes without a number even if no client reads the log. One read numbers
    // all changes, so there is never more to do.
    start_steps(tasks, app, "number_changes", SECOND, |app| {
        app.store.journal_state().map_ok(|_| false).boxed()
    });
}

/// Starts the task that deletes the files of photos that no animal has, and the task that makes
/// missing files of the card size. Photos from before that size existed lack these files.
fn start_photos(tasks: &mut Tasks, app: &Arc<App>) {
    start_steps(tasks, app, "tend_photos", HOUR, |app| {
        app.tend_photos().boxed()
    });
    let photos = Arc::clone(&app.photos);
    let make_card = move || {
        let photos = Arc::clone(&photos);
        async move { photos.make_card().await }
    };
    tasks.start("make_cards", RUN_LIMIT, Steps::new(MINUTE, make_card));
}

/// Starts the task that prepares animals for the search.
fn start_search(tasks: &mut Tasks, store: &Arc<dyn Store>) {
    let tend_search = TendSearch {
        store: Arc::clone(store),
        timer: new_timer(TendSearch::INTERVAL),
        pause: None,
        last_complete_run: SystemClock.instant(),
    };
    tasks.start("tend_search", INDEX_LIMIT, tend_search);
}

/// Starts the task that loads a renewed certificate.
fn start_certificate_renewal(tasks: &mut Tasks, tls: &Arc<Tls>) {
    let tls = Arc::clone(tls);
    let renew = move || {
        let tls = Arc::clone(&tls);
        async move {
            tls.renew().await?;
            Ok::<_, TlsError>(false)
        }
    };
    let steps = Steps::new(SECOND, renew);
    tasks.start("renew_tls_certificate", CERTIFICATE_LIMIT, steps);
}

/// Starts a task that does this [`Step`] of the application at an interval. See [`Steps`].
fn start_steps(
    tasks: &mut Tasks,
    app: &Arc<App>,
    name: &'static str,
    interval: Duration,
    step: Step,
) {
    let app = Arc::clone(app);
    let run_step = move || {
        let app = Arc::clone(&app);
        async move { step(&app).await }
    };
    tasks.start(name, RUN_LIMIT, Steps::new(interval, run_step));
}

/// Returns a timer that ticks at once, and then at this interval. If a tick is late because of a
/// long run, the next tick follows a whole interval later.
fn new_timer(interval: Duration) -> Interval {
    let mut timer = time::interval(interval);
    timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
    timer
}

/// The task that saves when each key was last used. Requests record this only in memory.
struct SaveKeyUses {
    app: Arc<App>,
    timer: Interval,
}

impl SaveKeyUses {
    /// The time between two saves.
    const INTERVAL: Duration = Duration::from_secs(5);
}

impl Task for SaveKeyUses {
    async fn due(&mut self) {
        self.timer.tick().await;
    }

    async fn run(&mut self) -> Result<(), Failure> {
        Ok(self.app.save_key_uses().await?)
    }

    async fn finish(&mut self) -> Result<(), Failure> {
        self.run().await
    }
}

/// A task that does a step at an interval. While there is more to do, the next step follows at
/// once. The steps are small, so that each ends within the time limit of a run.
struct Steps<S> {
    /// The function that does a step and returns whether there is more to do.
    step: S,
    timer: Interval,
    has_more: bool,
}

impl<S> Steps<S> {
    /// Returns a task that does a step at this interval.
    fn new(interval: Duration, step: S) -> Self {
        Self {
            step,
            timer: new_timer(interval),
            has_more: false,
        }
    }
}

impl<S, F, E> Task for Steps<S>
where
    S: FnMut() -> F + Send + 'static,
    F: Future<Output = Result<bool, E>> + Send,
    E: Into<Failure>,
{
    async fn due(&mut self) {
        if !self.has_more {
            self.timer.tick().await;
        }
    }

    async fn run(&mut self) -> Result<(), Failure> {
        // After a failed step, the next one waits for the timer.
        self.has_more = false;
        self.has_more = (self.step)().await.map_err(Into::into)?;
        Ok(())
    }
}

/// The task that prepares new and changed animals for the search by name, category and values, in
/// small steps.
///
/// A search reads the unprepared animals one by one, so a few of them hardly slow it down. The task
/// therefore does nothing while there are at most [`Self::MAX_UNPREPARED`]. Once a minute, it makes
/// a complete run, which prepares even these.
struct TendSearch {
    store: Arc<dyn Store>,
    timer: Interval,
    /// The pause before the next step, if there is more to do. Otherwise, the timer determines when
    /// the next step follows.
    pause: Option<Duration>,
    /// The start of the last complete run.
    last_complete_run: Instant,
}

impl TendSearch {
    /// The time between two looks for unprepared animals.
    const INTERVAL: Duration = Duration::from_millis(100);

    /// The number of animals that may stay unprepared until the next complete run. A search reads
    /// this number of animals in a few milliseconds.
    const MAX_UNPREPARED: u64 = 1_024;

    /// The time between two complete runs.
    const COMPLETE_INTERVAL: Duration = MINUTE;
}

impl Task for TendSearch {
    async fn due(&mut self) {
        match self.pause {
            Some(pause) => time::sleep(pause).await,
            None => {
                self.timer.tick().await;
            }
        }
    }

    /// Prepares a batch of animals if more are unprepared than may be, and plans the next run.
    async fn run(&mut self) -> Result<(), Failure> {
        self.pause = None;
        let started_at = SystemClock.instant();
        let since_complete_run = started_at.saturating_duration_since(self.last_complete_run);
        let is_complete_run = since_complete_run >= Self::COMPLETE_INTERVAL;
        let max_unprepared = if is_complete_run {
            0
        } else {
            Self::MAX_UNPREPARED
        };
        let has_more = self.store.tend_search(max_unprepared).await?;
        if has_more {
            // The pause is twice as long as the run, so the task works only a third of the time,
            // and other writes have their turn.
            let run_duration = SystemClock.instant().saturating_duration_since(started_at);
            self.pause = Some(2 * run_duration);
        } else if is_complete_run {
            self.last_complete_run = started_at;
        }
        Ok(())
    }
}

/// The task that makes backups at an interval. The first backup waits until the newest one in the
/// storage is old enough, so that a service that restarts often does not fill the storage.
struct MakeBackup {
    app: Arc<App>,
    backups: Arc<Backups>,
    interval: Duration,
    timer: Interval,
    /// Whether this process has made no backup yet.
    is_first: bool,
}

impl MakeBackup {
    /// Returns a task that makes backups at the interval of `backup_maker`.
    fn new(app: Arc<App>, backup_maker: BackupMaker) -> Self {
        let BackupMaker { backups, interval } = backup_maker;
        Self {
            app,
            backups,
            interval,
            timer: new_timer(interval),
            is_first: true,
        }
    }
}

impl Task for MakeBackup {
    async fn due(&mut self) {
        self.timer.tick().await;
    }

    async fn run(&mut self) -> Result<(), Failure> {
        let confirmed_now = self.app.confirmed_clock.now().await?;
        let min_age = if self.is_first {
            self.interval
        } else {
            Duration::ZERO
        };
        match self.backups.make(confirmed_now, min_age).await? {
            BackupOutcome::NotDue { wait } => self.timer.reset_after(wait),
            BackupOutcome::Made => self.is_first = false,
        }
        Ok(())
    }
}

/// The task that reads new changes from the log of changes, the journal, while clients follow it.
struct FollowLog {
    app: Arc<App>,
}

impl Task for FollowLog {
    async fn due(&mut self) {
        self.app.journal.due().await;
    }

    async fn run(&mut self) -> Result<(), Failure> {
        Ok(self.app.journal.poll().await?)
    }
}

/// The task that delivers messages to webhooks.
struct Deliver {
    dispatcher: Dispatcher,
}

impl Task for Deliver {
    async fn due(&mut self) {
        self.dispatcher.due().await;
    }

    async fn run(&mut self) -> Result<(), Failure> {
        Ok(self.dispatcher.step().await?)
    }

    async fn finish(&mut self) -> Result<(), Failure> {
        Ok(self.dispatcher.finish().await?)
    }
}

/// The task that sends spans, the records of traces, to a collector.
struct SendSpans {
    exporter: Exporter,
}

impl Task for SendSpans {
    async fn due(&mut self) {
        self.exporter.collect_batch().await;
    }

    async fn run(&mut self) -> Result<(), Failure> {
        Ok(self.exporter.send().await?)
    }

    async fn finish(&mut self) -> Result<(), Failure> {
        Ok(self.exporter.finish().await?)
    }
}
