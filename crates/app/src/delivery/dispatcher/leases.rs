//! The leases of webhooks: a process takes a lease that is free, or that its holder renews no
//! longer, and saves only what it holds.

use std::{
    collections::{HashMap, hash_map::Entry},
    time::{Duration, Instant},
};

use jiff::Timestamp;
use petstore_domain::store_area::{DeliveryUpdate, Lease, StoredWebhook, WebhookId};
use petstore_observe::{log::chain, metrics::WebhookState};
use petstore_store::StoreError;
use tracing::error;

use super::{Dispatcher, ForeignLease, LeasedEndpoint, is_due};
use crate::delivery::{endpoint::Endpoint, sending::SigningSecrets};

/// The time without a renewal after which another process takes a lease: longer than its holder works
/// without a renewal, and than the store may take.
const TAKE_OVER_AGE: Duration = Duration::from_secs(9);

/// The time for which attempts are kept.
const ATTEMPT_RETENTION: Duration = Duration::from_hours(30 * 24);

/// The time between two deletions of old attempts.
const FORGET_INTERVAL: Duration = Duration::from_hours(1);

/// The holder of a lease that no process has.
const NO_HOLDER: i64 = 0;

/// The state of a lease, for this process.
enum LeaseState {
    /// Nobody sends messages of the webhook.
    Disabled,
    /// This process has the lease.
    Own,
    /// Another process has the lease, and renewed it a short time ago.
    Foreign,
    /// This process may take the lease.
    Free,
}

/// A webhook whose lease this process may take.
struct FreeWebhook {
    stored: StoredWebhook,
    secrets: SigningSecrets,
}

impl Dispatcher {
    /// Reads the webhooks, drops the endpoints whose lease this process has lost, and takes the leases that are free.
    /// Also sends the test messages that wait.
    pub(super) async fn refresh(&mut self) -> Result<(), StoreError> {
        let mut webhooks = self.store.list_webhooks().await?;
        if self.has_unsaved_progress_of_changed(&webhooks) {
            // What was sent before the change must not be sent again.
            self.save_and_renew().await?;
            webhooks = self.store.list_webhooks().await?;
        }
        let now = self.clock.instant();
        self.look_at_log(now).await?;
        self.connector.close_old();
        self.forget_lost_leases(&webhooks);
        self.watch_foreign_leases(&webhooks, now);

        let mut free_webhooks = Vec::new();
        for stored in &webhooks {
            match self.lease_state(stored, now) {
                LeaseState::Disabled | LeaseState::Own | LeaseState::Foreign => {}
                LeaseState::Free => free_webhooks.extend(self.open_secrets(stored)),
            }
        }
        self.take_leases(free_webhooks).await?;
        self.update_metrics(&webhooks);
        self.start_tests(&webhooks).await
    }

    /// Whether there is unsaved progress of a webhook that somebody changed, or whose lease another process took.
    fn has_unsaved_progress_of_changed(&self, webhooks: &[StoredWebhook]) -> bool {
        self.leased_endpoints.iter().any(|(&id, leased_endpoint)| {
            let endpoint = &leased_endpoint.endpoint;
            let stored = find_webhook(webhooks, id);
            endpoint.is_dirty() && stored.is_some_and(|stored| stored.lease != endpoint.lease)
        })
    }

    /// Drops the endpoints whose lease this process has no more, and what is known of deleted webhooks.
    fn forget_lost_leases(&mut self, webhooks: &[StoredWebhook]) {
        self.leased_endpoints.retain(|&id, leased_endpoint| {
            find_webhook(webhooks, id).is_some_and(|stored| {
                stored.webhook.disabled.is_none() && stored.lease == leased_endpoint.endpoint.lease
            })
        });
        self.foreign_leases
            .retain(|&id, _| find_webhook(webhooks, id).is_some());
        self.unreadable_webhooks
            .retain(|&id| find_webhook(webhooks, id).is_some());
    }

