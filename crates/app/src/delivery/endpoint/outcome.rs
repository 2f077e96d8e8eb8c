//! Records the outcome of an attempt: removes the message, schedules a retry, or disables the
//! webhook.

use jiff::Timestamp;
use petstore_domain::store_area::DisabledReason;
use rand::Rng;

use super::{AttemptOutcome, Endpoint, OutcomeTime, Timer};
use crate::delivery::schedule::{self, GONE, MAX_FAILING_TIME};

impl Endpoint {
    /// Records the outcome of an attempt to deliver the message about the change `seq`.
    ///
    /// After a success, removes the message. After a failure, schedules a retry, and disables the
    /// webhook if the endpoint is gone or has failed for too long.
    pub(in crate::delivery) fn record_outcome(
        &mut self,
        seq: i64,
        outcome: AttemptOutcome,
        time: OutcomeTime,
        random: &mut impl Rng,
    ) {
        let is_success = outcome.is_success();
        let status = outcome.attempt.status;
        self.in_flight_count -= 1;
        self.is_proven = is_success;
        self.unsaved.is_dirty = true;
        self.unsaved.attempts.push(outcome.attempt);

        if is_success {
            self.failing_since = None;
            self.remove(seq);
            return;
        }
        if time.is_confirmed {
            self.failing_since.get_or_insert(time.now);
        }
        if let Some(reason) = self.reason_to_disable(status, time) {
            self.unsaved.disable = Some((reason, time.now));
        }
        self.schedule_retry(seq, time.now, outcome.retry_after, random);
    }

    /// Returns the reason for which a failed attempt with this status code disables the webhook.
    /// Returns `None` if the webhook stays enabled.
    fn reason_to_disable(&self, status: Option<u16>, time: OutcomeTime) -> Option<DisabledReason> {
        let OutcomeTime { now, is_confirmed } = time;
        if status == Some(GONE) {
            return Some(DisabledReason::Gone);
        }
        let failing_since = self.failing_since?;
        let has_failed_too_long = now.duration_since(failing_since) >= MAX_FAILING_TIME;
        if is_confirmed && has_failed_too_long {
            return Some(DisabledReason::Failures);
        }
        None
    }

    /// Schedules a retry of a failed message. The messages behind it in its lane wait for the
    /// retry, so they get rows, too.
    fn schedule_retry(
        &mut self,
        seq: i64,
        now: Timestamp,
        retry_after: Option<u64>,
        random: &mut impl Rng,
    ) {
        let Some(message) = self.messages.get_mut(&seq) else {
            return;
        };
        message.failures += 1;
        let delay = schedule::draw_delay(message.failures, retry_after, random);
        let due_at = now.checked_add(delay).unwrap_or(now);
        message.due_at = Some(due_at);
        self.timers.insert(Timer { due_at, seq });

        let lane_messages = message.lane.as_ref().and_then(|lane| self.lanes.get(lane));
        let delayed_seqs: Vec<i64> = match lane_messages {
            Some(lane_messages) => lane_messages.iter().copied().collect(),
            None => vec![seq],
        };
        for delayed_seq in delayed_seqs {
            self.ensure_row(delayed_seq);
        }
    }
}
