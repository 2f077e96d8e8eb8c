//! The leases of webhooks. A process takes the leases that are free or that their holders no longer renew. It
//! saves the progress of a webhook only while it holds the lease.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use petstore_domain::store_area::{DeliveryUpdate, Lease, StoredWebhook, WebhookId};
use petstore_observe::{log::chain, metrics::WebhookState};
use petstore_store::StoreError;
use tracing::error;

use super::{Dispatcher, ForeignLease, LeasedEndpoint, is_due};
use crate::delivery::{endpoint::Endpoint, sending::SigningSecrets};

/// How long a lease must go without a renewal before another process takes it over. It exceeds
/// `MAX_LEASE_AGE`, at which the holder stops by itself, with a margin for a slow store.
const TAKE_OVER_AGE: Duration = Duration::from_secs(9);

/// How long attempts are kept in the store.
const ATTEMPT_RETENTION: Duration = Duration::from_hours(30 * 24);

/// How often the old attempts of a webhook are deleted.
const PRUNE_INTERVAL: Duration = Duration::from_hours(1);

/// The holder of a lease that no process holds.
const NO_HOLDER: i64 = 0;

/// The state of a lease, from the point of view of this process.
enum LeaseState {
    /// The webhook is disabled, so no process delivers to it.
    Disabled,
    /// This process holds the lease.
    Own,
    /// Another process holds the lease and renewed it recently.
    Foreign,
    /// This process may take the lease.
    Free,
}

/// A webhook whose lease this process may take, with its decrypted secrets.
struct FreeWebhook {
    stored: StoredWebhook,
    secrets: SigningSecrets,
}

impl Dispatcher {
    /// Reads the webhooks and adapts to their present state: drops the endpoints whose leases this process
    /// has lost, takes free leases, updates the metrics, and starts the pending test messages.
    pub(super) async fn refresh_webhooks(&mut self) -> Result<(), StoreError> {
        let mut webhooks = self.store.list_webhooks().await?;
        if self.has_unsaved_progress_of_stale_leases(&webhooks) {
            // Save first. The endpoint will be loaded from the store again, and would otherwise resend the
            // messages that it has just delivered.
            self.save_and_renew().await?;
            webhooks = self.store.list_webhooks().await?;
        }
        let now = self.clock.instant();
        self.poll_log_state(now).await?;
        self.connector.close_old();
        self.drop_lost_leases(&webhooks);
        self.track_foreign_leases(&webhooks, now);

        let mut free_webhooks = Vec::new();
        for stored in &webhooks {
            match self.lease_state(stored, now) {
                LeaseState::Disabled | LeaseState::Own | LeaseState::Foreign => {}
                LeaseState::Free => free_webhooks.extend(self.decrypt_secrets(stored)),
            }
        }
        self.take_leases(free_webhooks).await?;
        self.update_metrics(&webhooks);
        self.start_tests(&webhooks).await
    }

    /// Whether a leased endpoint has unsaved progress although the stored lease differs from its own:
    /// somebody has changed the webhook, or another process has taken the lease.
    fn has_unsaved_progress_of_stale_leases(&self, webhooks: &[StoredWebhook]) -> bool {
        self.leased_endpoints.iter().any(|(&id, leased_endpoint)| {
            let endpoint = &leased_endpoint.endpoint;
            let stored = find_webhook(webhooks, id);
            endpoint.is_dirty() && stored.is_some_and(|stored| stored.lease != endpoint.lease)
        })
    }

