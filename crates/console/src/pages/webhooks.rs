//! The settings pages of the webhooks, through which other services receive changes: their list,
//! and the page of each with its newest delivery attempts.

mod change;

use petstore_domain::store_area::{
    Attempt, ChangeType, DisabledReason, StoredWebhook, Webhook, WebhookId,
};

use super::parts::{PLAIN_BUTTON, missing_page};
use crate::{prelude::*, staff};

pub(super) use self::change::{add, disable, execute};

/// The path of the list of webhooks. The path of a webhook is this one with its id.
const LIST_PATH: &str = "/settings/webhooks";

/// The name of the input for the URL of a webhook.
const URL_INPUT: &str = "url";

/// The name of the input for the description of a webhook.
const DESCRIPTION_INPUT: &str = "description";

/// The name of the checkboxes for the types of changes that a webhook receives.
const TYPE_INPUT: &str = "type";

/// The number of delivery attempts that the page of a webhook shows.
const MAX_SHOWN_ATTEMPTS: usize = 20;

/// The number of attempts that one query reads.
const ATTEMPTS_PER_READ: u32 = 1000;

/// Whether a webhook needs attention: its deliveries fail, or the service has disabled it.
pub(super) fn is_failing(stored: &StoredWebhook) -> bool {
    match stored.webhook.disabled {
        Some(reason) => reason != DisabledReason::Request,
        None => stored.progress.failing_since.is_some(),
    }
}

/// Renders a badge with the state of a webhook.
fn state_badge(stored: &StoredWebhook) -> Markup {
    match stored.webhook.disabled {
        Some(_) => markup::badge("off", texts().off),
        None if is_failing(stored) => markup::badge("fails", texts().fails),
        None if stored.progress.last.is_none() => markup::badge("off", texts().not_used),
        None => markup::badge("works", texts().works),
    }
}

/// Handles `GET /settings/webhooks`: renders the list of webhooks, with the errors of a rejected
/// form if there are any.
pub(super) async fn list(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let webhooks = desk.store().list_webhooks().await?;
    let chosen_types: Vec<&str> = desk.visit.form.all(TYPE_INPUT).collect();
    let content = html! {
        @if webhooks.is_empty() {
            div.card.empty { strong { (texts().no_webhooks) } p { (texts().no_webhooks_hint) } }
        } @else {
            (webhook_table(&webhooks))
        }
        details.card open[!errors.is_empty() || webhooks.is_empty()] {
            summary { (texts().add_webhook) }
            form.fields method="post" action=(LIST_PATH) {
                (desk.idempotency_field("webhook"))
                (text_inputs(&desk.visit.form, errors))
                (type_checkboxes(&chosen_types))
                div { button.main { (texts().add_webhook) } }
            }
        }
    };
    let hint = Some(texts().webhooks_hint);
    Ok(staff::settings_page(
        texts().webhooks,
        hint,
        errors,
        &content,
    ))
}

/// Renders a table of webhooks.
fn webhook_table(webhooks: &[StoredWebhook]) -> Markup {
    let labels = [
        texts().address,
        texts().status_label,
        texts().sends,
        texts().description,
    ];
    let rows = html! {
        @for stored in webhooks {
            tr {
                td.first {
                    a href={ (LIST_PATH) "/" (stored.webhook.id) } {
                        (markup::text(&stored.webhook.url, SHORT_LENGTH))
                    }
                }
                td { (state_badge(stored)) }
                td data-label=(texts().sends) { (type_labels(&stored.webhook)) }
                td data-label=(texts().description) { (description(&stored.webhook)) }
            }
        }
    };
    markup::table(&markup::headings(&labels), &rows)
}

/// Returns a text with the types of changes that a webhook receives.
fn type_labels(webhook: &Webhook) -> String {
    let Some(types) = &webhook.types else {
        return texts().every_change.to_owned();
    };
    let labels: Vec<String> = types.iter().map(wording::change_type).collect();
    labels.join(", ")
}

/// Renders the description of a webhook, or a dash if it has none.
fn description(webhook: &Webhook) -> Markup {
    html! {
        @if let Some(description) = &webhook.description {
            (markup::text(description.as_str(), SHORT_LENGTH))
        } @else { "–" }
    }
}

/// Renders the inputs for the URL and the description of a new webhook.
fn text_inputs(form: &Form, errors: &Errors) -> Markup {
    let mut url =
        Input::from_form(URL_INPUT, texts().address, form, errors).with_hint(texts().address_hint);
    url.kind = InputKind::Url;
    let description =
        Input::from_form(DESCRIPTION_INPUT, texts().description, form, errors).make_optional();
    html! { (url.show()) (description.show()) }
}

/// Renders a checkbox for each type of change.
fn type_checkboxes(chosen_types: &[&str]) -> Markup {
    html! {
        fieldset {
            legend { (texts().sends) " " span.hint { (texts().sends_hint) } }
            @for kind in ChangeType::ALL {
                div {
                    label {
                        input type="checkbox" name=(TYPE_INPUT) value=(kind.as_str())
                            checked[chosen_types.contains(&kind.as_str())];
                        (texts().audited_change(kind))
                    }
                }
            }
        }
    }
}

