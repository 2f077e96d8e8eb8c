//! Operations on webhooks, and the steps of every change of one.

mod change;
mod read;

pub(crate) use self::{
    change::{
        add_webhook, delete_webhook, enable_webhook, patch_webhook, rotate_secret, test_webhook,
    },
    read::{get_webhook, list_attempts, list_webhooks},
};

use hyper::StatusCode;

use super::{
    preconditions,
    shared::StoreArea,
    wire,
    write::{self, Write},
};
use crate::{
    app::WebhookRefusal,
    delivery::{Decided, Wanted},
    domain::{
        StoredResponse,
        store_area::{IfMatch, Webhook, WebhookChange},
    },
    edge::{ApiError, Problem, Response},
    http::query,
    json,
};

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

/// Carries out a request of a program.
async fn execute(area: &StoreArea, write: Write<'_>, wanted: Wanted) -> Result<Response, ApiError> {
    let webhooks = &area.app.webhooks;
    let if_match = match &wanted {
        Wanted::Add { .. } => None,
        _ => preconditions::of(&write.request.headers)?.if_match,
    };
    let versions = if_match.as_ref().and_then(IfMatch::versions);
    let context = write.context(area).await?;
    let _entered = area.app.requests.enter(&context)?;
    let id = query::path_integer(write.parameter);
    let changed = webhooks.change(id, versions, &wanted, context, response_to).await?;
    write.respond_to(area, changed, refused)
}

fn refused(refusal: WebhookRefusal) -> ApiError {
    match refusal {
        WebhookRefusal::NotFound => no_webhook(),
        WebhookRefusal::OtherVersion(webhook) => other_version(&webhook),
        WebhookRefusal::Full => {
            let message = format!("There are {} webhooks already. Delete one first.", Webhook::MAX);
            ApiError::new(Problem::InvalidBody, message)
        }
    }
}

fn no_webhook() -> ApiError {
    ApiError::new(Problem::NotFound, "No webhook has this id.")
}

/// 412 with the present state.
fn other_version(webhook: &Webhook) -> ApiError {
    let mut current = Vec::new();
    json::write_webhook(&mut current, webhook, None);
    let message = write::stale("webhook", webhook.version);
    let error = ApiError::new(Problem::PreconditionFailed, message);
    error.with_state(None, Some(&current), None)
}
