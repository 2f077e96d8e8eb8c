//! The operations on webhooks, and the steps that all changes of a webhook share.

pub(super) mod change;
mod read;

use hyper::StatusCode;
use petstore_app::{
    WebhookRefusal,
    delivery::{WebhookCommand, WebhookDecision},
};
use petstore_domain::{
    Problem, StoredResponse,
    store_area::{IfMatch, Webhook, WebhookChange, WebhookId},
};
use petstore_formats::json;
use petstore_web::edge::{ApiError, Response};

use super::{preconditions, refusals, shared::StoreArea, wire, write::Write};
use crate::query;

pub(crate) use self::{
    change::{
        add_webhook, delete_webhook, enable_webhook, patch_webhook, rotate_secret, test_webhook,
    },
    read::{get_webhook, list_attempts, list_webhooks},
};

/// Renders the response to a change of a webhook: the webhook, the id of a test message, or 204 if the webhook
/// was deleted.
fn render_response(
    WebhookDecision {
        change,
        webhook,
        secret,
        ..
    }: &WebhookDecision,
) -> StoredResponse {
    if let WebhookChange::Test(test) = change {
        let body = wire::render(|out| {
            let mut object = json::Object::begin(out);
            object.text("messageId", &test.message_id);
            object.end();
        });
        return wire::stored_response(StatusCode::ACCEPTED, None, body);
    }
    let Some(webhook) = webhook else {
        return wire::no_content();
    };
    let is_new = matches!(change, WebhookChange::Add(_));
    let status = if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let location = is_new.then(|| format!("/store/webhooks/{}", webhook.id));
    let body = webhook_json(webhook, secret.as_deref());
    StoredResponse {
        location,
        ..wire::stored_response(status, Some(webhook.version), body)
    }
}

/// Renders a webhook as JSON. `secret` is a secret that was just generated, which is shown only once.
fn webhook_json(webhook: &Webhook, secret: Option<&str>) -> Vec<u8> {
    wire::render(|out| json::write_webhook(out, webhook, secret))
}

/// Executes a command on the webhook in the path, under the precondition `If-Match`, and responds with its
/// result. A command that adds a webhook has neither an id in the path nor a precondition.
async fn execute(
    area: &StoreArea,
    write: Write<'_>,
    command: WebhookCommand,
) -> Result<Response, ApiError> {
    let webhooks = &area.app.webhooks;
    let if_match = match &command {
        WebhookCommand::Add(_) => None,
        _ => preconditions::from_headers(&write.request.headers)?.if_match,
    };
    // `None` accepts every version. That is right for `If-Match: *` too, which requires only that the webhook
    // exists.
    let versions = if_match.as_ref().and_then(IfMatch::versions);
    let context = write.make_context(area).await?;
    let _in_flight = area.app.requests.enter(&context)?;
    let id = query::path_integer(write.parameter).map(WebhookId);
    let outcome = webhooks
        .change(id, versions, &command, context, render_response)
        .await?;
    write.respond_with_outcome(area, outcome, refusal_error)
}

/// Returns the error for a change that was refused.
fn refusal_error(refusal: WebhookRefusal) -> ApiError {
    match refusal {
        WebhookRefusal::NotFound => no_webhook(),
        WebhookRefusal::OtherVersion(webhook) => {
            let message = refusals::stale_message("webhook", webhook.version);
            refusals::conflict_error(
                Problem::PreconditionFailed,
                message,
                &webhook_json(&webhook, None),
            )
        }
        WebhookRefusal::Full => {
            let message = format!(
                "There are {} webhooks already. Delete one first.",
                Webhook::MAX
            );
            ApiError::new(Problem::InvalidBody, message)
        }
    }
}

/// Returns the 404 for a webhook.
fn no_webhook() -> ApiError {
    ApiError::new(Problem::NotFound, "No webhook has this id.")
}
