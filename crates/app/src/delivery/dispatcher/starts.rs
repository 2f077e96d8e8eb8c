//! Starts delivery attempts, for messages about changes and for test messages.

use std::sync::Arc;

use jiff::Timestamp;
use petstore_domain::store_area::{Epoch, StoredWebhook, TestMessage, WebhookId};
use petstore_observe::log::error_chain;
use petstore_store::StoreError;
use tracing::warn;

use super::{Dispatcher, LeasedEndpoint};
use crate::delivery::{
    endpoint::{MAX_MESSAGES_IN_FLIGHT, NextMessage},
    message::{self, Content},
    sending::{LeasedChange, OutgoingMessage, record_test_attempt},
};

/// The maximum number of test messages in flight.
const MAX_TESTS_IN_FLIGHT: usize = 64;

impl Dispatcher {
    /// Starts attempts for the messages that may be sent to each endpoint now.
    ///
    /// Starts at most [`MAX_MESSAGES_IN_FLIGHT`] per endpoint, to bound the time of a call: each
    /// attempt may have to read its change from the store.
    pub(super) async fn start_attempts(&mut self) -> Result<(), StoreError> {
        let Some(epoch) = self.epoch else {
            return Ok(());
        };
        let webhooks: Vec<WebhookId> = self.leased_endpoints.keys().copied().collect();
        for webhook in webhooks {
            for _ in 0..MAX_MESSAGES_IN_FLIGHT {
                self.start_next_attempt(epoch, webhook).await?;
            }
        }
        Ok(())
    }

    /// Starts an attempt to deliver the next message of an endpoint, if one may be sent now.
    async fn start_next_attempt(
        &mut self,
        epoch: Epoch,
        webhook: WebhookId,
    ) -> Result<(), StoreError> {
        let now = self.clock.now();
        let Some(leased_endpoint) = self.leased_endpoints.get_mut(&webhook) else {
            return Ok(());
        };
        let Some(mut next) = leased_endpoint.endpoint.next_message(now) else {
            return Ok(());
        };
        let seq = next.seq;
        let content = match next.content.take() {
            Some(content) => Some(content),
            None => self.read_content(epoch, webhook, &next).await?,
        };
        // The journal no longer has the change, so the message was discarded.
        let Some(content) = content else {
            return Ok(());
        };

        // Borrow the endpoint again, because `read_content` borrows the whole dispatcher.
        let Some(leased_endpoint) = self.leased_endpoints.get_mut(&webhook) else {
            return Ok(());
        };
        let outgoing = leased_endpoint.sign_message(epoch, seq, content, now);
        let connector = Arc::clone(&self.connector);
        let clock = Arc::clone(&self.clock);
        leased_endpoint.endpoint.start(seq);
        let attempt = self.attempts.spawn(outgoing.send(connector, clock));
        leased_endpoint.attempts.insert(seq, attempt);
        Ok(())
    }

    /// Reads the change of a message from the journal, and renders the content, which is not
    /// cached.
    ///
    /// Discards the message and returns `None` if the journal no longer has the change. After an
    /// error, the message stays ready.
    async fn read_content(
        &mut self,
        epoch: Epoch,
        webhook: WebhookId,
        next: &NextMessage,
    ) -> Result<Option<Content>, StoreError> {
        let seq = next.seq;
        let page = self.store.changes_after(seq - 1, None, 1).await?;
        if let Some(change) = page.changes.iter().find(|change| change.seq == seq) {
            let previous_id = next
                .previous_seq
                .map(|previous_seq| message::change_message_id(epoch, webhook, previous_seq));
            let content = message::change_content(change, previous_id.as_deref());
            return Ok(Some(content));
        }

        warn!(
            webhook = webhook.0,
            seq, "a message is dropped: its change is gone"
        );
        if let Some(leased_endpoint) = self.leased_endpoints.get_mut(&webhook) {
            leased_endpoint.endpoint.discard(seq);
        }
        Ok(None)
    }

    /// Starts the pending test messages, even if their webhooks are disabled or served by other processes.
    /// Test messages have their own limit, and do not count against the limit of an endpoint.
    pub(super) async fn start_tests(
        &mut self,
        webhooks: &[StoredWebhook],
    ) -> Result<(), StoreError> {
        let messages_in_flight: usize = self
            .leased_endpoints
            .values()
            .map(|leased_endpoint| leased_endpoint.attempts.len())
            .sum();
        // All other attempts send test messages.
        let tests_in_flight = self.in_flight().saturating_sub(messages_in_flight);
        let capacity = MAX_TESTS_IN_FLIGHT.saturating_sub(tests_in_flight);

        let tests = self.store.waiting_tests().await?;
        for test in tests.into_iter().take(capacity) {
            self.start_test(test, webhooks).await?;
        }
        Ok(())
    }

    /// Claims a test message and starts its attempt, unless another process has claimed it. Leaves
    /// the message to another process if this one cannot decrypt the secret of the webhook.
    async fn start_test(
        &mut self,
        test: TestMessage,
        webhooks: &[StoredWebhook],
    ) -> Result<(), StoreError> {
        let webhook = test.webhook;
        let Some(stored) = webhooks.iter().find(|stored| stored.webhook.id == webhook) else {
            // The webhook was deleted, or was added after `webhooks` were read. In the latter case,
            // the next call starts its test.
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
            let attempt = &finished.outcome.attempt;
            let result = record_test_attempt(store.as_ref(), webhook, attempt).await;
            if let Err(error) = result {
                let cause = error_chain(&error);
                warn!(webhook = webhook.0, cause, "an attempt could not be noted");
            }
            finished
        });
        Ok(())
    }
}

impl LeasedEndpoint {
    /// Signs the message about the change `seq`, so that it can be sent.
    fn sign_message(
        &self,
        epoch: Epoch,
        seq: i64,
        content: Content,
        now: Timestamp,
    ) -> OutgoingMessage {
        let webhook = &self.endpoint.webhook;
        let message_id = message::change_message_id(epoch, webhook.id, seq);
        OutgoingMessage {
            webhook: webhook.id,
            change: Some(LeasedChange {
                seq,
                generation: self.generation,
            }),
            url: webhook.url.clone(),
            signature: self.secrets.sign(&message_id, now, &content.body),
            message_id,
            now,
            content,
        }
    }
}
