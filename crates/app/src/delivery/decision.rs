//! Decides what a command on a webhook changes. The API, the command line and the console share these rules.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

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
    Patch(WebhookPatch),
    Delete,
    RotateSecret,
    /// Enables a disabled webhook.
    Enable {
        /// Whether delivery resumes where it stopped. Otherwise, it starts with the next change.
        resumes: bool,
    },
    Test,
}

/// The properties of a webhook to add.
#[derive(Debug, Clone)]
pub struct NewWebhook {
    /// The URL, as normalized by [`Registrar::check_url`].
    pub url: String,
    /// The types of changes that the webhook receives; `None` for all.
    pub types: Option<Vec<MaybeKnown<ChangeType>>>,
    pub description: Option<Label>,
}

/// What carrying out a command requires.
#[derive(Debug)]
pub struct WebhookDecision {
    /// The change to write to the store; [`WebhookChange::Nothing`] if the webhook is already in the
    /// requested state.
    pub change: WebhookChange,
    /// The entry for the audit trail, if the command makes one.
    pub act: Option<Act>,
    /// The webhook after the change; `None` if it does not exist then.
    pub webhook: Option<Webhook>,
    /// The new secret, if the command makes one. It is shown only in the response to this command.
    pub secret: Option<String>,
}

/// A failure while deciding about a command.
#[derive(Debug, thiserror::Error)]
pub enum DecisionError {
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Decides what a command changes, given the present state of the webhook: `None` if it does not exist.
/// Adding a webhook that exists and changing one that does not exist have no effect.
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

/// Decides how to add a webhook. It will receive the changes after the present end of the log.
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

/// Decides what a command changes at an existing webhook.
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
            let act_type = ActType::WebhookSecretRotated;
            let decision = WebhookDecision::with_act(act_type, webhook, change);
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

/// Whether the database has a secret that was encrypted with a key file: the secret of a webhook or of a
/// second factor. If it has, a new key file must not be made, because the existing secrets need the old
/// one.
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

    /// Attaches the new secret to the decision.
    fn with_secret(mut self, secret: String) -> Self {
        self.secret = Some(secret);
        self
    }
}
