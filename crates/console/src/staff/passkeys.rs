//! The passkeys of members: signing in with them, and the page to show, add and remove them.

use hyper::StatusCode;
use petstore_domain::{
    staff::{Assertion, EndedSessions, Passkey, PublicKey, StaffChange, StaffMember, parse_line},
    store_area::{Act, ActType},
};
use petstore_languages::browser;
use petstore_store::StaffKey;
use petstore_web::edge::Response;
use tracing::warn;

use super::{
    account_page,
    attempts::{SignInMethod, record_rejection},
    destination::Destination,
    passkey_assertion::{PasskeyRejection, accept_assertion, decode_field, encode_base64url},
    passkey_button::{passkey_button, passkey_host},
    redirect_with_message,
    second_factor::check_keeps_second_factor,
    sign_in::{begin_session, known_member_id},
    sign_in_page::SignInPage,
    write_and_redirect,
};
use crate::{openid::Failure, prelude::*, visit::Visit};

/// The path of the page, to which its forms redirect.
const PAGE: &str = "/account/passkeys";

/// The maximum length of a passkey's name, in characters.
const MAX_NAME_LENGTH: usize = 60;

/// Responds to `POST /sign-in/passkey`: signs in with a passkey. It can replace the password, be
/// the second factor after a password, or authenticate a signed-in member again.
pub(crate) async fn sign_in_with_passkey(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let destination = Destination::from_form(visit)?;
    let error_page = |message: &str, status| {
        SignInPage::new(&destination)
            .with_message(message)
            .with_status(status)
            .render(visit)
    };
    let claimed_member = find_member_by_handle(visit, &decode_field(visit, "user")).await?;
    let known_id = known_member_id(visit, claimed_member.as_ref());
    // The user handle identifies the member, so the attempt is counted by it instead of a name.
    if let Err(error) = visit.count_attempt(visit.form.raw("user"), known_id) {
        return Ok(error_page(error.message(), StatusCode::TOO_MANY_REQUESTS));
    }

    let PasskeySignIn { member, act } = match verify_passkey(visit, claimed_member.as_ref()) {
        Ok(sign_in) => sign_in,
        Err(rejection) => {
            let cause = Failure::Invalid(rejection.reason().to_owned());
            let method = SignInMethod::Passkey;
            record_rejection(visit, method, claimed_member.as_ref(), Some(&cause)).await?;
            let message = rejection.message(texts().passkey_rejected);
            return Ok(error_page(message, StatusCode::FORBIDDEN));
        }
    };
    if !is_expected(visit, &member) {
        let message = texts().passkey_of_another;
        return Ok(error_page(message, StatusCode::FORBIDDEN));
    }

    let Some(token) = begin_session(visit, &member, act).await? else {
        return Ok(error_page(texts().passkey_late, StatusCode::FORBIDDEN));
    };
    destination
        .complete_sign_in(visit, &token, &member, SignInMethod::Passkey)
        .await
}

/// Whether the form accepts a passkey of this member. The field `for` has the id of the member
/// whose second factor this is, or who must authenticate again. It is empty for a sign-in as any
/// member.
fn is_expected(visit: &Visit<'_>, member: &StaffMember) -> bool {
    let expected_id = visit.form.raw("for");
    expected_id.is_empty() || expected_id == member.id.to_string()
}

/// A sign-in with a verified passkey.
struct PasskeySignIn {
    /// The member, with the updated passkey.
    member: StaffMember,
    /// The sign-in for the audit trail.
    act: Act,
}

/// Verifies the passkey in the form. Fails unless it is a passkey of `claimed_member`, and this
/// member is not disabled.
fn verify_passkey(
    visit: &Visit<'_>,
    claimed_member: Option<&StaffMember>,
) -> Result<PasskeySignIn, PasskeyRejection> {
    accept_assertion(visit, "webauthn.get", |assertion, host| {
        let mut member = match claimed_member {
            Some(member) if member.disabled_at.is_none() => member.clone(),
            _ => return Err("no member has it"),
        };
        let act = member.use_passkey(&assertion, host, visit.now)?;
        Ok(PasskeySignIn { member, act })
    })
}

/// Finds the member whose passkeys have this user handle; `None` if there is none. The whole handle
/// must match, because anybody can guess the member's id in it, but only a passkey of the member
/// knows the rest.
async fn find_member_by_handle(
    visit: &Visit<'_>,
    user_handle: &[u8],
) -> Result<Option<StaffMember>, ApiError> {
    let key = StaffKey::Id(Passkey::member_from_handle(user_handle));
    let member = visit.console.app.store.find_staff(key).await?;
    Ok(member.filter(|member| has_passkey_with_handle(member, user_handle)))
}

/// Whether the member has a passkey with this user handle.
fn has_passkey_with_handle(member: &StaffMember, user_handle: &[u8]) -> bool {
    member
        .passkeys
        .iter()
        .any(|passkey| passkey.user == user_handle)
}

/// Returns the user handle (Web Authentication), by which the passkeys of a member identify the
/// member.
fn user_handle(visit: &Visit<'_>, member: &StaffMember) -> Vec<u8> {
    let signature = visit.sign(format!("passkeys of staff {}", member.id).as_bytes());
    Passkey::user_handle(member.id, &signature)
}

