//! Starts the attempts to deliver messages about changes.

use std::sync::Arc;

use jiff::Timestamp;
use petstore_domain::store_area::{Epoch, WebhookId};
use petstore_store::StoreError;
use tracing::warn;

use super::{Dispatcher, LeasedEndpoint};
use crate::delivery::{
    endpoint::{MAX_MESSAGES_IN_FLIGHT, NextMessage},
    message::{self, Content},
    sending::{LeasedChange, OutgoingMessage},
};

impl Dispatcher {
    /// Starts attempts for the messages that may be sent to each endpoint now.
    ///
    /// Starts at most [`MAX_MESSAGES_IN_FLIGHT`] per endpoint, to bound the time of a call: each
    /// attempt may have to read its change from the store.
    pub(super) async fn start_attempts(&mut self) -> Result<(), StoreError> {
        let Some(epoch) = self.epoch else {
            // The journal is polled once there is an endpoint, so there is none yet.
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
                .map(|previous_seq| message::compute_id(epoch, webhook, previous_seq));
            let content = message::render_change(change, previous_id.as_deref());
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
        let message_id = message::compute_id(epoch, webhook.id, seq);
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
