//! Records the outcomes of completed attempts.

use std::mem;

use petstore_domain::store_area::WebhookId;
use tracing::{error, info, warn};

use super::Dispatcher;
use crate::delivery::{
    endpoint::OutcomeTime,
    sending::{FinishedAttempt, LeasedChange},
};

impl Dispatcher {
    /// Records the outcomes of all completed attempts: in the traces, in the metrics, and at their
    /// endpoints.
    pub(super) async fn record_finished_attempts(&mut self) {
        while let Some(result) = self.attempts.try_join_next() {
            // An aborted attempt yields an error, and has no outcome.
            self.finished_attempts.extend(result.ok());
        }
        let has_failure = self
            .finished_attempts
            .iter()
            .any(|finished| !finished.outcome.is_success());
        let now = self.clock.now();
        // Only failures need a confirmed time: they disable a webhook that fails for days.
        let is_confirmed = has_failure && matches!(self.confirmed_clock.now().await, Ok(Some(_)));
        let time = OutcomeTime { now, is_confirmed };

        for finished in mem::take(&mut self.finished_attempts) {
            if let Some(spans) = &self.spans {
                finished.record_span(spans);
            }
            self.metrics
                .count(finished.outcome.attempt.error.as_deref());
            // A test message has no change, and does not affect the queue of the endpoint.
            if let Some(change) = finished.change {
                self.record_at_endpoint(finished, change, time);
            }
        }
    }

    /// Records the outcome of an attempt to deliver a change at its endpoint. Logs when the webhook
    /// starts to fail, recovers, or is disabled.
    fn record_at_endpoint(
        &mut self,
        finished: FinishedAttempt,
        change: LeasedChange,
        time: OutcomeTime,
    ) {
        let webhook = finished.webhook;
        let Some(leased_endpoint) = self.leased_endpoints.get_mut(&webhook) else {
            // The lease was lost, so the next holder of the lease sends the message again.
            return;
        };
        // Ignore an attempt under an earlier lease: its message was queued again when the new lease
        // was taken.
        let is_of_this_lease = leased_endpoint.generation == change.generation;
        if !is_of_this_lease || leased_endpoint.attempts.remove(&change.seq).is_none() {
            return;
        }

        let endpoint = &mut leased_endpoint.endpoint;
        let was_failing = endpoint.failing_since.is_some();
        let error_class = finished.outcome.attempt.error.clone();
        endpoint.record_outcome(change.seq, finished.outcome, time, &mut self.random);

        match error_class {
            Some(class) if !was_failing => {
                log_first_failure(webhook, &class, finished.cause.as_deref());
            }
            None if was_failing => info!(webhook = webhook.0, "a webhook succeeds again"),
            _ => {}
        }
        if let Some(reason) = endpoint.disabled_reason() {
            error!(
                webhook = webhook.0,
                reason = reason.as_str(),
                "a webhook is disabled"
            );
        }
    }
}

/// Logs that a webhook has started to fail. Its further failures are only counted.
fn log_first_failure(webhook: WebhookId, class: &str, cause: Option<&str>) {
    warn!(webhook = webhook.0, class, cause, "a webhook fails");
}
