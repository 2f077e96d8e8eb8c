//! Webhooks: the endpoints to which the changes of the journal are delivered as messages, and the
//! state of the delivery.
//!
//! The process that delivers the messages of a webhook holds its [`Lease`]. It saves its progress
//! as [`DeliveryUpdate`]s. A message that cannot be delivered yet is a [`WaitingMessage`].

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use jiff::{SignedDuration, Timestamp};

use super::{Act, ActType, ChangeType, Label, Patch, WebhookId};
use crate::named_enum::{MaybeKnown, named_enum};

/// A webhook, with the members that the interface shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    pub id: WebhookId,
    pub url: String,
    /// The types of changes to deliver; `None` for all types.
    pub types: Option<Vec<MaybeKnown<ChangeType>>>,
    pub description: Option<Label>,
    /// Why the webhook is disabled; `None` if it is enabled.
    pub disabled: Option<DisabledReason>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Starts at 1 and increases by one with each change.
    pub version: i64,
}

impl Webhook {
    /// The maximum number of webhooks of a store.
    pub const MAX: i64 = 100;
    /// The maximum number of test messages that may wait to be sent. Concurrent requests can exceed
    /// this number by a few.
    pub const MAX_TESTS: i64 = 64;

    /// Whether changes of this type are delivered to the webhook.
    pub fn wants(&self, kind: &MaybeKnown<ChangeType>) -> bool {
        self.types.as_ref().is_none_or(|types| types.contains(kind))
    }

    /// Returns the types in the form in which a store saves them, such as `pet.added pet.changed`;
    /// `None` for all types.
    pub fn types_text(&self) -> Option<String> {
        let types = self.types.as_ref()?;
        let names: Vec<&str> = types.iter().map(MaybeKnown::as_str).collect();
        Some(names.join(" "))
    }

    /// Parses the stored form of [`Webhook::types_text`]. Types that only a later release knows are
    /// kept.
    pub fn parse_types(text: &str) -> Vec<MaybeKnown<ChangeType>> {
        text.split(' ').map(MaybeKnown::from_name).collect()
    }
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
    /// Returns the act for the audit trail when a webhook is disabled for this reason.
    pub fn act(self, webhook: WebhookId) -> Act {
        let mut act = Act::for_webhook(ActType::WebhookDisabled, webhook);
        act.details
            .push(("reason".into(), self.as_str().to_owned()));
        act
    }
}

/// A webhook as it is stored, with its secrets and delivery state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredWebhook {
    /// The part that the interface shows.
    pub webhook: Webhook,
    pub secrets: SealedSecrets,
    /// How far the delivery has progressed.
    pub progress: DeliveryProgress,
    /// The lease of the process that delivers to the webhook.
    pub lease: Lease,
}

impl StoredWebhook {
    /// The time after a rotation in which messages are also signed with the previous secret.
    const SECRET_OVERLAP: SignedDuration = SignedDuration::from_hours(24);

    /// Replaces the secret by `sealed_secret`, which is already encrypted. Returns the webhook with
    /// its next version, and the change to be saved.
    pub fn rotate_secret(
        &self,
        sealed_secret: Vec<u8>,
        now: Timestamp,
    ) -> (Webhook, WebhookChange) {
        // If the end is out of range, the previous secret is no longer used at all.
        let overlap_end = now.checked_add(Self::SECRET_OVERLAP).unwrap_or(now);
        let after = next_version(self.webhook.clone(), now);
        let change = WebhookChange::Change {
            after: after.clone(),
            secrets: SealedSecrets {
                current: sealed_secret,
                previous: Some(RetiredSecret {
                    sealed: self.secrets.current.clone(),
                    valid_until: overlap_end,
                }),
            },
            restart: None,
        };
        (after, change)
    }

    /// Applies a patch to the webhook; `None` if it changes nothing. Returns the webhook with its
    /// next version, and the change to be saved.
    pub fn patch(&self, patch: WebhookPatch, now: Timestamp) -> Option<(Webhook, WebhookChange)> {
        let mut after = self.webhook.clone();
        after.url = patch.url.unwrap_or(after.url);
        patch.types.apply(&mut after.types);
        patch.description.apply(&mut after.description);
        if patch.disable {
            after.disabled = after.disabled.or(Some(DisabledReason::Request));
        }
        if after == self.webhook {
            return None;
        }
        let after = next_version(after, now);
        let change = WebhookChange::Change {
            after: after.clone(),
            secrets: self.secrets.clone(),
            restart: None,
        };
        Some((after, change))
    }

