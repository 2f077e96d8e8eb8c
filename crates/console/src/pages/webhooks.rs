//! Webhooks: where messages about changes are sent, and how that goes.

mod change;

use petstore_domain::store_area::{Attempt, ChangeType, DisabledReason, StoredWebhook, Webhook};

pub(super) use self::change::{add, disable, press};

use super::parts::missing_page;
use crate::{prelude::*, staff};

/// How many of the newest attempts a page shows, and how many are read at once.
const SHOWN: usize = 20;
const AT_ONCE: u32 = 1000;

/// Whether somebody should look at a webhook.
pub(super) fn is_failing(stored: &StoredWebhook) -> bool {
    match stored.webhook.disabled {
        Some(reason) => reason != DisabledReason::Request,
        None => stored.progress.failing_since.is_some(),
    }
}

fn badge(stored: &StoredWebhook) -> Markup {
    match stored.webhook.disabled {
        Some(_) => markup::badge("off", texts().off),
        None if is_failing(stored) => markup::badge("fails", texts().fails),
        None if stored.progress.last.is_none() => markup::badge("off", texts().not_used),
        None => markup::badge("works", texts().works),
    }
}

pub(super) async fn list(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let webhooks = desk.store().list_webhooks().await?;
    let content = html! {
        @if webhooks.is_empty() {
            div.card.empty { strong { (texts().no_webhooks) } p { (texts().no_webhooks_hint) } }
        } @else {
            (list_table(&webhooks))
        }
        details.card open[!errors.is_empty() || webhooks.is_empty()] {
            summary { (texts().add_webhook) }
            form.fields method="post" action="/settings/webhooks" {
                (desk.key("webhook"))
                (inputs(&desk.visit.form, errors))
                (type_boxes(&desk.visit.form.all("type").collect::<Vec<_>>()))
                div { button.main { (texts().add_webhook) } }
            }
        }
    };
    let title = (texts().webhooks, Some(texts().webhooks_hint));
    Ok(staff::settings_page(title, errors, &content))
}

fn list_table(webhooks: &[StoredWebhook]) -> Markup {
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
                    a href={ "/settings/webhooks/" (stored.webhook.id) } {
                        (markup::text(&stored.webhook.url, SHORT))
                    }
                }
                td { (badge(stored)) }
                td data-label=(texts().sends) { (types(&stored.webhook)) }
                td data-label=(texts().description) { (description(&stored.webhook)) }
            }
        }
    };
    markup::table(&markup::headings(&labels), &rows)
}

fn types(webhook: &Webhook) -> String {
    match &webhook.types {
        None => texts().every_change.to_owned(),
        Some(types) => types
            .iter()
            .map(wording::change_type)
            .collect::<Vec<_>>()
            .join(", "),
    }
}

fn description(webhook: &Webhook) -> Markup {
    html! {
        @if let Some(description) = &webhook.description {
            (markup::text(description.as_str(), SHORT))
        } @else { "–" }
    }
}

fn inputs(form: &Form, errors: &Errors) -> Markup {
    let url =
        Input::from_form("url", texts().address, form, errors).with_hint(texts().address_hint);
    let description =
        Input::from_form("description", texts().description, form, errors).as_optional();
    html! { (Input { kind: "url", ..url }.show()) (description.show()) }
}

fn type_boxes(chosen: &[&str]) -> Markup {
    html! {
        fieldset {
            legend { (texts().sends) " " span.hint { (texts().sends_hint) } }
            @for kind in ChangeType::ALL {
                div {
                    label {
                        input type="checkbox" name="type" value=(kind.as_str())
                            checked[chosen.contains(&kind.as_str())];
                        (texts().audited_change(kind))
                    }
                }
            }
        }
    }
}

pub(super) async fn show(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let Some(stored) = desk.app().webhooks.find(desk.id(Some)).await? else {
        return Ok(missing_page(texts().no_webhook));
    };
    let webhook = &stored.webhook;
    let attempts = newest_attempts(desk, webhook.id).await?;
    let content = html! {
        div.head { h1 { (markup::text(&webhook.url, LONG)) } (badge(&stored)) }
        (errors.summary())
        @if let Some(reason) = webhook.disabled { p { (texts().disabled(reason)) } }
        div.columns.wide {
            section.stack {
                h2 { (texts().attempts) }
                (attempts_table(desk, &attempts))
            }
            div.stack {
                div.card {
                    dl {
                        dt { (texts().sends) } dd { (types(webhook)) }
                        dt { (texts().description) } dd { (description(webhook)) }
                        dt { (texts().added_at) } dd { (markup::time(webhook.created_at, desk.visit.now)) }
                        @if let Some(since) = stored.progress.failing_since {
                            dt { (texts().fails_since) } dd { (markup::time(since, desk.visit.now)) }
                        }
                    }
                }
                (buttons(desk, webhook))
            }
        }
    };
    let title = markup::readable(&webhook.url, SHORT);
    Ok(Page::new(title, content)
        .wrong_if(!errors.is_empty())
        .into())
}

async fn newest_attempts(desk: &Desk<'_>, id: i64) -> Result<Vec<Attempt>, StoreError> {
    let (mut newest, mut after) = (Vec::new(), 0);
    loop {
        let page = desk.store().list_attempts(id, after, AT_ONCE).await?;
        let Some(&(last, _)) = page.last() else { break };
        after = last;
        newest.extend(page.into_iter().map(|(_, attempt)| attempt));
        newest.drain(..newest.len().saturating_sub(SHOWN));
    }
    newest.reverse();
    Ok(newest)
}

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

fn buttons(desk: &Desk<'_>, webhook: &Webhook) -> Markup {
    let button = |command: &str, class: &str, label: &str, hint: &str| {
        html! {
            form method="post" action={ "/settings/webhooks/" (webhook.id) "/" (command) } {
                (desk.key(command))
                button class=(class) { (label) }
                div.hint { (hint) }
            }
        }
    };
    html! {
        div.card.stack {
            @if webhook.disabled.is_some() {
                (button("resume", "main", texts().enable, texts().enable_hint))
                (button("enable", "", texts().enable_now, texts().enable_now_hint))
            } @else {
                (button("test", "main", texts().test, texts().test_hint))
                (button("disable", "", texts().disable, texts().disable_hint))
            }
            (button("rotate", "", texts().rotate, texts().rotate_hint))
            details {
                summary { (texts().delete) }
                (button("delete", "danger", texts().delete_webhook, texts().delete_hint))
            }
        }
    }
}
