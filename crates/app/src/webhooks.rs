//! Changes to webhooks.

use std::sync::Arc;

use petstore_domain::{
    StoredResponse, WriteContext,
    store_area::{StoredWebhook, Webhook, WebhookId},
};
use petstore_store::{Store, StoreError, WriteOutcome};

use super::changed::{Changed, MAX_TRIES};
use crate::delivery::{self, Registrar, WebhookCommand, WebhookDecision};

/// The error of a request. Whether the change was made can be unknown.
pub use crate::delivery::DecisionError as WebhookError;

/// The webhooks of the store, and the registrar of their URLs and secrets.
pub struct Webhooks {
    store: Arc<dyn Store>,
    /// Checks URLs, and makes secrets and test messages.
    pub registrar: Registrar,
}

/// A reason to reject a change of a webhook.
pub enum WebhookRefusal {
    /// There is no such webhook.
    NotFound,
    /// The webhook does not have an expected version. This is its present state.
    OtherVersion(Box<Webhook>),
    /// There are already [`Webhook::MAX`] webhooks.
    Full,
}

impl Webhooks {
    pub(super) fn new(store: Arc<dyn Store>, registrar: Registrar) -> Self {
        Self { store, registrar }
    }

    /// Finds the webhook with this id. Returns `None` if there is no such webhook.
    ///
    /// The id is `None` if a path has a text that is not a number in place of the id.
    pub async fn find(&self, id: Option<WebhookId>) -> Result<Option<StoredWebhook>, StoreError> {
        let webhooks = self.store.list_webhooks().await?;
        Ok(webhooks
            .into_iter()
            .find(|stored| Some(stored.webhook.id) == id))
    }

    /// Executes a command on the webhook with this id. The id is `None` if the command adds a
    /// webhook, or if there is none with the id (see [`Self::find`]). If `versions` are given, the
    /// webhook must have one of them.
    ///
    /// The change is idempotent: a retry gets the remembered response, whatever the present state
    /// is. If somebody else changes the webhook at the same time, decides again on the new state.
    pub async fn change(
        &self,
        id: Option<WebhookId>,
        versions: Option<&[i64]>,
        command: &WebhookCommand,
        context: WriteContext,
        respond: impl Fn(&WebhookDecision) -> StoredResponse,
    ) -> Result<Changed<WebhookRefusal>, WebhookError> {
        let Self { store, registrar } = self;
        if let Some(request) = &context.idempotency
            && let Some(outcome) = store.recall_request(request.clone()).await?
        {
            return self.to_changed(outcome);
        }

        for _ in 0..MAX_TRIES {
            let present = self.find(id).await?;
            let present = present.as_ref();
            if let Some(refusal) = find_refusal(present, versions, command) {
                return Ok(Changed::Refused(refusal));
            }
            let decision =
                delivery::decide(store.as_ref(), registrar, present, command, context.now).await?;

            let response = respond(&decision);
            match self.write(decision, &response, context.clone()).await? {
                WriteOutcome::Done => return Ok(Changed::Done(response)),
                // Somebody else has changed the webhook since it was read. Decide again.
                WriteOutcome::Stale => {}
                // The queue of test messages is full. They are sent soon, so the client can retry.
                WriteOutcome::Full if matches!(command, WebhookCommand::Test) => {
                    return Err(StoreError::Overloaded.into());
                }
                // This includes `Full` for a webhook that the command adds.
                other => return self.to_changed(other),
            }
        }
        Err(StoreError::Overloaded.into())
    }

    /// Writes the change that was decided, and its act for the audit trail. The store also
    /// remembers the response for retries. Only [`WriteOutcome::Done`] means that this was written.
    async fn write(
        &self,
        decision: WebhookDecision,
        response: &StoredResponse,
        context: WriteContext,
    ) -> Result<WriteOutcome, WebhookError> {
        let remembered_response = self.seal_if_secret(&decision, response)?;
        let outcome = self
            .store
            .write_webhook(decision.change, decision.act, remembered_response, context)
            .await?;
        Ok(outcome)
    }

    /// Returns a response in the form in which the store remembers it. Encrypts the body if it
    /// contains a secret.
    fn seal_if_secret(
        &self,
        decision: &WebhookDecision,
        response: &StoredResponse,
    ) -> Result<StoredResponse, WebhookError> {
        let mut remembered_response = response.clone();
        if decision.secret.is_some() {
            remembered_response.body = self.registrar.seal_response(&response.body)?;
        }
        Ok(remembered_response)
    }

    /// Converts the outcome of a request that wrote nothing. Decrypts the remembered response of a
    /// retry.
    fn to_changed(&self, outcome: WriteOutcome) -> Result<Changed<WebhookRefusal>, WebhookError> {
        match outcome {
            WriteOutcome::Replayed(mut response) => {
                response.body = self.registrar.open_response(response.body)?;
                Ok(Changed::Done(response))
            }
            WriteOutcome::Full => Ok(Changed::Refused(WebhookRefusal::Full)),
            other => Ok(Changed::from_recalled(other)),
        }
    }
}

/// Returns the reason to refuse a command in the present state of the webhook. Returns `None` if
/// the command is allowed.
///
/// If `present` is `None`, the webhook does not exist. If `versions` are given, the webhook must
/// have one of them.
fn find_refusal(
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
    if let Some(versions) = versions
        && !versions.contains(&webhook.version)
    {
        return Some(WebhookRefusal::OtherVersion(Box::new(webhook.clone())));
    }
    None
}
