//! Signing in with a password, and with the second factor after it.

use std::future::{Ready, ready};

use hyper::StatusCode;
use petstore_domain::{
    StaffId, StaffName,
    staff::{EndedSessions, SecondFactor, StaffChange, StaffMember, Token},
    store_area::{Act, ActType},
};
use petstore_store::{StaffKey, StaffWriteOutcome};
use petstore_web::edge::Response;

use super::{
    attempts::record_rejection,
    code_input,
    destination::Destination,
    kept, passkey_button, problem,
    sign_in_page::{self, Candidate},
    status_of,
};
use crate::{
    layout,
    prelude::*,
    session::{self, Cookie, NewSession, Session},
    visit::Visit,
};

/// Responds to `GET /sign-in`.
pub(crate) fn sign_in_form(visit: &Visit<'_>) -> Ready<Result<Response, ApiError>> {
    let destination = Destination::from_path(visit, visit.query.raw("next"));
    ready(Ok(sign_in_page::page(
        visit,
        &destination,
        None,
        Candidate::default(),
        StatusCode::OK,
    )))
}

/// Responds to `POST /sign-in/done`: a member who used another tab to sign in continues with the form in this tab.
pub(crate) async fn continue_here(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let destination = Destination::from_form(visit)?;
    let Some(Session { member, .. }) = session::find(visit).await? else {
        return Ok(sign_in_page::page(
            visit,
            &destination,
            None,
            Candidate::default(),
            StatusCode::FORBIDDEN,
        ));
    };
    match &destination.kept_form {
        Some(kept_form) => kept::page(visit, &member, &kept_form.path, &kept_form.form).await,
        None => Ok(layout::redirect(&destination.path)),
    }
}

/// Responds to `POST /sign-in`.
pub(crate) async fn sign_in(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let destination = Destination::from_form(visit)?;
    let candidate = Candidate {
        name: visit.form.raw("name"),
        member: None,
    };
    let ask_again = |message: &str, status| {
        sign_in_page::page(visit, &destination, Some(message), candidate, status)
    };
    if !visit.console.has_passwords() {
        return Ok(ask_again(texts().no_passwords, StatusCode::FORBIDDEN));
    }

    let key = match StaffName::new(candidate.name) {
        Some(name) => name.key(),
        None => String::new(),
    };
    let store = &visit.console.app.store;
    let member = store.find_staff(StaffKey::Name(key.clone())).await?;
    let known_member = known_member(visit, member.as_ref());
    // First, because an attempt that finds no place does not count.
    let place = visit.console.passwords.place(known_member.is_some())?;
    if let Err(error) = visit.guess(&key, known_member) {
        return Ok(ask_again(error.message(), StatusCode::TOO_MANY_REQUESTS));
    }

    let active_member = member.filter(|member| member.disabled_at.is_none());
    let hash = active_member
        .as_ref()
        .and_then(|member| member.password.clone());
    let typed_password = visit.form.raw("password");
    let passwords = &visit.console.passwords;
    let is_right = passwords.is_right(place, typed_password, hash).await?;
    let member = match active_member {
        Some(member) if is_right => member,
        rejected_member => {
            record_rejection(visit, "password", rejected_member.as_ref(), None).await?;
            return Ok(ask_again(texts().sign_in_wrong, StatusCode::FORBIDDEN));
        }
    };

    let needs_code = member.has_second_factor();
    let act = (!needs_code).then(|| member.act(ActType::StaffSignedIn));
    let Some(token) = begin_session(visit, &member, act).await? else {
        return Ok(ask_again(texts().sign_in_wrong, StatusCode::FORBIDDEN));
    };
    if needs_code {
        let mut response = code_page(visit, &destination, &member, None);
        Cookie::Session.set(visit, &mut response, &token.reveal(), None);
        return Ok(response);
    }
    destination.enter(visit, &token, &member, "password").await
}

/// Returns the member, if the member has signed in in this browser before.
fn known_member(visit: &Visit<'_>, member: Option<&StaffMember>) -> Option<StaffId> {
    let member = member?;
    session::is_known_browser(visit, member).then_some(member.id)
}

/// Begins a session in place of the browser's present one. Without an act, the second factor is missing in the session.
/// Returns `None` if the member has just changed.
pub(super) async fn begin_session(
    visit: &Visit<'_>,
    member: &StaffMember,
    act: Option<Act>,
) -> Result<Option<Token>, ApiError> {
    let NewSession { token, record } = session::begin(visit, member.id, act.is_some());
    let change = StaffChange {
        seen_version: member.version,
        after: member.clone(),
        ended_sessions: session::ended_by_sign_in(visit),
        new_session: Some(record),
        act,
    };
    match visit.write(change, session::actor(member)).await? {
        StaffWriteOutcome::Stale => Ok(None),
        _ => Ok(Some(token)),
    }
}

/// Returns the page for the second factor, after the password.
fn code_page(
    visit: &Visit<'_>,
    destination: &Destination,
    member: &StaffMember,
    message: Option<&str>,
) -> Response {
    let content = html! {
        (problem(message))
        form.fields.card method="post" action="/sign-in/code" {
            (destination.hidden_fields())
            @if member.second_factor.is_some() {
                (code_input(texts().code, Some(texts().code_hint)))
                div.buttons { button.main { (texts().continue_label) } }
            } @else {
                p { (texts().passkey_needed) }
            }
            @if !member.passkeys.is_empty() {
                (passkey_button::sign_in_button(visit, Some(member)))
            }
        }
    };
    layout::page(status_of(message), &visit.facts, texts().sign_in, &content)
}

/// Responds to `POST /sign-in/code`.
pub(crate) async fn give_code(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let destination = Destination::from_form(visit)?;
    let session = session::find_with_or_without_code(visit).await?;
    let Some(Session { member, record }) =
        session.filter(|session| session.record.confirmed_at.is_none())
    else {
        return Ok(sign_in_page::page(
            visit,
            &destination,
            Some(texts().sign_in_ended),
            Candidate::default(),
            StatusCode::FORBIDDEN,
        ));
    };
    let ask_again = |message: &str| code_page(visit, &destination, &member, Some(message));
    let known_member = known_member(visit, Some(&member));
    if let Err(error) = visit.guess(&member.name.key(), known_member) {
        return Ok(ask_again(error.message()));
    }
    let Some(second_factor) = check_code(visit, &member)? else {
        record_rejection(visit, "password", Some(&member), None).await?;
        return Ok(ask_again(texts().code_wrong));
    };

    let new_session = session::begin(visit, member.id, true);
    let mut change = member
        .clone()
        .change(
            |member| member.with_second_factor(Some(second_factor)),
            ActType::StaffSignedIn,
        )
        .with_ended_sessions(EndedSessions::One(record.digest));
    change.new_session = Some(new_session.record);
    // Another request can have used the code, and somebody else can have changed the member.
    if visit.write(change, session::actor(&member)).await? == StaffWriteOutcome::Stale {
        return Ok(ask_again(texts().code_wrong));
    }
    destination
        .enter(visit, &new_session.token, &member, "password")
        .await
}

/// Checks the code in the form. Returns the second factor after the use of the code, or `None` if the code is wrong.
fn check_code(visit: &Visit<'_>, member: &StaffMember) -> Result<Option<SecondFactor>, ApiError> {
    let Some(second_factor) = &member.second_factor else {
        return Ok(None);
    };
    let secret = visit
        .console
        .open_secret(member.id, &second_factor.sealed_secret)?;
    Ok(second_factor.with_used_code(visit.form.raw("code"), &secret, visit.now))
}
