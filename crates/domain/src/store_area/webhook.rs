//! Webhooks: the endpoints that get messages about changes, and their progress.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use jiff::{SignedDuration, Timestamp};

use super::{Act, ActType, ChangeType, Label, Patch, WebhookId};
use crate::words::{Word, words};

/// An endpoint that gets messages about changes, as the interface shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    pub id: WebhookId,
    pub url: String,
    /// The types of the changes that are sent; `None` for all types.
    pub types: Option<Vec<Word<ChangeType>>>,
    pub description: Option<Label>,
    /// The reason why nothing is sent; `None` if the webhook is enabled.
    pub disabled: Option<DisabledReason>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// From 1, one higher with each change.
    pub version: i64,
}

impl Webhook {
    /// The maximum number of webhooks of a store.
    pub const MAX: i64 = 100;
    /// The number of test messages that may wait. A few more can wait if several are added at the same moment.
    pub const MAX_TESTS: i64 = 64;

    /// Whether changes of this type are sent.
    pub fn wants(&self, kind: &Word<ChangeType>) -> bool {
        self.types.as_ref().is_none_or(|types| types.contains(kind))
    }

    /// Returns the types in the form in which a store keeps them: `pet.added pet.changed`.
    pub fn types_text(&self) -> Option<String> {
        let types = self.types.as_ref()?;
        Some(types.iter().map(Word::as_str).collect::<Vec<_>>().join(" "))
    }

    /// Parses the types in the text of [`Webhook::types_text`], also types of a later release.
    pub fn parse_types(text: &str) -> Vec<Word<ChangeType>> {
        text.split(' ').map(Word::from_name).collect()
    }
}

words! {
    pub enum DisabledReason {
        /// Every attempt failed for five days.
        Failures = "failures",
        /// The endpoint responded with 410.
        Gone = "gone",
        /// A request or a command asked for it.
        Request = "request",
    }
}

impl DisabledReason {
    /// Returns the act in the audit trail when the service disables a webhook for this reason.
    pub fn act(self, webhook: WebhookId) -> Act {
        let mut act = Act::for_webhook(ActType::WebhookDisabled, webhook);
        act.details
            .push(("reason".into(), self.as_str().to_owned()));
        act
    }
}

/// A webhook as a store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredWebhook {
    /// The part that the interface shows.
    pub webhook: Webhook,
    pub secrets: SealedSecrets,
    /// The progress of its messages.
    pub progress: DeliveryProgress,
    /// The process that sends them.
    pub lease: Lease,
}

impl StoredWebhook {
    /// The time during which messages are also signed with a replaced secret.
    const SECRET_OVERLAP: SignedDuration = SignedDuration::from_hours(24);

    /// Replaces the encrypted secret.
    pub fn rotate_secret(&self, secret: Vec<u8>, now: Timestamp) -> (Webhook, WebhookChange) {
        let until = now.checked_add(Self::SECRET_OVERLAP).unwrap_or(now);
        let secrets = SealedSecrets {
            current: secret,
            previous: Some((self.secrets.current.clone(), until)),
        };
        Self::change(self.webhook.clone(), secrets, None, now)
    }

    /// Changes values of the webhook; `None` if it already has these values.
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
        Some(Self::change(after, self.secrets.clone(), None, now))
    }

    /// Enables the webhook; `None` if it is enabled already.
    pub fn enable(
        &self,
        restart: RestartPoint,
        now: Timestamp,
    ) -> Option<(Webhook, WebhookChange)> {
        self.webhook.disabled?;
        let after = Webhook {
            disabled: None,
            ..self.webhook.clone()
        };
        Some(Self::change(
            after,
            self.secrets.clone(),
            Some(restart),
            now,
        ))
    }

    /// Disables the webhook; `None` if it is disabled already.
    pub fn disable(&self, reason: DisabledReason, now: Timestamp) -> Option<WebhookChange> {
        if self.webhook.disabled.is_some() {
            return None;
        }
        let after = Webhook {
            disabled: Some(reason),
            ..self.webhook.clone()
        };
        let (_, change) = Self::change(after, self.secrets.clone(), None, now);
        Some(change)
    }

    /// Returns the next version of the webhook, and the change that stores it.
    fn change(
        mut after: Webhook,
        secrets: SealedSecrets,
        restart: Option<RestartPoint>,
        now: Timestamp,
    ) -> (Webhook, WebhookChange) {
        after.version += 1;
        after.updated_at = now;
        let change = WebhookChange::Change {
            after: after.clone(),
            secrets,
            restart,
        };
        (after, change)
    }
}

