//! Sign-in with a password, followed by the second factor if the member has one.

use std::future::{Ready, ready};

use hyper::StatusCode;
use petstore_domain::{
    StaffId, StaffName,
    staff::{EndedSessions, SecondFactor, StaffChange, StaffMember, StaffSession, Token},
    store_area::{Act, ActType},
};
use petstore_store::{StaffKey, StaffWriteOutcome};
use petstore_web::edge::Response;

use super::{
    CODE,
    attempts::{SignInMethod, record_rejection},
    code_field,
    destination::Destination,
    passkey_button, problem_banner,
    saved_form::saved_form_page,
    sign_in_page::{Candidate, SignInPage},
    status_of,
};
use crate::{
    cookies::Cookie,
    known_browsers, layout,
    passwords::{QueueSlot, Sender},
    prelude::*,
    session::{self, NewSession, Session},
    visit::Visit,
};

/// Responds to `GET /sign-in` with the sign-in page. The query parameter `next` is the path of the
/// page to show after the sign-in.
pub(crate) fn sign_in_form(visit: &Visit<'_>) -> Ready<Result<Response, ApiError>> {
    let destination = Destination::from_path(visit, visit.query.raw("next"));
    ready(Ok(SignInPage::new(&destination).render(visit)))
}

/// Responds to `POST /sign-in/done`, which the original tab submits after the member has signed in
/// at the provider in another tab. Continues with the saved form.
pub(crate) async fn continue_here(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let destination = Destination::from_form(visit)?;
    let Some(Session { member, .. }) = session::resume(visit).await? else {
        let page = SignInPage::new(&destination).with_status(StatusCode::FORBIDDEN);
        return Ok(page.render(visit));
    };
    match &destination.saved_form {
        Some(saved_form) => {
            saved_form_page(visit, &member, &saved_form.path, &saved_form.form).await
        }
        None => Ok(layout::redirect(&destination.path)),
    }
}

/// The reason why a sign-in failed.
enum SignInFailure {
    /// The attempt was rejected. The member gets the sign-in page again, with this message.
    Rejected { message: String, status: StatusCode },
    /// The service itself failed.
    Service(ApiError),
}

impl SignInFailure {
    /// Returns the failure for a wrong name or password. The message does not reveal which one is
    /// wrong.
    fn wrong_password() -> Self {
        Self::Rejected {
            message: texts().sign_in_wrong.to_owned(),
            status: StatusCode::FORBIDDEN,
        }
    }
}

impl<E: Into<ApiError>> From<E> for SignInFailure {
    fn from(error: E) -> Self {
        Self::Service(error.into())
    }
}

/// Responds to `POST /sign-in`: signs in with a name and a password. After a rejected attempt,
/// returns the sign-in page with the typed name.
pub(crate) async fn sign_in(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let destination = Destination::from_form(visit)?;
    match sign_in_with_password(visit, &destination).await {
        Ok(response) => Ok(response),
        Err(SignInFailure::Service(error)) => Err(error),
        Err(SignInFailure::Rejected { message, status }) => {
            let candidate = Candidate {
                name: visit.form.raw("name"),
                member: None,
            };
            let page = SignInPage::new(&destination)
                .with_candidate(candidate)
                .with_message(&message)
                .with_status(status);
            Ok(page.render(visit))
        }
    }
}

/// Checks the name and the password in the form. Signs the member in, or asks for the second factor
/// if the member has one.
async fn sign_in_with_password(
    visit: &Visit<'_>,
    destination: &Destination,
) -> Result<Response, SignInFailure> {
    let member = check_password(visit).await?;
    if member.has_second_factor() {
        let new_session = NewSession::without_second_factor(visit, member.id);
        // The audit trail gets the sign-in only after the second factor.
        let no_act = None;
        let token = write_session(visit, &member, new_session, no_act)
            .await?
            .ok_or_else(SignInFailure::wrong_password)?;
        let mut response = code_page(visit, destination, &member, None);
        Cookie::Session.set(visit, &mut response, &token.reveal());
        return Ok(response);
    }

    let act = member.create_act(ActType::StaffSignedIn);
    let token = begin_session(visit, &member, act)
        .await?
        .ok_or_else(SignInFailure::wrong_password)?;
    let response = destination
        .complete_sign_in(visit, &token, &member, SignInMethod::Password)
        .await?;
    Ok(response)
}