/// Returns the id of the webhook in the path. Returns `None` if the path has no number there.
fn webhook_in_path(desk: &Desk<'_>) -> Option<WebhookId> {
    desk.path_id(|id| Some(WebhookId(id)))
}

/// Handles `GET /settings/webhooks/{id}`: renders the page of the webhook in the path, with the
/// errors of a rejected form if there are any.
pub(super) async fn show(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let Some(stored) = desk.app().webhooks.find(webhook_in_path(desk)).await? else {
        return Ok(missing_page(texts().no_webhook));
    };
    let webhook = &stored.webhook;
    let attempts = load_newest_attempts(desk, webhook.id).await?;
    let content = html! {
        div.head { h1 { (markup::text(&webhook.url, LONG_LENGTH)) } (state_badge(&stored)) }
        (errors.summary())
        @if let Some(reason) = webhook.disabled { p { (texts().disabled(reason)) } }
        div.columns.wide {
            section.stack {
                h2 { (texts().attempts) }
                (attempts_table(desk, &attempts))
            }
            div.stack {
                div.card { (details(desk, &stored)) }
                (buttons(desk, webhook))
            }
        }
    };
    let title = markup::readable(&webhook.url, SHORT_LENGTH);
    Ok(Page::new(title, content)
        .with_error_status_if(!errors.is_empty())
        .into())
}

/// Renders the properties of a webhook.
fn details(desk: &Desk<'_>, stored: &StoredWebhook) -> Markup {
    let webhook = &stored.webhook;
    let now = desk.visit.now;
    html! {
        dl {
            dt { (texts().sends) }
            dd { (type_labels(webhook)) }
            dt { (texts().description) }
            dd { (description(webhook)) }
            dt { (texts().added_at) }
            dd { (markup::time(webhook.created_at, now)) }
            @if let Some(since) = stored.progress.failing_since {
                dt { (texts().fails_since) }
                dd { (markup::time(since, now)) }
            }
        }
    }
}

/// Loads the newest [`MAX_SHOWN_ATTEMPTS`] delivery attempts of a webhook, the newest first.
///
/// The store can only list attempts from oldest to newest, so this function reads all of them.
async fn load_newest_attempts(desk: &Desk<'_>, id: WebhookId) -> Result<Vec<Attempt>, StoreError> {
    let mut newest_attempts = Vec::new();
    let mut last_number = 0;
    loop {
        let page = desk
            .store()
            .list_attempts(id, last_number, ATTEMPTS_PER_READ)
            .await?;
        let Some((number, _)) = page.last() else {
            newest_attempts.reverse();
            return Ok(newest_attempts);
        };
        last_number = *number;
        newest_attempts.extend(page.into_iter().map(|(_, attempt)| attempt));
        // Only the newest attempts so far are kept, so that the memory does not grow with the list.
        let excess_count = newest_attempts.len().saturating_sub(MAX_SHOWN_ATTEMPTS);
        newest_attempts.drain(..excess_count);
    }
}

/// Renders the table of delivery attempts.
fn attempts_table(desk: &Desk<'_>, attempts: &[Attempt]) -> Markup {
    if attempts.is_empty() {
        return html! { p.card.muted { (texts().no_attempts) } };
    }
    let rows = html! {
        @for attempt in attempts {
            tr {
                td.first { (markup::time(attempt.at, desk.visit.now)) }
                td {
                    @match &attempt.error {
                        None => (markup::badge("works", texts().delivered)),
                        Some(error) => { (markup::badge("fails", texts().failed)) " " (error) }
                    }
                    @if let Some(status) = attempt.status { " (" (status) ")" }
                }
                td data-label=(texts().duration) { (attempt.duration_ms) " ms" }
            }
        }
    };
    let labels = [texts().when, texts().result, texts().duration];
    markup::table(&markup::headings(&labels), &rows)
}

/// Renders the buttons that the state of a webhook allows. The delete button is collapsed, to
/// prevent accidental clicks.
fn buttons(desk: &Desk<'_>, webhook: &Webhook) -> Markup {
    let button = |command: &str, class: &str, label: &str, hint: &str| {
        html! {
            form method="post" action={ (LIST_PATH) "/" (webhook.id) "/" (command) } {
                (desk.idempotency_field(command))
                button class=(class) { (label) }
                div.hint { (hint) }
            }
        }
    };
    html! {
        div.card.stack {
            @if webhook.disabled.is_some() {
                (button("resume", "main", texts().enable, texts().enable_hint))
                (button("enable", PLAIN_BUTTON, texts().enable_now, texts().enable_now_hint))
            } @else {
                (button("test", "main", texts().test, texts().test_hint))
                (button("disable", PLAIN_BUTTON, texts().disable, texts().disable_hint))
            }
            (button("rotate", PLAIN_BUTTON, texts().rotate, texts().rotate_hint))
            details {
                summary { (texts().delete) }
                (button("delete", "danger", texts().delete_webhook, texts().delete_hint))
            }
        }
    }
}
