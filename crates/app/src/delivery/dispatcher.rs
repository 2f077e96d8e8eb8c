//! Delivers the messages of all webhooks whose lease this process has.

mod leases;
mod log_reader;
mod outcomes;
mod starts;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use petstore_domain::{
    Clock,
    store_area::{Epoch, Lease, WebhookId},
};
use petstore_observe::{metrics::WebhookMetrics, traces::Spans};
use petstore_store::{Store, StoreError, confirmed_clock::ConfirmedClock};
use rand::{RngExt, rngs::StdRng};
use tokio::{
    task::{AbortHandle, JoinSet},
    time,
};

use super::{
    Connector, Registrar, Vault,
    endpoint::Endpoint,
    sending::{FinishedAttempt, SigningSecrets},
};

/// The time between two reads of the webhooks and their leases.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// The age at which a lease is renewed.
const RENEWAL_AGE: Duration = Duration::from_secs(2);

/// The age of a lease at which its holder stops, because it could not renew the lease.
const MAX_LEASE_AGE: Duration = Duration::from_secs(6);

/// The time between two looks at the log, until a second after the last change.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// The time between two looks at the log later.
const LOOK_INTERVAL_AT_REST: Duration = Duration::from_millis(250);

/// The time between two saves of progress.
const SAVE_INTERVAL: Duration = Duration::from_millis(200);

/// The time that attempts in flight may take at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(1500);

/// An endpoint whose lease this process has, with what is needed to send to it.
struct LeasedEndpoint {
    endpoint: Endpoint,
    secrets: SigningSecrets,
    /// The number of the lease among all that this process took. It tells the attempts of this lease from the
    /// attempts of an earlier one.
    generation: u64,
    /// The attempts in flight, by the numbers of their messages.
    attempts: HashMap<i64, AbortHandle>,
    renewed_at: Instant,
    /// The moment when old attempts were last deleted.
    attempts_forgotten_at: Option<Instant>,
}

impl Drop for LeasedEndpoint {
    fn drop(&mut self) {
        for attempt in self.attempts.values() {
            attempt.abort();
        }
    }
}

/// A lease that another process had when this one last read it.
struct ForeignLease {
    lease: Lease,
    /// The moment since which the lease is the same.
    unchanged_since: Instant,
}

/// Delivers messages. All of its futures may be dropped.
pub struct Dispatcher {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    confirmed_clock: Arc<ConfirmedClock>,
    random: StdRng,
    connector: Arc<Connector>,
    vault: Arc<Vault>,
    metrics: Arc<WebhookMetrics>,
    spans: Option<Arc<Spans>>,
    /// The random number of this process.
    holder: i64,
    /// The number of leases that this process has taken.
    generation: u64,
    /// The epoch of the log, once the log was looked at.
    epoch: Option<Epoch>,
    /// The number of the last change of the log.
    last_seq: i64,
    /// The moment when the log last had new changes.
    log_grew_at: Option<Instant>,
    /// The endpoints whose lease this process has, by the ids of their webhooks.
    leased_endpoints: BTreeMap<WebhookId, LeasedEndpoint>,
    /// The leases of other processes, by the ids of the webhooks.
    foreign_leases: HashMap<WebhookId, ForeignLease>,
    /// The webhooks whose secret this process cannot read.
    unreadable_webhooks: HashSet<WebhookId>,
    /// All attempts in flight.
    attempts: JoinSet<FinishedAttempt>,
    /// The attempts that ended, and whose outcomes are not noted yet.
    finished_attempts: Vec<FinishedAttempt>,
    leases_read_at: Option<Instant>,
    log_looked_at: Option<Instant>,
    progress_saved_at: Option<Instant>,
}

