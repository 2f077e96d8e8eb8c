//! API keys, for managers: made, rotated and revoked.

use jiff::ToSpan;
use maud::{Markup, html};

use super::{done, settings_page, shown_once};
use crate::{
    console::{call::PageCall, forms::Input, markup, redirect, texts},
    domain::{ApiKey, KeyId, KeyRecord, NewKey, Scope},
    http::{ApiError, Problem, Response},
    text,
};

const PAGE: &str = "/settings/keys";

/// For how long the old key stays valid after a rotation, in hours.
const OVERLAP: i64 = 24;

/// `GET /settings/keys`.
pub(in crate::console) async fn keys(call: &PageCall<'_>) -> Result<Response, ApiError> {
    page(call, None).await
}

async fn page(call: &PageCall<'_>, wrong: Option<&str>) -> Result<Response, ApiError> {
    let PageCall { visit, session } = call;
    let all = visit.console.app.store.list_keys().await?;
    let deployment = visit.console.settings.deployment;
    let own = all.iter().filter(|key| key.deployment == deployment);
    let message = (visit.form.get("done") == "revoke").then_some(texts::KEY_REVOKED);
    let name = Input {
        id: "name",
        label: texts::NAME,
        value: visit.form.get("name"),
        hint: Some(texts::KEY_NAME_HINT),
        is_required: true,
        ..Input::default()
    };
    let scope = Input {
        id: "scope",
        label: texts::WHAT_KEY_ALLOWS,
        value: match visit.form.get("scope") {
            "" => Scope::default().as_str(),
            scope => scope,
        },
        ..Input::default()
    };
    let scopes = Scope::ALL.map(|of| (of.as_str().to_owned(), texts::scope(of).to_owned()));
    let labels = [texts::NAME, texts::ALLOWS, texts::LAST_USED, texts::STATE, texts::ACTIONS];
    let content = html! {
        (done(message))
        div.stack {
            div.table {
                table {
                    thead { tr { @for label in labels { th scope="col" { (label) } } } }
                    tbody { @for key in own { (row(call, key)) } }
                }
            }
            section.card {
                h2 { (texts::ADD_KEY) }
                form.fields method="post" action=(PAGE) {
                    (call.key_field())
                    (name.show())
                    (scope.choose(&scopes))
                    div.buttons { button.main { (texts::ADD_KEY) } }
                }
            }
        }
    };
    Ok(settings_page(texts::KEYS, session, wrong, &content))
}

fn row(call: &PageCall<'_>, key: &KeyRecord) -> Markup {
    let now = call.visit.now;
    let action = format!("{PAGE}/{}", key.id);
    let button = |act: &str, class: &str, label: &str| {
        html! {
            form method="post" action=(action) {
                (call.key_field())
                input type="hidden" name="do" value=(act);
                button class=(class) { (label) span.hidden { " " (key.name) } }
            }
        }
    };
    html! {
        tr {
            td.first { bdi { (key.name) } " (" (key.id) ")" }
            td data-label=(texts::ALLOWS) { (texts::scope(key.scope)) }
            td data-label=(texts::LAST_USED) {
                @if let Some(at) = key.last_used_at { (markup::time(at, now)) } @else { (texts::NEVER) }
                @if let Some(at) = key.last_deprecated_call_at {
                    br; (texts::CALLED_GET_PET) (markup::time(at, now))
                }
            }
            td data-label=(texts::STATE) {
                @if let Some(at) = key.revoked_at { (texts::REVOKED) (markup::time(at, now)) }
                @else if let Some(at) = key.expires_at {
                    @if at <= now { (texts::EXPIRED) (markup::time(at, now)) }
                    @else { (texts::VALID_UNTIL) (markup::time_and_distance(at, now)) }
                } @else { (texts::VALID) }
            }
            td data-label=(texts::ACTIONS) {
                @if key.is_valid_at(now) {
                    div.buttons {
                        @if key.successor.is_none() { (button("rotate", "", texts::ROTATE_KEY)) }
                        (button("revoke", "danger", texts::REVOKE_KEY))
                    }
                }
            }
        }
    }
}

/// `POST /settings/keys`.
pub(in crate::console) async fn add_key(call: &PageCall<'_>) -> Result<Response, ApiError> {
    let PageCall { visit, session } = call;
    let name = visit.form.get("name").trim();
    let scope = Scope::ALL.into_iter().find(|scope| scope.as_str() == visit.form.get("scope"));
    let is_name = (1..=255).contains(&name.chars().count()) && !name.contains(char::is_control);
    let (true, Some(scope)) = (is_name, scope) else {
        return page(call, Some(texts::KEY_NAME_INVALID)).await;
    };
    let deployment = visit.console.settings.deployment;
    let key = ApiKey::generate(deployment, &mut call.random_of_form());
    let (digest, name) = (key.digest(), name.to_owned());
    let new = NewKey { digest, name, scope, deployment, expires_at: None, rate_limit: None };
    let context = visit.context(session.actor());
    if was_made(call, &key).await? {
        return Ok(key_page(call, &key));
    }
    match visit.console.app.store.create_key(new, context).await {
        Ok(_) => Ok(key_page(call, &key)),
        // A second click that arrives at the same moment.
        Err(_) if was_made(call, &key).await? => Ok(key_page(call, &key)),
        Err(error) => Err(error.into()),
    }
}

/// Whether this form has made its key before.
async fn was_made(call: &PageCall<'_>, key: &ApiKey) -> Result<bool, ApiError> {
    Ok(call.visit.console.app.store.find_key(&key.digest()).await?.is_some())
}

/// Shows a key once.
fn key_page(call: &PageCall<'_>, key: &ApiKey) -> Response {
    let content = shown_once(&html! { (texts::NEW_KEY_HINT) }, key.reveal(), PAGE);
    settings_page(texts::NEW_KEY, &call.session, None, &content)
}

/// `POST /settings/keys/{id}`: `do` is `rotate` or `revoke`.
pub(in crate::console) async fn change_key(call: &PageCall<'_>) -> Result<Response, ApiError> {
    let PageCall { visit, session } = call;
    let id = text::integer(visit.parameter).map(KeyId).ok_or_else(ApiError::no_such_path)?;
    let store = &visit.console.app.store;
    let key = store.get_key(id).await?.ok_or_else(ApiError::no_such_path)?;
    let context = visit.context(session.actor());
    match visit.form.get("do") {
        "revoke" => {
            store.revoke_key(id, context).await?;
            Ok(redirect("/settings/keys?done=revoke"))
        }
        "rotate" => {
            let secret = ApiKey::generate(key.deployment, &mut call.random_of_form());
            let until = visit.now.checked_add(OVERLAP.hours()).unwrap_or(visit.now);
            let new =
                key.is_valid_at(visit.now).then(|| key.successor_at(secret.digest(), visit.now));
            let rotated = match new.flatten() {
                Some(new) => store.rotate_key(id, new, until, context).await?,
                None => None,
            };
            match rotated {
                Some(_) => Ok(key_page(call, &secret)),
                None if was_made(call, &secret).await? => Ok(key_page(call, &secret)),
                None => page(call, Some(texts::KEY_NOT_ROTATED)).await,
            }
        }
        _ => Err(ApiError::new(Problem::InvalidBody, texts::INCOMPLETE_FORM)),
    }
}
