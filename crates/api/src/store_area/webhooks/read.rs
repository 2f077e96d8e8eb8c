//! `listWebhooks`, `getWebhook` and `listWebhookAttempts`.

use petstore_domain::store_area::{Attempt, Label, Webhook, WebhookId};
use petstore_formats::json;
use petstore_web::edge::{ApiError, Response};

use super::{no_webhook, webhook_json};
use crate::{
    context::Call,
    query,
    store_area::{
        cursor::{self, Walk},
        page::{self, Element},
        shared::StoreArea,
        wire,
    },
};

/// `GET /v1/store/webhooks`.
pub(crate) async fn list_webhooks(
    area: &StoreArea,
    Call { request, .. }: Call<'_>,
) -> Result<Response, ApiError> {
    let [limit, cursor] = query::parameters(request.uri.query(), ["limit", "cursor"])?;
    let limit = query::limit(limit.as_ref())?;
    let walk = Walk::new(cursor::WEBHOOKS, &[]);
    let after = cursor
        .map(|cursor| walk.decode(&cursor))
        .transpose()?
        .map_or(0, |(_, id)| id);
    let stored = area.app.store.list_webhooks().await?;
    let webhooks = stored.into_iter().map(|stored| stored.webhook);
    let (webhooks, next) = limit.page(
        webhooks.filter(|webhook| webhook.id.0 > after).collect(),
        |webhook| webhook.id.0,
    );
    let next = next
        .and_then(|id| page::next_link(area, "/store/webhooks", limit, &[], &walk.encode("", id)));
    let element: Element<Webhook> = Element {
        length: |webhook| {
            webhook.url.len()
                + webhook
                    .description
                    .as_ref()
                    .map_or(0, |text: &Label| text.as_str().len())
        },
        write: |out, webhook| json::write_webhook(out, webhook, None),
    };
    page::respond(area, request, webhooks, element, next).await
}

/// `GET /v1/store/webhooks/{webhookId}`.
pub(crate) async fn get_webhook(
    area: &StoreArea,
    Call {
        request, parameter, ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    let [] = query::parameters(request.uri.query(), [])?;
    let found = area
        .app
        .webhooks
        .find(query::path_integer(parameter).map(WebhookId))
        .await?;
    let webhook = found.ok_or_else(no_webhook)?.webhook;
    wire::respond_with(area, request, webhook_json(&webhook, None), webhook.version)
}

/// `GET /v1/store/webhooks/{webhookId}/attempts`.
pub(crate) async fn list_attempts(
    area: &StoreArea,
    Call {
        request, parameter, ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    let [limit, cursor] = query::parameters(request.uri.query(), ["limit", "cursor"])?;
    let limit = query::limit(limit.as_ref())?;
    // The walk is the same however the path spells the id.
    let id = query::path_integer(parameter);
    let walk = Walk::new(cursor::ATTEMPTS, &[id.map(|id| id.to_string()).as_deref()]);
    let after = cursor
        .map(|cursor| walk.decode(&cursor))
        .transpose()?
        .map_or(0, |(_, id)| id);
    let id = area
        .app
        .webhooks
        .find(id.map(WebhookId))
        .await?
        .ok_or_else(no_webhook)?
        .webhook
        .id;
    let one_more = u32::from(limit.get()) + 1;
    let attempts = area.app.store.list_attempts(id, after, one_more).await?;
    let (attempts, next) = limit.page(attempts, |&(number, _)| number);
    let path = format!("/store/webhooks/{id}/attempts");
    let next =
        next.and_then(|number| page::next_link(area, &path, limit, &[], &walk.encode("", number)));
    let element: Element<(i64, Attempt)> = Element {
        length: |_| 0,
        write: |out, (_, attempt)| json::write_attempt(out, attempt),
    };
    page::respond(area, request, attempts, element, next).await
}
