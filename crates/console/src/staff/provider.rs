//! Sign-in at the OpenID provider.

use std::{
    collections::HashSet,
    future::{Ready, ready},
};

use hyper::StatusCode;
use jiff::Timestamp;
use petstore_app::turns::Caller;
use petstore_domain::{
    Actor, NamedActor, Problem, Role, StaffName,
    staff::{EndedSessions, StaffChange, StaffMember, StaffSession, Token},
    store_area::ActType,
};
use petstore_store::{StaffKey, StaffWriteOutcome};
use petstore_web::edge::Response;

use super::{
    attempts::record_rejection,
    changed_meanwhile,
    destination::Destination,
    link::find_member_by_link,
    pending_sign_in::PendingSignIn,
    sign_in_page::SignInPage,
    sign_out::{end_sessions_of, required_provider},
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

/// The reason why a sign-in was rejected.
enum Rejection {
    /// The rules do not allow it. The person gets this message.
    Message(String),
    /// The rate limit is exceeded. The person gets this message.
    TooManyAttempts(String),
    /// The provider failed, or its response is invalid. The details are only for the log.
    Provider(Failure),
    /// The service itself failed.
    Service(ApiError),
}

impl<E: Into<ApiError>> From<E> for Rejection {
    fn from(error: E) -> Self {
        Self::Service(error.into())
    }
}

/// Responds to `GET /sign-in/provider`: begins a sign-in, and redirects the browser to the
/// provider.
pub(crate) async fn redirect_to_provider(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let provider = required_provider(visit)?;
    let pending = PendingSignIn::begin(visit).ok_or_else(changed_meanwhile)?;
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

/// Redeems the code in the query, and signs in the person whom the provider names. If no role rule
/// matches the person any more, rejects the sign-in and ends the person's existing sessions.
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
    let person = redeem_code(visit, provider, pending).await?;
    let Some(role) = person.role else {
        end_sessions_of(visit, Some(&person.identity), None).await?;
        let cause = Failure::WithoutRole(person.claim_names);
        return Err(Rejection::Provider(cause));
    };
    let signed_in = try_to_sign_in(visit, &person, role, pending).await?;
    visit.console.app.sign_ins.count("provider", "accepted");
    let next_path = if pending.link().is_some() {
        // The page of the link is of no use after the sign-in.
        "/"
    } else {
        &pending.next_path
    };
    let mut response = layout::redirect(next_path);
    session::set_cookies(visit, &mut response, &signed_in.token, &signed_in.member);
    remember_id_token(visit, &mut response, &person.id_token);
    Ok(response)
}

/// The maximum length of an ID token in a cookie, in bytes. Browsers limit a cookie to 4,096 bytes.
const MAX_COOKIE_TOKEN_BYTES: usize = 3 << 10;

/// Stores the ID token in a cookie, because the provider may require it for signing out. A token
/// that is too long for a cookie is not stored.
fn remember_id_token(visit: &Visit<'_>, response: &mut Response, id_token: &str) {
    if id_token.len() <= MAX_COOKIE_TOKEN_BYTES {
        Cookie::IdToken.set(visit, response, id_token, None);
    } else {
        Cookie::IdToken.clear(visit, response);
    }
}

/// Redeems the authorization code in the query at the provider.
///
/// Each code first counts against the sender's limit, and is refunded unless the provider rejects
/// it. So only invented codes, with which strangers could flood the provider, exhaust the limit.
async fn redeem_code(
    visit: &Visit<'_>,
    provider: &Provider,
    pending: &PendingSignIn,
) -> Result<Person, Rejection> {
    let caller = match known_browsers::member_of_browser(visit).await? {
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
    let person = provider
        .redeem_code(caller, &parameters, code, issuer, visit.now)
        .await;
    if !matches!(person, Err(Failure::Invalid(_))) {
        guesses.refund_code(caller);
    }
    person.map_err(Rejection::Provider)
}

/// A member with the token of their new session.
struct SignedInMember {
    member: StaffMember,
    token: Token,
}

/// The next write of a sign-in, from [`decide_sign_in`].
enum SignInChange {
    /// Changes the role to the one that the rules grant. The sign-in must then be decided again.
    ChangeRole(StaffChange),
    /// Begins the session. Can also add the member, or link the member to the identity.
    BeginSession(StaffChange),
}

/// Signs the person in as the member with their identity, as the member of an invitation link, or
/// as a new member. If somebody changes a member between the decision and the write, decides again.
async fn try_to_sign_in(
    visit: &Visit<'_>,
    person: &Person,
    role: Role,
    pending: &PendingSignIn,
) -> Result<SignedInMember, Rejection> {
    for _ in 0..MAX_TRIES {
        match decide_sign_in(visit, person, role, pending).await? {
            SignInChange::ChangeRole(change) => {
                // Also if the change is stale: the next decision reads the member again.
                visit.write(change, Actor::Clock.into()).await?;
            }
            SignInChange::BeginSession(change) => {
                if let Some(signed_in) = begin_session(visit, person, change).await? {
                    return Ok(signed_in);
                }
            }
        }
    }
    Err(changed_meanwhile().into())
}

/// Decides how the person signs in, from the current members and the link on whose page the sign-in
/// began, if any.
async fn decide_sign_in(
    visit: &Visit<'_>,
    person: &Person,
    role: Role,
    pending: &PendingSignIn,
) -> Result<SignInChange, Rejection> {
    let store = &visit.console.app.store;
    let key = StaffKey::Identity(person.identity.clone());
    let member = store.find_staff(key).await?;
    let linked_member = find_linked_member(visit, pending).await?;

    if let Some(member) = member {
        if let Some(linked_member) = linked_member
            && linked_member.id != member.id
        {
            let host = required_provider(visit)?.settings.issuer.host();
            return Err(Rejection::Message(texts().identity_of_another(host)));
        }
        return decide_for_member(visit, member, role);
    }
    let identity = person.identity.clone();
    if let Some(mut linked_member) = linked_member {
        linked_member.role = role;
        let change = linked_member
            .change(
                |member| member.with_identity(identity),
                ActType::StaffLinked,
            )
            .with_ended_sessions(EndedSessions::All);
        return Ok(SignInChange::BeginSession(change));
    }
    if pending.link().is_some() {
        let message = texts().link_invalid_hint.to_owned();
        return Err(Rejection::Message(message));
    }
    let staff = store.list_staff().await?;
    let name = unused_name(person, &staff).ok_or_else(changed_meanwhile)?;
    // A new member must have a link, which nobody gets here.
    let unused_link = visit.console.with_random(Token::generate);
    let new_member = StaffMember::new(name, role, &unused_link, visit.now).with_identity(identity);
    Ok(SignInChange::BeginSession(StaffChange::adding(new_member)))
}

/// Finds the member of the link on whose page the sign-in began. `None` if it did not begin on such
/// a page, if the link is not valid, or if the member is disabled.
async fn find_linked_member(
    visit: &Visit<'_>,
    pending: &PendingSignIn,
) -> Result<Option<StaffMember>, ApiError> {
    match pending.link() {
        Some(link) => find_member_by_link(visit, link).await,
        None => Ok(None),
    }
}

/// Decides how an existing member signs in. If the member's role differs from the one that the
/// rules grant, it is changed first.
fn decide_for_member(
    visit: &Visit<'_>,
    member: StaffMember,
    role: Role,
) -> Result<SignInChange, Rejection> {
    if member.disabled_at.is_some() {
        let message = texts().access_disabled.to_owned();
        return Err(Rejection::Message(message));
    }
    if member.role != role {
        let change = member.change(|member| member.with_role(role), ActType::StaffRoleChanged);
        return Ok(SignInChange::ChangeRole(change));
    }
    let change = StaffChange::new(member.version, member, ActType::StaffSignedIn)
        .with_ended_sessions(session::ended_by_sign_in(visit));
    Ok(SignInChange::BeginSession(change))
}

/// Adds a new session to the change, and writes it. Returns `None` if somebody has changed a member
/// since the decision, so that the caller must decide again.
async fn begin_session(
    visit: &Visit<'_>,
    person: &Person,
    mut change: StaffChange,
) -> Result<Option<SignedInMember>, Rejection> {
    // Existing members have versions from 1.
    let is_new_member = change.seen_version == 0;
    let actor: NamedActor = if is_new_member {
        Actor::Clock.into()
    } else {
        session::actor(&change.after)
    };
    let NewSession { token, mut record } = NewSession::confirmed(visit, change.after.id);
    record.confirmed_at = authenticated_at(visit, person);
    record.provider_session.clone_from(&person.session);
    change.new_session = Some(record);

    let mut member = change.after.clone();
    match visit.write(change, actor).await? {
        StaffWriteOutcome::Done(id) => {
            member.id = id;
            Ok(Some(SignedInMember { member, token }))
        }
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
    let expired_second = visit.now.as_second() - StaffSession::CONFIRMATION_SECONDS;
    person
        .authenticated_at
        .or_else(|| Timestamp::from_second(expired_second).ok())
}

/// Returns an unused name for a new member: the first valid name of the person, such as `Ana`, or
/// with a number appended if it is taken, such as `Ana 2`. `None` if none of the names can be used.
fn unused_name(person: &Person, staff: &[StaffMember]) -> Option<StaffName> {
    // Leaves room for a space and a number of up to four digits.
    let max_length = StaffName::MAX_LENGTH - " 9999".len();
    let base_name = person
        .names
        .iter()
        .map(String::as_str)
        .chain([texts().staff_member])
        .find_map(|name| StaffName::new(&name.chars().take(max_length).collect::<String>()))?;

    let used_keys: HashSet<String> = staff.iter().map(|member| member.name.key()).collect();
    if !used_keys.contains(&base_name.key()) {
        return Some(base_name);
    }
    // More numbers than names are used, so at least one of them is free.
    (2..=used_keys.len() + 2)
        .filter_map(|number| StaffName::new(&format!("{} {number}", base_name.as_str())))
        .find(|name| !used_keys.contains(&name.key()))
}

/// Records a rejected sign-in, and returns the sign-in page with the reason.
async fn reject(
    visit: &Visit<'_>,
    rejection: Rejection,
    next_path: &str,
) -> Result<Response, ApiError> {
    let host = required_provider(visit)?.settings.issuer.host();
    let (message, status, cause) = match rejection {
        Rejection::Message(message) => (message, StatusCode::FORBIDDEN, None),
        Rejection::TooManyAttempts(message) => (message, StatusCode::TOO_MANY_REQUESTS, None),
        Rejection::Provider(cause @ Failure::Unreachable(_)) => (
            texts().provider_unreachable(host),
            StatusCode::SERVICE_UNAVAILABLE,
            Some(cause),
        ),
        Rejection::Provider(cause @ Failure::WithoutRole(_)) => {
            (texts().no_role(host), StatusCode::FORBIDDEN, Some(cause))
        }
        Rejection::Provider(cause) => (
            texts().provider_invalid(host),
            StatusCode::FORBIDDEN,
            Some(cause),
        ),
        Rejection::Service(error) => return Err(error),
    };
    record_rejection(visit, "provider", None, cause.as_ref()).await?;
    let destination = Destination::from_path(visit, next_path);
    let page = SignInPage::new(&destination)
        .with_message(&message)
        .with_status(status);
    Ok(page.render(visit))
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
