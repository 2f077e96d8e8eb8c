//! API keys, for managers: made, rotated and revoked.

use jiff::ToSpan;
use petstore_domain::{ApiKey, KeyId, KeyRecord, NewKey, Problem, Scope};

use super::{see, settings_page, shown_once};
use crate::{ask::Question, prelude::*};

const PAGE: &str = "/settings/keys";

/// For how long the old key stays valid after a rotation, in hours.
const OVERLAP: i64 = 24;

/// `GET /settings/keys`.
pub(crate) async fn keys(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let all = desk.store().list_keys().await?;
    let deployment = desk.visit.console.settings.deployment;
    let own = all.iter().filter(|key| key.deployment == deployment);
    let form = &desk.visit.form;
    let name =
        Input::from_form("name", texts().name, form, errors).with_hint(texts().key_name_hint);
    let scope = Input {
        value: match form.raw("scope") {
            "" => Scope::default().as_str(),
            scope => scope,
        },
        ..Input::from_form("scope", texts().what_key_allows, form, errors)
    };
    let scopes = Scope::ALL.map(|of| (of.as_str(), texts().scope(of)));
    let labels = [
        texts().name,
        texts().allows,
        texts().last_used,
        texts().state,
        texts().actions,
    ];
    let rows = html! { @for key in own { (row(desk, key)) } };
    let content = html! {
        div.stack {
            (markup::table(&markup::headings(&labels), &rows))
            section.card {
                h2 { (texts().add_key) }
                form.fields method="post" action=(PAGE) {
                    (desk.key("add"))
                    (name.as_required().show())
                    (scope.choose(&scopes))
                    div.buttons { button.main { (texts().add_key) } }
                }
            }
        }
    };
    Ok(settings_page((texts().keys, None), errors, &content))
}

fn row(desk: &Desk<'_>, key: &KeyRecord) -> Markup {
    let now = desk.visit.now;
    let action = format!("{PAGE}/{}", key.id);
    let button = |act: &str, class: &str, label: &str| {
        html! {
            form method="post" action=(action) {
                (desk.key(&format!("{act}-{}", key.id)))
                input type="hidden" name="do" value=(act);
                button class=(class) { (label) span.hidden { " " (key.name) } }
            }
        }
    };
    html! {
        tr {
            td.first { bdi { (key.name) } " (" (key.id) ")" }
            td data-label=(texts().allows) { (texts().scope(key.scope)) }
            td data-label=(texts().last_used) {
                @if let Some(at) = key.last_used_at { (markup::time(at, now)) } @else { (texts().never) }
                @if let Some(at) = key.last_deprecated_call_at {
                    br; (texts().called_get_pet) (markup::time(at, now))
                }
            }
            td data-label=(texts().state) {
                @if let Some(at) = key.revoked_at { (texts().revoked) (markup::time(at, now)) }
                @else if let Some(at) = key.expires_at {
                    @if at <= now { (texts().expired) (markup::time(at, now)) }
                    @else { (texts().valid_until) (markup::time_and_distance(at, now)) }
                } @else { (texts().valid) }
            }
            td data-label=(texts().actions) {
                @if key.is_valid_at(now) {
                    div.buttons {
                        @if key.successor.is_none() { (button("rotate", "", texts().rotate_key)) }
                        (button("revoke", "danger", texts().revoke_key))
                    }
                }
            }
        }
    }
}

/// `POST /settings/keys`.
pub(crate) async fn add_key(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let name = form.get("name");
    let scope = Scope::ALL
        .into_iter()
        .find(|scope| scope.as_str() == form.raw("scope"));
    let is_name = (1..=255).contains(&name.chars().count()) && !name.contains(char::is_control);
    let (true, Some(scope)) = (is_name, scope) else {
        return keys(desk, &Errors::from_text(texts().key_name_invalid)).await;
    };
    let deployment = desk.visit.console.settings.deployment;
    let key = ApiKey::generate(deployment, &mut desk.random_of_form());
    let (digest, name) = (key.digest(), name.to_owned());
    let new = NewKey {
        digest,
        name,
        scope,
        deployment,
        expires_at: None,
        rate_limit: None,
    };
    if was_made(desk, &key).await? {
        return Ok(key_page(&key));
    }
    let context = desk.visit.context(desk.session.actor());
    match desk.store().create_key(new, context).await {
        Ok(_) => Ok(key_page(&key)),
        // A second click that arrives at the same moment.
        Err(_) if was_made(desk, &key).await? => Ok(key_page(&key)),
        Err(error) => Err(error.into()),
    }
}

/// Whether this form has made its key before.
async fn was_made(desk: &Desk<'_>, key: &ApiKey) -> Result<bool, ApiError> {
    Ok(desk.store().find_key(&key.digest()).await?.is_some())
}

/// Shows a key once.
fn key_page(key: &ApiKey) -> Reply {
    let content = shown_once(&html! { (texts().new_key_hint) }, key.reveal(), PAGE);
    settings_page((texts().new_key, None), &Errors::default(), &content)
}

/// `POST /settings/keys/{id}`: `do` is `rotate` or `revoke`.
pub(crate) async fn change_key(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let id = desk
        .id(|id| Some(KeyId(id)))
        .ok_or_else(ApiError::no_such_path)?;
    let (store, now) = (desk.store(), desk.visit.now);
    let key = store
        .get_key(id)
        .await?
        .ok_or_else(ApiError::no_such_path)?;
    let context = desk.visit.context(desk.session.actor());
    match desk.visit.form.raw("do") {
        "revoke" => {
            let (verb, effect) = (texts().revoke_key, texts().revoke_effect.to_owned());
            if let Some(asked) = Question::of_setting(desk, verb, &key.name, effect, PAGE) {
                return Ok(asked);
            }
            store.revoke_key(id, context).await?;
            Ok(see(PAGE, "key-revoked"))
        }
        "rotate" => {
            let secret = ApiKey::generate(key.deployment, &mut desk.random_of_form());
            let until = now.checked_add(OVERLAP.hours()).unwrap_or(now);
            let new = key
                .is_valid_at(now)
                .then(|| key.successor_at(secret.digest(), now));
            let rotated = match new.flatten() {
                Some(new) => store.rotate_key(id, new, until, context).await?,
                None => None,
            };
            if rotated.is_some() || was_made(desk, &secret).await? {
                return Ok(key_page(&secret));
            }
            keys(desk, &Errors::from_text(texts().key_not_rotated)).await
        }
        _ => Err(ApiError::new(Problem::InvalidBody, texts().incomplete_form)),
    }
}
