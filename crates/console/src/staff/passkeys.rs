//! Passkeys: signing in with one, and those of a member.

use std::future::{Ready, ready};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use bytes::Bytes;
use hyper::StatusCode;
use petstore_domain::{
    staff::{Assertion, EndedSessions, Passkey, StaffChange, StaffMember, Token, line},
    store_area::ActType,
};
use petstore_languages::browser;
use petstore_store::StaffKey;
use petstore_web::edge::Response;
use serde_json::{Map, Value};
use tracing::warn;

use super::{
    account_page, make,
    passkey_button::{asking, host},
    second_factor::check_still_has_one,
    see, sign_in,
    then::Then,
};
use crate::{
    layout,
    openid::Failure,
    prelude::*,
    session::{self, Cookie},
    visit::Visit,
};

const PAGE: &str = "/account/passkeys";

/// How long a browser may take, in seconds.
const MAX_SECONDS: u32 = 5 * 60;

/// Why a passkey is refused that can be the right one.
const LATE: &str = "it was asked for more than 5 minutes ago, was used, or is of another browser";

/// `GET /sign-in/passkey`: what a passkey signs next in this browser. It follows from a random text in a cookie with a
/// key of the service, which stores nothing of what has begun.
pub(crate) fn challenge(visit: &Visit<'_>) -> Ready<Result<Response, ApiError>> {
    let secret = visit.console.with_random(Token::generate).reveal();
    let text = format!("{secret}.{}", visit.now.as_second());
    let challenge = Bytes::from(challenge_of(visit, &text));
    let mut response = layout::of_type("text/plain; charset=utf-8", challenge.into());
    Cookie::Passkey.set(visit, &mut response, &text, Some(MAX_SECONDS));
    ready(Ok(response))
}

fn challenge_of(visit: &Visit<'_>, text: &str) -> String {
    visit.tag_of(format!("challenge of passkey {text}").as_bytes())
}

/// A part of what a browser sends; empty if it is missing or invalid.
fn part(visit: &Visit<'_>, name: &str) -> Vec<u8> {
    BASE64.decode(visit.form.raw(name)).unwrap_or_default()
}

/// What a passkey of this browser says, with the host for which it is; each once, so `take` makes of it what counts.
/// Fails if it is for another purpose, another site, or another browser.
fn read<T>(
    visit: &Visit<'_>,
    purpose: &str,
    take: impl FnOnce(Assertion, &str) -> Result<T, &'static str>,
) -> Result<T, &'static str> {
    let host = host(visit).ok_or("there are no passkeys at this address")?;
    let [id, user, client, data, signature] =
        ["id", "user", "client", "data", "signature"].map(|name| part(visit, name));
    let said: Map<String, Value> =
        serde_json::from_slice(&client).map_err(|_| "the browser says nothing about the site")?;
    let text = Cookie::Passkey.get(visit).unwrap_or_default();
    let at = text
        .split_once('.')
        .and_then(|(_, at)| at.parse().ok())
        .unwrap_or(0);
    let (age, challenge) = (
        visit.now.as_second().saturating_sub(at),
        challenge_of(visit, text),
    );
    let says = |name: &str, value: &str| said.get(name).is_some_and(|said| said == value);
    let is_in_frame = said.get("crossOrigin").is_some_and(|is| is != false);
    let wrong = [
        (
            age >= MAX_SECONDS.into() || !says("challenge", &challenge),
            LATE,
        ),
        (!says("type", purpose), "it is for another purpose (type)"),
        (
            !says("origin", &visit.visitor.origin),
            "it is for another site (origin)",
        ),
        (
            is_in_frame || said.contains_key("topOrigin"),
            "it is from a frame (crossOrigin)",
        ),
    ];
    if let Some((_, why)) = wrong.into_iter().find(|(is, _)| *is) {
        return Err(why);
    }
    let taken = take(
        Assertion {
            id,
            user,
            client,
            data,
            signature,
        },
        host,
    )?;
    // Last, so that only somebody with a passkey can fill this memory.
    if !visit.console.used.challenges.take(&challenge, visit.now) {
        return Err(LATE);
    }
    Ok(taken)
}

