//! Delivers the messages of all webhooks whose leases this process holds.
//!
//! Each change of the journal becomes a message to each webhook that wants it, and each attempt
//! sends a message once. Several processes may run on one database. A [`Lease`] makes sure that
//! only one of them delivers to a given webhook.

mod journal_reader;
mod leases;
mod outcomes;
mod starts;
mod test_messages;

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

/// How often the webhooks and their leases are read from the store.
const WEBHOOK_REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// The age at which this process renews a lease that it holds.
const RENEWAL_AGE: Duration = Duration::from_secs(2);

/// The age of a lease at which its holder stops delivering. The holder could not renew the lease in
/// time, so another process may soon take it over.
const MAX_LEASE_AGE: Duration = Duration::from_secs(6);

/// How often the journal is polled while the dispatcher is busy.
const ACTIVE_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How often the journal is polled while the dispatcher is idle.
const IDLE_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// How long the journal must be without new changes before the dispatcher counts as idle.
const IDLE_DELAY: Duration = Duration::from_secs(1);

/// The minimum time between two saves of delivery progress.
const SAVE_INTERVAL: Duration = Duration::from_millis(200);

/// How long a shutdown waits for the attempts in flight.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(1500);

/// An endpoint whose lease this process holds, with everything needed to deliver to it. Dropping
/// this aborts the attempts in flight.
struct LeasedEndpoint {
    endpoint: Endpoint,
    secrets: SigningSecrets,
    /// The number of the lease among all leases that this process has taken. It tells the attempts
    /// under this lease from those under an earlier lease on the same webhook.
    generation: u64,
    /// The attempts in flight, by the sequence numbers of their changes.
    attempts: HashMap<i64, AbortHandle>,
    /// When this process last took or renewed the lease.
    renewed_at: Instant,
    /// When old attempts were last deleted, if they have been since the lease was taken.
    attempts_pruned_at: Option<Instant>,
}

impl Drop for LeasedEndpoint {
    fn drop(&mut self) {
        for attempt in self.attempts.values() {
            attempt.abort();
        }
    }
}

/// A lease that this process does not hold, as it was last read.
struct ForeignLease {
    lease: Lease,
    /// When this process last saw the lease change.
    unchanged_since: Instant,
}

/// Delivers webhook messages. Its futures are cancel-safe, because callers drop them at shutdown,
/// or when a step takes too long.
pub struct Dispatcher {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    confirmed_clock: Arc<ConfirmedClock>,
    random: StdRng,
    connector: Arc<Connector>,
    vault: Arc<Vault>,
    metrics: Arc<WebhookMetrics>,
    spans: Option<Arc<Spans>>,
    /// The random number that identifies this process as the holder of a lease.
    holder: i64,
    /// The number of leases that this process has taken so far.
    generation: u64,
    /// The epoch of the journal. It is `None` until the journal is polled for the first time.
    epoch: Option<Epoch>,
    /// The sequence number of the last change in the journal, as of the last poll.
    last_seq: i64,
    /// When a poll last found new changes in the journal, if one has.
    journal_grew_at: Option<Instant>,
    /// The endpoints whose leases this process holds, by webhook id.
    leased_endpoints: BTreeMap<WebhookId, LeasedEndpoint>,
    /// The leases that this process does not hold, by webhook id.
    foreign_leases: HashMap<WebhookId, ForeignLease>,
    /// The webhooks whose secrets this process cannot decrypt. Each failure is logged only once.
    unreadable_webhooks: HashSet<WebhookId>,
    /// All attempts in flight: of messages about changes, and of test messages.
    attempts: JoinSet<FinishedAttempt>,
    /// Attempts that have completed but whose outcomes are not yet recorded.
    finished_attempts: Vec<FinishedAttempt>,
    /// When the webhooks were last read, if they have been.
    webhooks_refreshed_at: Option<Instant>,
    /// When the journal was last polled, if it has been.
    journal_polled_at: Option<Instant>,
    /// When the progress was last saved, if it has been.
    progress_saved_at: Option<Instant>,
}

