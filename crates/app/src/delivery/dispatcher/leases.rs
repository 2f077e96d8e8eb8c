//! Takes, renews and releases the leases of webhooks.
//!
//! A process takes the leases that are free or that their holders no longer renew. It saves the
//! progress of a webhook only while it holds the lease.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use petstore_domain::store_area::{DeliveryUpdate, Lease, StoredWebhook, WebhookId};
use petstore_observe::{log::error_chain, metrics::WebhookState};
use petstore_store::StoreError;
use tracing::error;

use super::{Dispatcher, ForeignLease, LeasedEndpoint, is_due};
use crate::delivery::{endpoint::Endpoint, sending::SigningSecrets};

/// How long a lease must go without a renewal before another process takes it over. It exceeds
/// `MAX_LEASE_AGE`, at which the holder stops on its own, with a margin for a slow store.
const TAKE_OVER_AGE: Duration = Duration::from_secs(9);

/// How long attempts are kept in the store.
const ATTEMPT_RETENTION: Duration = Duration::from_hours(30 * 24);

/// How often the old attempts of a webhook are deleted.
const PRUNE_INTERVAL: Duration = Duration::from_hours(1);

/// The holder of a lease that no process holds.
const NO_HOLDER: i64 = 0;

/// A webhook whose lease this process may take, with its decrypted secrets.
struct FreeWebhook {
    stored: StoredWebhook,
    secrets: SigningSecrets,
}

impl Dispatcher {
    /// Reads the webhooks, and adapts to their present state.
    ///
    /// Drops the endpoints whose leases this process has lost, takes free leases, updates the
    /// metrics, and starts the pending test messages.
    pub(super) async fn refresh_webhooks(&mut self) -> Result<(), StoreError> {
        let mut webhooks = self.store.list_webhooks().await?;
        if self.has_unsaved_progress_of_stale_leases(&webhooks) {
            // Save first. The endpoint will be loaded from the store again, and the messages that
            // were just delivered would otherwise be sent again.
            self.save_and_renew().await?;
            webhooks = self.store.list_webhooks().await?;
        }
        let now = self.clock.instant();
        self.poll_journal_state(now).await?;
        self.connector.close_old();
        self.drop_lost_leases(&webhooks);
        self.track_foreign_leases(&webhooks, now);

        let mut free_webhooks = Vec::new();
        for stored in &webhooks {
            if self.may_take_lease(stored, now)
                && let Some(free_webhook) = self.decrypt_secrets(stored)
            {
                free_webhooks.push(free_webhook);
            }
        }
        self.take_leases(free_webhooks).await?;
        self.update_metrics(&webhooks);
        self.start_pending_tests(&webhooks).await
    }

    /// Whether a leased endpoint has unsaved progress although the stored lease differs from its
    /// own. Somebody has then changed the webhook, or another process has taken the lease.
    fn has_unsaved_progress_of_stale_leases(&self, webhooks: &[StoredWebhook]) -> bool {
        for (&id, leased_endpoint) in &self.leased_endpoints {
            let endpoint = &leased_endpoint.endpoint;
            if endpoint.is_dirty()
                && let Some(stored) = find_webhook(webhooks, id)
                && stored.lease != endpoint.lease
            {
                return true;
            }
        }
        false
    }

    /// Drops the endpoints whose leases this process no longer holds, and everything cached about
    /// deleted webhooks.
    fn drop_lost_leases(&mut self, webhooks: &[StoredWebhook]) {
        self.leased_endpoints.retain(|&id, leased_endpoint| {
            let Some(stored) = find_webhook(webhooks, id) else {
                return false;
            };
            stored.webhook.disabled.is_none() && stored.lease == leased_endpoint.endpoint.lease
        });
        self.foreign_leases
            .retain(|&id, _| find_webhook(webhooks, id).is_some());
        self.unreadable_webhooks
            .retain(|&id| find_webhook(webhooks, id).is_some());
    }

    /// Notes when each lease of another process was last seen to change.
    ///
    /// A lease that stays unchanged for [`TAKE_OVER_AGE`] is stale. Only the local clock measures
    /// this time, so the clocks of the processes need not agree.
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

    /// Whether this process may take the lease of a webhook: the webhook is enabled, and no process
    /// delivers to it.
    fn may_take_lease(&self, stored: &StoredWebhook, now: Instant) -> bool {
        let id = stored.webhook.id;
        if stored.webhook.disabled.is_some() || self.leased_endpoints.contains_key(&id) {
            return false;
        }

        // A lease is also free if this process is the stored holder but no longer has the endpoint.
        // This process then dropped the endpoint, because it could not renew the lease in time.
        let holder = stored.lease.holder;
        let is_stale = self.foreign_leases.get(&id).is_some_and(|foreign| {
            now.saturating_duration_since(foreign.unchanged_since) >= TAKE_OVER_AGE
        });
        holder == NO_HOLDER || holder == self.holder || is_stale
    }

