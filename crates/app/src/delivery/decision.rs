//! Decides what a command on a webhook changes. The API, the command line and the console share
//! these rules.

use jiff::Timestamp;
use petstore_domain::{
    named_enum::MaybeKnown,
    store_area::{
        Act, ActType, ChangeType, DeliveryProgress, Label, Lease, RestartPoint, SealedSecrets,
        StoredWebhook, Webhook, WebhookChange, WebhookPatch,
    },
};
use petstore_store::{Store, StoreError};

use super::{Registrar, VaultError};

/// A command to change or test a webhook.
#[derive(Debug, Clone)]
pub enum WebhookCommand {
    /// Registers a new webhook.
    Add(NewWebhook),
    /// Changes some properties of a webhook.
    Patch(WebhookPatch),
    /// Deletes a webhook.
    Delete,
    /// Gives a webhook a new secret.
    RotateSecret,
    /// Enables a disabled webhook.
    Enable {
        /// Whether delivery resumes where it stopped. Otherwise, it starts with the next change.
        resumes: bool,
    },
    /// Sends a test message to a webhook.
    Test,
}

/// The properties of a webhook to add.
#[derive(Debug, Clone)]
pub struct NewWebhook {
    /// The URL, as normalized by [`Registrar::check_url`].
    pub url: String,
    /// The types of changes that the webhook receives. Without them, it receives all changes.
    pub types: Option<Vec<MaybeKnown<ChangeType>>>,
    /// The description for people.
    pub description: Option<Label>,
}

/// The decision about a command: what to write to the store, and what the response shows.
#[derive(Debug)]
pub struct WebhookDecision {
    /// The change to write to the store. It is [`WebhookChange::Nothing`] if the webhook is already
    /// in the requested state.
    pub change: WebhookChange,
    /// The entry for the audit trail, if the command makes one.
    pub act: Option<Act>,
    /// The webhook after the change. It is `None` if the command deletes the webhook, or if the
    /// webhook does not exist.
    pub webhook: Option<Webhook>,
    /// The new secret, if the command makes one. It is shown only in the response to this command.
    pub secret: Option<String>,
}

