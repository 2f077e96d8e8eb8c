//! Adds and changes webhooks: the form and the buttons of their pages.

use petstore_app::{
    Changed, WebhookRefusal,
    delivery::{NewWebhook, WebhookCommand, WebhookDecision},
};
use petstore_domain::{
    StoredResponse,
    named_enum::MaybeKnown,
    store_area::{ChangeType, Label, WebhookId, WebhookPatch},
};

use super::{DESCRIPTION_INPUT, LIST_PATH, TYPE_INPUT, URL_INPUT, list, show, webhook_in_path};
use crate::{ask::SettingChange, pages::parts::missing_page, prelude::*, reply::Flash, staff};

/// The outcome of executing a command on a webhook.
enum CommandOutcome {
    /// The command was carried out. The reply is the page with the new secret of the webhook, or a
    /// redirect with a message if the command made no secret.
    Done(Reply),
    /// Nothing was changed. The message explains why.
    Refused(&'static str),
}

/// Handles `POST /settings/webhooks`: adds a webhook, and renders the page with its secret.
pub(in super::super) async fn add(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let mut errors = Errors::default();
    let url = errors.ok_or_add(URL_INPUT, parse_url(desk));
    let description = parse_description(desk.visit.form.get(DESCRIPTION_INPUT));
    let description = errors.ok_or_add(DESCRIPTION_INPUT, description);
    let (Some(url), Some(description)) = (url, description) else {
        return list(desk, &errors).await;
    };
    let command = WebhookCommand::Add(NewWebhook {
        url,
        types: parse_chosen_types(desk),
        description,
    });
    match execute_once(desk, command, "saved", LIST_PATH).await? {
        CommandOutcome::Done(reply) => Ok(reply),
        CommandOutcome::Refused(message) => list(desk, &Errors::from_text(message)).await,
    }
}

/// Parses the URL in the form of a new webhook, or returns the error message.
fn parse_url(desk: &Desk<'_>) -> Result<String, String> {
    let text = desk.visit.form.get(URL_INPUT);
    if text.is_empty() {
        return Err(texts().url_missing.to_owned());
    }
    let registrar = &desk.app().webhooks.registrar;
    // The error of the registrar is replaced, because it is a message for programs.
    registrar
        .check_url(text)
        .map_err(|_| texts().url_invalid.to_owned())
}

/// Parses a description, or returns the error message. An empty text means no description.
fn parse_description(text: &str) -> Result<Option<Label>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    match Label::new(text.to_owned()) {
        Some(label) => Ok(Some(label)),
        None => Err(texts().label_invalid.to_owned()),
    }
}

/// Returns the types of changes that the form selects. Returns `None`, which means all types, if no
/// checkbox is checked.
fn parse_chosen_types(desk: &Desk<'_>) -> Option<Vec<MaybeKnown<ChangeType>>> {
    let chosen_names: Vec<&str> = desk.visit.form.all(TYPE_INPUT).collect();
    let mut types = Vec::new();
    for kind in ChangeType::ALL {
        if chosen_names.contains(&kind.as_str()) {
            types.push(kind.into());
        }
    }
    if types.is_empty() { None } else { Some(types) }
}

/// Executes the command of a button on the webhook in the path. Asks for confirmation if the
/// command stops deliveries.
///
/// `message_code` selects the message about the result.
pub(in super::super) async fn execute(
    desk: &Desk<'_>,
    command: WebhookCommand,
    message_code: &'static str,
) -> Result<Reply, ApiError> {
    let Some(id) = webhook_in_path(desk) else {
        return Ok(missing_page(texts().no_webhook));
    };
    let path = format!("{LIST_PATH}/{id}");
    if let Some(question_page) = ask_to_confirm(desk, id, &command, &path).await? {
        return Ok(question_page);
    }
    let next_path = match command {
        WebhookCommand::Delete => LIST_PATH,
        _ => &path,
    };
    match execute_once(desk, command, message_code, next_path).await? {
        CommandOutcome::Done(reply) => Ok(reply),
        CommandOutcome::Refused(message) => show(desk, &Errors::from_text(message)).await,
    }
}

