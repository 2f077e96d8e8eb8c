//! Sends the pending test messages, and records their attempts.
//!
//! A test message reports no change. It does not wait for the other messages to its endpoint: each
//! endpoint has a queue for these, and test messages are not in it.

use std::sync::Arc;

use jiff::Timestamp;
use petstore_domain::{
    Actor, StoredResponse, WriteContext,
    store_area::{Attempt, DisabledReason, StoredWebhook, TestMessage, WebhookId},
};
use petstore_observe::log::error_chain;
use petstore_store::{Store, StoreError, WriteOutcome};
use tracing::{error, warn};

use super::{Dispatcher, leases::find_webhook};
use crate::delivery::{schedule::GONE, sending::OutgoingMessage};

/// The maximum number of test messages in flight.
const MAX_TESTS_IN_FLIGHT: usize = 64;

impl Dispatcher {
    /// Starts the pending test messages, even if their webhooks are disabled or served by other
    /// processes. Test messages have their own limit, and do not count against the limit of an
    /// endpoint.
    pub(super) async fn start_pending_tests(
        &mut self,
        webhooks: &[StoredWebhook],
    ) -> Result<(), StoreError> {
        let messages_in_flight: usize = self
            .leased_endpoints
            .values()
            .map(|leased_endpoint| leased_endpoint.attempts.len())
            .sum();
        // `in_flight` counts all attempts, so the others among them send test messages.
        let tests_in_flight = self.in_flight().saturating_sub(messages_in_flight);
        let mut free_slots = MAX_TESTS_IN_FLIGHT.saturating_sub(tests_in_flight);

        for test in self.store.waiting_tests().await? {
            if free_slots == 0 {
                break;
            }
            // A test that this process cannot send must not hold up the tests after it.
            let is_started = self.start_test(test, webhooks).await?;
            if is_started {
                free_slots -= 1;
            }
        }
        Ok(())
    }

    /// Takes a test message and starts its attempt. Returns whether it did so: not if another
    /// process has taken the message, or if this process cannot decrypt the secret of the webhook.
    async fn start_test(
        &mut self,
        test: TestMessage,
        webhooks: &[StoredWebhook],
    ) -> Result<bool, StoreError> {
        let webhook_id = test.webhook;
        let Some(webhook) = find_webhook(webhooks, webhook_id) else {
            // The webhook was deleted, or was added after `webhooks` were read. In the latter case,
            // the next call starts its test.
            return Ok(false);
        };
        let now = self.clock.now();
        let Ok(outgoing) = OutgoingMessage::from_test(test, webhook, &self.vault, now) else {
            // Leave the message to a process that can decrypt the secret.
            return Ok(false);
        };
        let is_taken = self.store.take_test(outgoing.message_id.clone()).await?;
        if !is_taken {
            return Ok(false);
        }

        let connector = Arc::clone(&self.connector);
        let clock = Arc::clone(&self.clock);
        let store = Arc::clone(&self.store);
        self.attempts.spawn(async move {
            let finished = outgoing.send(connector, clock).await;
            let attempt = &finished.outcome.attempt;
            let result = record_test_attempt(store.as_ref(), webhook_id, attempt).await;
            if let Err(error) = result {
                let cause = error_chain(&error);
                warn!(
                    webhook = webhook_id.0,
                    cause, "an attempt could not be noted"
                );
            }
            finished
        });
        Ok(true)
    }
}

/// Records the attempt to send a test message. If the endpoint responded with [`GONE`], also
/// disables the webhook, as after any other message.
async fn record_test_attempt(
    store: &dyn Store,
    webhook_id: WebhookId,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    store.add_attempt(webhook_id, attempt.clone()).await?;
    if attempt.status == Some(GONE) {
        disable_gone_webhook(store, webhook_id, attempt.at).await?;
    }
    Ok(())
}

/// Disables a webhook whose endpoint is gone, and logs this. Does nothing if the webhook was
/// deleted, or is already disabled.
async fn disable_gone_webhook(
    store: &dyn Store,
    webhook_id: WebhookId,
    now: Timestamp,
) -> Result<(), StoreError> {
    // A store has few webhooks, so there is no function that reads a single one.
    let webhooks = store.list_webhooks().await?;
    let Some(gone_webhook) = find_webhook(&webhooks, webhook_id) else {
        return Ok(());
    };
    let reason = DisabledReason::Gone;
    let Some(change) = gone_webhook.disable(reason, now) else {
        return Ok(());
    };
    let act = reason.create_act(webhook_id);
    let context = WriteContext::new(Actor::Clock, now);
    let outcome = store
        .write_webhook(change, Some(act), StoredResponse::default(), context)
        .await?;

    // Any other outcome means that somebody changed the webhook in the meantime, so it stays as it
    // is now.
    if outcome == WriteOutcome::Done {
        // This is logged as an error: the messages stop, although nobody who works for the store
        // has asked for this.
        error!(
            webhook = webhook_id.0,
            reason = reason.as_str(),
            "a webhook is disabled"
        );
    }
    Ok(())
}
