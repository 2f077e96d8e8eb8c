//! The background tasks of `petstore serve`.

use std::{sync::Arc, time::Duration};

use tokio::time::{self, Interval, MissedTickBehavior};

use crate::{
    domain::{Clock, SystemClock},
    http::App,
    observe::traces::Exporter,
    server::Tls,
    store::Store,
    tasks::{Failure, Task, Tasks},
};

/// Starts all background tasks.
pub(super) fn start(
    app: &Arc<App>,
    store: &Arc<dyn Store>,
    tls: Option<&Arc<Tls>>,
    exporter: Option<Exporter>,
) -> Tasks {
    let mut tasks = Tasks::new(Arc::new(SystemClock), Arc::clone(app.tasks()));
    tasks.start(SaveKeyUses { app: Arc::clone(app), times: every(Duration::from_secs(5)) });
    let times = every(Duration::from_mins(1));
    tasks.start(ForgetOldRequests { app: Arc::clone(app), times, has_more: false });
    let times = every(Duration::from_mins(1));
    tasks.start(ExpireOrders { app: Arc::clone(app), times, has_more: false });
    let times = every(Duration::from_millis(250));
    tasks.start(TendSearch { store: Arc::clone(store), times, pause: None });
    if let Some(tls) = tls {
        tasks
            .start(RenewCertificate { tls: Arc::clone(tls), times: every(Duration::from_secs(1)) });
    }
    if let Some(exporter) = exporter {
        tasks.start(ExportSpans(exporter));
    }
    tasks
}

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
    const NAME: &str = "save_key_uses";
    // These times only help the operator, so they do not wait long for an unreachable database.
    const RUN_LIMIT: Duration = Duration::from_secs(1);

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

/// Expires the reservations whose end has passed.
struct ExpireOrders {
    app: Arc<App>,
    times: Interval,
    has_more: bool,
}

impl Task for ExpireOrders {
    const NAME: &str = "expire_orders";
    const RUN_LIMIT: Duration = Duration::from_mins(1);

    async fn due(&mut self) {
        if !self.has_more {
            self.times.tick().await;
        }
    }

    async fn run(&mut self) -> Result<(), Failure> {
        self.has_more = false;
        self.has_more = self.app.expire_orders().await?;
        Ok(())
    }
}

/// Deletes old requests with an `Idempotency-Key`, in small steps, each of which shares its commit
/// with other writes.
struct ForgetOldRequests {
    app: Arc<App>,
    times: Interval,
    has_more: bool,
}

impl Task for ForgetOldRequests {
    const NAME: &str = "forget_old_requests";
    const RUN_LIMIT: Duration = Duration::from_mins(1);

    async fn due(&mut self) {
        if !self.has_more {
            self.times.tick().await;
        }
    }

    async fn run(&mut self) -> Result<(), Failure> {
        self.has_more = false;
        self.has_more = self.app.forget_old_requests().await?;
        Ok(())
    }
}

/// Prepares new and changed animals for the search by name and category, in small steps.
struct TendSearch {
    store: Arc<dyn Store>,
    times: Interval,
    /// Until the next step, if there is more to do.
    pause: Option<Duration>,
}

impl TendSearch {
    /// A search reads so many animals one by one, in less than a millisecond.
    const FEW: u64 = 500;
}

impl Task for TendSearch {
    const NAME: &str = "tend_search";
    const RUN_LIMIT: Duration = Duration::from_mins(1);

    async fn due(&mut self) {
        match self.pause {
            Some(pause) => time::sleep(pause).await,
            None => drop(self.times.tick().await),
        }
    }

    async fn run(&mut self) -> Result<(), Failure> {
        self.pause = None;
        let started = SystemClock.instant();
        if self.store.tend_search(Self::FEW).await? {
            // At most a third of the time, so that it slows other writes little.
            self.pause = Some(2 * SystemClock.instant().saturating_duration_since(started));
        }
        Ok(())
    }
}

/// Uses a renewed TLS certificate.
struct RenewCertificate {
    tls: Arc<Tls>,
    times: Interval,
}

impl Task for RenewCertificate {
    const NAME: &str = "renew_tls_certificate";
    // A read that hangs keeps a thread, so there must be few of them.
    const RUN_LIMIT: Duration = Duration::from_hours(1);

    async fn due(&mut self) {
        self.times.tick().await;
    }

    async fn run(&mut self) -> Result<(), Failure> {
        Ok(self.tls.renew().await?)
    }
}

/// Sends spans to the collector.
struct ExportSpans(Exporter);

impl Task for ExportSpans {
    const NAME: &str = "export_spans";
    // The exporter has a shorter limit.
    const RUN_LIMIT: Duration = Duration::from_secs(15);

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