/// `POST /sign-in/passkey`: without a password, after one, or to prove again who it is.
pub(crate) async fn sign_in_with_passkey(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let then = Then::sent(visit)?;
    let user = part(visit, "user");
    let who = sign_in::Who::default();
    let again = |wrong: &str, status| Ok(sign_in::form(visit, &then, Some(wrong), who, status));
    let id = StaffKey::Id(Passkey::member_of(&user));
    let member = visit.console.app.store.find_staff(id).await?;
    // Only a passkey has the rest of the handle, so a number names nobody.
    let member = member.filter(|of| of.passkeys.iter().any(|own| own.user == user));
    let known = member
        .as_ref()
        .filter(|of| session::is_known_browser(visit, of))
        .map(|of| of.id);
    if let Err(error) = visit.guess(visit.form.raw("user"), known) {
        return again(error.message(), StatusCode::TOO_MANY_REQUESTS);
    }
    let signed = read(visit, "webauthn.get", |of, host| {
        let active = member.clone().filter(|of| of.disabled_at.is_none());
        let mut active = active.ok_or("no member has it")?;
        active
            .use_passkey(&of, host, visit.now)
            .map(|details| (active, details))
    });
    let (member, details) = match signed {
        Ok(signed) => signed,
        Err(why) => {
            let cause = Failure::Invalid(why.to_owned());
            sign_in::rejected(visit, "passkey", member.as_ref(), Some(&cause)).await?;
            let wrong = if why == LATE {
                texts().passkey_late
            } else {
                texts().passkey_rejected
            };
            return again(wrong, StatusCode::FORBIDDEN);
        }
    };
    let meant = visit.form.raw("for");
    if !meant.is_empty() && meant != member.id.to_string() {
        return again(texts().passkey_of_another, StatusCode::FORBIDDEN);
    }
    let mut act = member.act(ActType::StaffSignedIn);
    act.details.extend(
        details
            .into_iter()
            .map(|(name, value)| (name.into(), value)),
    );
    match sign_in::let_in(visit, &member, Some(act)).await? {
        Some(token) => then.go(visit, &token, &member, "passkey").await,
        None => again(texts().passkey_late, StatusCode::FORBIDDEN),
    }
}

fn user_of(visit: &Visit<'_>, member: &StaffMember) -> Vec<u8> {
    let tag = visit.tag_of(format!("passkeys of staff {}", member.id).as_bytes());
    Passkey::user(member.id, &tag)
}

/// `GET /account/passkeys`.
pub(crate) async fn passkeys(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let Desk { visit, session, .. } = desk;
    let (member, now) = (&session.member, visit.now);
    if member.password.is_none() || !visit.console.has_passwords() {
        return Ok(Reply::See("/account".to_owned(), None));
    }
    let here = browser(&session.record.browser).map(|(of, system)| texts().browser_on(of, system));
    let typed = Some(visit.form.raw("name")).filter(|typed| !typed.is_empty());
    let value = typed.or(here.as_deref()).unwrap_or(texts().passkey);
    let name = Input {
        value,
        ..Input::from_form("name", texts().passkey_name, &visit.form, errors)
    };
    let ids: Vec<_> = member
        .passkeys
        .iter()
        .map(|of| BASE64.encode(&of.id))
        .collect();
    let labels = [
        texts().name,
        texts().added_at,
        texts().last_used,
        texts().actions,
    ];
    let rows = html! {
        @for (Passkey { name, created_at, used_at, .. }, id) in member.passkeys.iter().zip(&ids) {
            tr {
                td.first { bdi { (name) } }
                td data-label=(labels[1]) { (markup::time(*created_at, now)) }
                td data-label=(labels[2]) {
                    @if let Some(at) = used_at { (markup::time(*at, now)) } @else { (texts().never) }
                }
                td data-label=(labels[3]) {
                    form method="post" action="/account/passkeys/remove" {
                        (desk.key("remove"))
                        input type="hidden" name="id" value=(id);
                        button { (texts().remove_choice) span.hidden { (texts().for_member(name)) } }
                    }
                }
            }
        }
    };
    let content = html! {
        p { (texts().passkeys_hint) }
        @if !ids.is_empty() { (markup::table(&markup::headings(&labels), &rows)) }
        @if ids.len() >= Passkey::MAX { p { (texts().passkeys_full) } }
        @else if host(visit).is_none() { p { (texts().passkeys_elsewhere) } }
        @else {
            form.fields.card method="post" action=(PAGE) data-user=(BASE64.encode(user_of(visit, member)))
                data-member=(member.name.as_str()) data-present=(ids.join(" ")) {
                (desk.key("add"))
                (name.as_required().show())
                (asking(texts().add_passkey))
            }
        }
    };
    Ok(account_page(texts().passkeys, errors, &content))
}

