//! The attempts that start.

use std::sync::Arc;

use petstore_domain::store_area::{Epoch, StoredWebhook};
use petstore_observe::log::chain;
use petstore_store::StoreError;
use tracing::warn;

use super::Dispatcher;
use crate::delivery::{
    endpoint::IN_FLIGHT,
    message,
    sending::{Sending, note_test, signature},
};

/// How many test messages may be in flight.
const TESTS_IN_FLIGHT: usize = 64;

impl Dispatcher {
    /// Starts what each endpoint may send now. Each may read its changes from the store, so one call
    /// starts at most the share of each.
    pub(super) async fn start_attempts(&mut self) -> Result<(), StoreError> {
        let Some(epoch) = self.epoch else {
            return Ok(());
        };
        let ids: Vec<i64> = self.served.keys().copied().collect();
        for id in ids {
            for _ in 0..IN_FLIGHT {
                self.start_next(epoch, id).await?;
            }
        }
        Ok(())
    }

    /// Starts the next message of an endpoint, if it has one that it may send.
    async fn start_next(&mut self, epoch: Epoch, id: i64) -> Result<(), StoreError> {
        let Some(served) = self.served.get_mut(&id) else {
            return Ok(());
        };
        let now = self.clock.now();
        let Some((seq, previous, content)) = served.endpoint.next(now) else {
            return Ok(());
        };
        let content = match content {
            Some(content) => content,
            None => match self.store.changes_after(seq - 1, None, 1).await {
                Ok(page) => {
                    let Some(change) = page.changes.iter().find(|change| change.seq == seq) else {
                        warn!(
                            webhook = id,
                            seq, "a message is dropped: its change is gone"
                        );
                        served.endpoint.give_up(seq);
                        return Ok(());
                    };
                    let previous = previous.map(|seq| message::id_of(epoch, id, seq));
                    message::content_of(change, previous.as_deref())
                }
                Err(error) => {
                    served.endpoint.put_back(seq);
                    return Err(error);
                }
            },
        };
        let message_id = message::id_of(epoch, id, seq);
        let attempt = Sending {
            webhook: id,
            generation: served.generation,
            seq: Some(seq),
            url: served.endpoint.webhook.url.clone(),
            signature: signature(&served.secrets, &message_id, now, &content.body),
            message_id,
            now,
            content,
        };
        let connector = Arc::clone(&self.connector);
        let running = self
            .running
            .spawn(attempt.send(connector, Arc::clone(&self.clock)));
        served.running.insert(seq, running);
        Ok(())
    }

    /// Sends the test messages that wait, also to webhooks that are disabled or that other processes
    /// serve. They do not count as messages of an endpoint.
    pub(super) async fn start_tests(
        &mut self,
        webhooks: &[StoredWebhook],
    ) -> Result<(), StoreError> {
        let messages: usize = self
            .served
            .values()
            .map(|served| served.running.len())
            .sum();
        let free = TESTS_IN_FLIGHT.saturating_sub(self.in_flight().saturating_sub(messages));
        for test in self.store.waiting_tests().await?.into_iter().take(free) {
            let now = self.clock.now();
            let webhook = test.webhook;
            let stored = webhooks.iter().find(|stored| stored.webhook.id == webhook);
            // Without its secret, another process must send it.
            let test = stored.and_then(|stored| Sending::test(stored, &self.vault, now, test).ok());
            if let Some(test) = test
                && self.store.take_test(test.message_id.clone()).await?
            {
                let connector = Arc::clone(&self.connector);
                let clock = Arc::clone(&self.clock);
                let store = Arc::clone(&self.store);
                self.running.spawn(async move {
                    let ended = test.send(connector, clock).await;
                    let noted = note_test(store.as_ref(), webhook, &ended.outcome.attempt).await;
                    if let Err(error) = noted {
                        warn!(
                            webhook,
                            cause = chain(&error),
                            "an attempt could not be noted"
                        );
                    }
                    ended
                });
            }
        }
        Ok(())
    }
}
