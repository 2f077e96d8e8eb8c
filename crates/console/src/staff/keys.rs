//! The API key settings for managers: creating, rotating and revoking keys.

use jiff::{Timestamp, ToSpan};
use petstore_domain::{ApiKey, KeyId, KeyRecord, NewKey, Problem, Scope};

use super::{ACTION, redirect_with_message, secret_card, settings_page};
use crate::{ask::SettingChange, prelude::*};

/// The path of the page, to which its forms redirect.
const PAGE: &str = "/settings/keys";

/// The action that replaces a key by its successor.
const ROTATE: &str = "rotate";

/// The action that makes a key invalid at once.
const REVOKE: &str = "revoke";

/// How long the old key stays valid after a rotation, in hours. In this time, the manager enters
/// the new key in the programs that use the old one.
const OVERLAP_HOURS: i64 = 24;

/// The maximum length of a key's name, in characters.
const MAX_NAME_LENGTH: usize = 255;

/// Responds to `GET /settings/keys`, and renders the page again after an invalid form. Shows only
/// the keys of the configured deployment.
pub(crate) async fn show_keys(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let deployment = desk.visit.console.settings.deployment;
    let keys = desk.store().list_keys().await?;
    let labels = [
        texts().name,
        texts().allows,
        texts().last_used,
        texts().state,
        texts().actions,
    ];
    let rows = html! {
        @for key in &keys {
            @if key.deployment == deployment { (key_row(desk, key)) }
        }
    };
    let content = html! {
        div.stack {
            (markup::table(&markup::headings(&labels), &rows))
            (new_key_form(desk, errors))
        }
    };
    Ok(settings_page(texts().keys, None, errors, &content))
}

/// Renders the form for creating a key.
fn new_key_form(desk: &Desk<'_>, errors: &Errors) -> Markup {
    let form = &desk.visit.form;
    let name = Input::from_form("name", texts().name, form, errors)
        .with_hint(texts().key_name_hint)
        .make_required();
    let mut scope = Input::from_form("scope", texts().what_key_allows, form, errors);
    if scope.value.is_empty() {
        scope.value = Scope::default().as_str();
    }
    let scopes = Scope::ALL.map(|scope| (scope.as_str(), texts().scope(scope)));
    html! {
        section.card {
            h2 { (texts().add_key) }
            form.fields method="post" action=(PAGE) {
                (desk.idempotency_field("add"))
                (name.show())
                (scope.show_dropdown(&scopes))
                div.buttons { button.main { (texts().add_key) } }
            }
        }
    }
}

/// Renders the table row of a key.
fn key_row(desk: &Desk<'_>, key: &KeyRecord) -> Markup {
    let now = desk.visit.now;
    html! {
        tr {
            td.first { bdi { (key.name) } " (" (key.id) ")" }
            td data-label=(texts().allows) { (texts().scope(key.scope)) }
            td data-label=(texts().last_used) {
                @if let Some(used_at) = key.last_used_at {
                    (markup::time(used_at, now))
                } @else {
                    (texts().never)
                }
                // `getPet` is the only deprecated operation.
                @if let Some(called_at) = key.last_deprecated_call_at {
                    br; (texts().called_get_pet) (markup::time(called_at, now))
                }
            }
            td data-label=(texts().state) { (key_state(key, now)) }
            td data-label=(texts().actions) {
                @if key.is_valid_at(now) {
                    div.buttons {
                        @if key.successor.is_none() {
                            (action_button(desk, key, ROTATE, texts().rotate_key))
                        }
                        (action_button(desk, key, REVOKE, texts().revoke_key))
                    }
                }
            }
        }
    }
}

/// Renders the state of a key: valid until a time or for good, revoked or expired, and since when.
fn key_state(key: &KeyRecord, now: Timestamp) -> Markup {
    if let Some(revoked_at) = key.revoked_at {
        return html! { (texts().revoked) (markup::time(revoked_at, now)) };
    }
    match key.expires_at {
        Some(end) if end <= now => html! { (texts().expired) (markup::time(end, now)) },
        Some(end) => html! { (texts().valid_until) (markup::time_and_distance(end, now)) },
        None => html! { (texts().valid) },
    }
}

/// Renders a button that changes a key: [`change_key`] executes `action`.
fn action_button(desk: &Desk<'_>, key: &KeyRecord, action: &str, label: &str) -> Markup {
    let class = if action == REVOKE { "danger" } else { "" };
    html! {
        form method="post" action={ (PAGE) "/" (key.id) } {
            (desk.idempotency_field(&format!("{action}-{}", key.id)))
            input type="hidden" name=(ACTION) value=(action);
            button class=(class) { (label) span.hidden { (window_texts().colon) (key.name) } }
        }
    }
}

