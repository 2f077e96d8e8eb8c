//! Operations on webhooks, and the steps of every change of one.

mod change;
mod read;

pub(crate) use self::{
    change::{
        add_webhook, delete_webhook, enable_webhook, patch_webhook, rotate_secret, test_webhook,
    },
    read::{get_webhook, list_attempts, list_webhooks},
};

use std::sync::Arc;

use hyper::{HeaderMap, StatusCode};

use super::{
    preconditions, wire,
    write::{self, Write},
};
use crate::{
    delivery::{self, Decided, DecisionError, VaultError, Wanted},
    domain::{
        StoredResponse, WriteContext,
        store_area::{IfMatch, StoredWebhook, Webhook, WebhookChange},
    },
    http::{
        App, Response,
        error::{ApiError, Problem},
        query,
    },
    json,
    store::{StoreError, WebhookWritten},
};

/// How often a change is decided again because another one was faster.
const MAX_TRIES: u32 = 10;

fn response_to(Decided { change, webhook, secret, .. }: &Decided) -> StoredResponse {
    if let WebhookChange::Test(test) = change {
        let mut body = Vec::new();
        let mut object = json::Object::begin(&mut body);
        object.text("messageId", &test.message_id);
        object.end();
        let status = StatusCode::ACCEPTED.as_u16();
        return StoredResponse { status, body, ..StoredResponse::default() };
    }
    let Some(webhook) = webhook else {
        let status = StatusCode::NO_CONTENT.as_u16();
        return StoredResponse { status, ..StoredResponse::default() };
    };
    let is_new = matches!(change, WebhookChange::Add(_));
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    let location = is_new.then(|| format!("/store/webhooks/{}", webhook.id));
    StoredResponse { location, ..response(status, webhook, secret.as_deref()) }
}

fn undecided(error: DecisionError) -> ApiError {
    match error {
        DecisionError::Vault(error) => no_vault(error),
        DecisionError::Store(error) => error.into(),
    }
}

/// The response with a webhook, and with its secret if it has just been made.
fn response(status: StatusCode, webhook: &Webhook, secret: Option<&str>) -> StoredResponse {
    let mut body = Vec::with_capacity(wire::USUAL_LENGTH);
    json::write_webhook(&mut body, webhook, secret);
    StoredResponse {
        status: status.as_u16(),
        location: None,
        etag: Some(wire::tag(webhook.version)),
        body,
    }
}

/// What became of a request to change a webhook.
pub(crate) enum WebhookChanged {
    /// The change was made, now or for the same request before. This is the response.
    Done(StoredResponse),
    NotFound,
    /// There are [`Webhook::MAX`] webhooks.
    Full,
    /// The idempotency key was used for another request.
    IdempotencyConflict,
}

impl App {
    /// The webhook with this identifier, if there is one.
    pub(crate) async fn find_webhook(
        &self,
        id: Option<i64>,
    ) -> Result<Option<StoredWebhook>, StoreError> {
        let webhooks = self.store.list_webhooks().await?;
        Ok(webhooks.into_iter().find(|stored| Some(stored.webhook.id) == id))
    }

    /// Makes a change of the webhook with this identifier, once for all repetitions of the request. A
    /// replay comes before the state is looked at. `check` can reject the change of the present
    /// state. Fails with 503 if the key file cannot be used.
    pub(crate) async fn change_webhook(
        &self,
        id: Option<i64>,
        wanted: &Wanted,
        context: WriteContext,
        check: impl Fn(&Webhook) -> Result<(), ApiError>,
        respond: impl Fn(&Decided) -> StoredResponse,
    ) -> Result<WebhookChanged, ApiError> {
        let (store, registrar) = (self.store.as_ref(), &self.store_area.registrar);
        if let Some(request) = &context.idempotency
            && let Some(written) = store.recall_request(request.clone()).await?
        {
            return self.known(written);
        }
        for _ in 0..MAX_TRIES {
            let present = self.find_webhook(id).await?;
            match &present {
                Some(present) => check(&present.webhook)?,
                None if matches!(wanted, Wanted::Add { .. }) => {}
                None => return Ok(WebhookChanged::NotFound),
            }
            let decided = delivery::decide(store, registrar, present.as_ref(), wanted, context.now);
            let decided = decided.await.map_err(undecided)?;
            let response = respond(&decided);
            let Decided { change, act, secret, .. } = decided;
            let mut stored = response.clone();
            if secret.is_some() {
                stored.body = registrar.seal_response(&stored.body).map_err(no_vault)?;
            }
            match store.write_webhook(change, act, stored, context.clone()).await? {
                WebhookWritten::Done => return Ok(WebhookChanged::Done(response)),
                WebhookWritten::Stale => {}
                WebhookWritten::Full if matches!(wanted, Wanted::Test) => break,
                other => return self.known(other),
            }
        }
        Err(StoreError::Overloaded.into())
    }

    /// What became of a request that changed nothing now.
    fn known(&self, written: WebhookWritten) -> Result<WebhookChanged, ApiError> {
        Ok(match written {
            WebhookWritten::Replayed(mut stored) => {
                let opened = self.store_area.registrar.open_response(stored.body);
                stored.body = opened.map_err(no_vault)?;
                WebhookChanged::Done(stored)
            }
            WebhookWritten::Full => WebhookChanged::Full,
            _ => WebhookChanged::IdempotencyConflict,
        })
    }
}

/// Carries out a request of a program.
async fn execute(app: &App, write: Write<'_>, wanted: Wanted) -> Result<Response, ApiError> {
    let context = write.context(app).await?;
    let repeatable = context.idempotency.clone();
    let _entered = repeatable.map(|request| app.in_flight.enter(&request)).transpose()?;
    let headers = &write.request.headers;
    let check = |webhook: &Webhook| check_version(headers, webhook);
    let id = query::path_integer(write.parameter);
    match app.change_webhook(id, &wanted, context, check, response_to).await? {
        WebhookChanged::Done(stored) => Ok(write.respond_with(app, stored)),
        WebhookChanged::NotFound => Err(no_webhook()),
        WebhookChanged::Full => {
            let message = format!("There are {} webhooks already. Delete one first.", Webhook::MAX);
            Err(ApiError::new(Problem::InvalidBody, message))
        }
        WebhookChanged::IdempotencyConflict => Err(write::idempotency_conflict()),
    }
}

fn no_webhook() -> ApiError {
    ApiError::new(Problem::NotFound, "No webhook has this id.")
}

/// 503 for a key file that cannot be used.
fn no_vault(error: VaultError) -> ApiError {
    let message = "The service cannot use its key file for the secrets of webhooks. Ask the operator \
                   of the service to check --secret-key-file.";
    ApiError::new(Problem::Unavailable, message).caused_by(Arc::new(error))
}

/// Compares the version with `If-Match`, if the request has it. Fails with 400 if it is malformed,
/// 412 with the present state if it names another version.
fn check_version(headers: &HeaderMap, webhook: &Webhook) -> Result<(), ApiError> {
    let Some(IfMatch::Versions(versions)) = preconditions::of(headers)?.if_match else {
        return Ok(());
    };
    if versions.contains(&webhook.version) {
        return Ok(());
    }
    let mut current = Vec::new();
    json::write_webhook(&mut current, webhook, None);
    let version = webhook.version;
    let message = format!(
        "The webhook has version {version} now; see current. If you still want the change, send it \
         again with If-Match: \"{version}\"."
    );
    let error = ApiError::new(Problem::PreconditionFailed, message);
    Err(error.with_state(None, Some(&current), None))
}
