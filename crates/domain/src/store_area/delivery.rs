//! The delivery of the messages of webhooks: its progress, and its results.
//!
//! The process that delivers the messages of a webhook holds its [`Lease`]. It saves its progress
//! as [`DeliveryUpdate`]s. A message that cannot be delivered yet is a [`WaitingMessage`].

use jiff::Timestamp;

use super::{Act, ActType, WebhookId};
use crate::named_enum::named_enum;

/// The progress of the messages of a webhook through the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeliveryProgress {
    /// The number of the last processed change. Every change up to it has been delivered, is a
    /// [`WaitingMessage`], or has a type that is not delivered to the webhook.
    pub cursor: i64,
    /// The number of the last change up to `cursor` for which there was a message.
    pub last: Option<i64>,
    /// The time since which all attempts have failed; `None` if the last attempt succeeded.
    pub failing_since: Option<Timestamp>,
}

/// The exclusive right of a process to deliver the messages of a webhook. The holder keeps renewing
/// it.
///
/// A process that sees the same lease unchanged for some time takes it over, so the clocks of the
/// processes need not agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lease {
    /// A random number that identifies the process; 0 if no process holds the lease.
    pub holder: i64,
    /// Increases by one with each renewal.
    pub beat: i64,
}

/// A message that is waiting for a retry, or for an earlier message in its lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingMessage {
    /// The number of the change that the message is about.
    pub seq: i64,
    /// The number of the change that the previous message to the webhook is about.
    pub previous: Option<i64>,
    /// The lane of the message, such as `pet:7`. Messages of one lane are delivered in order.
    /// `None` for a message that need not wait for any other.
    pub lane: Option<String>,
    /// The number of failed attempts.
    pub failures: u32,
    /// When the next attempt is due; `None` while the message waits for another one.
    pub due_at: Option<Timestamp>,
}

/// A test message to a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestMessage {
    /// The webhook to whose endpoint the message is sent.
    pub webhook: WebhookId,
    /// The `webhook-id` header of the message.
    pub message_id: String,
}

/// A completed attempt to deliver a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The `webhook-id` header of the message.
    pub message_id: String,
    /// When the attempt ended.
    pub at: Timestamp,
    /// The HTTP status code of the response, if there was one.
    pub status: Option<u16>,
    /// The duration of the attempt, in milliseconds.
    pub duration_ms: i64,
    /// Why the attempt failed, if it did.
    pub error: Option<String>,
}

/// The results of delivering messages of a webhook, which the process saves together with its
/// lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryUpdate {
    /// The webhook whose messages were delivered.
    pub webhook: WebhookId,
    /// The lease that the process last saw. If the stored lease has changed since, nothing is
    /// saved.
    pub seen_lease: Lease,
    /// The new lease.
    pub lease: Lease,
    /// The new progress; `None` if the process only takes over or renews the lease.
    pub progress: Option<DeliveryProgress>,
    /// The waiting messages that are new or have changed.
    pub waiting: Vec<WaitingMessage>,
    /// The numbers of the changes whose messages no longer wait.
    pub done: Vec<i64>,
    /// The completed attempts, in the order in which they ended.
    pub attempts: Vec<Attempt>,
    /// Attempts from before this time are deleted.
    pub forget_before: Option<Timestamp>,
    /// Why and when to disable the webhook, if it is to be disabled.
    pub disable: Option<(DisabledReason, Timestamp)>,
}

named_enum! {
    /// The reason why a webhook is disabled.
    pub enum DisabledReason {
        /// All attempts have failed for five days.
        Failures = "failures",
        /// The endpoint responded with 410.
        Gone = "gone",
        /// Somebody disabled the webhook, by a request or a command.
        Request = "request",
    }
}

impl DisabledReason {
    /// Creates the act for the audit trail when a webhook is disabled for this reason.
    pub fn create_act(self, webhook: WebhookId) -> Act {
        let mut act = Act::for_webhook(ActType::WebhookDisabled, webhook);
        act.details
            .push(("reason".into(), self.as_str().to_owned()));
        act
    }
}
