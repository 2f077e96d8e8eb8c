//! Changes of webhooks.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use std::sync::Arc;

use petstore_domain::{
    StoredResponse, WriteContext,
    store_area::{StoredWebhook, Webhook, WebhookId},
};
use petstore_store::{Store, StoreError, WriteOutcome};

use super::changed::{Changed, MAX_TRIES};
/// A failure of a request. Its outcome can be unknown.
pub use crate::delivery::DecisionError as WebhookError;
use crate::delivery::{self, Registrar, WebhookCommand, WebhookDecision};

/// The webhooks of the store, and the registrar of their URLs and secrets.
pub struct Webhooks {
    store: Arc<dyn Store>,
    pub registrar: Registrar,
}

/// A reason to reject a change of a webhook.
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

    /// Returns the webhook with this id, if there is one.
    pub async fn find(&self, id: Option<WebhookId>) -> Result<Option<StoredWebhook>, StoreError> {
        let webhooks = self.store.list_webhooks().await?;
        Ok(webhooks
            .into_iter()
            .find(|stored| Some(stored.webhook.id) == id))
    }

    /// Carries out a command about the webhook with this id, once for all repetitions of the request,
    /// if the webhook has one of the expected versions. A repetition gets its remembered response whatever the present state is.
    pub async fn change(
        &self,
        id: Option<WebhookId>,
        versions: Option<&[i64]>,
        command: &WebhookCommand,
        context: WriteContext,
        respond: impl Fn(&WebhookDecision) -> StoredResponse,
    ) -> Result<Changed<WebhookRefusal>, WebhookError> {
        if let Some(request) = &context.idempotency
            && let Some(outcome) = self.store.recall_request(request.clone()).await?
        {
            return self.changed_before(outcome);
        }

        for _ in 0..MAX_TRIES {
            let present = self.find(id).await?;
            if let Some(refusal) = refusal(present.as_ref(), versions, command) {
                return Ok(Changed::Refused(refusal));
            }
            let decision = delivery::decide(
                self.store.as_ref(),
                &self.registrar,
                present.as_ref(),
                command,
                context.now,
            )
            .await?;

            let response = respond(&decision);
            let mut remembered_response = response.clone();
            if decision.secret.is_some() {
                let body = &remembered_response.body;
                remembered_response.body = self.registrar.seal_response(body)?;
            }
            let outcome = self
                .store
                .write_webhook(
                    decision.change,
                    decision.act,
                    remembered_response,
                    context.clone(),
                )
                .await?;
            match outcome {
                WriteOutcome::Done => return Ok(Changed::Done(response)),
                WriteOutcome::Stale => {}
                WriteOutcome::Full if matches!(command, WebhookCommand::Test) => break,
                other => return self.changed_before(other),
            }
        }
        Err(StoreError::Overloaded.into())
    }

    /// Returns the outcome of a request that changed nothing now.
    fn changed_before(
        &self,
        outcome: WriteOutcome,
    ) -> Result<Changed<WebhookRefusal>, WebhookError> {
        Ok(match outcome {
            WriteOutcome::Replayed(mut response) => {
                response.body = self.registrar.open_response(response.body)?;
                Changed::Done(response)
            }
            WriteOutcome::Full => Changed::Refused(WebhookRefusal::Full),
            other => Changed::from_unchanged(other),
        })
    }
}

/// Returns the reason to reject a command in the present state, if there is one.
fn refusal(
    present: Option<&StoredWebhook>,
    versions: Option<&[i64]>,
    command: &WebhookCommand,
) -> Option<WebhookRefusal> {
    let Some(StoredWebhook { webhook, .. }) = present else {
        return match command {
            WebhookCommand::Add(_) => None,
            _ => Some(WebhookRefusal::NotFound),
        };
    };
    let has_version = versions.is_none_or(|versions| versions.contains(&webhook.version));
    if has_version {
        return None;
    }
    Some(WebhookRefusal::OtherVersion(Box::new(webhook.clone())))
}
