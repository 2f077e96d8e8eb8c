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

/// The number of times that a sign-in is tried again when a member changes at the same moment.
const MAX_TRIES: u32 = 30;

/// The reason for a rejected sign-in.
enum Rejection {
    /// A message for the person.
    Message(String),
    /// The message after too many attempts.
    TooManyAttempts(String),
    /// The failure of the provider, whose cause is for the log.
    Provider(Failure),
    /// An error of the service.
    Service(ApiError),
}

impl<E: Into<ApiError>> From<E> for Rejection {
    fn from(error: E) -> Self {
        Self::Service(error.into())
    }
}

/// Responds to `GET /sign-in/provider`: sends the browser to the provider.
pub(crate) async fn redirect_to_provider(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let provider = required_provider(visit)?;
    let pending = PendingSignIn::begin(visit).ok_or_else(changed_meanwhile)?;
    match provider.authorization_url(&pending.request(visit)).await {
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

/// Responds to `GET /sign-in/callback`: the browser comes back from the provider.
pub(crate) async fn handle_callback(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let provider = required_provider(visit)?;
    let mut other_sign_ins: Vec<PendingSignIn> = PendingSignIn::all(visit).collect();
    let pending = PendingSignIn::take_called_back(&mut other_sign_ins, visit);
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

/// Signs in the person whom the provider names. A person without a role loses the sessions at this console.
async fn sign_in_person(
    visit: &Visit<'_>,
    provider: &Provider,
    pending: &PendingSignIn,
) -> Result<Response, Rejection> {
    let host = provider.settings.issuer.host();
    if visit.query.raw("code").is_empty() {
        return Err(Rejection::Message(texts().sign_in_stopped(host)));
    }
    let person = ask_for_person(visit, provider, pending).await?;
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
    session::sign_in(visit, &mut response, &signed_in.token, &signed_in.member);
    remember_id_token(visit, &mut response, &person.id_token);
    Ok(response)
}

/// The longest ID token in a cookie, in bytes. Browsers keep cookies of up to 4,096 bytes.
const MAX_COOKIE_TOKEN_BYTES: usize = 3 << 10;

/// Gives the browser the ID token of its sign-in, which the provider can require to sign out. A longer token is not
/// remembered.
fn remember_id_token(visit: &Visit<'_>, response: &mut Response, id_token: &str) {
    if id_token.len() <= MAX_COOKIE_TOKEN_BYTES {
        Cookie::IdToken.set(visit, response, id_token, None);
    } else {
        Cookie::IdToken.clear(visit, response);
    }
}

/// Asks the provider for the person of the code. Each code counts by its sender before the provider is asked, and a
/// code that the provider rejects goes on counting, because strangers can invent codes.
async fn ask_for_person(
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
    if !visit.console.used.callbacks.take(state, visit.now) {
        let message = texts().sign_in_elsewhere.to_owned();
        return Err(Rejection::Message(message));
    }

    let code = visit.query.raw("code");
    let issuer = visit.query.all("iss").next();
    let person = provider
        .redeem_code(caller, &pending.request(visit), code, issuer, visit.now)
        .await;
    if !matches!(person, Err(Failure::Invalid(_))) {
        guesses.forget_code(caller);
    }
    person.map_err(Rejection::Provider)
}

/// A member who has a new session.
struct SignedInMember {
    member: StaffMember,
    /// The secret of the session.
    token: Token,
}

/// The change of a member with which a person signs in.
enum SignInChange {
    /// The member gets the role that the provider states. Then the sign-in is decided again.
    ChangeRole(StaffChange),
    /// The session begins with this change.
    BeginSession(StaffChange),
}

/// Signs the person in: as their member, as the member of the link, or as a new member. Decides again if something
/// changes between the decision and the write.
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

/// Decides from the present members how the person signs in.
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
        return sign_in_as_member(visit, member, role);
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
    let name = free_name(person, &staff).ok_or_else(changed_meanwhile)?;
    let unused_link = visit.console.with_random(Token::generate);
    let new_member = StaffMember::new(name, role, &unused_link, visit.now).with_identity(identity);
    let change = StaffChange::new(0, new_member, ActType::StaffAdded);
    Ok(SignInChange::BeginSession(change))
}

/// Finds the member of the link from which the sign-in began, if the member may use the link.
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

/// Decides how a member whom the provider has confirmed signs in.
fn sign_in_as_member(
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

/// Writes the change with which a session begins. Returns `None` if something has changed since the decision.
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
    record.confirmed_at = proved_at(visit, person);
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

/// Returns the time at which the person has proved who they are. A proof whose time is not known is an old one.
fn proved_at(visit: &Visit<'_>, person: &Person) -> Option<Timestamp> {
    let old_second = visit.now.as_second() - StaffSession::CONFIRMATION_SECONDS;
    person
        .proved_at
        .or_else(|| Timestamp::from_second(old_second).ok())
}

/// Returns a name for a new member, with a number if a member has the name already: `Ana`, or `Ana 2`.
fn free_name(person: &Person, staff: &[StaffMember]) -> Option<StaffName> {
    // A number has at most four digits, and a space before it.
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

/// Records a rejected sign-in, and returns the page to sign in with the reason.
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

/// Responds to `GET /sign-in/done`: the new tab of a member who signed in again.
pub(crate) fn signed_in_page(visit: &Visit<'_>) -> Ready<Result<Response, ApiError>> {
    let content = html! { p { (texts().signed_in_hint) } };
    ready(Ok(layout::page(
        StatusCode::OK,
        &visit.facts,
        texts().signed_in,
        &content,
    )))
}
