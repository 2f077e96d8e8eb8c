//! Delivers the messages of all webhooks whose lease this process has.

mod leases;
mod starts;

use std::{
    collections::{BTreeMap, HashMap, HashSet, hash_map::Entry},
    sync::Arc,
    time::{Duration, Instant},
};

use petstore_domain::{
    Clock,
    store_area::{ChangePage, Epoch, Lease},
};
use petstore_observe::{metrics::WebhookMetrics, traces::Spans};
use petstore_store::{Store, StoreError, confirmed_clock::ConfirmedClock};
use rand::{RngExt, rngs::StdRng};
use tokio::{
    task::{AbortHandle, JoinSet},
    time,
};
use tracing::{error, info, warn};

use super::{
    Connector, Registrar, Vault,
    endpoint::Endpoint,
    message,
    sending::{Ended, Secrets},
};

/// How often the webhooks and their leases are read.
const REFRESH: Duration = Duration::from_secs(1);

/// How often a lease is renewed, and after how long without success its holder stops.
const RENEW: Duration = Duration::from_secs(2);
const STOP: Duration = Duration::from_secs(6);

/// How often the log is looked at until a second after the last change, and later; and how often
/// progress is saved.
const LOOK: Duration = Duration::from_millis(50);
const LOOK_AT_REST: Duration = Duration::from_millis(250);
const SAVE: Duration = Duration::from_millis(200);

/// How much of the log is read at once.
const READ_AT_ONCE: u32 = 200;

/// How long attempts in flight may take at shutdown.
const FINISH: Duration = Duration::from_millis(1500);

/// An endpoint with what is needed to send to it.
struct Served {
    endpoint: Endpoint,
    secrets: Secrets,
    generation: u64,
    /// The attempts in flight, by the numbers of their messages.
    running: HashMap<i64, AbortHandle>,
    renewed: Instant,
    forgotten: Option<Instant>,
}

