//! The leases of webhooks: a process takes those that are free, or that their holder renews no
//! longer, and saves only what it holds.

use std::{collections::HashMap, time::Duration};

use petstore_domain::store_area::{DeliveryUpdate, Lease, StoredWebhook};
use petstore_observe::{log::chain, metrics::WebhookState};
use petstore_store::StoreError;
use tracing::error;

use super::{Dispatcher, Served, is_due};
use crate::delivery::{
    endpoint::Endpoint,
    sending::{Secrets, open_secrets},
};

/// After how long another process takes a lease that is not renewed: longer than its holder works
/// without a renewal, and than the store may take.
const TAKE_OVER: Duration = Duration::from_secs(9);

/// How long attempts are kept, and how often older ones are deleted.
const KEEP_ATTEMPTS: Duration = Duration::from_hours(30 * 24);
const FORGET: Duration = Duration::from_hours(1);

impl Dispatcher {
    /// Reads the webhooks, drops those that are no longer ours, and takes those that are free. Also
    /// sends the test messages that wait.
    pub(super) async fn refresh(&mut self) -> Result<(), StoreError> {
        let mut webhooks = self.store.list_webhooks().await?;
        let is_changed = |served: &Served| {
            let Endpoint { webhook, lease, .. } = &served.endpoint;
            let stored = webhooks
                .iter()
                .find(|stored| stored.webhook.id == webhook.id);
            served.endpoint.is_dirty() && stored.is_some_and(|stored| stored.lease != *lease)
        };
        if self.served.values().any(is_changed) {
            // What was sent before the change must not be sent again.
            self.save(false).await?;
            webhooks = self.store.list_webhooks().await?;
        }
        let now = self.clock.instant();
        self.look(now).await?;
        self.connector.close_old();
        let is_ours = |id: i64, served: &Served| {
            let stored = webhooks.iter().find(|stored| stored.webhook.id == id);
            stored.is_some_and(|stored| {
                stored.webhook.disabled.is_none() && stored.lease == served.endpoint.lease
            })
        };
        self.served.retain(|&id, served| is_ours(id, served));
        self.others
            .retain(|id, _| webhooks.iter().any(|stored| stored.webhook.id == *id));
        self.unreadable
            .retain(|id| webhooks.iter().any(|stored| stored.webhook.id == *id));
        let mut free = Vec::new();
        for stored in webhooks
            .iter()
            .filter(|stored| stored.webhook.disabled.is_none())
        {
            let id = stored.webhook.id;
            if self.served.contains_key(&id) {
                self.others.remove(&id);
                continue;
            }
            let (seen, since) = self.others.entry(id).or_insert((stored.lease, now));
            if *seen != stored.lease {
                (*seen, *since) = (stored.lease, now);
            }
            let is_silent = now.saturating_duration_since(*since) >= TAKE_OVER;
            if [0, self.holder].contains(&stored.lease.holder) || is_silent {
                // Without its secret, another process must serve it.
                match open_secrets(&self.vault, stored) {
                    Ok(secrets) => {
                        self.unreadable.remove(&id);
                        free.push((stored.clone(), secrets));
                    }
                    Err(error) if self.unreadable.insert(id) => {
                        error!(
                            webhook = id,
                            cause = chain(&error),
                            "a secret cannot be read"
                        );
                    }
                    Err(_) => {}
                }
            }
        }
        self.take(free).await?;
        self.show(&webhooks);
        self.start_tests(&webhooks).await
    }

    async fn take(&mut self, free: Vec<(StoredWebhook, Secrets)>) -> Result<(), StoreError> {
        if free.is_empty() {
            return Ok(());
        }
        let lease = |seen: Lease| Lease {
            holder: self.holder,
            beat: seen.beat + 1,
        };
        let updates = free.iter().map(|(stored, _)| DeliveryUpdate {
            webhook: stored.webhook.id,
            seen: stored.lease,
            lease: lease(stored.lease),
            progress: None,
            waiting: vec![],
            done: vec![],
            attempts: vec![],
            forget_before: None,
            disable: None,
        });
        let renewed = self.clock.instant();
        let taken = self.store.save_deliveries(updates.collect()).await?;
        for ((stored, secrets), _) in free.into_iter().zip(taken).filter(|(_, taken)| *taken) {
            let id = stored.webhook.id;
            let lease = lease(stored.lease);
            let waiting = self.store.waiting_messages(id).await?;
            let endpoint = Endpoint::new(stored, waiting, lease);
            let running = HashMap::new();
            self.generation += 1;
            let generation = self.generation;
            let forgotten = None;
            let served = Served {
                endpoint,
                secrets,
                generation,
                running,
                renewed,
                forgotten,
            };
            self.served.insert(id, served);
            self.others.remove(&id);
        }
        Ok(())
    }

    /// Shows the state of the webhooks in the metrics.
    fn show(&self, webhooks: &[StoredWebhook]) {
        let states = webhooks.iter().map(|stored| {
            let id = stored.webhook.id;
            let is_enabled = stored.webhook.disabled.is_none();
            let served = self.served.get(&id);
            let state = WebhookState {
                is_enabled,
                is_failing: is_enabled && stored.progress.failing_since.is_some(),
                lag: if is_enabled {
                    (self.last - stored.progress.cursor).max(0)
                } else {
                    0
                },
                waiting: served.map(|served| served.endpoint.waiting()),
            };
            (id, state)
        });
        self.metrics.note(states.collect());
    }

    /// Saves what was done, and renews the leases, or gives them back.
    pub(super) async fn save(&mut self, is_last: bool) -> Result<(), StoreError> {
        let now = self.clock.instant();
        let is_forgetting = self
            .served
            .values()
            .any(|served| is_due(served.forgotten, now, FORGET));
        let confirmed = if is_forgetting {
            self.confirmed_clock.now().await?
        } else {
            None
        };
        let before = confirmed.map(|now| now - KEEP_ATTEMPTS);
        let updates: Vec<DeliveryUpdate> = self
            .served
            .values()
            .map(|served| {
                let holder = if is_last { 0 } else { self.holder };
                let beat = served.endpoint.lease.beat + 1;
                let update = served.endpoint.update(Lease { holder, beat });
                let forget_before = before.filter(|_| is_due(served.forgotten, now, FORGET));
                DeliveryUpdate {
                    forget_before,
                    ..update
                }
            })
            .collect();
        if updates.is_empty() {
            return Ok(());
        }
        let leases: Vec<Lease> = updates.iter().map(|update| update.lease).collect();
        let saved = self.store.save_deliveries(updates).await?;
        let mut results = saved.into_iter().zip(leases);
        self.served.retain(|_, served| {
            let Some((true, lease)) = results.next() else {
                return false;
            };
            let is_disabled = served.endpoint.disabled().is_some();
            served.endpoint.saved(lease);
            served.renewed = now;
            if is_due(served.forgotten, now, FORGET) {
                served.forgotten = Some(now);
            }
            !is_disabled
        });
        Ok(())
    }
}
