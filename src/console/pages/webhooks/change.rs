//! Changes of webhooks: the buttons of their pages.

use maud::html;

use super::{Desk, Flash, Page, Reply, find, missing, show_list, with};
use crate::{
    console::{forms::Errors, layout::Menu, staff, texts},
    delivery::{self, Decided, DecisionError, Registrar, Wanted},
    domain::{
        StoredResponse,
        store_area::{ChangeType, Field, Label, WebhookPatch},
    },
    http::{ApiError, Problem},
    store::{StoreError, WebhookWritten},
};

/// How often a change is decided again because another one was faster.
const MAX_TRIES: u32 = 10;

/// Adds a webhook, and shows its secret.
pub(in super::super) async fn add(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let (form, mut errors) = (&desk.visit.form, Errors::default());
    let url = errors.take("url", desk.app().registrar().check_url(form.get("url")));
    let description = match form.get("description") {
        "" => Some(None),
        text => {
            let label = Label::new(text.to_owned());
            errors
                .take("description", label.map(Some).ok_or_else(|| texts::LABEL_INVALID.to_owned()))
        }
    };
    let (Some(url), Some(description)) = (url, description) else {
        return show_list(desk, &errors).await;
    };
    let wants = |kind: &ChangeType| form.all("type").any(|name| name == kind.as_str());
    let types: Vec<ChangeType> = ChangeType::ALL.into_iter().filter(wants).collect();
    let types = (!types.is_empty()).then_some(types);
    match change(desk, Wanted::Add { url, types, description }, "saved").await? {
        Changed::Secret(secret) => Ok(secret_page(&secret, "/settings/webhooks")),
        Changed::Done(flash) => Ok(Reply::See("/settings/webhooks".to_owned(), Some(flash))),
        Changed::Not(why) => show_list(desk, &Errors::text(why)).await,
    }
}

/// Carries out the command in the path: one of the buttons.
async fn press(desk: &Desk<'_>, wanted: Wanted, code: &'static str) -> Result<Reply, ApiError> {
    let Some(id) = desk.id(Some) else { return Ok(missing(Menu::Settings, texts::NO_WEBHOOK)) };
    let path = format!("/settings/webhooks/{id}");
    let is_deleted = matches!(wanted, Wanted::Delete);
    Ok(match change(desk, wanted, code).await? {
        Changed::Secret(secret) => secret_page(&secret, &path),
        Changed::Done(flash) if is_deleted => {
            Reply::See("/settings/webhooks".to_owned(), Some(flash))
        }
        Changed::Done(flash) => Reply::See(path, Some(flash)),
        Changed::Not(why) => return with(desk, &Errors::text(why)).await,
    })
}

pub(in super::super) async fn test(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    press(desk, Wanted::Test, "tested").await
}

pub(in super::super) async fn resume(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    press(desk, Wanted::Enable { resumes: true }, "enabled").await
}

pub(in super::super) async fn enable(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    press(desk, Wanted::Enable { resumes: false }, "enabled").await
}

pub(in super::super) async fn disable(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let (types, description) = (Field::Keep, Field::Keep);
    let patch = WebhookPatch { url: None, types, description, disable: true };
    press(desk, Wanted::Patch(patch), "disabled").await
}

pub(in super::super) async fn rotate(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    press(desk, Wanted::RotateSecret, "saved").await
}

pub(in super::super) async fn delete(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    press(desk, Wanted::Delete, "deleted").await
}

/// The page with a new secret, which is not shown again.
fn secret_page(secret: &str, next: &str) -> Reply {
    let content = html! {
        h1 { (texts::SECRET) }
        (staff::shown_once(&html! { (texts::SECRET_HINT) }, secret, next))
    };
    Page::new(Menu::Settings, texts::SECRET, content).into()
}

/// What became of a change of a webhook.
enum Changed {
    Done(Flash),
    Secret(String),
    Not(&'static str),
}

/// Makes a change, once for all repetitions of the form.
async fn change(desk: &Desk<'_>, wanted: Wanted, code: &'static str) -> Result<Changed, ApiError> {
    let (context, registrar) = (desk.context(), desk.app().registrar());
    if let Some(request) = &context.idempotency
        && let Some(written) = desk.store().recall_request(request.clone()).await?
    {
        return known(registrar, written);
    }
    for _ in 0..MAX_TRIES {
        let present = match wanted {
            Wanted::Add { .. } => None,
            _ => match find(desk).await? {
                None => return Ok(Changed::Not(texts::NO_WEBHOOK)),
                present => present,
            },
        };
        let decided =
            delivery::decide(desk.store(), registrar, present.as_ref(), &wanted, desk.visit.now);
        let Decided { change, act, webhook, secret, test } = decided.await.map_err(undecided)?;
        if test.is_some_and(|test| !registrar.send_test(test)) {
            return Err(StoreError::Overloaded.into());
        }
        let id = webhook.map_or(0, |webhook| webhook.id);
        let flash = Flash::new(code, id);
        let body = match &secret {
            Some(secret) => registrar.seal_response(secret.as_bytes()).map_err(no_vault)?,
            None => flash.to_string().into_bytes(),
        };
        let stored = StoredResponse { status: 303, body, ..StoredResponse::default() };
        match desk.store().write_webhook(change, act, stored, context.clone()).await? {
            WebhookWritten::Done => {
                return Ok(secret.map_or(Changed::Done(flash), Changed::Secret));
            }
            WebhookWritten::Stale => {}
            WebhookWritten::Full => return Ok(Changed::Not(texts::TOO_MANY_WEBHOOKS)),
            other => return known(registrar, other),
        }
    }
    Err(StoreError::Overloaded.into())
}

/// What became of a form that was sent before.
fn known(registrar: &Registrar, written: WebhookWritten) -> Result<Changed, ApiError> {
    let WebhookWritten::Replayed(stored) = written else {
        return Ok(Changed::Not(texts::ALREADY_SENT));
    };
    if let Some(flash) = str::from_utf8(&stored.body).ok().and_then(Flash::parse) {
        return Ok(Changed::Done(flash));
    }
    let secret = registrar.open_response(&stored.body).map_err(no_vault)?;
    Ok(Changed::Secret(String::from_utf8_lossy(&secret).into_owned()))
}

fn undecided(error: DecisionError) -> ApiError {
    match error {
        DecisionError::Vault(error) => no_vault(error),
        DecisionError::Store(error) => error.into(),
    }
}

fn no_vault(error: delivery::VaultError) -> ApiError {
    ApiError::new(Problem::Unavailable, texts::NO_VAULT).caused_by(std::sync::Arc::new(error))
}
