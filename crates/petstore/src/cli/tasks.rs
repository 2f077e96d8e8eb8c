//! The background tasks of `petstore serve`.

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
use petstore_web::server::Tls;
use tokio::time::{self, Interval, MissedTickBehavior};

use super::backups::{BACKUP_TIMEOUT, BackupMaker};
use crate::backups::Backups;

/// How long a run usually may take.
const RUN_LIMIT: Duration = Duration::from_mins(1);

pub(super) fn start(
    app: &Arc<App>,
    store: &Arc<dyn Store>,
    tls: Option<&Arc<Tls>>,
    exporter: Option<Exporter>,
    dispatcher: Dispatcher,
    backups: Option<BackupMaker>,
) -> Tasks {
    let second = Duration::from_secs(1);
    let minute = Duration::from_mins(1);
    let mut tasks = Tasks::new(Arc::new(SystemClock), Arc::clone(&app.tasks));
    let uses = SaveKeyUses {
        app: Arc::clone(app),
        times: every(Duration::from_secs(5)),
    };
    // These times only help the operator, so they do not wait long for an unreachable database.
    tasks.start("save_key_uses", second, uses);
    let photos = Arc::clone(&app.photos);
    let make_card = move || {
        let photos = Arc::clone(&photos);
        async move { photos.make_card().await }
    };
    tasks.start("make_cards", RUN_LIMIT, Steps::new(minute, make_card));
    let mut start_steps = |name, interval, step: Step| {
        let app = Arc::clone(app);
        let step = move || {
            let app = Arc::clone(&app);
            async move { step(&app).await }
        };
        tasks.start(name, RUN_LIMIT, Steps::new(interval, step));
    };
    start_steps("forget_old_requests", minute, |app| {
        app.forget_old_requests().boxed()
    });
    start_steps("forget_old_sessions", minute, |app| {
        app.forget_old_sessions().boxed()
    });
    start_steps("expire_orders", minute, |app| app.expire_orders().boxed());
    start_steps("erase_contacts", 10 * minute, |app| {
        app.erase_contacts().boxed()
    });
    start_steps("forget_old_changes", minute, |app| {
        app.forget_old_changes().boxed()
    });
    start_steps("tend_photos", 60 * minute, |app| app.tend_photos().boxed());
    // So that those without a number stay few, although nobody reads the log.
    start_steps("number_changes", second, |app| {
        app.store.journal_state().map_ok(|_| false).boxed()
    });
    let times = every(Duration::from_millis(100));
    let last = SystemClock.instant();
    let search = TendSearch {
        store: Arc::clone(store),
        times,
        pause: None,
        last,
    };
    // After an upgrade over PostgreSQL, the first run builds indexes.
    tasks.start("tend_search", Duration::from_hours(24), search);
    tasks.start("follow_log", RUN_LIMIT, FollowLog(Arc::clone(app)));
    if let Some(tls) = tls {
        let tls = Arc::clone(tls);
        let renew = move || {
            let tls = Arc::clone(&tls);
            async move { tls.renew().await.map(|()| false) }
        };
        // A read that hangs keeps a thread, so there must be few of them.
        let limit = Duration::from_hours(1);
        tasks.start("renew_tls_certificate", limit, Steps::new(second, renew));
    }
    if let Some(BackupMaker { backups, interval }) = backups {
        let app = Arc::clone(app);
        let make = MakeBackup {
            app,
            backups,
            interval,
            times: every(interval),
            is_first: true,
        };
        // A backup has a shorter limit.
        tasks.start("make_backup", 2 * BACKUP_TIMEOUT, make);
    }
    tasks.start(
        "deliver_webhooks",
        Duration::from_secs(20),
        Deliver(dispatcher),
    );
    if let Some(exporter) = exporter {
        // The exporter has a shorter limit.
        tasks.start("export_spans", Duration::from_secs(15), SendSpans(exporter));
    }
    tasks
}

/// One step of the work of the service.
type Step = for<'a> fn(&'a App) -> BoxFuture<'a, Result<bool, StoreError>>;

/// Ticks now, and then at this interval. After a long run, the next tick is a whole interval
/// later.
fn every(interval: Duration) -> Interval {
    let mut times = time::interval(interval);
    times.set_missed_tick_behavior(MissedTickBehavior::Delay);
    times
}

