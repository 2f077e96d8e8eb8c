//! The outcomes of attempts.

use std::mem;

use jiff::Timestamp;
use tracing::{error, info, warn};

use super::Dispatcher;
use crate::delivery::sending::FinishedAttempt;

impl Dispatcher {
    /// Notes the outcomes of all attempts that ended.
    pub(super) async fn note_finished_attempts(&mut self) {
        while let Some(result) = self.attempts.try_join_next() {
            self.finished_attempts.extend(result.ok());
        }
        let now = self.clock.now();
        let has_failure = self
            .finished_attempts
            .iter()
            .any(|finished| !finished.outcome.is_success());
        // Failures disable a webhook after days, for which a clock that may be wrong is not enough.
        let is_time_confirmed =
            has_failure && matches!(self.confirmed_clock.now().await, Ok(Some(_)));

        for finished in mem::take(&mut self.finished_attempts) {
            if let Some(spans) = &self.spans {
                finished.record_span(spans);
            }
            self.metrics
                .count(finished.outcome.attempt.error.as_deref());
            // A test message is about no change.
            if let Some(seq) = finished.seq {
                self.note_finished_attempt(finished, seq, now, is_time_confirmed);
            }
        }
    }

    /// Notes the outcome of the attempt to send the message about the change `seq`. Logs when a webhook begins or
    /// ceases to fail.
    fn note_finished_attempt(
        &mut self,
        finished: FinishedAttempt,
        seq: i64,
        now: Timestamp,
        is_time_confirmed: bool,
    ) {
        let webhook = finished.webhook;
        let Some(leased_endpoint) = self.leased_endpoints.get_mut(&webhook) else {
            return;
        };
        // An attempt of an earlier lease does not count, because its message was read again.
        if leased_endpoint.generation != finished.generation
            || leased_endpoint.attempts.remove(&seq).is_none()
        {
            return;
        }

        let endpoint = &mut leased_endpoint.endpoint;
        let was_failing = endpoint.failing_since.is_some();
        let error_class = finished.outcome.attempt.error.clone();
        endpoint.note_outcome(
            seq,
            finished.outcome,
            now,
            is_time_confirmed,
            &mut self.random,
        );

        match error_class {
            Some(class) if !was_failing => {
                warn!(
                    webhook = webhook.0,
                    class,
                    cause = finished.cause,
                    "a webhook fails"
                );
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