impl Drop for Served {
    fn drop(&mut self) {
        for attempt in self.running.values() {
            attempt.abort();
        }
    }
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
    /// How many leases it has taken.
    generation: u64,
    epoch: Option<Epoch>,
    last: i64,
    /// When the last change was found.
    changed: Option<Instant>,
    served: BTreeMap<i64, Served>,
    /// The leases of others, and since when each is the same.
    others: HashMap<i64, (Lease, Instant)>,
    /// The webhooks whose secret this process cannot read.
    unreadable: HashSet<i64>,
    running: JoinSet<Ended>,
    ended: Vec<Ended>,
    refreshed: Option<Instant>,
    looked: Option<Instant>,
    saved: Option<Instant>,
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
            last: 0,
            changed: None,
            served: BTreeMap::new(),
            others: HashMap::new(),
            unreadable: HashSet::new(),
            running: JoinSet::new(),
            ended: Vec::new(),
            refreshed: None,
            looked: None,
            saved: None,
        }
    }

    /// Returns the number of attempts in flight.
    pub fn in_flight(&self) -> usize {
        self.running.len() + self.ended.len()
    }

    /// Waits until there may be something to do.
    pub async fn due(&mut self) {
        tokio::select! {
            () = time::sleep(self.pause()) => {}
            Some(ended) = self.running.join_next() => self.ended.extend(ended.ok()),
        }
    }

    /// How long [`Self::due`] waits at most.
    pub fn pause(&self) -> Duration {
        if self.is_at_rest() {
            LOOK_AT_REST
        } else {
            LOOK
        }
    }

    /// Whether nothing is being sent or saved, and no change came in the last second.
    fn is_at_rest(&self) -> bool {
        let now = self.clock.instant();
        let has_work = |served: &Served| served.endpoint.is_dirty() || served.endpoint.is_ready();
        is_due(self.changed, now, REFRESH)
            && self.in_flight() == 0
            && !self.served.values().any(has_work)
    }

    /// Does what is due now, in bounded time: takes and renews leases, notes the attempts that
    /// ended, reads the log, starts attempts, and saves. After an error, the next call continues.
    pub async fn step(&mut self) -> Result<(), StoreError> {
        let now = self.clock.instant();
        self.served
            .retain(|_, served| now.saturating_duration_since(served.renewed) < STOP);
        if is_due(self.refreshed, now, REFRESH) {
            self.refresh().await?;
            self.refreshed = Some(now);
        }
        self.note_ended().await;
        let last = self.last;
        self.read_log(now).await?;
        if self.last > last {
            self.changed = Some(now);
            // What was changed of a webhook before these changes holds for their messages.
            self.refresh().await?;
            self.refreshed = Some(now);
        }
        self.start_attempts().await?;
        let is_dirty = self
            .served
            .values()
            .any(|served| served.endpoint.is_dirty());
        let is_renewal = self
            .served
            .values()
            .any(|served| now.saturating_duration_since(served.renewed) >= RENEW);
        if is_renewal || is_dirty && is_due(self.saved, now, SAVE) {
            self.save(false).await?;
            self.saved = Some(now);
        }
        Ok(())
    }

    /// Waits a moment for the attempts in flight, saves, and gives the leases back. After an error,
    /// others take the leases after a while.
    pub async fn finish(&mut self) -> Result<(), StoreError> {
        let ending = async {
            while let Some(ended) = self.running.join_next().await {
                self.ended.extend(ended.ok());
            }
        };
        let _ = time::timeout(FINISH, ending).await;
        self.running.abort_all();
        self.note_ended().await;
        self.save(true).await
    }

    async fn note_ended(&mut self) {
        while let Some(ended) = self.running.try_join_next() {
            self.ended.extend(ended.ok());
        }
        let now = self.clock.now();
        let has_failure = self.ended.iter().any(|ended| !ended.outcome.is_success());
        let is_confirmed = has_failure && matches!(self.confirmed_clock.now().await, Ok(Some(_)));
        for ended in std::mem::take(&mut self.ended) {
            if let Some(spans) = &self.spans {
                ended.trace(spans);
            }
            let Ended {
                webhook,
                generation,
                seq,
                outcome,
                cause,
                ..
            } = ended;
            self.metrics.count(outcome.attempt.error.as_deref());
            let Some(seq) = seq else { continue };
            // Not that of an earlier lease, whose messages were read again.
            let Some(served) = self.served.get_mut(&webhook) else {
                continue;
            };
            if served.generation != generation || served.running.remove(&seq).is_none() {
                continue;
            }
            let endpoint = &mut served.endpoint;
            let was_failing = endpoint.failing_since.is_some();
            let class = outcome.attempt.error.clone();
            endpoint.ended(seq, outcome, now, is_confirmed, &mut self.random);
            match class {
                Some(class) if !was_failing => warn!(webhook, class, cause, "a webhook fails"),
                None if was_failing => info!(webhook, "a webhook succeeds again"),
                _ => {}
            }
            if let Some(reason) = endpoint.disabled() {
                error!(webhook, reason = reason.as_str(), "a webhook is disabled");
            }
        }
    }

    async fn look(&mut self, now: Instant) -> Result<(), StoreError> {
        let state = self.store.journal_state().await?;
        (self.epoch, self.last) = (Some(state.epoch), state.last);
        self.looked = Some(now);
        Ok(())
    }

    /// Reads what follows for the endpoints that have room. Endpoints at the same place share it.
    async fn read_log(&mut self, now: Instant) -> Result<(), StoreError> {
        if self.served.is_empty() {
            return Ok(());
        }
        if is_due(self.looked, now, LOOK) {
            self.look(now).await?;
        }
        let Some(epoch) = self.epoch else {
            return Ok(());
        };
        let mut pages: HashMap<i64, ChangePage> = HashMap::new();
        for served in self.served.values_mut() {
            let endpoint = &mut served.endpoint;
            if endpoint.read_to >= self.last || !endpoint.has_room() {
                continue;
            }
            let from = endpoint.read_to;
            let page = match pages.entry(from) {
                Entry::Occupied(page) => page.into_mut(),
                Entry::Vacant(page) => {
                    page.insert(self.store.changes_after(from, None, READ_AT_ONCE).await?)
                }
            };
            let id = endpoint.webhook.id;
            if let Some(oldest) = page.changes.first().filter(|oldest| oldest.seq > from + 1) {
                endpoint.has_missed(oldest.seq - 1);
            }
            let mut is_complete = true;
            for change in &page.changes {
                if !endpoint.has_room() {
                    is_complete = false;
                    break;
                }
                if endpoint.webhook.wants(&change.kind) {
                    let previous = endpoint.last().map(|seq| message::id_of(epoch, id, seq));
                    let content = message::content_of(change, previous.as_deref());
                    endpoint.add(change.seq, message::lane_of(change), content);
                }
                endpoint.has_read(change.seq);
            }
            if is_complete {
                endpoint.has_read(page.read_to);
            }
        }
        Ok(())
    }
}

/// Whether so much time has passed since then.
fn is_due(since: Option<Instant>, now: Instant, interval: Duration) -> bool {
    since.is_none_or(|since| now.saturating_duration_since(since) >= interval)
}