/// Checks the name and the password in the form, and returns the member, who is not disabled.
/// Counts the attempt, and records its failure.
///
/// A hash is computed even for an unknown name, so that the response time does not reveal which
/// names exist.
async fn check_password(visit: &Visit<'_>) -> Result<StaffMember, SignInFailure> {
    if !visit.console.has_passwords() {
        return Err(SignInFailure::Rejected {
            message: texts().no_passwords.to_owned(),
            status: StatusCode::FORBIDDEN,
        });
    }

    let name_key = match StaffName::new(visit.form.raw("name")) {
        Some(name) => name.key(),
        None => String::new(),
    };
    let store = &visit.console.app.store;
    let member = store.find_staff(StaffKey::Name(name_key.clone())).await?;
    let slot = count_attempt_and_take_slot(visit, &name_key, member.as_ref())?;

    let active_member = member.filter(|member| member.disabled_at.is_none());
    let hash = active_member
        .as_ref()
        .and_then(|member| member.password.clone());
    let typed_password = visit.form.raw("password");
    let passwords = &visit.console.passwords;
    let is_right = passwords.verify(slot, typed_password, hash).await?;
    match active_member {
        Some(member) if is_right => Ok(member),
        rejected_member => {
            record_rejection(
                visit,
                SignInMethod::Password,
                rejected_member.as_ref(),
                None,
            )
            .await?;
            Err(SignInFailure::wrong_password())
        }
    }
}

/// Counts an attempt to sign in with a name, and takes a slot in the queue for password hashes.
/// `member` is the member with this name, if there is one. Fails after too many attempts, or if the
/// queue is full.
fn count_attempt_and_take_slot(
    visit: &Visit<'_>,
    name_key: &str,
    member: Option<&StaffMember>,
) -> Result<QueueSlot, SignInFailure> {
    let known_id = known_member_id(visit, member);
    let sender = match known_id {
        Some(_) => Sender::KnownMember,
        None => Sender::Stranger,
    };
    // Before the attempt is counted: a request that a full queue rejects is not an attempt.
    let slot = visit.console.passwords.acquire_slot(sender)?;
    match visit.count_attempt(name_key, known_id) {
        Ok(()) => Ok(slot),
        Err(error) => Err(SignInFailure::Rejected {
            message: error.message().to_owned(),
            status: StatusCode::TOO_MANY_REQUESTS,
        }),
    }
}

/// Returns the id of the member if the request comes from one of the member's [known
/// browsers](known_browsers); otherwise `None`.
pub(super) fn known_member_id(visit: &Visit<'_>, member: Option<&StaffMember>) -> Option<StaffId> {
    let member = member?;
    known_browsers::has_signed_in(visit, member).then_some(member.id)
}

/// Stores a new session of a member who is fully signed in, and records the act in the audit trail.
/// The new session replaces the browser's session. Returns the token of the new session; `None` if
/// somebody has just changed the member.
pub(super) async fn begin_session(
    visit: &Visit<'_>,
    member: &StaffMember,
    act: Act,
) -> Result<Option<Token>, ApiError> {
    let new_session = NewSession::confirmed(visit, member.id);
    write_session(visit, member, new_session, Some(act)).await
}

/// Stores a new session, which replaces the browser's session. Records the act in the audit trail,
/// if there is one. Returns the token of the new session like [`write_with_session`].
async fn write_session(
    visit: &Visit<'_>,
    member: &StaffMember,
    new_session: NewSession,
    act: Option<Act>,
) -> Result<Option<Token>, ApiError> {
    let change = StaffChange {
        seen_version: member.version,
        after: member.clone(),
        ended_sessions: session::sessions_ended_by_sign_in(visit),
        new_session: None,
        act,
    };
    write_with_session(visit, change, new_session).await
}