/// A failure while deciding about a command.
#[derive(Debug, thiserror::Error)]
pub enum DecisionError {
    /// A secret cannot be encrypted or decrypted.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Decides what a command changes. `present` is the webhook that the command concerns, if this
/// webhook exists.
///
/// A command to add a webhook that exists, or to change a webhook that does not exist, has no
/// effect.
pub async fn decide(
    store: &dyn Store,
    registrar: &Registrar,
    present: Option<&StoredWebhook>,
    command: &WebhookCommand,
    now: Timestamp,
) -> Result<WebhookDecision, DecisionError> {
    match (present, command) {
        (None, WebhookCommand::Add(new_webhook)) => {
            add_webhook(store, registrar, new_webhook.clone(), now).await
        }
        (None, _) => Ok(WebhookDecision::without_change(None)),
        (Some(stored), _) => change_webhook(store, registrar, stored, command, now).await,
    }
}

/// Decides how to add a webhook. The webhook will receive the changes that are made from now on.
async fn add_webhook(
    store: &dyn Store,
    registrar: &Registrar,
    new_webhook: NewWebhook,
    now: Timestamp,
) -> Result<WebhookDecision, DecisionError> {
    let id = store.draw_webhook_id().await?;
    let webhook = Webhook {
        id,
        url: new_webhook.url,
        types: new_webhook.types,
        description: new_webhook.description,
        disabled: None,
        created_at: now,
        updated_at: now,
        version: 1,
    };
    let is_first_secret = !has_secrets(store).await?;
    let new_secret = registrar.new_secret(id, is_first_secret)?;
    let cursor = store.journal_state().await?.last;

    let change = WebhookChange::Add(StoredWebhook {
        webhook: webhook.clone(),
        secrets: SealedSecrets {
            current: new_secret.sealed,
            previous: None,
        },
        progress: DeliveryProgress {
            cursor,
            ..DeliveryProgress::default()
        },
        lease: Lease::default(),
    });
    let decision = WebhookDecision::with_act(ActType::WebhookAdded, webhook, change);
    Ok(decision.with_secret(new_secret.plain.reveal()))
}

/// Decides what a command changes in an existing webhook.
async fn change_webhook(
    store: &dyn Store,
    registrar: &Registrar,
    stored: &StoredWebhook,
    command: &WebhookCommand,
    now: Timestamp,
) -> Result<WebhookDecision, DecisionError> {
    let id = stored.webhook.id;
    let unchanged = WebhookDecision::without_change(Some(stored.webhook.clone()));
    match command {
        WebhookCommand::Add(_) => Ok(unchanged),
        WebhookCommand::Test => Ok(WebhookDecision {
            change: WebhookChange::Test(registrar.new_test(id)),
            ..unchanged
        }),
        WebhookCommand::Delete => Ok(WebhookDecision {
            change: WebhookChange::Delete {
                id,
                version: stored.webhook.version,
            },
            act: Some(Act::for_webhook(ActType::WebhookDeleted, id)),
            webhook: None,
            secret: None,
        }),
        WebhookCommand::RotateSecret => rotate_secret(registrar, stored, now),
        WebhookCommand::Patch(patch) => {
            let change = stored.patch(patch.clone(), now);
            Ok(unchanged.or_change(ActType::WebhookChanged, change))
        }
        WebhookCommand::Enable { resumes } => {
            let restart = if *resumes {
                RestartPoint::Resume(now)
            } else {
                RestartPoint::After(store.journal_state().await?.last)
            };
            let change = stored.enable(restart, now);
            Ok(unchanged.or_change(ActType::WebhookEnabled, change))
        }
    }
}

/// Decides how to give a webhook a new secret.
fn rotate_secret(
    registrar: &Registrar,
    stored: &StoredWebhook,
    now: Timestamp,
) -> Result<WebhookDecision, DecisionError> {
    // The present secret needs the existing key file.
    let may_create_key_file = false;
    let new_secret = registrar.new_secret(stored.webhook.id, may_create_key_file)?;
    let (webhook, change) = stored.rotate_secret(new_secret.sealed, now);
    let decision = WebhookDecision::with_act(ActType::WebhookSecretRotated, webhook, change);
    Ok(decision.with_secret(new_secret.plain.reveal()))
}

/// Whether the database has a secret that was encrypted with the key file: of a webhook or of a
/// second factor. No new key file may then be created, because the secret needs the old one.
pub async fn has_secrets(store: &dyn Store) -> Result<bool, StoreError> {
    if !store.list_webhooks().await?.is_empty() {
        return Ok(true);
    }
    let staff = store.list_staff().await?;
    Ok(staff.iter().any(|member| member.second_factor.is_some()))
}

impl WebhookDecision {
    /// Returns a decision that changes nothing.
    fn without_change(webhook: Option<Webhook>) -> Self {
        Self {
            change: WebhookChange::Nothing,
            act: None,
            webhook,
            secret: None,
        }
    }

    /// Returns a decision that changes a webhook and records an act of this type.
    fn with_act(act_type: ActType, webhook: Webhook, change: WebhookChange) -> Self {
        Self {
            change,
            act: Some(Act::for_webhook(act_type, webhook.id)),
            webhook: Some(webhook),
            secret: None,
        }
    }

    /// Returns the decision to make `change` and to record an act of this type. If `change` is
    /// `None`, returns this decision, because the webhook already is as requested.
    fn or_change(self, act_type: ActType, change: Option<(Webhook, WebhookChange)>) -> Self {
        match change {
            Some((webhook, change)) => Self::with_act(act_type, webhook, change),
            None => self,
        }
    }

    /// Attaches the new secret to the decision.
    fn with_secret(mut self, secret: String) -> Self {
        self.secret = Some(secret);
        self
    }
}