/// New values of a webhook. `None` keeps the present value.
#[derive(Debug, Clone, Default)]
pub struct WebhookPatch {
    pub url: Option<String>,
    pub types: Patch<Vec<Word<ChangeType>>>,
    pub description: Patch<Label>,
    pub disable: bool,
}

/// The encrypted secrets of a webhook. The store cannot read them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSecrets {
    /// The secret with which every message is signed.
    pub current: Vec<u8>,
    /// The secret before the current one, and the time until which messages are also signed with it.
    pub previous: Option<(Vec<u8>, Timestamp)>,
}

/// The progress of the messages of a webhook through the log of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeliveryProgress {
    /// The number of a change. Each change up to it was delivered, or waits ([`WaitingMessage`]), or has a type that is not
    /// sent.
    pub cursor: i64,
    /// The number of the last change up to `cursor` that became a message.
    pub last: Option<i64>,
    /// The time since which every attempt has failed; `None` if the last attempt succeeded.
    pub failing_since: Option<Timestamp>,
}

/// The lease of the process that sends the messages of a webhook. Another process that sees the same
/// lease for a while takes it, so no clock needs to agree with another clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lease {
    /// A random number of the process; 0 if no process has the lease.
    pub holder: i64,
    /// One higher with each renewal.
    pub beat: i64,
}

/// A message that failed, or that waits for a failed message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingMessage {
    /// The number of its change.
    pub seq: i64,
    /// The number of the change of the message before it.
    pub previous: Option<i64>,
    /// The lane, whose messages are delivered in order, such as `pet:7`; `None` for a message that waits for no other message.
    pub lane: Option<String>,
    pub failures: u32,
    /// The time of the next attempt; `None` if it waits for another message.
    pub due_at: Option<Timestamp>,
}

/// A message that tests a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestMessage {
    pub webhook: WebhookId,
    /// The `webhook-id` of the message.
    pub message_id: String,
}

/// An attempt to deliver a message, at the time of its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The `webhook-id` of the message.
    pub message_id: String,
    pub at: Timestamp,
    pub status: Option<u16>,
    /// The duration of the attempt, in milliseconds.
    pub duration_ms: i64,
    pub error: Option<String>,
}

/// A change of a webhook by an actor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookChange {
    Add(StoredWebhook),
    /// Changes what the interface shows, and its secrets.
    Change {
        after: Webhook,
        secrets: SealedSecrets,
        /// The place where an enabled webhook continues.
        restart: Option<RestartPoint>,
    },
    /// Deletes the webhook with the messages that wait for it.
    Delete {
        id: WebhookId,
        version: i64,
    },
    /// Adds a test message, which a process then sends.
    Test(TestMessage),
    /// Changes nothing, but remembers the response.
    Nothing,
}

/// The place in the log of changes where an enabled webhook continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestartPoint {
    /// The place where it stopped. Messages that wait are due at this time.
    Resume(Timestamp),
    /// The place after the change with this number. Messages that wait are dropped.
    From(i64),
}

/// The results of a process that sends the messages of a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryUpdate {
    pub webhook: WebhookId,
    /// The lease that the process saw. Nothing is saved if the store has another one.
    pub seen_lease: Lease,
    /// The lease from now on.
    pub lease: Lease,
    /// The new progress; `None` if the process only takes the lease.
    pub progress: Option<DeliveryProgress>,
    /// The messages that wait, if they are new or changed.
    pub waiting: Vec<WaitingMessage>,
    /// The numbers of the changes whose messages wait no longer.
    pub done: Vec<i64>,
    /// The attempts in the order in which they ended.
    pub attempts: Vec<Attempt>,
    /// The time before which attempts are deleted.
    pub forget_before: Option<Timestamp>,
    /// The reason and the time if the webhook is disabled.
    pub disable: Option<(DisabledReason, Timestamp)>,
}