/// Writes a change of an existing member, and a new session of the member. Returns the token of the
/// new session; `None` if somebody has just changed the member.
async fn write_with_session(
    visit: &Visit<'_>,
    mut change: StaffChange,
    new_session: NewSession,
) -> Result<Option<Token>, ApiError> {
    let NewSession { token, record } = new_session;
    change.new_session = Some(record);
    let actor = session::actor_of(&change.after);
    match visit.write_member(change, actor).await? {
        StaffWriteOutcome::Stale => Ok(None),
        // The last two outcomes are only for new members.
        StaffWriteOutcome::Done(_) | StaffWriteOutcome::NameTaken | StaffWriteOutcome::Full => {
            Ok(Some(token))
        }
    }
}

/// Returns the page that asks for the second factor after a correct password: for a code, a
/// passkey, or either of them. `message` says why an attempt was rejected.
fn code_page(
    visit: &Visit<'_>,
    destination: &Destination,
    member: &StaffMember,
    message: Option<&str>,
) -> Response {
    let content = html! {
        (problem_banner(message))
        form.fields.card method="post" action="/sign-in/code" {
            (destination.hidden_fields())
            @if member.second_factor.is_some() {
                (code_field(texts().code).with_hint(texts().code_hint).show())
                div.buttons { button.main { (texts().continue_label) } }
            } @else {
                p { (texts().passkey_needed) }
            }
            @if !member.passkeys.is_empty() {
                (passkey_button::sign_in_button(visit, Some(member)))
            }
        }
    };
    layout::public_page(status_of(message), &visit.facts, texts().sign_in, &content)
}

/// Responds to `POST /sign-in/code`: checks the code of the second factor, and completes the
/// sign-in that began with the password.
pub(crate) async fn submit_code(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let destination = Destination::from_form(visit)?;
    let session = session::resume_any(visit).await?;
    let Some(Session { member, record }) =
        session.filter(|session| session.record.confirmed_at.is_none())
    else {
        let page = SignInPage::new(&destination)
            .with_message(texts().sign_in_ended)
            .with_status(StatusCode::FORBIDDEN);
        return Ok(page.render(visit));
    };
    let ask_again = |message: &str| code_page(visit, &destination, &member, Some(message));
    let known_id = known_member_id(visit, Some(&member));
    if let Err(error) = visit.count_attempt(&member.name.key(), known_id) {
        return Ok(ask_again(error.message()));
    }
    let Some(second_factor) = check_code(visit, &member)? else {
        record_rejection(visit, SignInMethod::Password, Some(&member), None).await?;
        return Ok(ask_again(texts().code_wrong));
    };

    let Some(token) = replace_session(visit, &member, &record, second_factor).await? else {
        return Ok(ask_again(texts().code_wrong));
    };
    destination
        .complete_sign_in(visit, &token, &member, SignInMethod::Password)
        .await
}

/// Replaces the session that waits for the second factor by one in which the member is fully signed
/// in, and marks the code as used. Returns the token of the new session. Returns `None` if a
/// concurrent request has used the code, or if somebody else has changed the member.
async fn replace_session(
    visit: &Visit<'_>,
    member: &StaffMember,
    waiting_session: &StaffSession,
    second_factor: SecondFactor,
) -> Result<Option<Token>, ApiError> {
    let new_session = NewSession::confirmed(visit, member.id);
    let change = member
        .clone()
        .change(
            |member| member.with_second_factor(Some(second_factor)),
            ActType::StaffSignedIn,
        )
        .with_ended_sessions(EndedSessions::One(waiting_session.digest));
    write_with_session(visit, change, new_session).await
}

/// Checks the code in the form, which is a one-time code or a recovery code. Returns the second
/// factor with the code marked as used; `None` if the code is wrong, or if the member has no codes.
fn check_code(visit: &Visit<'_>, member: &StaffMember) -> Result<Option<SecondFactor>, ApiError> {
    let Some(second_factor) = &member.second_factor else {
        return Ok(None);
    };
    let secret = visit
        .console
        .open_secret(member.id, &second_factor.sealed_secret)?;
    Ok(second_factor.with_used_code(visit.form.raw(CODE), &secret, visit.now))
}
