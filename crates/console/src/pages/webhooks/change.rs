//! Changes of webhooks: the buttons of their pages.

use petstore_app::{
    Changed, WebhookRefusal,
    delivery::{Decided, Wanted},
};
use petstore_domain::{
    StoredResponse,
    store_area::{ChangeType, Label, WebhookPatch},
};

use super::{list, show};
use crate::{ask::Question, pages::parts::missing_page, prelude::*, reply::Flash, staff};

/// The page with all webhooks.
const LIST: &str = "/settings/webhooks";

/// Adds a webhook, and shows its secret.
pub(in super::super) async fn add(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let (form, mut errors) = (&desk.visit.form, Errors::default());
    let url = match form.get("url") {
        "" => Err(texts().url_missing.to_owned()),
        typed => desk
            .app()
            .webhooks
            .registrar
            .check_url(typed)
            .map_err(|_| texts().url_invalid.to_owned()),
    };
    let url = errors.take("url", url);
    let description = match form.get("description") {
        "" => Some(None),
        text => {
            let label = Label::new(text.to_owned());
            errors.take(
                "description",
                label
                    .map(Some)
                    .ok_or_else(|| texts().label_invalid.to_owned()),
            )
        }
    };
    let (Some(url), Some(description)) = (url, description) else {
        return list(desk, &errors).await;
    };
    let wants = |kind: &ChangeType| form.all("type").any(|name| name == kind.as_str());
    let types: Vec<_> = ChangeType::ALL
        .into_iter()
        .filter(wants)
        .map(Into::into)
        .collect();
    let types = (!types.is_empty()).then_some(types);
    match change(
        desk,
        Wanted::Add {
            url,
            types,
            description,
        },
        "saved",
        LIST,
    )
    .await?
    {
        Ok(reply) => Ok(reply),
        Err(why) => list(desk, &Errors::from_text(why)).await,
    }
}

/// Carries out what one of the buttons wants. Asks first if messages stop.
pub(in super::super) async fn press(
    desk: &Desk<'_>,
    wanted: Wanted,
    code: &'static str,
) -> Result<Reply, ApiError> {
    let Some(id) = desk.id(Some) else {
        return Ok(missing_page(texts().no_webhook));
    };
    let path = format!("{LIST}/{id}");
    let effect = match wanted {
        Wanted::Patch(_) => Some((texts().disable, texts().disable_hint)),
        Wanted::Delete => Some((texts().delete, texts().delete_hint)),
        _ => None,
    };
    if let Some((verb, effect)) = effect
        && let Some(stored) = desk.app().webhooks.find(Some(id)).await?
        && let Some(asked) =
            Question::of_setting(desk, verb, &stored.webhook.url, effect.to_owned(), &path)
    {
        return Ok(asked);
    }
    let next = if matches!(wanted, Wanted::Delete) {
        LIST
    } else {
        &path
    };
    match change(desk, wanted, code, next).await? {
        Ok(reply) => Ok(reply),
        Err(why) => show(desk, &Errors::from_text(why)).await,
    }
}

pub(in super::super) async fn disable(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let patch = WebhookPatch {
        disable: true,
        ..WebhookPatch::default()
    };
    press(desk, Wanted::Patch(patch), "disabled").await
}

/// Makes a change, once for all repetitions of the form. Shows its secret or the page `next`, or
/// returns why nothing was changed.
async fn change(
    desk: &Desk<'_>,
    wanted: Wanted,
    code: &'static str,
    next: &str,
) -> Result<Result<Reply, &'static str>, ApiError> {
    let respond = |Decided {
                       webhook, secret, ..
                   }: &Decided| {
        let id = webhook.as_ref().map_or(0, |webhook| webhook.id);
        let body = secret
            .clone()
            .unwrap_or_else(|| Flash::new(code, id).to_string());
        StoredResponse {
            status: 303,
            body: body.into_bytes(),
            ..StoredResponse::default()
        }
    };
    let (id, context) = (desk.id(Some), desk.context());
    let changed = desk
        .app()
        .webhooks
        .change(id, None, &wanted, context, respond)
        .await?;
    Ok(match changed {
        Changed::Done(response) => {
            let text = String::from_utf8_lossy(&response.body);
            Ok(match Flash::parse(&text) {
                Some(flash) => Reply::See(next.to_owned(), Some(flash)),
                None => secret_page(&text, next),
            })
        }
        Changed::Refused(WebhookRefusal::Full) => Err(texts().too_many_webhooks),
        Changed::Refused(_) => Err(texts().no_webhook),
        Changed::IdempotencyConflict => Err(texts().stale),
    })
}

/// The page with a new secret, which is not shown again.
fn secret_page(secret: &str, next: &str) -> Reply {
    let content = html! {
        h1 { (texts().secret) }
        (staff::shown_once(&html! { (texts().secret_hint) }, secret, next))
    };
    Page::new(texts().secret, content).into()
}