impl Dispatcher {
    /// Returns a dispatcher that holds no leases yet.
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
            journal_grew_at: None,
            leased_endpoints: BTreeMap::new(),
            foreign_leases: HashMap::new(),
            unreadable_webhooks: HashSet::new(),
            attempts: JoinSet::new(),
            finished_attempts: Vec::new(),
            webhooks_refreshed_at: None,
            journal_polled_at: None,
            progress_saved_at: None,
        }
    }

    /// Returns the number of attempts in flight, including completed ones that are not yet
    /// recorded.
    pub fn in_flight(&self) -> usize {
        self.attempts.len() + self.finished_attempts.len()
    }

    /// Waits until an attempt completes or the next poll of the journal is due.
    pub async fn due(&mut self) {
        tokio::select! {
            () = time::sleep(self.poll_interval()) => {}
            // An aborted attempt yields an error. Its lease is gone, so there is nothing to record.
            Some(result) = self.attempts.join_next() => self.finished_attempts.extend(result.ok()),
        }
    }

    /// Returns the present interval between two polls of the journal. [`Self::due`] waits no longer
    /// than this.
    pub fn poll_interval(&self) -> Duration {
        if self.is_idle() {
            IDLE_POLL_INTERVAL
        } else {
            ACTIVE_POLL_INTERVAL
        }
    }

    /// Whether there is nothing to send or save, and the journal had no new changes for
    /// [`IDLE_DELAY`].
    fn is_idle(&self) -> bool {
        let now = self.clock.instant();
        if !is_due(self.journal_grew_at, now, IDLE_DELAY) || self.in_flight() > 0 {
            return false;
        }
        let has_work = self.leased_endpoints.values().any(|leased_endpoint| {
            leased_endpoint.endpoint.is_dirty() || leased_endpoint.endpoint.is_ready()
        });
        !has_work
    }

    /// Does the work that is due now, in bounded time. After an error, the next call continues.
    ///
    /// Takes and renews leases, records the outcomes of completed attempts, reads the journal,
    /// starts new attempts, and saves the progress.
    pub async fn step(&mut self) -> Result<(), StoreError> {
        let now = self.clock.instant();
        self.leased_endpoints.retain(|_, leased_endpoint| {
            now.saturating_duration_since(leased_endpoint.renewed_at) < MAX_LEASE_AGE
        });
        if is_due(self.webhooks_refreshed_at, now, WEBHOOK_REFRESH_INTERVAL) {
            self.refresh_webhooks().await?;
            self.webhooks_refreshed_at = Some(now);
        }

        self.record_finished_attempts().await;
        let previous_last_seq = self.last_seq;
        self.queue_new_messages(now).await?;
        if self.last_seq > previous_last_seq {
            self.journal_grew_at = Some(now);
            // Read the webhooks again before sending: a webhook may have been changed before these
            // changes were made, and its new settings must then apply to their messages.
            self.refresh_webhooks().await?;
            self.webhooks_refreshed_at = Some(now);
        }

        self.start_attempts().await?;
        if self.needs_save(now) {
            self.save_and_renew().await?;
            self.progress_saved_at = Some(now);
        }
        Ok(())
    }

    /// Whether a save is due: a lease needs a renewal, or there is progress and [`SAVE_INTERVAL`]
    /// has passed since the last save.
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

    /// Shuts the dispatcher down: waits up to `SHUTDOWN_TIMEOUT` for the attempts in flight, saves
    /// the progress, and releases the leases. After an error, other processes take the leases over
    /// once they are stale.
    pub async fn finish(&mut self) -> Result<(), StoreError> {
        let drain_attempts = async {
            while let Some(result) = self.attempts.join_next().await {
                self.finished_attempts.extend(result.ok());
            }
        };
        // After a timeout, abort the attempts that are still in flight.
        let _ = time::timeout(SHUTDOWN_TIMEOUT, drain_attempts).await;
        self.attempts.abort_all();
        self.record_finished_attempts().await;
        self.save_and_release().await
    }
}

/// Whether `interval` has passed since `last_time`. Work that has never been done is due.
fn is_due(last_time: Option<Instant>, now: Instant, interval: Duration) -> bool {
    last_time.is_none_or(|last_time| now.saturating_duration_since(last_time) >= interval)
}