impl Dispatcher {
    /// Returns a dispatcher that has no lease yet.
    pub fn new(
        store: Arc<dyn Store>,
        confirmed_clock: Arc<ConfirmedClock>,
        mut random: StdRng,
        connector: Connector,
        registrar: &Registrar,
        spans: Option<Arc<Spans>>,
    ) -> Self {
        let holder = random.random_range(1..i64::MAX);
        Self {
            store,
            clock: Arc::clone(confirmed_clock.machine()),
            confirmed_clock,
            random,
            connector: Arc::new(connector),
            vault: Arc::clone(registrar.vault()),
            metrics: Arc::clone(registrar.metrics()),
            spans,
            holder,
            generation: 0,
            epoch: None,
            last_seq: 0,
            log_grew_at: None,
            leased_endpoints: BTreeMap::new(),
            foreign_leases: HashMap::new(),
            unreadable_webhooks: HashSet::new(),
            attempts: JoinSet::new(),
            finished_attempts: Vec::new(),
            leases_read_at: None,
            log_looked_at: None,
            progress_saved_at: None,
        }
    }

    /// Returns the number of attempts in flight.
    pub fn in_flight(&self) -> usize {
        self.attempts.len() + self.finished_attempts.len()
    }

    /// Waits until there may be something to do.
    pub async fn due(&mut self) {
        tokio::select! {
            () = time::sleep(self.pause()) => {}
            Some(result) = self.attempts.join_next() => self.finished_attempts.extend(result.ok()),
        }
    }

    /// Returns the longest time that [`Self::due`] waits.
    pub fn pause(&self) -> Duration {
        if self.is_at_rest() {
            LOOK_INTERVAL_AT_REST
        } else {
            LOOK_INTERVAL
        }
    }

    /// Whether nothing is being sent or saved, and no change came in the last second.
    fn is_at_rest(&self) -> bool {
        let now = self.clock.instant();
        let has_work = self.leased_endpoints.values().any(|leased_endpoint| {
            leased_endpoint.endpoint.is_dirty() || leased_endpoint.endpoint.is_ready()
        });
        is_due(self.log_grew_at, now, REFRESH_INTERVAL) && self.in_flight() == 0 && !has_work
    }

    /// Does what is due now, in bounded time: takes and renews leases, notes the attempts that
    /// ended, reads the log, starts attempts, and saves. After an error, the next call continues.
    pub async fn step(&mut self) -> Result<(), StoreError> {
        let now = self.clock.instant();
        self.leased_endpoints.retain(|_, leased_endpoint| {
            now.saturating_duration_since(leased_endpoint.renewed_at) < MAX_LEASE_AGE
        });
        if is_due(self.leases_read_at, now, REFRESH_INTERVAL) {
            self.refresh().await?;
            self.leases_read_at = Some(now);
        }

        self.note_finished_attempts().await;
        let earlier_last_seq = self.last_seq;
        self.read_log(now).await?;
        if self.last_seq > earlier_last_seq {
            self.log_grew_at = Some(now);
            // A change of a webhook before these changes applies to their messages.
            self.refresh().await?;
            self.leases_read_at = Some(now);
        }

        self.start_attempts().await?;
        if self.needs_save(now) {
            self.save_and_renew().await?;
            self.progress_saved_at = Some(now);
        }
        Ok(())
    }

    /// Whether a lease must be renewed, or there is progress and the last save was long enough ago.
    fn needs_save(&self, now: Instant) -> bool {
        let mut has_progress = false;
        for leased_endpoint in self.leased_endpoints.values() {
            if now.saturating_duration_since(leased_endpoint.renewed_at) >= RENEWAL_AGE {
                return true;
            }
            has_progress |= leased_endpoint.endpoint.is_dirty();
        }
        has_progress && is_due(self.progress_saved_at, now, SAVE_INTERVAL)
    }

    /// Waits a moment for the attempts in flight, saves, and gives the leases back. After an error,
    /// other processes take the leases after a while.
    pub async fn finish(&mut self) -> Result<(), StoreError> {
        let attempts_end = async {
            while let Some(result) = self.attempts.join_next().await {
                self.finished_attempts.extend(result.ok());
            }
        };
        let _ = time::timeout(SHUTDOWN_TIMEOUT, attempts_end).await;
        self.attempts.abort_all();
        self.note_finished_attempts().await;
        self.save_and_release().await
    }
}

/// Whether the interval has passed since the last time. Work that was never done is due.
fn is_due(last_time: Option<Instant>, now: Instant, interval: Duration) -> bool {
    last_time.is_none_or(|last_time| now.saturating_duration_since(last_time) >= interval)
}
