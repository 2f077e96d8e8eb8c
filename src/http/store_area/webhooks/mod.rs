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
        StoredResponse,
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

fn response_to(Decided { change, webhook, secret, test, .. }: &Decided) -> StoredResponse {
    if let Some(test) = test {
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

/// Carries out a request, once for all repetitions of the request. A replay comes
/// before the state is looked at.
async fn execute(app: &App, write: Write<'_>, wanted: Wanted) -> Result<Response, ApiError> {
    let context = write.context(app).await?;
    let _entered =
        context.idempotency.as_ref().map(|request| app.in_flight.enter(request)).transpose()?;
    if let Some(request) = &context.idempotency
        && let Some(written) = app.store.recall_request(request.clone()).await?
    {
        return known(app, write, written);
    }
    for _ in 0..MAX_TRIES {
        let present = match wanted {
            Wanted::Add { .. } => None,
            _ => Some(find(app, write.parameter).await?),
        };
        if let Some(present) = &present {
            check_version(&write.request.headers, &present.webhook)?;
        }
        let (store, registrar) = (app.store.as_ref(), &app.store_area.registrar);
        let decided = delivery::decide(store, registrar, present.as_ref(), &wanted, write.now);
        let decided = decided.await.map_err(undecided)?;
        let response = response_to(&decided);
        let Decided { change, act, secret, test, .. } = decided;
        // Before the response is remembered: a message too many harms nothing.
        if test.is_some_and(|test| !registrar.send_test(test)) {
            return Err(StoreError::Overloaded.into());
        }
        let mut stored = response.clone();
        if secret.is_some() {
            let sealed = app.store_area.registrar.seal_response(&stored.body);
            stored.body = sealed.map_err(no_vault)?;
        }
        match app.store.write_webhook(change, act, stored, context.clone()).await? {
            WebhookWritten::Done => return Ok(write.respond_with(app, response)),
            WebhookWritten::Stale => {}
            WebhookWritten::Full => {
                return Err(ApiError::new(
                    Problem::InvalidBody,
                    format!("There are {} webhooks already. Delete one first.", Webhook::MAX),
                ));
            }
            other => return known(app, write, other),
        }
    }
    Err(StoreError::Overloaded.into())
}

/// The response to a request that was carried out before.
fn known(app: &App, write: Write<'_>, written: WebhookWritten) -> Result<Response, ApiError> {
    let WebhookWritten::Replayed(mut stored) = written else {
        return Err(write::idempotency_conflict());
    };
    // Anything else is JSON, or empty.
    if stored.body.first().is_some_and(|&byte| byte != b'{') {
        let opened = app.store_area.registrar.open_response(&stored.body);
        stored.body = opened.map_err(no_vault)?;
    }
    Ok(write.respond_with(app, stored))
}

/// 503 for a key file that cannot be used.
fn no_vault(error: VaultError) -> ApiError {
    let message = "The service cannot use its key file for the secrets of webhooks. Ask its operator \
                   to check --secret-key-file.";
    ApiError::new(Problem::Unavailable, message).caused_by(Arc::new(error))
}

/// The webhook with the identifier in the path. Fails with 404 if there is none.
async fn find(app: &App, parameter: &str) -> Result<StoredWebhook, ApiError> {
    let id = query::path_integer(parameter);
    let mut webhooks = app.store.list_webhooks().await?.into_iter();
    webhooks
        .find(|stored| Some(stored.webhook.id) == id)
        .ok_or_else(|| ApiError::new(Problem::NotFound, "No webhook has this id."))
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
        "The webhook has version {version} now, which current shows. If the change is still right, \
         send it with If-Match: \"{version}\"."
    );
    let error = ApiError::new(Problem::PreconditionFailed, message);
    Err(error.with_state(None, Some(&current), None))
}
