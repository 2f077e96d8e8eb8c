//! Sign-in at the OpenID provider: redirects the browser there, and handles the callback with which
//! the browser returns.

use std::future::{Ready, ready};

use hyper::StatusCode;
use jiff::Timestamp;
use petstore_app::turns::Caller;
use petstore_domain::{
    Actor, NamedActor, Problem, Role,
    staff::{StaffChange, StaffMember, StaffSession, Token},
};
use petstore_store::StaffWriteOutcome;
use petstore_web::edge::Response;

use super::{
    attempts::{SignInMethod, count_success},
    changed_meanwhile,
    pending_sign_in::PendingSignIn,
    provider_decision::{SignInChange, decide_sign_in},
    provider_rejection::{Rejection, reject},
    required_provider,
    sign_out::end_sessions_of_person,
};
use crate::{
    cookies::Cookie,
    known_browsers, layout,
    openid::{Failure, Person, Provider},
    prelude::*,
    session::{self, NewSession},
    visit::Visit,
};

/// The maximum number of attempts to write a sign-in. A concurrent change can make one fail.
const MAX_TRIES: u32 = 30;

/// The maximum length of an ID token in a cookie, in bytes. Browsers limit a cookie to 4,096 bytes.
const MAX_COOKIE_TOKEN_BYTES: usize = 3 << 10;

/// A member with the token of their new session.
struct SignedInMember {
    member: StaffMember,
    token: Token,
}

/// Responds to `GET /sign-in/provider`: begins a sign-in, and redirects the browser to the
/// provider.
pub(crate) async fn redirect_to_provider(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let provider = required_provider(visit)?;
    let pending = PendingSignIn::begin(visit);
    let parameters = pending.protocol_parameters(visit);
    match provider.authorization_url(&parameters).await {
        Ok(url) => {
            let mut response = layout::redirect(url.as_str());
            // The newest one first, because the cookie keeps only the first ones.
            let mut pending_sign_ins = vec![pending];
            pending_sign_ins.extend(PendingSignIn::all(visit));
            PendingSignIn::save(pending_sign_ins, visit, &mut response);
            Ok(response)
        }
        Err(failure) => reject(visit, Rejection::Provider(failure), &pending.next_path).await,
    }
}

/// Responds to `GET /sign-in/callback`, to which the provider redirects the browser: completes the
/// pending sign-in with the `state` in the query, and removes it from the cookie.
pub(crate) async fn handle_callback(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let provider = required_provider(visit)?;
    let mut other_sign_ins: Vec<PendingSignIn> = PendingSignIn::all(visit).collect();
    let pending = PendingSignIn::take_by_state(&mut other_sign_ins, visit);
    let next_path = pending.as_ref().map_or("/", |pending| &pending.next_path);
    let result = match &pending {
        Some(pending) => sign_in_person(visit, provider, pending).await,
        None => Err(Rejection::Message(texts().sign_in_elsewhere.to_owned())),
    };
    let mut response = match result {
        Ok(response) => response,
        Err(rejection) => reject(visit, rejection, next_path).await?,
    };
    PendingSignIn::save(other_sign_ins, visit, &mut response);
    Ok(response)
}

/// Redeems the code in the query, and signs in the person whom the provider names.
async fn sign_in_person(
    visit: &Visit<'_>,
    provider: &Provider,
    pending: &PendingSignIn,
) -> Result<Response, Rejection> {
    // The provider sends an error instead of a code if the person has cancelled, for example.
    if visit.query.raw("code").is_empty() {
        let host = provider.settings.issuer.host();
        return Err(Rejection::Message(texts().sign_in_stopped(host)));
    }
    let person = redeem_code_once(visit, provider, pending).await?;
    let role = role_or_sign_out(visit, &person).await?;
    let signed_in = try_to_sign_in(visit, &person, role, pending).await?;
    count_success(visit, SignInMethod::Provider);
    Ok(signed_in_response(
        visit,
        pending,
        &signed_in,
        &person.id_token,
    ))
}

/// Returns the role that the role rules grant to the person. If no rule matches the person any
/// more, ends the person's existing sessions, and rejects the sign-in.
async fn role_or_sign_out(visit: &Visit<'_>, person: &Person) -> Result<Role, Rejection> {
    if let Some(role) = person.role {
        return Ok(role);
    }
    end_sessions_of_person(visit, &person.identity).await?;
    let cause = Failure::WithoutRole(person.claim_names.clone());
    Err(Rejection::Provider(cause))
}

/// Returns the response to a successful sign-in: a redirect to the next page, with the cookies of
/// the session and of the ID token.
fn signed_in_response(
    visit: &Visit<'_>,
    pending: &PendingSignIn,
    signed_in: &SignedInMember,
    id_token: &str,
) -> Response {
    let next_path = if pending.link().is_some() {
        // The sign-in has used up the link, so the page of the link would only say that the link is
        // not valid.
        "/"
    } else {
        &pending.next_path
    };
    let mut response = layout::redirect(next_path);
    session::set_cookies(visit, &mut response, &signed_in.token, &signed_in.member);
    remember_id_token(visit, &mut response, id_token);
    response
}