    /// Drops the endpoints whose leases this process no longer holds, and everything cached about deleted
    /// webhooks.
    fn drop_lost_leases(&mut self, webhooks: &[StoredWebhook]) {
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

    /// Notes when each lease of another process was last seen to change. A lease that stays unchanged for too
    /// long is stale. Only the local clock measures this time, so the clocks of the processes need not agree.
    fn track_foreign_leases(&mut self, webhooks: &[StoredWebhook], now: Instant) {
        for stored in webhooks {
            let id = stored.webhook.id;
            if stored.webhook.disabled.is_some() {
                continue;
            }
            if self.leased_endpoints.contains_key(&id) {
                self.foreign_leases.remove(&id);
                continue;
            }
            let known_lease = self.foreign_leases.get(&id).map(|foreign| foreign.lease);
            if known_lease != Some(stored.lease) {
                let foreign = ForeignLease {
                    lease: stored.lease,
                    unchanged_since: now,
                };
                self.foreign_leases.insert(id, foreign);
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

        // A lease is also free if this process is the stored holder but no longer has the endpoint: it
        // dropped the endpoint, because it could not renew the lease in time.
        let holder = stored.lease.holder;
        let is_stale = self.foreign_leases.get(&id).is_some_and(|foreign| {
            now.saturating_duration_since(foreign.unchanged_since) >= TAKE_OVER_AGE
        });
        if holder == NO_HOLDER || holder == self.holder || is_stale {
            LeaseState::Free
        } else {
            LeaseState::Foreign
        }
    }

    /// Decrypts the secrets of a webhook. Returns `None` and logs the reason once if this process does not
    /// have the right key file. The webhook is then left to a process that has it.
    fn decrypt_secrets(&mut self, stored: &StoredWebhook) -> Option<FreeWebhook> {
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

    /// Takes the leases of several webhooks for this process. Skips each lease that another process has
    /// just taken.
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

        for (free, was_taken) in free_webhooks.into_iter().zip(results) {
            if !was_taken {
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
                attempts_pruned_at: None,
            };
            self.leased_endpoints.insert(id, leased_endpoint);
            self.foreign_leases.remove(&id);
        }
        Ok(())
    }

    /// Publishes the state of the webhooks in the metrics.
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
        self.metrics.set_states(states.into_iter().collect());
    }

    /// Saves the progress of all leased endpoints, and renews their leases.
    pub(super) async fn save_and_renew(&mut self) -> Result<(), StoreError> {
        self.save_with_holder(self.holder).await
    }

    /// Saves the progress of all leased endpoints, and releases their leases.
    pub(super) async fn save_and_release(&mut self) -> Result<(), StoreError> {
        self.save_with_holder(NO_HOLDER).await
    }

    /// Saves the progress of all leased endpoints, and sets `holder` as the holder of their leases. Drops the
    /// endpoints whose leases were lost, and those that the save disabled.
    async fn save_with_holder(&mut self, holder: i64) -> Result<(), StoreError> {
        let now = self.clock.instant();
        let forget_before = self.prune_cutoff(now).await?;
        let mut updates = Vec::with_capacity(self.leased_endpoints.len());
        let mut leases = Vec::with_capacity(self.leased_endpoints.len());
        for leased_endpoint in self.leased_endpoints.values() {
            let lease = next_lease(leased_endpoint.endpoint.lease, holder);
            let mut update = leased_endpoint.endpoint.delivery_update(lease);
            if leased_endpoint.must_prune_attempts(now) {
                update.forget_before = forget_before;
            }
            updates.push(update);
            leases.push(lease);
        }
        if updates.is_empty() {
            return Ok(());
        }

        let were_saved = self.store.save_deliveries(updates).await?;
        // `retain` visits the endpoints in the order of the updates.
        let mut results = were_saved.into_iter().zip(leases);
        self.leased_endpoints.retain(|_, leased_endpoint| {
            // If the update was not saved, this process has lost the lease.
            let Some((true, lease)) = results.next() else {
                return false;
            };
            let is_disabled = leased_endpoint.endpoint.disabled_reason().is_some();
            leased_endpoint.endpoint.mark_saved(lease);
            leased_endpoint.renewed_at = now;
            if leased_endpoint.must_prune_attempts(now) {
                leased_endpoint.attempts_pruned_at = Some(now);
            }
            !is_disabled
        });
        Ok(())
    }

    /// Returns the time before which attempts are to be deleted. Returns `None` if no deletion is due, or if
    /// the clock is not confirmed: a wrong clock could delete recent attempts.
    async fn prune_cutoff(&self, now: Instant) -> Result<Option<Timestamp>, StoreError> {
        let is_due = self
            .leased_endpoints
            .values()
            .any(|leased_endpoint| leased_endpoint.must_prune_attempts(now));
        if !is_due {
            return Ok(None);
        }
        let confirmed_now = self.confirmed_clock.now().await?;
        Ok(confirmed_now.map(|now| now - ATTEMPT_RETENTION))
    }
}

impl LeasedEndpoint {
    /// Whether it is time to delete the old attempts of the webhook.
    fn must_prune_attempts(&self, now: Instant) -> bool {
        is_due(self.attempts_pruned_at, now, PRUNE_INTERVAL)
    }
}

fn find_webhook(webhooks: &[StoredWebhook], id: WebhookId) -> Option<&StoredWebhook> {
    webhooks.iter().find(|stored| stored.webhook.id == id)
}

/// Returns the lease that replaces `lease` when `holder` takes or renews it. Its incremented beat tells other
/// processes that the holder is alive.
fn next_lease(lease: Lease, holder: i64) -> Lease {
    Lease {
        holder,
        beat: lease.beat + 1,
    }
}

/// Returns an update that only takes the lease of a webhook, without any progress.
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