    /// Notes how long each lease that this process does not have is the same.
    fn watch_foreign_leases(&mut self, webhooks: &[StoredWebhook], now: Instant) {
        for stored in webhooks {
            let id = stored.webhook.id;
            if stored.webhook.disabled.is_some() {
                continue;
            }
            if self.leased_endpoints.contains_key(&id) {
                self.foreign_leases.remove(&id);
                continue;
            }
            let current = ForeignLease {
                lease: stored.lease,
                unchanged_since: now,
            };
            match self.foreign_leases.entry(id) {
                Entry::Vacant(entry) => {
                    entry.insert(current);
                }
                Entry::Occupied(mut entry) => {
                    if entry.get().lease != stored.lease {
                        entry.insert(current);
                    }
                }
            }
        }
    }

    /// Returns the state of the lease of a webhook.
    fn lease_state(&self, stored: &StoredWebhook, now: Instant) -> LeaseState {
        let id = stored.webhook.id;
        if stored.webhook.disabled.is_some() {
            return LeaseState::Disabled;
        }
        if self.leased_endpoints.contains_key(&id) {
            return LeaseState::Own;
        }

        // A lease of this process that it does not have any more is one that it could not renew in time.
        let holder = stored.lease.holder;
        let is_silent = self.foreign_leases.get(&id).is_some_and(|foreign| {
            now.saturating_duration_since(foreign.unchanged_since) >= TAKE_OVER_AGE
        });
        if holder == NO_HOLDER || holder == self.holder || is_silent {
            LeaseState::Free
        } else {
            LeaseState::Foreign
        }
    }

    /// Decrypts the secrets of a webhook. Returns `None` if this process cannot, because another process must serve the
    /// webhook then. Logs the reason once.
    fn open_secrets(&mut self, stored: &StoredWebhook) -> Option<FreeWebhook> {
        let id = stored.webhook.id;
        match SigningSecrets::open(&self.vault, stored) {
            Ok(secrets) => {
                self.unreadable_webhooks.remove(&id);
                Some(FreeWebhook {
                    stored: stored.clone(),
                    secrets,
                })
            }
            Err(error) => {
                if self.unreadable_webhooks.insert(id) {
                    let cause = chain(&error);
                    error!(webhook = id.0, cause, "a secret cannot be read");
                }
                None
            }
        }
    }

    /// Takes the leases of several webhooks for this process. Leaves out a lease that another process has just
    /// taken.
    async fn take_leases(&mut self, free_webhooks: Vec<FreeWebhook>) -> Result<(), StoreError> {
        if free_webhooks.is_empty() {
            return Ok(());
        }
        let updates = free_webhooks
            .iter()
            .map(|free| lease_update(&free.stored, self.holder))
            .collect();
        let renewed_at = self.clock.instant();
        let results = self.store.save_deliveries(updates).await?;

        for (free, is_ours) in free_webhooks.into_iter().zip(results) {
            if !is_ours {
                continue;
            }
            let id = free.stored.webhook.id;
            let lease = next_lease(free.stored.lease, self.holder);
            let waiting = self.store.waiting_messages(id).await?;
            self.generation += 1;
            let leased_endpoint = LeasedEndpoint {
                endpoint: Endpoint::new(free.stored, waiting, lease),
                secrets: free.secrets,
                generation: self.generation,
                attempts: HashMap::new(),
                renewed_at,
                attempts_forgotten_at: None,
            };
            self.leased_endpoints.insert(id, leased_endpoint);
            self.foreign_leases.remove(&id);
        }
        Ok(())
    }

    /// Shows the state of the webhooks in the metrics.
    fn update_metrics(&self, webhooks: &[StoredWebhook]) {
        let mut states = Vec::with_capacity(webhooks.len());
        for stored in webhooks {
            let id = stored.webhook.id;
            let is_enabled = stored.webhook.disabled.is_none();
            let lag = (self.last_seq - stored.progress.cursor).max(0);
            let leased_endpoint = self.leased_endpoints.get(&id);
            let state = WebhookState {
                is_enabled,
                is_failing: is_enabled && stored.progress.failing_since.is_some(),
                lag: if is_enabled { lag } else { 0 },
                waiting: leased_endpoint
                    .map(|leased_endpoint| leased_endpoint.endpoint.waiting_count()),
            };
            states.push((id, state));
        }
        self.metrics.note(states.into_iter().collect());
    }

