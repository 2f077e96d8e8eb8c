//! Webhooks: the endpoints that get messages about changes, and their progress.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use jiff::{SignedDuration, Timestamp};

use super::{Act, ActType, ChangeType, Label, Patch};
use crate::words::{Word, words};

/// An endpoint of others, as the interface shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Given by the store, and never given again.
    pub id: i64,
    pub url: String,
    /// Which changes are sent; `None` for all.
    pub types: Option<Vec<Word<ChangeType>>>,
    pub description: Option<Label>,
    /// Why nothing is sent; `None` if it is enabled.
    pub disabled: Option<DisabledReason>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// From 1, one higher with each change.
    pub version: i64,
}

impl Webhook {
    /// How many there can be.
    pub const MAX: i64 = 100;
    /// How many test messages may wait. More can, if several are added at the same moment.
    pub const MAX_TESTS: i64 = 64;

    /// Whether changes of this type are sent.
    pub fn wants(&self, kind: &Word<ChangeType>) -> bool {
        self.types.as_ref().is_none_or(|types| types.contains(kind))
    }

    /// Returns the types as a store keeps them.
    pub fn types_text(&self) -> Option<String> {
        let types = self.types.as_ref()?;
        Some(types.iter().map(Word::as_str).collect::<Vec<_>>().join(" "))
    }

    /// Returns the types in such a text, also those of a later release.
    pub fn parse_types(text: &str) -> Vec<Word<ChangeType>> {
        text.split(' ').map(Word::from_name).collect()
    }
}

words! {
    pub enum DisabledReason {
        /// Nothing but failures for five days.
        Failures = "failures",
        /// The endpoint responded with 410.
        Gone = "gone",
        /// A request or a command asked for it.
        Request = "request",
    }
}

impl DisabledReason {
    /// Returns the type in the audit trail when the service disables a webhook for this reason.
    pub fn act(self, webhook: i64) -> Act {
        let details = vec![("reason".into(), self.as_str().to_owned())];
        Act {
            details,
            ..Act::for_webhook(ActType::WebhookDisabled, webhook)
        }
    }
}

/// A webhook as a store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredWebhook {
    /// The part that the interface shows.
    pub webhook: Webhook,
    pub secrets: SealedSecrets,
    /// How far its messages are.
    pub progress: DeliveryProgress,
    /// The process that sends them.
    pub lease: Lease,
}

impl StoredWebhook {
    /// How long messages are also signed with a replaced secret.
    pub const SECRET_OVERLAP: SignedDuration = SignedDuration::from_hours(24);

    pub fn rotate_secret(&self, secret: Vec<u8>, now: Timestamp) -> (Webhook, WebhookChange) {
        let until = now.checked_add(Self::SECRET_OVERLAP).unwrap_or(now);
        let previous = Some((self.secrets.current.clone(), until));
        let secrets = SealedSecrets {
            current: secret,
            previous,
        };
        Self::change(self.webhook.clone(), secrets, None, now)
    }

    /// Returns the webhook with other values; `None` if they are the same.
    pub fn patch(&self, patch: WebhookPatch, now: Timestamp) -> Option<(Webhook, WebhookChange)> {
        let mut after = self.webhook.clone();
        after.url = patch.url.unwrap_or(after.url);
        patch.types.apply(&mut after.types);
        patch.description.apply(&mut after.description);
        if patch.disable {
            after.disabled = after.disabled.or(Some(DisabledReason::Request));
        }
        let is_same = after == self.webhook;
        (!is_same).then(|| Self::change(after, self.secrets.clone(), None, now))
    }

    /// Returns the webhook, enabled; `None` if it is already.
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

    /// Returns the webhook, disabled; `None` if it is already.
    pub fn disable(&self, reason: DisabledReason, now: Timestamp) -> Option<WebhookChange> {
        let after = Webhook {
            disabled: Some(reason),
            ..self.webhook.clone()
        };
        let is_enabled = self.webhook.disabled.is_none();
        is_enabled.then(|| Self::change(after, self.secrets.clone(), None, now).1)
    }

    fn change(
        mut after: Webhook,
        secrets: SealedSecrets,
        restart: Option<RestartPoint>,
        now: Timestamp,
    ) -> (Webhook, WebhookChange) {
        after.version += 1;
        after.updated_at = now;
        (
            after.clone(),
            WebhookChange::Change {
                after,
                secrets,
                restart,
            },
        )
    }
}

/// The values of a webhook to change.
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
    /// With which every message is signed.
    pub current: Vec<u8>,
    /// The secret before it, and until when messages are also signed with it.
    pub previous: Option<(Vec<u8>, Timestamp)>,
}

/// How far the messages of a webhook are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeliveryProgress {
    /// Each change up to this number was delivered, or waits ([`WaitingMessage`]), or is not wanted.
    pub cursor: i64,
    /// The number of the last change up to there that became a message.
    pub last: Option<i64>,
    /// Since when every attempt failed; `None` if the last one succeeded.
    pub failing_since: Option<Timestamp>,
}

/// Which process sends the messages of a webhook. A process that sees the same lease for a while
/// takes it; so no clock needs to agree with another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lease {
    /// A random number of the process; 0 for none.
    pub holder: i64,
    /// One higher with each renewal.
    pub beat: i64,
}

/// A message that failed, or waits behind one that did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingMessage {
    pub seq: i64,
    /// The number of the change of the message before it.
    pub previous: Option<i64>,
    /// Messages of one lane are delivered in order; `None` for one that waits for no other.
    pub lane: Option<String>,
    pub failures: u32,
    /// When it is due; `None` if it waits behind another one.
    pub due_at: Option<Timestamp>,
}

/// A message that tests a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestMessage {
    pub webhook: i64,
    /// Its `webhook-id`.
    pub message_id: String,
}

/// An attempt to deliver a message, at the time of its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The `webhook-id` of the message.
    pub message_id: String,
    pub at: Timestamp,
    pub status: Option<u16>,
    /// How long it took, in milliseconds.
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
        /// Where to continue if it was disabled.
        restart: Option<RestartPoint>,
    },
    /// Deletes it with everything that waits for it.
    Delete {
        id: i64,
        version: i64,
    },
    /// Lets a service send this message.
    Test(TestMessage),
    /// Changes nothing, but remembers the response.
    Nothing,
}

/// Where an enabled webhook continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestartPoint {
    /// Where it stopped. What waits is due at once.
    Resume(Timestamp),
    /// After this change. What waits is dropped.
    From(i64),
}

/// The work of a process for a webhook whose lease it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryUpdate {
    pub webhook: i64,
    /// The lease that must be in the store.
    pub seen_lease: Lease,
    /// The lease from now on.
    pub lease: Lease,
    /// `None` if it only takes the lease.
    pub progress: Option<DeliveryProgress>,
    /// Messages that wait, new or changed.
    pub waiting: Vec<WaitingMessage>,
    pub done: Vec<i64>,
    /// In the order in which they ended.
    pub attempts: Vec<Attempt>,
    /// Attempts from before this time are deleted.
    pub forget_before: Option<Timestamp>,
    pub disable: Option<(DisabledReason, Timestamp)>,
}