/// Stores the ID token in a cookie, because the provider may require it for signing out. A token
/// that is too long for a cookie is not stored.
fn remember_id_token(visit: &Visit<'_>, response: &mut Response, id_token: &str) {
    if id_token.len() <= MAX_COOKIE_TOKEN_BYTES {
        Cookie::IdToken.set(visit, response, id_token);
    } else {
        Cookie::IdToken.clear(visit, response);
    }
}

/// Redeems the authorization code in the query at the provider. Rejects a callback that was handled
/// before.
///
/// Each code first counts against the sender's limit, and is refunded unless the provider rejects
/// it. So only invented codes, with which strangers could flood the provider, exhaust the limit.
async fn redeem_code_once(
    visit: &Visit<'_>,
    provider: &Provider,
    pending: &PendingSignIn,
) -> Result<Person, Rejection> {
    let caller = match known_browsers::find_member_of_browser(visit).await? {
        Some(member) => Caller::Known(member),
        None => Caller::Stranger(visit.visitor.address.into()),
    };
    let guesses = &visit.console.guesses;
    if let Err(error) = guesses.count_code(caller, visit.console.app.clock.instant()) {
        return Err(Rejection::TooManyAttempts(error.message().to_owned()));
    }
    // A repeated callback, such as a reload of the page, is not redeemed again.
    let state = visit.query.raw("state");
    let used_states = &visit.console.replay_caches.callbacks;
    if !used_states.insert(state, visit.now) {
        let message = texts().sign_in_elsewhere.to_owned();
        return Err(Rejection::Message(message));
    }

    let code = visit.query.raw("code");
    let issuer = visit.query.all("iss").next();
    let parameters = pending.protocol_parameters(visit);
    let result = provider
        .redeem_code(caller, &parameters, code, issuer, visit.now)
        .await;
    if !matches!(result, Err(Failure::Invalid(_))) {
        guesses.refund_code(caller);
    }
    result.map_err(Rejection::Provider)
}

/// Signs the person in as the member with their identity, as the member of an invitation link, or
/// as a new member. If somebody changes a member between the decision and the write, decides again,
/// up to [`MAX_TRIES`] times. Then fails with 409.
async fn try_to_sign_in(
    visit: &Visit<'_>,
    person: &Person,
    role: Role,
    pending: &PendingSignIn,
) -> Result<SignedInMember, Rejection> {
    for _ in 0..MAX_TRIES {
        match decide_sign_in(visit, person, role, pending).await? {
            SignInChange::ChangeRole(change) => {
                // The outcome does not matter, because the next decision reads the member again.
                visit.write_member(change, Actor::Clock.into()).await?;
            }
            SignInChange::BeginSession(change) => {
                if let Some(signed_in) = write_sign_in(visit, person, change).await? {
                    return Ok(signed_in);
                }
            }
        }
    }
    Err(changed_meanwhile().into())
}

/// Adds a new session to the change, and writes it. Returns `None` if somebody has changed or added
/// a member since the decision, so that the caller must decide again.
async fn write_sign_in(
    visit: &Visit<'_>,
    person: &Person,
    mut change: StaffChange,
) -> Result<Option<SignedInMember>, Rejection> {
    // The versions of existing members start at 1.
    let is_new_member = change.seen_version == 0;
    let actor: NamedActor = if is_new_member {
        // A new member has no id yet, so the service adds the member.
        Actor::Clock.into()
    } else {
        session::actor_of(&change.after)
    };
    let NewSession { token, mut record } = NewSession::confirmed(visit, change.after.id);
    record.confirmed_at = authenticated_at(visit, person);
    record.provider_session.clone_from(&person.session);
    change.new_session = Some(record);

    let mut member = change.after.clone();
    match visit.write_member(change, actor).await? {
        StaffWriteOutcome::Done(id) => {
            // A new member gets the id from the store.
            member.id = id;
            Ok(Some(SignedInMember { member, token }))
        }
        // The next decision chooses another name for a new member.
        StaffWriteOutcome::Stale | StaffWriteOutcome::NameTaken => Ok(None),
        StaffWriteOutcome::Full => {
            let message = texts().too_many_members;
            Err(ApiError::new(Problem::InvalidTransition, message).into())
        }
    }
}

/// Returns when the provider authenticated the person. If the provider does not say, returns a time
/// that is too old for pages that require a recent authentication.
fn authenticated_at(visit: &Visit<'_>, person: &Person) -> Option<Timestamp> {
    if person.authenticated_at.is_some() {
        return person.authenticated_at;
    }
    let expired_second = visit.now.as_second() - StaffSession::CONFIRMATION_SECONDS;
    // Never fails, because the clock is far from the earliest possible time.
    Timestamp::from_second(expired_second).ok()
}

/// Responds to `GET /sign-in/done`, where a sign-in in a separate tab ends. Tells the member to
/// return to the tab with the saved form.
pub(crate) fn signed_in_page(visit: &Visit<'_>) -> Ready<Result<Response, ApiError>> {
    let content = html! { p { (texts().signed_in_hint) } };
    ready(Ok(layout::public_page(
        StatusCode::OK,
        &visit.facts,
        texts().signed_in,
        &content,
    )))
}
