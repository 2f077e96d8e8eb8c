//! The passkeys of a member: showing, adding and removing them.

use hyper::StatusCode;
use petstore_domain::{
    staff::{Assertion, EndedSessions, Passkey, PublicKey, StaffChange, StaffMember, parse_line},
    store_area::ActType,
};
use petstore_languages::browser;
use petstore_store::StaffKey;
use petstore_web::edge::Response;
use tracing::warn;

use super::{
    account_page,
    attempts::record_rejection,
    destination::Destination,
    passkey_assertion::{LATE_REASON, accept_assertion, decode_field, encode_base64url},
    passkey_button::{passkey_button, passkey_host},
    redirect_with_message,
    second_factor::check_still_has_one,
    sign_in::begin_session,
    sign_in_page::SignInPage,
    write_and_redirect,
};
use crate::{known_browsers, openid::Failure, prelude::*, visit::Visit};

/// The path of the page, to which its forms redirect.
const PAGE: &str = "/account/passkeys";

/// The maximum length of a passkey's name, in characters.
const MAX_NAME_LENGTH: usize = 60;

/// Responds to `POST /sign-in/passkey`: signs in with a passkey in place of a password, as the
/// second factor after a password, or to authenticate again in a session.
pub(crate) async fn sign_in_with_passkey(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let destination = Destination::from_form(visit)?;
    let ask_again = |message: &str, status| {
        let page = SignInPage::new(&destination)
            .with_message(message)
            .with_status(status);
        Ok(page.render(visit))
    };
    let claimed_member = find_member_by_handle(visit, &decode_field(visit, "user")).await?;
    let known_member = match &claimed_member {
        Some(member) if known_browsers::has_signed_in(visit, member) => Some(member.id),
        _ => None,
    };
    if let Err(error) = visit.count_attempt(visit.form.raw("user"), known_member) {
        return ask_again(error.message(), StatusCode::TOO_MANY_REQUESTS);
    }

    let result = accept_assertion(visit, "webauthn.get", |assertion, host| {
        let mut active_member = match claimed_member.clone() {
            Some(member) if member.disabled_at.is_none() => member,
            _ => return Err("no member has it"),
        };
        let details = active_member.use_passkey(&assertion, host, visit.now)?;
        Ok((active_member, details))
    });
    let (member, details) = match result {
        Ok(accepted) => accepted,
        Err(reason) => {
            let cause = Failure::Invalid(reason.to_owned());
            record_rejection(visit, "passkey", claimed_member.as_ref(), Some(&cause)).await?;
            let message = if reason == LATE_REASON {
                texts().passkey_late
            } else {
                texts().passkey_rejected
            };
            return ask_again(message, StatusCode::FORBIDDEN);
        }
    };
    let expected_member = visit.form.raw("for");
    if !expected_member.is_empty() && expected_member != member.id.to_string() {
        return ask_again(texts().passkey_of_another, StatusCode::FORBIDDEN);
    }

    let mut act = member.act(ActType::StaffSignedIn);
    for (name, value) in details {
        act.details.push((name.into(), value));
    }
    match begin_session(visit, &member, act).await? {
        Some(token) => {
            destination
                .complete_sign_in(visit, &token, &member, "passkey")
                .await
        }
        None => ask_again(texts().passkey_late, StatusCode::FORBIDDEN),
    }
}

/// Finds the member whose passkeys have this user handle. The whole handle must match: the member's
/// id in it is easy to guess, but the rest is known only to a passkey.
async fn find_member_by_handle(
    visit: &Visit<'_>,
    user_handle: &[u8],
) -> Result<Option<StaffMember>, ApiError> {
    let key = StaffKey::Id(Passkey::member_from_handle(user_handle));
    let member = visit.console.app.store.find_staff(key).await?;
    Ok(member.filter(|member| has_passkey_with(member, user_handle)))
}

/// Whether the member has a passkey with this handle.
fn has_passkey_with(member: &StaffMember, user_handle: &[u8]) -> bool {
    member
        .passkeys
        .iter()
        .any(|passkey| passkey.user == user_handle)
}

/// Returns the user handle (Web Authentication) with which a member's passkeys identify the member.
fn user_handle(visit: &Visit<'_>, member: &StaffMember) -> Vec<u8> {
    let signature = visit.sign(format!("passkeys of staff {}", member.id).as_bytes());
    Passkey::user_handle(member.id, &signature)
}

/// Responds to `GET /account/passkeys`, and to an invalid form with its errors.
pub(crate) async fn passkeys(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let member = &desk.session.member;
    if member.password.is_none() || !desk.visit.console.has_passwords() {
        return Ok(Reply::Redirect("/account".to_owned(), None));
    }
    let content = html! {
        p { (texts().passkeys_hint) }
        @if !member.passkeys.is_empty() { (passkey_table(desk)) }
        @if member.passkeys.len() >= Passkey::MAX {
            p { (texts().passkeys_full) }
        } @else if passkey_host(&desk.visit).is_none() {
            p { (texts().passkeys_elsewhere) }
        } @else {
            (new_passkey_form(desk, errors))
        }
    };
    Ok(account_page(texts().passkeys, errors, &content))
}

/// Renders the table of the member's passkeys, each with a button to remove it.
fn passkey_table(desk: &Desk<'_>) -> Markup {
    let labels = [
        texts().name,
        texts().added_at,
        texts().last_used,
        texts().actions,
    ];
    let rows = html! {
        @for passkey in &desk.session.member.passkeys { (passkey_row(desk, passkey)) }
    };
    markup::table(&markup::headings(&labels), &rows)
}

