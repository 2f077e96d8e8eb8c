//! The effect of a command about a webhook, for programs, the command line and the console.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use jiff::Timestamp;
use petstore_domain::{
    store_area::{
        Act, ActType, ChangeType, DeliveryProgress, Label, Lease, RestartPoint, SealedSecrets,
        StoredWebhook, Webhook, WebhookChange, WebhookPatch,
    },
    words::Word,
};
use petstore_store::{Store, StoreError};

use super::{Registrar, VaultError};

/// A command of somebody about a webhook.
#[derive(Debug, Clone)]
pub enum WebhookCommand {
    /// Adds a webhook.
    Add(NewWebhook),
    Patch(WebhookPatch),
    Delete,
    RotateSecret,
    /// Sends messages again.
    Enable {
        /// Whether the messages begin where they stopped. Otherwise, they begin with the next change.
        resumes: bool,
    },
    Test,
}

/// A webhook that somebody adds.
#[derive(Debug, Clone)]
pub struct NewWebhook {
    /// The URL, which [`Registrar::check_url`] has judged.
    pub url: String,
    /// The types of changes that the webhook gets; `None` for all.
    pub types: Option<Vec<Word<ChangeType>>>,
    pub description: Option<Label>,
}

/// The work that follows from a command.
#[derive(Debug)]
pub struct WebhookDecision {
    /// The change of the store. [`WebhookChange::Nothing`] if the webhook already is as the command wants it.
    pub change: WebhookChange,
    /// The entry of the audit trail.
    pub act: Option<Act>,
    /// The webhook after the change; `None` if it is deleted.
    pub webhook: Option<Webhook>,
    /// The new secret, which is shown once.
    pub secret: Option<String>,
}

/// A failure that prevents a decision.
#[derive(Debug, thiserror::Error)]
pub enum DecisionError {
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Decides about a command, with the present state of the webhook; `None` for a new one. A command to add a webhook
/// that exists, or to change one that does not, has no effect.
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

/// Decides about a new webhook. It gets the changes after the present end of the log.
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
    let (secret, sealed_secret) = registrar.new_secret(id, is_first_secret)?;
    let cursor = store.journal_state().await?.last;

    let change = WebhookChange::Add(StoredWebhook {
        webhook: webhook.clone(),
        secrets: SealedSecrets {
            current: sealed_secret,
            previous: None,
        },
        progress: DeliveryProgress {
            cursor,
            ..DeliveryProgress::default()
        },
        lease: Lease::default(),
    });
    let decision = WebhookDecision::with_act(ActType::WebhookAdded, webhook, change);
    Ok(decision.with_secret(secret.reveal()))
}

/// Decides about a webhook that exists.
async fn change_webhook(
    store: &dyn Store,
    registrar: &Registrar,
    stored: &StoredWebhook,
    command: &WebhookCommand,
    now: Timestamp,
) -> Result<WebhookDecision, DecisionError> {
    let id = stored.webhook.id;
    let unchanged = WebhookDecision::without_change(Some(stored.webhook.clone()));
    let (act_type, change) = match command {
        WebhookCommand::Add(_) => return Ok(unchanged),
        WebhookCommand::Test => {
            let change = WebhookChange::Test(registrar.new_test(id));
            return Ok(WebhookDecision {
                change,
                ..unchanged
            });
        }
        WebhookCommand::Delete => {
            let version = stored.webhook.version;
            return Ok(WebhookDecision {
                change: WebhookChange::Delete { id, version },
                act: Some(Act::for_webhook(ActType::WebhookDeleted, id)),
                webhook: None,
                secret: None,
            });
        }
        WebhookCommand::RotateSecret => {
            let (secret, sealed_secret) = registrar.new_secret(id, false)?;
            let (webhook, change) = stored.rotate_secret(sealed_secret, now);
            let act = ActType::WebhookSecretRotated;
            let decision = WebhookDecision::with_act(act, webhook, change);
            return Ok(decision.with_secret(secret.reveal()));
        }
        WebhookCommand::Patch(patch) => (ActType::WebhookChanged, stored.patch(patch.clone(), now)),
        WebhookCommand::Enable { resumes } => {
            let restart = if *resumes {
                RestartPoint::Resume(now)
            } else {
                RestartPoint::From(store.journal_state().await?.last)
            };
            (ActType::WebhookEnabled, stored.enable(restart, now))
        }
    };
    let Some((webhook, change)) = change else {
        return Ok(unchanged);
    };
    Ok(WebhookDecision::with_act(act_type, webhook, change))
}

/// Whether the database has a secret that was encrypted with a key file: a secret of a webhook, or of a
/// second factor.
pub async fn has_secrets(store: &dyn Store) -> Result<bool, StoreError> {
    if !store.list_webhooks().await?.is_empty() {
        return Ok(true);
    }
    let staff = store.list_staff().await?;
    Ok(staff.iter().any(|member| member.second_factor.is_some()))
}

impl WebhookDecision {
    /// Returns a decision to change nothing.
    fn without_change(webhook: Option<Webhook>) -> Self {
        Self {
            change: WebhookChange::Nothing,
            act: None,
            webhook,
            secret: None,
        }
    }

    /// Returns a decision to change a webhook, with an act of this type.
    fn with_act(act: ActType, webhook: Webhook, change: WebhookChange) -> Self {
        Self {
            change,
            act: Some(Act::for_webhook(act, webhook.id)),
            webhook: Some(webhook),
            secret: None,
        }
    }

    /// Adds the new secret.
    fn with_secret(mut self, secret: String) -> Self {
        self.secret = Some(secret);
        self
    }
}