    /// Enables the webhook, and continues the delivery at `restart`; `None` if it is already
    /// enabled. Returns the webhook with its next version, and the change to be saved.
    pub fn enable(
        &self,
        restart: RestartPoint,
        now: Timestamp,
    ) -> Option<(Webhook, WebhookChange)> {
        // Returns if the webhook is already enabled.
        self.webhook.disabled?;
        let enabled = Webhook {
            disabled: None,
            ..self.webhook.clone()
        };
        let after = next_version(enabled, now);
        let change = WebhookChange::Change {
            after: after.clone(),
            secrets: self.secrets.clone(),
            restart: Some(restart),
        };
        Some((after, change))
    }

    /// Disables the webhook, and returns the change to be saved; `None` if it is already disabled.
    pub fn disable(&self, reason: DisabledReason, now: Timestamp) -> Option<WebhookChange> {
        if self.webhook.disabled.is_some() {
            return None;
        }
        let disabled = Webhook {
            disabled: Some(reason),
            ..self.webhook.clone()
        };
        Some(WebhookChange::Change {
            after: next_version(disabled, now),
            secrets: self.secrets.clone(),
            restart: None,
        })
    }
}

/// Returns a changed webhook with the next version number and the time of the change.
fn next_version(webhook: Webhook, now: Timestamp) -> Webhook {
    Webhook {
        version: webhook.version + 1,
        updated_at: now,
        ..webhook
    }
}

/// A change of a webhook. `None` keeps the present value.
#[derive(Debug, Clone, Default)]
pub struct WebhookPatch {
    pub url: Option<String>,
    pub types: Patch<Vec<MaybeKnown<ChangeType>>>,
    pub description: Patch<Label>,
    /// Whether the webhook is disabled. A patch cannot enable it: see [`StoredWebhook::enable`].
    pub disable: bool,
}

/// The signing secrets of a webhook. They are encrypted with a key that the store does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSecrets {
    /// The secret with which every message is signed.
    pub current: Vec<u8>,
    /// The secret before the last rotation, if there was one.
    pub previous: Option<RetiredSecret>,
}

/// The secret of a webhook before the last rotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetiredSecret {
    /// The encrypted secret.
    pub sealed: Vec<u8>,
    /// The end of the time in which messages are signed with this secret, too.
    pub valid_until: Timestamp,
}

/// The progress of the messages of a webhook through the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeliveryProgress {
    /// The number of the last processed change. Every change up to it has been delivered, is a
    /// [`WaitingMessage`], or has a type that is not delivered to the webhook.
    pub cursor: i64,
    /// The number of the last change up to `cursor` for which there was a message.
    pub last: Option<i64>,
    /// Since when all attempts have failed; `None` if the last attempt succeeded.
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
    pub webhook: WebhookId,
    /// The `webhook-id` header of the message.
    pub message_id: String,
}

/// A completed attempt to deliver a message. `at` is the time of its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The `webhook-id` header of the message.
    pub message_id: String,
    pub at: Timestamp,
    /// The HTTP status code of the response, if there was one.
    pub status: Option<u16>,
    /// The duration of the attempt, in milliseconds.
    pub duration_ms: i64,
    pub error: Option<String>,
}

/// A change of a webhook that an actor requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookChange {
    Add(StoredWebhook),
    /// Replaces the members that the interface shows, and the secrets.
    Change {
        after: Webhook,
        secrets: SealedSecrets,
        /// Where the delivery continues, if the webhook is enabled again.
        restart: Option<RestartPoint>,
    },
    /// Deletes the webhook, together with its waiting messages.
    Delete {
        id: WebhookId,
        version: i64,
    },
    /// Queues a test message.
    Test(TestMessage),
    /// Changes nothing, but saves the response for repetitions of the request.
    Nothing,
}

/// The point in the journal at which the delivery continues when a webhook is enabled again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestartPoint {
    /// Continues where it stopped. Waiting messages become due at this time.
    Resume(Timestamp),
    /// Continues after the change with this number, and drops waiting messages.
    From(i64),
}

/// The results of delivering messages of a webhook, which the process saves together with its
/// lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryUpdate {
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
