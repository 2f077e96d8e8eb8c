//! Signing in at the OpenID provider.

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

/// How often a sign-in is attempted in total if concurrent changes of members keep interfering.
const MAX_TRIES: u32 = 30;

/// The reason why a sign-in was rejected.
enum Rejection {
    /// Rejected with this message for the person.
    Message(String),
    /// Rejected because of the rate limit, with this message.
    TooManyAttempts(String),
    /// A failure at the provider. Its details are only for the log.
    Provider(Failure),
    /// An error of this service.
    Service(ApiError),
}

impl<E: Into<ApiError>> From<E> for Rejection {
    fn from(error: E) -> Self {
        Self::Service(error.into())
    }
}

/// Responds to `GET /sign-in/provider`: begins a sign-in, and redirects the browser to the provider.
pub(crate) async fn redirect_to_provider(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let provider = required_provider(visit)?;
    let pending = PendingSignIn::begin(visit).ok_or_else(changed_meanwhile)?;
    let parameters = pending.protocol_parameters(visit);
    match provider.authorization_url(&parameters).await {
        Ok(url) => {
            let mut response = layout::redirect(url.as_str());
            let mut pending_sign_ins = vec![pending];
            pending_sign_ins.extend(PendingSignIn::all(visit));
            PendingSignIn::save(pending_sign_ins, visit, &mut response);
            Ok(response)
        }
        Err(failure) => reject(visit, Rejection::Provider(failure), &pending.next_path).await,
    }
}

/// Responds to `GET /sign-in/callback`, with which the provider sends the browser back: completes
/// the pending sign-in.
pub(crate) async fn handle_callback(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let provider = required_provider(visit)?;
    let mut other_sign_ins: Vec<PendingSignIn> = PendingSignIn::all(visit).collect();
    let pending = PendingSignIn::take_by_state(&mut other_sign_ins, visit);
    let next_path = pending.as_ref().map_or("/", |pending| &pending.next_path);
    let result = if let Some(pending) = &pending {
        sign_in_person(visit, provider, pending).await
    } else {
        let message = texts().sign_in_elsewhere.to_owned();
        Err(Rejection::Message(message))
    };
    let mut response = match result {
        Ok(response) => response,
        Err(rejection) => reject(visit, rejection, next_path).await?,
    };
    PendingSignIn::save(other_sign_ins, visit, &mut response);
    Ok(response)
}

/// Signs in the person whom the provider names. If no role rule matches the person any more, also
/// ends the person's existing sessions.
async fn sign_in_person(
    visit: &Visit<'_>,
    provider: &Provider,
    pending: &PendingSignIn,
) -> Result<Response, Rejection> {
    let host = provider.settings.issuer.host();
    if visit.query.raw("code").is_empty() {
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
        "/"
    } else {
        &pending.next_path
    };
    let mut response = layout::redirect(next_path);
    session::set_cookies(visit, &mut response, &signed_in.token, &signed_in.member);
    remember_id_token(visit, &mut response, &person.id_token);
    Ok(response)
}

/// The longest ID token that is kept in a cookie, in bytes. Browsers limit a cookie to 4,096 bytes.
const MAX_COOKIE_TOKEN_BYTES: usize = 3 << 10;

/// Keeps the ID token in a cookie, because the provider may require it for signing out. A token
/// that is too long for a cookie is not kept.
fn remember_id_token(visit: &Visit<'_>, response: &mut Response, id_token: &str) {
    if id_token.len() <= MAX_COOKIE_TOKEN_BYTES {
        Cookie::IdToken.set(visit, response, id_token, None);
    } else {
        Cookie::IdToken.clear(visit, response);
    }
}

/// Redeems the authorization code in the query at the provider. Each code counts against the
/// sender's limit before the provider is asked, and is refunded unless the provider rejects it. So
/// only invented codes, with which strangers could flood the provider, exhaust the limit.
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

