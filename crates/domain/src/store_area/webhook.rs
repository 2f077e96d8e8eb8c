//! Webhooks: the endpoints to which the changes of the journal are delivered as messages.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use jiff::{SignedDuration, Timestamp};

use super::{
    ChangeType, DeliveryProgress, DisabledReason, Label, Lease, Patch, TestMessage, WebhookId,
};
use crate::named_enum::MaybeKnown;

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
    /// Until this time, messages are also signed with this secret.
    pub valid_until: Timestamp,
}

/// A change of a webhook, as a client requests it. `None` keeps the present value.
#[derive(Debug, Clone, Default)]
pub struct WebhookPatch {
    pub url: Option<String>,
    pub types: Patch<Vec<MaybeKnown<ChangeType>>>,
    pub description: Patch<Label>,
    /// Whether to disable the webhook. Only [`StoredWebhook::enable`] can enable it again.
    pub disable: bool,
}

/// A change of a webhook, as a store saves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookChange {
    Add(StoredWebhook),
    /// Replaces the members that the interface shows, and the secrets.
    Update {
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
    After(i64),
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
        let change = WebhookChange::Update {
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
        let mut patched = self.webhook.clone();
        patched.url = patch.url.unwrap_or(patched.url);
        patch.types.apply(&mut patched.types);
        patch.description.apply(&mut patched.description);
        if patch.disable {
            // A webhook that is already disabled keeps its reason.
            patched.disabled = patched.disabled.or(Some(DisabledReason::Request));
        }
        if patched == self.webhook {
            return None;
        }
        let after = next_version(patched, now);
        let change = WebhookChange::Update {
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
        let change = WebhookChange::Update {
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
        Some(WebhookChange::Update {
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
