//! The effect of a change of a webhook, for programs, the command line and the console.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use jiff::Timestamp;
use petstore_domain::{
    store_area::{
        Act, ActType, ChangeType, Label, Lease, Progress, Restart, SealedSecrets, StoredWebhook,
        Webhook, WebhookChange, WebhookPatch,
    },
    words::Word,
};
use petstore_store::{Store, StoreError};

use super::{Registrar, VaultError};

/// A wish of somebody about a webhook.
#[derive(Debug, Clone)]
pub enum Wanted {
    /// A new one. The URL was judged by [`Registrar::check_url`].
    Add {
        url: String,
        types: Option<Vec<Word<ChangeType>>>,
        description: Option<Label>,
    },
    Patch(WebhookPatch),
    Delete,
    RotateSecret,
    /// That messages are sent again.
    Enable {
        /// Where it stopped, or from now on.
        resumes: bool,
    },
    Test,
}

/// The work that follows from a wish.
#[derive(Debug)]
pub struct Decided {
    /// For the store. [`WebhookChange::Nothing`] if everything is as it is wanted.
    pub change: WebhookChange,
    /// For the audit trail.
    pub act: Option<Act>,
    /// After the change; `None` if it is deleted.
    pub webhook: Option<Webhook>,
    /// The new secret, which is shown once.
    pub secret: Option<String>,
}

/// Why nothing could be decided.
#[derive(Debug, thiserror::Error)]
pub enum DecisionError {
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Decides about a wish, with the present state of the webhook; `None` for a new one.
pub async fn decide(
    store: &dyn Store,
    registrar: &Registrar,
    present: Option<&StoredWebhook>,
    wanted: &Wanted,
    now: Timestamp,
) -> Result<Decided, DecisionError> {
    let Some(stored) = present else {
        let Wanted::Add {
            url,
            types,
            description,
        } = wanted.clone()
        else {
            return Ok(nothing(None));
        };
        let id = store.draw_webhook_id().await?;
        let created_at = now;
        let updated_at = now;
        let version = 1;
        let disabled = None;
        let webhook = Webhook {
            id,
            url,
            types,
            description,
            disabled,
            created_at,
            updated_at,
            version,
        };
        let (secret, current) = registrar.new_secret(id, !has_secrets(store).await?)?;
        let cursor = store.journal_state().await?.last;
        let change = WebhookChange::Add(StoredWebhook {
            webhook: webhook.clone(),
            secrets: SealedSecrets {
                current,
                previous: None,
            },
            progress: Progress {
                cursor,
                ..Progress::default()
            },
            lease: Lease::default(),
        });
        let decided = decided(ActType::WebhookAdded, id, (webhook, change));
        return Ok(Decided {
            secret: Some(secret.reveal()),
            ..decided
        });
    };
    let id = stored.webhook.id;
    let version = stored.webhook.version;
    let changed = match wanted {
        Wanted::RotateSecret => {
            let (secret, sealed) = registrar.new_secret(id, false)?;
            let decided = decided(
                ActType::WebhookSecretRotated,
                id,
                stored.rotated(sealed, now),
            );
            return Ok(Decided {
                secret: Some(secret.reveal()),
                ..decided
            });
        }
        Wanted::Delete => {
            let act = Some(Act::on_webhook(ActType::WebhookDeleted, id));
            return Ok(Decided {
                change: WebhookChange::Delete { id, version },
                act,
                ..nothing(None)
            });
        }
        Wanted::Test => {
            let change = WebhookChange::Test(registrar.new_test(id));
            return Ok(Decided {
                change,
                ..nothing(Some(&stored.webhook))
            });
        }
        Wanted::Patch(patch) => stored
            .patched(patch.clone(), now)
            .map(|changed| (ActType::WebhookChanged, changed)),
        Wanted::Enable { resumes } => {
            let restart = if *resumes {
                Restart::Resume(now)
            } else {
                Restart::From(store.journal_state().await?.last)
            };
            stored
                .enabled(restart, now)
                .map(|changed| (ActType::WebhookEnabled, changed))
        }
        Wanted::Add { .. } => None,
    };
    Ok(match changed {
        Some((act, changed)) => decided(act, id, changed),
        None => nothing(Some(&stored.webhook)),
    })
}

/// Whether the database has a secret that was encrypted with a key file: that of a webhook, or of a
/// second factor.
pub async fn has_secrets(store: &dyn Store) -> Result<bool, StoreError> {
    Ok(!store.list_webhooks().await?.is_empty()
        || store
            .list_staff()
            .await?
            .iter()
            .any(|member| member.second_factor.is_some()))
}

fn decided(act: ActType, id: i64, (after, change): (Webhook, WebhookChange)) -> Decided {
    Decided {
        change,
        act: Some(Act::on_webhook(act, id)),
        ..nothing(Some(&after))
    }
}

fn nothing(webhook: Option<&Webhook>) -> Decided {
    let change = WebhookChange::Nothing;
    let webhook = webhook.cloned();
    Decided {
        change,
        act: None,
        webhook,
        secret: None,
    }
}
