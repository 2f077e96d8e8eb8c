//! The operations that read webhooks: `listWebhooks`, `getWebhook` and `listWebhookAttempts`.

use petstore_domain::store_area::{Attempt, Label, Webhook, WebhookId};
use petstore_formats::json;
use petstore_web::edge::{ApiError, Response};

use super::{no_webhook, webhook_json};
use crate::{
    context::Call,
    query,
    store_area::{
        cursor::{self, Walk},
        page::{self, ElementRenderer},
        shared::StoreArea,
        wire,
    },
};

/// The position before the first element of a list. The ids of webhooks and the numbers of attempts start
/// from 1.
const BEFORE_FIRST: i64 = 0;

/// Lists webhooks, with a link to the next page: `GET /v1/store/webhooks`.
pub(crate) async fn list_webhooks(
    area: &StoreArea,
    Call { request, .. }: Call<'_>,
) -> Result<Response, ApiError> {
    let [limit, cursor] = query::parameters(request.uri.query(), ["limit", "cursor"])?;
    let limit = query::parse_limit(limit.as_ref())?;
    let walk = Walk::new(cursor::WEBHOOKS, &[]);
    let id_before_page = walk.integer_before_page(cursor.as_deref())?;
    let after = WebhookId(id_before_page.unwrap_or(BEFORE_FIRST));
    let mut later_webhooks = Vec::new();
    for stored_webhook in area.app.store.list_webhooks().await? {
        if stored_webhook.webhook.id > after {
            later_webhooks.push(stored_webhook.webhook);
        }
    }
    let (webhooks, last_id) = limit.page(later_webhooks, |webhook| webhook.id);

    let next = last_id.and_then(|WebhookId(id)| {
        page::next_link(area, "/store/webhooks", limit, &[], &walk.encode_id(id))
    });
    let renderer: ElementRenderer<Webhook> = ElementRenderer {
        texts_length,
        write: |out, webhook| json::write_webhook(out, webhook, None),
    };
    page::respond(area, request, webhooks, renderer, next).await
}

/// Returns the total length of the texts of a webhook, in bytes.
fn texts_length(webhook: &Webhook) -> usize {
    let description = webhook.description.as_ref().map_or("", Label::as_str);
    webhook.url.len() + description.len()
}

/// Reads a webhook: `GET /v1/store/webhooks/{webhookId}`.
pub(crate) async fn get_webhook(
    area: &StoreArea,
    Call {
        request, parameter, ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    query::reject_parameters(request.uri.query())?;
    let webhook = find_webhook(area, query::path_integer(parameter)).await?;
    wire::respond_with_body(area, request, webhook_json(&webhook, None), webhook.version)
}

/// Lists the recent attempts to deliver messages to a webhook: `GET /v1/store/webhooks/{webhookId}/attempts`.
pub(crate) async fn list_attempts(
    area: &StoreArea,
    Call {
        request, parameter, ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    let [limit, cursor] = query::parameters(request.uri.query(), ["limit", "cursor"])?;
    let limit = query::parse_limit(limit.as_ref())?;
    // The walk contains the parsed id, so that it does not depend on how the path is percent-encoded.
    let path_id = query::path_integer(parameter);
    let filter = path_id.map(|id| id.to_string());
    let walk = Walk::new(cursor::ATTEMPTS, &[filter.as_deref()]);
    let number_before_page = walk.integer_before_page(cursor.as_deref())?;
    let after = number_before_page.unwrap_or(BEFORE_FIRST);
    let id = find_webhook(area, path_id).await?.id;

    // Read one more attempt than the page has, to learn whether there is a next page.
    let store_limit = u32::from(limit.get()) + 1;
    let later_attempts = area.app.store.list_attempts(id, after, store_limit).await?;
    let (attempts, last_number) = limit.page(later_attempts, |&(number, _)| number);

    let path = format!("/store/webhooks/{id}/attempts");
    let next = last_number
        .and_then(|number| page::next_link(area, &path, limit, &[], &walk.encode_id(number)));
    let renderer: ElementRenderer<(i64, Attempt)> = ElementRenderer {
        // All texts of an attempt are short, and made by the service.
        texts_length: |_| 0,
        write: |out, (_, attempt)| json::write_attempt(out, attempt),
    };
    page::respond(area, request, attempts, renderer, next).await
}

/// Reads a webhook. Fails with 404 if it does not exist.
async fn find_webhook(area: &StoreArea, id: Option<i64>) -> Result<Webhook, ApiError> {
    let stored_webhook = area.app.webhooks.find(id.map(WebhookId)).await?;
    Ok(stored_webhook.ok_or_else(no_webhook)?.webhook)
}