/// Renders the table row of a passkey.
fn passkey_row(desk: &Desk<'_>, passkey: &Passkey) -> Markup {
    let now = desk.visit.now;
    html! {
        tr {
            td.first { bdi { (passkey.name) } }
            td data-label=(texts().added_at) { (markup::time(passkey.created_at, now)) }
            td data-label=(texts().last_used) {
                @if let Some(used_at) = passkey.used_at {
                    (markup::time(used_at, now))
                } @else {
                    (texts().never)
                }
            }
            td data-label=(texts().actions) {
                form method="post" action="/account/passkeys/remove" {
                    (desk.key("remove"))
                    input type="hidden" name="id" value=(encode_base64url(&passkey.id));
                    button {
                        (texts().remove_choice)
                        span.hidden { (texts().for_member(&passkey.name)) }
                    }
                }
            }
        }
    }
}

/// Renders the form for adding a passkey, which suggests the name of the browser.
fn new_passkey_form(desk: &Desk<'_>, errors: &Errors) -> Markup {
    let Desk { visit, session, .. } = desk;
    let member = &session.member;
    let browser_name = browser(&session.record.browser)
        .map(|(browser, system)| texts().browser_on(browser, system));
    let mut name =
        Input::from_form("name", texts().passkey_name, &visit.form, errors).make_required();
    if name.value.is_empty() {
        name.value = browser_name.as_deref().unwrap_or(texts().passkey);
    }
    let present_ids: Vec<String> = member
        .passkeys
        .iter()
        .map(|passkey| encode_base64url(&passkey.id))
        .collect();
    html! {
        form.fields.card method="post" action=(PAGE)
            data-user=(encode_base64url(&user_handle(visit, member)))
            data-member=(member.name.as_str()) data-present=(present_ids.join(" ")) {
            (desk.key("add"))
            (name.show())
            (passkey_button(texts().add_passkey))
        }
    }
}

/// Responds to `POST /account/passkeys`: adds the passkey that the browser has just created.
pub(crate) async fn add_passkey(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Desk { visit, session, .. } = desk;
    let member = &session.member;
    let id = decode_field(visit, "id");
    // A double click submits a passkey that the member already has.
    if member.passkeys.iter().any(|passkey| passkey.id == id) {
        return Ok(redirect_with_message(PAGE, "passkey-added"));
    }
    let mut errors = Errors::default();
    let name = parse_line(visit.form.raw("name"), MAX_NAME_LENGTH)
        .ok_or_else(|| texts().passkey_name_invalid);
    let Some(name) = errors.take("name", name) else {
        return passkeys(desk, &errors).await;
    };
    let staff = desk.store().list_staff().await?;
    let has_owner = staff
        .iter()
        .flat_map(|member| &member.passkeys)
        .any(|passkey| passkey.id == id);

    let result = accept_assertion(visit, "webauthn.create", |assertion, host| {
        if has_owner || member.passkeys.len() >= Passkey::MAX || member.password.is_none() {
            return Err("a member has it, or this one can have no more");
        }
        let assertion = Assertion {
            user: user_handle(visit, member),
            ..assertion
        };
        let key = decode_field(visit, "key");
        let has_key = !key.is_empty();
        let public_key = has_key.then(|| PublicKey {
            algorithm: visit.form.raw("algorithm").parse().unwrap_or_default(),
            bytes: &key,
        });
        Passkey::new(assertion, public_key, host, name, visit.now)
    });
    match result {
        Ok(passkey) => {
            let mut passkeys = member.passkeys.clone();
            passkeys.push(passkey.clone());
            let kind = ActType::StaffPasskeyAdded;
            save_passkeys(desk, passkeys, &passkey, kind, "passkey-added").await
        }
        Err(reason) => {
            warn!(request_id = ?visit.request_id, "a new passkey was refused: {reason}");
            let message = if reason == LATE_REASON {
                texts().passkey_late
            } else {
                texts().passkey_unusable
            };
            passkeys(desk, &Errors::from_text(message)).await
        }
    }
}

/// Responds to `POST /account/passkeys/remove`. A passkey that has already been removed is not an
/// error.
pub(crate) async fn remove_passkey(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let id = decode_field(&desk.visit, "id");
    let mut passkeys = desk.session.member.passkeys.clone();
    let Some(index) = passkeys.iter().position(|passkey| passkey.id == id) else {
        return Ok(redirect_with_message(PAGE, "passkey-removed"));
    };
    let removed_passkey = passkeys.remove(index);
    let kind = ActType::StaffPasskeyRemoved;
    save_passkeys(desk, passkeys, &removed_passkey, kind, "passkey-removed").await
}

/// Replaces the member's passkeys by this list, and ends the member's other sessions. The audit
/// trail names the passkey that was added or removed.
async fn save_passkeys(
    desk: &Desk<'_>,
    passkeys: Vec<Passkey>,
    changed_passkey: &Passkey,
    kind: ActType,
    message_code: &str,
) -> Result<Reply, ApiError> {
    let member = &desk.session.member;
    let after = member.clone().with_passkeys(passkeys);
    check_still_has_one(desk, &after)?;
    let mut act = after.act(kind);
    act.details
        .push(("passkey".into(), changed_passkey.name.clone()));
    let change = StaffChange {
        seen_version: member.version,
        after,
        ended_sessions: EndedSessions::Others(desk.session.record.digest),
        new_session: None,
        act: Some(act),
    };
    write_and_redirect(desk, change, PAGE, message_code).await
}