/// A member with a new session.
struct SignedInMember {
    member: StaffMember,
    /// The session token.
    token: Token,
}

/// The next write of a sign-in.
enum SignInChange {
    /// Gives the member the role that the provider states. Afterwards, the sign-in is decided again.
    ChangeRole(StaffChange),
    /// Begins the session, and updates or adds the member in the same write.
    BeginSession(StaffChange),
}

/// Signs the person in: as their existing member, as the member of an invitation link, or as a new
/// member. Decides again if something has changed between the decision and the write.
async fn try_to_sign_in(
    visit: &Visit<'_>,
    person: &Person,
    role: Role,
    pending: &PendingSignIn,
) -> Result<SignedInMember, Rejection> {
    for _ in 0..MAX_TRIES {
        match decide_sign_in(visit, person, role, pending).await? {
            SignInChange::ChangeRole(change) => {
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

/// Decides how the person signs in, based on the current members and the link from which the
/// sign-in began.
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
    let unused_link = visit.console.with_random(Token::generate);
    let new_member = StaffMember::new(name, role, &unused_link, visit.now).with_identity(identity);
    let change = StaffChange::new(0, new_member, ActType::StaffAdded);
    Ok(SignInChange::BeginSession(change))
}

/// Finds the member of the link from which the sign-in began, if the link is valid and the member
/// is not disabled.
async fn find_linked_member(
    visit: &Visit<'_>,
    pending: &PendingSignIn,
) -> Result<Option<StaffMember>, ApiError> {
    let Some(link) = pending.link() else {
        return Ok(None);
    };
    let member = visit
        .console
        .app
        .store
        .find_staff(StaffKey::Link(link))
        .await?;
    Ok(member.filter(|member| member.has_link_at(visit.now) && member.disabled_at.is_none()))
}

/// Decides how an existing member signs in. A role that differs from the one at the provider is
/// changed first.
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

/// Writes the change that begins the session. Returns `None` if something has changed since the
/// decision, so that the caller must decide again.
async fn begin_session(
    visit: &Visit<'_>,
    person: &Person,
    mut change: StaffChange,
) -> Result<Option<SignedInMember>, Rejection> {
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

/// Returns when the provider authenticated the person. If the provider does not say, the
/// authentication counts as too old for pages that require a recent one.
fn authenticated_at(visit: &Visit<'_>, person: &Person) -> Option<Timestamp> {
    let expired_second = visit.now.as_second() - StaffSession::CONFIRMATION_SECONDS;
    person
        .authenticated_at
        .or_else(|| Timestamp::from_second(expired_second).ok())
}

/// Returns an unused name for a new member, with a number appended if the name is taken: `Ana`, or
/// `Ana 2`.
fn unused_name(person: &Person, staff: &[StaffMember]) -> Option<StaffName> {
    // Leaves room for a space and a number of up to four digits.
    let max_length = StaffName::MAX_LENGTH - 5;
    let first_name = person
        .names
        .iter()
        .map(String::as_str)
        .chain([texts().staff_member])
        .find_map(|name| StaffName::new(&name.chars().take(max_length).collect::<String>()))?;

    let used_keys: HashSet<String> = staff.iter().map(|member| member.name.key()).collect();
    if !used_keys.contains(&first_name.key()) {
        return Some(first_name);
    }
    (2..=used_keys.len() + 2)
        .filter_map(|number| StaffName::new(&format!("{} {number}", first_name.as_str())))
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

/// Responds to `GET /sign-in/done`, at which a sign-in in a separate tab ends: tells the member to
/// return to the other tab.
pub(crate) fn signed_in_page(visit: &Visit<'_>) -> Ready<Result<Response, ApiError>> {
    let content = html! { p { (texts().signed_in_hint) } };
    ready(Ok(layout::public_page(
        StatusCode::OK,
        &visit.facts,
        texts().signed_in,
        &content,
    )))
}
