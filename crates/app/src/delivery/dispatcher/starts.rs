//! The attempts that start.

use std::sync::Arc;

use petstore_domain::store_area::{Epoch, StoredWebhook, TestMessage, WebhookId};
use petstore_observe::log::chain;
use petstore_store::StoreError;
use tracing::warn;

use super::Dispatcher;
use crate::delivery::{
    endpoint::{MAX_MESSAGES_IN_FLIGHT, NextMessage},
    message::{self, Content},
    sending::{OutgoingMessage, record_test},
};

/// The number of test messages that may be in flight.
const MAX_TESTS_IN_FLIGHT: usize = 64;

impl Dispatcher {
    /// Starts what each endpoint may send now. Each attempt may read its change from the store, so one call
    /// starts at most the share of each endpoint.
    pub(super) async fn start_attempts(&mut self) -> Result<(), StoreError> {
        let Some(epoch) = self.epoch else {
            return Ok(());
        };
        let webhooks: Vec<WebhookId> = self.leased_endpoints.keys().copied().collect();
        for webhook in webhooks {
            for _ in 0..MAX_MESSAGES_IN_FLIGHT {
                self.start_next(epoch, webhook).await?;
            }
        }
        Ok(())
    }

    /// Starts the next message of an endpoint, if it has one that it may send.
    async fn start_next(&mut self, epoch: Epoch, webhook: WebhookId) -> Result<(), StoreError> {
        let now = self.clock.now();
        let Some(leased_endpoint) = self.leased_endpoints.get_mut(&webhook) else {
            return Ok(());
        };
        let Some(mut next) = leased_endpoint.endpoint.take_next(now) else {
            return Ok(());
        };
        let seq = next.seq;
        let content = match next.content.take() {
            Some(content) => content,
            None => match self.read_content(epoch, webhook, &next).await? {
                Some(content) => content,
                None => return Ok(()),
            },
        };

        let Some(leased_endpoint) = self.leased_endpoints.get_mut(&webhook) else {
            return Ok(());
        };
        let message_id = message::change_message_id(epoch, webhook, seq);
        let outgoing = OutgoingMessage {
            webhook,
            generation: leased_endpoint.generation,
            seq: Some(seq),
            url: leased_endpoint.endpoint.webhook.url.clone(),
            signature: leased_endpoint
                .secrets
                .sign(&message_id, now, &content.body),
            message_id,
            now,
            content,
        };
        let connector = Arc::clone(&self.connector);
        let clock = Arc::clone(&self.clock);
        let attempt = self.attempts.spawn(outgoing.send(connector, clock));
        leased_endpoint.attempts.insert(seq, attempt);
        Ok(())
    }

    /// Returns the content of a message in flight that is not in memory. Drops the message and returns `None` if the log
    /// no longer has its change. After an error, the message is the next one again.
    async fn read_content(
        &mut self,
        epoch: Epoch,
        webhook: WebhookId,
        next: &NextMessage,
    ) -> Result<Option<Content>, StoreError> {
        let seq = next.seq;
        let result = self.store.changes_after(seq - 1, None, 1).await;
        let Some(leased_endpoint) = self.leased_endpoints.get_mut(&webhook) else {
            return Ok(None);
        };
        let page = match result {
            Ok(page) => page,
            Err(error) => {
                leased_endpoint.endpoint.put_back(seq);
                return Err(error);
            }
        };
        let Some(change) = page.changes.iter().find(|change| change.seq == seq) else {
            warn!(
                webhook = webhook.0,
                seq, "a message is dropped: its change is gone"
            );
            leased_endpoint.endpoint.drop_in_flight(seq);
            return Ok(None);
        };
        let previous_id = next
            .previous_seq
            .map(|seq| message::change_message_id(epoch, webhook, seq));
        Ok(Some(message::change_content(
            change,
            previous_id.as_deref(),
        )))
    }

    /// Sends the test messages that wait, also to webhooks that are disabled or that other processes
    /// serve. They do not count as messages of an endpoint.
    pub(super) async fn start_tests(
        &mut self,
        webhooks: &[StoredWebhook],
    ) -> Result<(), StoreError> {
        let messages_in_flight: usize = self
            .leased_endpoints
            .values()
            .map(|leased_endpoint| leased_endpoint.attempts.len())
            .sum();
        let tests_in_flight = self.in_flight().saturating_sub(messages_in_flight);
        let free_places = MAX_TESTS_IN_FLIGHT.saturating_sub(tests_in_flight);

        let tests = self.store.waiting_tests().await?;
        for test in tests.into_iter().take(free_places) {
            self.start_test(test, webhooks).await?;
        }
        Ok(())
    }

    /// Sends a test message, unless another process sends it. Without the secret of the webhook, another process must.
    async fn start_test(
        &mut self,
        test: TestMessage,
        webhooks: &[StoredWebhook],
    ) -> Result<(), StoreError> {
        let webhook = test.webhook;
        let Some(stored) = webhooks.iter().find(|stored| stored.webhook.id == webhook) else {
            return Ok(());
        };
        let now = self.clock.now();
        let Ok(outgoing) = OutgoingMessage::from_test(test, stored, &self.vault, now) else {
            return Ok(());
        };
        if !self.store.take_test(outgoing.message_id.clone()).await? {
            return Ok(());
        }

        let connector = Arc::clone(&self.connector);
        let clock = Arc::clone(&self.clock);
        let store = Arc::clone(&self.store);
        self.attempts.spawn(async move {
            let finished = outgoing.send(connector, clock).await;
            let result = record_test(store.as_ref(), webhook, &finished.outcome.attempt).await;
            if let Err(error) = result {
                let cause = chain(&error);
                warn!(webhook = webhook.0, cause, "an attempt could not be noted");
            }
            finished
        });
        Ok(())
    }
}