/// Returns the page that asks for confirmation of a command that stops deliveries.
///
/// Returns `None` if no confirmation is needed: for any other command, if the webhook does not
/// exist, or if the form already confirms the command.
async fn ask_to_confirm(
    desk: &Desk<'_>,
    id: WebhookId,
    command: &WebhookCommand,
    path: &str,
) -> Result<Option<Reply>, ApiError> {
    let (verb, effect) = match command {
        // The only patch that a page sends is the one of `disable`.
        WebhookCommand::Patch(_) => (texts().disable, texts().disable_hint),
        WebhookCommand::Delete => (texts().delete, texts().delete_hint),
        _ => return Ok(None),
    };
    let Some(stored) = desk.app().webhooks.find(Some(id)).await? else {
        return Ok(None);
    };
    let change = SettingChange {
        verb,
        object: &stored.webhook.url,
        effect,
        back_path: path,
    };
    Ok(change.confirm(desk))
}

/// Handles `POST /settings/webhooks/{id}/disable`: disables the webhook in the path.
pub(in super::super) async fn disable(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let patch = WebhookPatch {
        disable: true,
        ..WebhookPatch::default()
    };
    execute(desk, WebhookCommand::Patch(patch), "disabled").await
}

/// Executes a command, at most once for all submissions of the same form. The command is about the
/// webhook in the path. If it adds a webhook, the path has none.
///
/// `next_path` is the path of the page that follows.
async fn execute_once(
    desk: &Desk<'_>,
    command: WebhookCommand,
    message_code: &'static str,
    next_path: &str,
) -> Result<CommandOutcome, ApiError> {
    let respond = |decision: &WebhookDecision| response_to_remember(decision, message_code);
    let id = webhook_in_path(desk);
    // A button works whatever version the webhook has.
    let expected_versions = None;
    let result = desk
        .app()
        .webhooks
        .change(id, expected_versions, &command, desk.context(), respond)
        .await?;
    Ok(match result {
        Changed::Done(response) => CommandOutcome::Done(to_reply(&response, next_path)),
        Changed::Refused(WebhookRefusal::Full) => {
            CommandOutcome::Refused(texts().too_many_webhooks)
        }
        // Without expected versions, the command is never refused because of another version.
        Changed::Refused(WebhookRefusal::NotFound | WebhookRefusal::OtherVersion(_)) => {
            CommandOutcome::Refused(texts().no_webhook)
        }
        Changed::IdempotencyConflict => CommandOutcome::Refused(texts().stale),
    })
}

/// Returns the response that the store remembers for a form. Its body is the new secret or the
/// message, so that a repetition of the form shows the same one.
fn response_to_remember(decision: &WebhookDecision, message_code: &str) -> StoredResponse {
    let id = match &decision.webhook {
        Some(webhook) => webhook.id.0,
        // The webhook was deleted, so the message has no id.
        None => 0,
    };
    let body = match &decision.secret {
        Some(secret) => secret.clone(),
        None => Flash::new(message_code, id).to_string(),
    };
    StoredResponse {
        status: 303,
        body: body.into_bytes(),
        ..StoredResponse::default()
    }
}

/// Converts a response of [`response_to_remember`] into a reply. The reply is a redirect with the
/// message, or the page with the secret.
fn to_reply(response: &StoredResponse, next_path: &str) -> Reply {
    let text = String::from_utf8_lossy(&response.body);
    match Flash::parse(&text) {
        Some(flash) => Reply::Redirect(next_path.to_owned(), Some(flash)),
        // A secret, such as `whsec_MfKQ9r8G`, does not parse as a message.
        None => secret_page(&text, next_path),
    }
}

/// Renders the page with a new secret, which is shown only this once.
fn secret_page(secret: &str, next_path: &str) -> Reply {
    let hint = html! { (texts().secret_hint) };
    let content = html! {
        h1 { (texts().secret) }
        (staff::secret_card(&hint, secret, next_path))
    };
    Page::new(texts().secret, content).into()
}