/// `POST /account/passkeys`.
pub(crate) async fn add_passkey(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Desk { visit, session, .. } = desk;
    let (member, id) = (&session.member, part(visit, "id"));
    // A second click.
    if member.passkeys.iter().any(|own| own.id == id) {
        return Ok(see(PAGE, "passkey-added"));
    }
    let mut errors = Errors::default();
    let name = line(visit.form.raw("name"), 60).ok_or_else(|| texts().passkey_name_invalid);
    let Some(name) = errors.take("name", name) else {
        return passkeys(desk, &errors).await;
    };
    let staff = desk.store().list_staff().await?;
    let is_known = staff
        .iter()
        .flat_map(|of| &of.passkeys)
        .any(|of| of.id == id);
    let made = read(visit, "webauthn.create", |of, host| {
        if is_known || member.passkeys.len() >= Passkey::MAX || member.password.is_none() {
            return Err("a member has it, or this one can have no more");
        }
        let of = Assertion {
            user: user_of(visit, member),
            ..of
        };
        let algorithm = visit.form.raw("algorithm").parse().unwrap_or_default();
        Passkey::new(of, (algorithm, &part(visit, "key")), host, name, visit.now)
    });
    let made = match made {
        Ok(made) => made,
        Err(why) => {
            warn!(request_id = ?visit.request_id, "a new passkey was refused: {why}");
            let wrong = if why == LATE {
                texts().passkey_late
            } else {
                texts().passkey_unusable
            };
            return passkeys(desk, &Errors::from_text(wrong)).await;
        }
    };
    let all = [&member.passkeys[..], std::slice::from_ref(&made)].concat();
    change(desk, all, &made, ActType::StaffPasskeyAdded).await
}

/// `POST /account/passkeys/remove`.
pub(crate) async fn remove_passkey(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let (all, id) = (
        desk.session.member.passkeys.iter().cloned(),
        part(&desk.visit, "id"),
    );
    let (gone, kept): (Vec<_>, Vec<_>) = all.partition(|of| of.id == id);
    let Some(gone) = gone.first() else {
        return Ok(see(PAGE, "passkey-removed"));
    };
    change(desk, kept, gone, ActType::StaffPasskeyRemoved).await
}

/// Gives the member these passkeys, of which one is new, or one fewer, and ends the other sessions.
async fn change(
    desk: &Desk<'_>,
    all: Vec<Passkey>,
    one: &Passkey,
    kind: ActType,
) -> Result<Reply, ApiError> {
    let is_new = kind == ActType::StaffPasskeyAdded;
    let code = if is_new {
        "passkey-added"
    } else {
        "passkey-removed"
    };
    let seen = desk.session.member.version;
    let after = desk.session.member.clone().with_passkeys(all);
    check_still_has_one(desk, &after)?;
    let mut act = after.act(kind);
    act.details.push(("passkey".into(), one.name.clone()));
    let ends = EndedSessions::Others(desk.session.record.digest);
    make(
        desk,
        StaffChange {
            seen,
            after,
            ends,
            begins: None,
            act: Some(act),
        },
        PAGE,
        code,
    )
    .await
}