    /// Saves the progress of all endpoints, and renews their leases.
    pub(super) async fn save_and_renew(&mut self) -> Result<(), StoreError> {
        self.save_with_holder(self.holder).await
    }

    /// Saves the progress of all endpoints, and gives their leases back.
    pub(super) async fn save_and_release(&mut self) -> Result<(), StoreError> {
        self.save_with_holder(NO_HOLDER).await
    }

    /// Saves the progress of all endpoints, and sets the holder of their leases. Drops the endpoints whose lease
    /// another process has, or that the save disabled.
    async fn save_with_holder(&mut self, holder: i64) -> Result<(), StoreError> {
        let now = self.clock.instant();
        let forget_before = self.attempt_limit(now).await?;
        let mut updates = Vec::with_capacity(self.leased_endpoints.len());
        let mut leases = Vec::with_capacity(self.leased_endpoints.len());
        for leased_endpoint in self.leased_endpoints.values() {
            let lease = next_lease(leased_endpoint.endpoint.lease, holder);
            let mut update = leased_endpoint.endpoint.delivery_update(lease);
            if leased_endpoint.must_forget_attempts(now) {
                update.forget_before = forget_before;
            }
            updates.push(update);
            leases.push(lease);
        }
        if updates.is_empty() {
            return Ok(());
        }

        let results = self.store.save_deliveries(updates).await?;
        let mut results = results.into_iter().zip(leases);
        self.leased_endpoints.retain(|_, leased_endpoint| {
            let Some((true, lease)) = results.next() else {
                return false;
            };
            let is_disabled = leased_endpoint.endpoint.disabled_reason().is_some();
            leased_endpoint.endpoint.note_saved(lease);
            leased_endpoint.renewed_at = now;
            if leased_endpoint.must_forget_attempts(now) {
                leased_endpoint.attempts_forgotten_at = Some(now);
            }
            !is_disabled
        });
        Ok(())
    }

    /// Returns the time before which attempts are deleted; `None` if no deletion is due, or if the time is not
    /// confirmed.
    async fn attempt_limit(&self, now: Instant) -> Result<Option<Timestamp>, StoreError> {
        let is_due = self
            .leased_endpoints
            .values()
            .any(|leased_endpoint| leased_endpoint.must_forget_attempts(now));
        if !is_due {
            return Ok(None);
        }
        let confirmed_now = self.confirmed_clock.now().await?;
        Ok(confirmed_now.map(|now| now - ATTEMPT_RETENTION))
    }
}

impl LeasedEndpoint {
    /// Whether old attempts of the webhook are to be deleted now.
    fn must_forget_attempts(&self, now: Instant) -> bool {
        is_due(self.attempts_forgotten_at, now, FORGET_INTERVAL)
    }
}

fn find_webhook(webhooks: &[StoredWebhook], id: WebhookId) -> Option<&StoredWebhook> {
    webhooks.iter().find(|stored| stored.webhook.id == id)
}

/// Returns the lease that follows `lease` with this holder.
fn next_lease(lease: Lease, holder: i64) -> Lease {
    Lease {
        holder,
        beat: lease.beat + 1,
    }
}

/// Returns an update that only takes the lease of a webhook.
fn lease_update(stored: &StoredWebhook, holder: i64) -> DeliveryUpdate {
    DeliveryUpdate {
        webhook: stored.webhook.id,
        seen_lease: stored.lease,
        lease: next_lease(stored.lease, holder),
        progress: None,
        waiting: vec![],
        done: vec![],
        attempts: vec![],
        forget_before: None,
        disable: None,
    }
}