/// Records when keys were last used.
struct SaveKeyUses {
    app: Arc<App>,
    times: Interval,
}

impl Task for SaveKeyUses {
    async fn due(&mut self) {
        self.times.tick().await;
    }

    async fn run(&mut self) -> Result<(), Failure> {
        Ok(self.app.save_key_uses().await?)
    }

    async fn finish(&mut self) -> Result<(), Failure> {
        self.run().await
    }
}

/// Work in bounded steps, at an interval. While there is more to do, the next step follows at once.
struct Steps<S> {
    /// Does one step, and returns whether there is more to do.
    step: S,
    times: Interval,
    has_more: bool,
}

impl<S> Steps<S> {
    fn new(interval: Duration, step: S) -> Self {
        Self {
            step,
            times: every(interval),
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
            self.times.tick().await;
        }
    }

    async fn run(&mut self) -> Result<(), Failure> {
        self.has_more = false;
        self.has_more = (self.step)().await.map_err(Into::into)?;
        Ok(())
    }
}

/// Prepares new and changed animals for the search by name, category and values, in small steps.
struct TendSearch {
    store: Arc<dyn Store>,
    times: Interval,
    /// Until the next step, if there is more to do.
    pause: Option<Duration>,
    /// When all but a few were prepared.
    last: Instant,
}

impl TendSearch {
    /// More are prepared at once, because a search reads these in a few milliseconds. Fewer are prepared
    /// once a minute.
    const FEW: u64 = 1_024;
    const MINUTE: Duration = Duration::from_mins(1);
}

impl Task for TendSearch {
    async fn due(&mut self) {
        match self.pause {
            Some(pause) => time::sleep(pause).await,
            None => {
                self.times.tick().await;
            }
        }
    }

    async fn run(&mut self) -> Result<(), Failure> {
        self.pause = None;
        let started = SystemClock.instant();
        let is_due = started.saturating_duration_since(self.last) >= Self::MINUTE;
        if self
            .store
            .tend_search(if is_due { 0 } else { Self::FEW })
            .await?
        {
            // At most a third of the time, so that it slows other writes little.
            self.pause = Some(2 * SystemClock.instant().saturating_duration_since(started));
        } else if is_due {
            self.last = started;
        }
        Ok(())
    }
}

/// Makes backups at an interval. The first one waits until the newest backup of the storage is old enough, so that
/// a service that starts again and again does not fill the storage.
struct MakeBackup {
    app: Arc<App>,
    backups: Arc<Backups>,
    interval: Duration,
    times: Interval,
    is_first: bool,
}

impl Task for MakeBackup {
    async fn due(&mut self) {
        self.times.tick().await;
    }

    async fn run(&mut self) -> Result<(), Failure> {
        let believed = self.app.confirmed_clock.now().await?;
        let least_age = if self.is_first {
            self.interval
        } else {
            Duration::ZERO
        };
        match self.backups.make(believed, least_age).await? {
            Some(wait) => self.times.reset_after(wait),
            None => self.is_first = false,
        }
        Ok(())
    }
}

/// Reads the log of changes, while clients follow it.
struct FollowLog(Arc<App>);

impl Task for FollowLog {
    async fn due(&mut self) {
        self.0.journal.due().await;
    }

    async fn run(&mut self) -> Result<(), Failure> {
        Ok(self.0.journal.read().await?)
    }
}

/// Delivers messages to webhooks.
struct Deliver(Dispatcher);

impl Task for Deliver {
    async fn due(&mut self) {
        self.0.due().await;
    }

    async fn run(&mut self) -> Result<(), Failure> {
        Ok(self.0.step().await?)
    }

    async fn finish(&mut self) -> Result<(), Failure> {
        Ok(self.0.finish().await?)
    }
}

/// Sends spans to a collector.
struct SendSpans(Exporter);

impl Task for SendSpans {
    async fn due(&mut self) {
        self.0.ready().await;
    }

    async fn run(&mut self) -> Result<(), Failure> {
        Ok(self.0.send().await?)
    }

    async fn finish(&mut self) -> Result<(), Failure> {
        Ok(self.0.finish().await?)
    }
}
