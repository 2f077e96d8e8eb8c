//! Changes of webhooks.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::sync::Arc;

use petstore_domain::{
    StoredResponse, WriteContext,
    store_area::{StoredWebhook, Webhook},
};
use petstore_store::{Store, StoreError, WriteOutcome};

use super::changed::{Changed, MAX_TRIES};
/// Why it is not known what became of a request, or why nothing did.
pub use crate::delivery::DecisionError as WebhookError;
use crate::delivery::{self, Decided, Registrar, Wanted};

/// The webhooks of the store, and what judges their URLs and makes their secrets.
pub struct Webhooks {
    store: Arc<dyn Store>,
    pub registrar: Registrar,
}

/// Why a webhook was not changed.
pub enum WebhookRefusal {
    NotFound,
    /// The webhook has another version. This is its present state.
    OtherVersion(Box<Webhook>),
    /// There are [`Webhook::MAX`] webhooks.
    Full,
}

impl Webhooks {
    pub(super) fn new(store: Arc<dyn Store>, registrar: Registrar) -> Self {
        Self { store, registrar }
    }

    /// Returns the webhook with this identifier, if there is one.
    pub async fn find(&self, id: Option<i64>) -> Result<Option<StoredWebhook>, StoreError> {
        let webhooks = self.store.list_webhooks().await?;
        Ok(webhooks
            .into_iter()
            .find(|stored| Some(stored.webhook.id) == id))
    }

    /// Makes a change of the webhook with this identifier, once for all repetitions of the request,
    /// if it has one of these versions. A replay comes before the state is looked at.
    pub async fn change(
        &self,
        id: Option<i64>,
        versions: Option<&[i64]>,
        wanted: &Wanted,
        context: WriteContext,
        respond: impl Fn(&Decided) -> StoredResponse,
    ) -> Result<Changed<WebhookRefusal>, WebhookError> {
        let store = self.store.as_ref();
        let registrar = &self.registrar;
        if let Some(request) = &context.idempotency
            && let Some(written) = store.recall_request(request.clone()).await?
        {
            return self.known(written);
        }
        for _ in 0..MAX_TRIES {
            let present = self.find(id).await?;
            match &present {
                Some(StoredWebhook { webhook, .. }) => {
                    if versions.is_some_and(|versions| !versions.contains(&webhook.version)) {
                        let present = Box::new(webhook.clone());
                        return Ok(Changed::Refused(WebhookRefusal::OtherVersion(present)));
                    }
                }
                None if matches!(wanted, Wanted::Add { .. }) => {}
                None => return Ok(Changed::Refused(WebhookRefusal::NotFound)),
            }
            let decided = delivery::decide(store, registrar, present.as_ref(), wanted, context.now);
            let decided = decided.await?;
            let response = respond(&decided);
            let Decided {
                change,
                act,
                secret,
                ..
            } = decided;
            let mut stored = response.clone();
            if secret.is_some() {
                stored.body = registrar.seal_response(&stored.body)?;
            }
            match store
                .write_webhook(change, act, stored, context.clone())
                .await?
            {
                WriteOutcome::Done => return Ok(Changed::Done(response)),
                WriteOutcome::Stale => {}
                WriteOutcome::Full if matches!(wanted, Wanted::Test) => break,
                other => return self.known(other),
            }
        }
        Err(StoreError::Overloaded.into())
    }

    /// Returns the outcome of a request that changed nothing now.
    fn known(&self, written: WriteOutcome) -> Result<Changed<WebhookRefusal>, WebhookError> {
        Ok(match written {
            WriteOutcome::Replayed(mut stored) => {
                stored.body = self.registrar.open_response(stored.body)?;
                Changed::Done(stored)
            }
            WriteOutcome::Full => Changed::Refused(WebhookRefusal::Full),
            other => Changed::known(other),
        })
    }
}