/// Responds to `POST /settings/keys`: creates a key, and shows it once.
pub(crate) async fn add_key(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let name = form.get("name");
    let chosen_scope = Scope::ALL
        .into_iter()
        .find(|scope| scope.as_str() == form.raw("scope"));
    // The dropdown offers only valid scopes, so a missing one needs no message of its own.
    let scope = match chosen_scope {
        Some(scope) if is_valid_name(name) => scope,
        _ => return show_keys(desk, &Errors::from_text(texts().key_name_invalid)).await,
    };

    let deployment = desk.visit.console.settings.deployment;
    // Both requests of a double click generate the same key: see `already_created`.
    let key = ApiKey::generate(deployment, &mut desk.random_from_form());
    let new_key = NewKey {
        digest: key.digest(),
        name: name.to_owned(),
        scope,
        deployment,
        expires_at: None,
        rate_limit: None,
    };
    create_key_once(desk, &key, new_key).await?;
    Ok(key_page(&key))
}

/// Stores a new key, unless the other request of a double click has already stored it.
async fn create_key_once(desk: &Desk<'_>, key: &ApiKey, new_key: NewKey) -> Result<(), ApiError> {
    if already_created(desk, key).await? {
        return Ok(());
    }
    let context = desk.visit.context_without_idempotency(desk.session.actor());
    let result = desk.store().create_key(new_key, context).await;
    // The other request may have stored the key after the check.
    if let Err(error) = result
        && !already_created(desk, key).await?
    {
        return Err(error.into());
    }
    Ok(())
}

/// Whether a key can have this name: 1 to [`MAX_NAME_LENGTH`] characters, none of them a control
/// character.
fn is_valid_name(name: &str) -> bool {
    let length = name.chars().count();
    (1..=MAX_NAME_LENGTH).contains(&length) && !name.contains(char::is_control)
}

/// Whether this form has already created `key`, because of a double click. The same form always
/// generates the same key, so it is enough that the key exists: see [`Desk::random_from_form`].
async fn already_created(desk: &Desk<'_>, key: &ApiKey) -> Result<bool, ApiError> {
    Ok(desk.store().find_key(&key.digest()).await?.is_some())
}

/// Returns the page that shows a new key once.
fn key_page(key: &ApiKey) -> Reply {
    let hint = html! { (texts().new_key_hint) };
    let content = secret_card(&hint, key.reveal(), PAGE);
    settings_page(texts().new_key, None, &Errors::default(), &content)
}

/// Responds to `POST /settings/keys/{id}`: executes the action in the form, which is [`ROTATE`] or
/// [`REVOKE`]. The key can be one of another deployment, although the page does not show those.
pub(crate) async fn change_key(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let id = desk
        .path_id(|id| Some(KeyId(id)))
        .ok_or_else(ApiError::no_such_path)?;
    let key = desk
        .store()
        .get_key(id)
        .await?
        .ok_or_else(ApiError::no_such_path)?;
    match desk.visit.form.raw(ACTION) {
        REVOKE => revoke_key(desk, &key).await,
        ROTATE => rotate_key(desk, &key).await,
        _ => Err(ApiError::new(Problem::InvalidBody, texts().incomplete_form)),
    }
}

/// Revokes a key, once the manager has confirmed it.
async fn revoke_key(desk: &Desk<'_>, key: &KeyRecord) -> Result<Reply, ApiError> {
    let revocation = SettingChange {
        verb: texts().revoke_key,
        object: &key.name,
        effect: texts().revoke_effect,
        back_path: PAGE,
    };
    if let Some(question_page) = revocation.confirm(desk) {
        return Ok(question_page);
    }
    let context = desk.visit.context_without_idempotency(desk.session.actor());
    desk.store().revoke_key(key.id, context).await?;
    Ok(redirect_with_message(PAGE, "key-revoked"))
}

/// Rotates a key: creates its successor, and shows the successor once. A key that is not valid or
/// already has a successor is not rotated, and the page says so.
async fn rotate_key(desk: &Desk<'_>, key: &KeyRecord) -> Result<Reply, ApiError> {
    let new_key = ApiKey::generate(key.deployment, &mut desk.random_from_form());
    let is_rotated =
        store_successor(desk, key, &new_key).await? || already_created(desk, &new_key).await?;
    if is_rotated {
        return Ok(key_page(&new_key));
    }
    show_keys(desk, &Errors::from_text(texts().key_not_rotated)).await
}

/// Stores the successor of a key, and lets the key expire after [`OVERLAP_HOURS`]. Returns `false`
/// if the key is not valid or already has a successor.
async fn store_successor(
    desk: &Desk<'_>,
    key: &KeyRecord,
    new_key: &ApiKey,
) -> Result<bool, ApiError> {
    let now = desk.visit.now;
    if !key.is_valid_at(now) {
        return Ok(false);
    }
    let Some(successor) = key.successor_at(new_key.digest(), now) else {
        return Ok(false);
    };
    // The sum is out of range only at the end of the year 9999. The old key then expires at once.
    let end = now.checked_add(OVERLAP_HOURS.hours()).unwrap_or(now);
    let context = desk.visit.context_without_idempotency(desk.session.actor());
    let rotated_key = desk
        .store()
        .rotate_key(key.id, successor, end, context)
        .await?;
    Ok(rotated_key.is_some())
}