    /// Decrypts the secrets of a webhook whose lease this process may take.
    ///
    /// Returns `None` and logs the reason once if this process does not have the right key file.
    /// The webhook is then left to a process that has it.
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
                    let cause = error_chain(&error);
                    error!(webhook = id.0, cause, "a secret cannot be read");
                }
                None
            }
        }
    }

    /// Takes the leases of several webhooks for this process. Skips each lease that another process
    /// has just taken.
    async fn take_leases(&mut self, free_webhooks: Vec<FreeWebhook>) -> Result<(), StoreError> {
        if free_webhooks.is_empty() {
            return Ok(());
        }
        let updates = free_webhooks
            .iter()
            .map(|free| lease_update(&free.stored, self.holder))
            .collect();
        let renewed_at = self.clock.instant();
        let were_taken = self.store.save_deliveries(updates).await?;

        // The results are in the order of the updates.
        for (free, was_taken) in free_webhooks.into_iter().zip(were_taken) {
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
            let lag = if is_enabled {
                (self.last_seq - stored.progress.cursor).max(0)
            } else {
                0
            };
            let leased_endpoint = self.leased_endpoints.get(&id);
            let state = WebhookState {
                is_enabled,
                is_failing: is_enabled && stored.progress.failing_since.is_some(),
                lag,
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

    /// Saves the progress of all leased endpoints, and sets `holder` as the holder of their leases.
    ///
    /// Drops the endpoints whose leases were lost, and the endpoints whose webhooks the save
    /// disabled.
    async fn save_with_holder(&mut self, holder: i64) -> Result<(), StoreError> {
        let now = self.clock.instant();
        let forget_before = self.prune_cutoff(now).await?;
        let mut updates = Vec::with_capacity(self.leased_endpoints.len());
        for leased_endpoint in self.leased_endpoints.values() {
            let lease = next_lease(leased_endpoint.endpoint.lease, holder);
            let mut update = leased_endpoint.endpoint.delivery_update(lease);
            if leased_endpoint.must_prune_attempts(now) {
                update.forget_before = forget_before;
            }
            updates.push(update);
        }
        if updates.is_empty() {
            return Ok(());
        }

        let were_saved = self.store.save_deliveries(updates).await?;
        let ids: Vec<WebhookId> = self.leased_endpoints.keys().copied().collect();
        // The results are in the order of the updates, which is the order of the endpoints.
        for (id, was_saved) in ids.into_iter().zip(were_saved) {
            let Some(leased_endpoint) = self.leased_endpoints.get_mut(&id) else {
                continue;
            };
            let is_disabled = leased_endpoint.endpoint.disabled_reason().is_some();
            // If the update was not saved, this process has lost the lease.
            if !was_saved || is_disabled {
                self.leased_endpoints.remove(&id);
            } else {
                leased_endpoint.mark_saved(holder, now);
            }
        }
        Ok(())
    }

    /// Returns the time before which attempts are to be deleted.
    ///
    /// Returns `None` if no deletion is due, or if the clock is not confirmed: a wrong clock could
    /// delete recent attempts.
    async fn prune_cutoff(&self, now: Instant) -> Result<Option<Timestamp>, StoreError> {
        let is_any_due = self
            .leased_endpoints
            .values()
            .any(|leased_endpoint| leased_endpoint.must_prune_attempts(now));
        if !is_any_due {
            return Ok(None);
        }
        let confirmed_time = self.confirmed_clock.now().await?;
        Ok(confirmed_time.map(|time| time - ATTEMPT_RETENTION))
    }
}

impl LeasedEndpoint {
    /// Whether it is time to delete the old attempts of the webhook.
    fn must_prune_attempts(&self, now: Instant) -> bool {
        is_due(self.attempts_pruned_at, now, PRUNE_INTERVAL)
    }

    /// Marks the progress as saved and the lease as renewed for `holder`, both at `now`.
    fn mark_saved(&mut self, holder: i64, now: Instant) {
        let lease = next_lease(self.endpoint.lease, holder);
        self.endpoint.mark_saved(lease);
        self.renewed_at = now;
        // Without a confirmed clock, the save has deleted no attempts. The next try is an interval
        // later in this case, too.
        if self.must_prune_attempts(now) {
            self.attempts_pruned_at = Some(now);
        }
    }
}

/// Returns the webhook with this id. Returns `None` if it was deleted.
pub(super) fn find_webhook(webhooks: &[StoredWebhook], id: WebhookId) -> Option<&StoredWebhook> {
    webhooks.iter().find(|stored| stored.webhook.id == id)
}

/// Returns the lease that replaces `lease` when `holder` takes or renews it. The incremented beat
/// tells other processes that the holder is alive.
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