/// Responds to `GET /account/passkeys`, and renders the page again after an invalid form. Members
/// without a password have no passkeys, and are redirected to their account.
pub(crate) async fn show_passkeys(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let member = &desk.session.member;
    if member.password.is_none() || !desk.visit.console.has_passwords() {
        return Ok(Reply::redirect_to("/account"));
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
                    (desk.idempotency_field("remove"))
                    input type="hidden" name="id" value=(encode_base64url(&passkey.id));
                    button {
                        (texts().remove_choice)
                        span.hidden { (window_texts().colon) (passkey.name) }
                    }
                }
            }
        }
    }
}

/// Renders the form for adding a passkey, and suggests the name of the browser. The page's
/// script reads the data attributes, has the browser create the passkey, and submits the form.
fn new_passkey_form(desk: &Desk<'_>, errors: &Errors) -> Markup {
    let Desk { visit, session, .. } = desk;
    let member = &session.member;
    let suggested_name = match browser(&session.record.browser) {
        Some((browser, system)) => texts().browser_on(browser, system),
        None => texts().passkey.to_owned(),
    };
    let mut name =
        Input::from_form("name", texts().passkey_name, &visit.form, errors).make_required();
    if name.value.is_empty() {
        name.value = &suggested_name;
    }
    let existing_ids: Vec<String> = member
        .passkeys
        .iter()
        .map(|passkey| encode_base64url(&passkey.id))
        .collect();
    html! {
        form.fields.card method="post" action=(PAGE)
            data-user=(encode_base64url(&user_handle(visit, member)))
            data-member=(member.name.as_str()) data-present=(existing_ids.join(" ")) {
            (desk.idempotency_field("add"))
            (name.show())
            (passkey_button(texts().add_passkey))
        }
    }
}

/// Responds to `POST /account/passkeys`: verifies the passkey that the browser has just created,
/// and adds it to the passkeys of the member.
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
    let Some(name) = errors.ok_or_add("name", name) else {
        return show_passkeys(desk, &errors).await;
    };
    let is_id_taken = is_passkey_id_taken(desk, &id).await?;
    match verify_new_passkey(visit, member, name, is_id_taken) {
        Ok(passkey) => {
            let mut passkeys = member.passkeys.clone();
            passkeys.push(passkey.clone());
            let act_type = ActType::StaffPasskeyAdded;
            save_passkeys(desk, passkeys, &passkey, act_type, "passkey-added").await
        }
        Err(rejection) => {
            let reason = rejection.reason();
            warn!(request_id = ?visit.request_id, "a new passkey was refused: {reason}");
            let message = rejection.message(texts().passkey_unusable);
            show_passkeys(desk, &Errors::from_text(message)).await
        }
    }
}

/// Whether any member has a passkey with this id.
async fn is_passkey_id_taken(desk: &Desk<'_>, id: &[u8]) -> Result<bool, ApiError> {
    let staff = desk.store().list_staff().await?;
    let mut passkeys = staff.iter().flat_map(|member| &member.passkeys);
    Ok(passkeys.any(|passkey| passkey.id == id))
}

/// Verifies the new passkey in the form. Fails if it is invalid, if its id is taken, or if the
/// member cannot have another passkey.
fn verify_new_passkey(
    visit: &Visit<'_>,
    member: &StaffMember,
    name: String,
    is_id_taken: bool,
) -> Result<Passkey, PasskeyRejection> {
    accept_assertion(visit, "webauthn.create", |assertion, host| {
        if is_id_taken || member.passkeys.len() >= Passkey::MAX || member.password.is_none() {
            return Err("a member has it, or this one can have no more");
        }
        // The response to a registration has no user handle. The page has given it to the browser.
        let own_assertion = Assertion {
            user: user_handle(visit, member),
            ..assertion
        };
        let key_bytes = decode_field(visit, "key");
        let public_key = if key_bytes.is_empty() {
            // `Passkey::new` then reads the key from the authenticator's data.
            None
        } else {
            Some(PublicKey {
                // An invalid algorithm becomes 0, which is none of the allowed ones.
                algorithm: visit.form.raw("algorithm").parse().unwrap_or_default(),
                bytes: &key_bytes,
            })
        };
        Passkey::new(own_assertion, public_key, host, name, visit.now)
    })
}

/// Responds to `POST /account/passkeys/remove`: removes the passkey with the id in the form. If it
/// was removed before, this is not an error.
pub(crate) async fn remove_passkey(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let id = decode_field(&desk.visit, "id");
    let mut passkeys = desk.session.member.passkeys.clone();
    let Some(index) = passkeys.iter().position(|passkey| passkey.id == id) else {
        return Ok(redirect_with_message(PAGE, "passkey-removed"));
    };
    let removed_passkey = passkeys.remove(index);
    let act_type = ActType::StaffPasskeyRemoved;
    save_passkeys(
        desk,
        passkeys,
        &removed_passkey,
        act_type,
        "passkey-removed",
    )
    .await
}

/// Replaces the member's passkeys by this list, and ends the member's other sessions. The audit
/// trail names the passkey that was added or removed. Fails with 403 if the member would lose a
/// second factor that the settings require.
async fn save_passkeys(
    desk: &Desk<'_>,
    passkeys: Vec<Passkey>,
    changed_passkey: &Passkey,
    act_type: ActType,
    message_code: &str,
) -> Result<Reply, ApiError> {
    let member = &desk.session.member;
    let after = member.clone().with_passkeys(passkeys);
    check_keeps_second_factor(desk, &after)?;
    let mut act = after.create_act(act_type);
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
