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
    begun_sign_in::BegunSignIn,
    changed_meanwhile,
    destination::Destination,
    sign_in_page::{self, Candidate},
    sign_out::{end_sessions_of, required_provider},
};
use crate::{
    layout,
    openid::{Failure, Person, Provider},
    prelude::*,
    session::{self, NewSession},
    visit::Visit,
};

/// The number of times that somebody is let in again when something changes at the same moment.
const MAX_TRIES: u32 = 30;

/// The reason for which somebody is not let in.
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
pub(crate) async fn leave(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let provider = required_provider(visit)?;
    let begun = BegunSignIn::begin(visit).ok_or_else(changed_meanwhile)?;
    match provider.authorization_url(&begun.request(visit)).await {
        Ok(url) => {
            let mut response = layout::redirect(url.as_str());
            let mut all_begun = vec![begun];
            all_begun.extend(BegunSignIn::all(visit));
            BegunSignIn::save(all_begun, visit, &mut response);
            Ok(response)
        }
        Err(failure) => reject(visit, Rejection::Provider(failure), &begun.next_path).await,
    }
}

/// Responds to `GET /sign-in/callback`: the browser comes back from the provider.
pub(crate) async fn come_back(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let provider = required_provider(visit)?;
    let mut other_begun: Vec<BegunSignIn> = BegunSignIn::all(visit).collect();
    let begun = BegunSignIn::take_called_back(&mut other_begun, visit);
    let next_path = begun.as_ref().map_or("/", |begun| &begun.next_path);
    let result = if let Some(begun) = &begun {
        arrive(visit, provider, begun).await
    } else {
        let message = texts().sign_in_elsewhere.to_owned();
        Err(Rejection::Message(message))
    };
    let mut response = match result {
        Ok(response) => response,
        Err(rejection) => reject(visit, rejection, next_path).await?,
    };
    BegunSignIn::save(other_begun, visit, &mut response);
    Ok(response)
}

/// Signs in the person whom the provider names. A person without a role loses the sessions at this console.
async fn arrive(
    visit: &Visit<'_>,
    provider: &Provider,
    begun: &BegunSignIn,
) -> Result<Response, Rejection> {
    let host = provider.settings.issuer.host();
    if visit.query.raw("code").is_empty() {
        return Err(Rejection::Message(texts().sign_in_stopped(host)));
    }
    let person = ask_for_person(visit, provider, begun).await?;
    let Some(role) = person.role else {
        end_sessions_of(visit, Some(&person.identity), None).await?;
        let cause = Failure::WithoutRole(person.claim_names);
        return Err(Rejection::Provider(cause));
    };
    let entered = enter(visit, &person, role, begun).await?;
    visit.console.app.sign_ins.count("provider", "accepted");
    let next_path = if begun.link().is_some() {
        "/"
    } else {
        &begun.next_path
    };
    let mut response = layout::redirect(next_path);
    session::sign_in(visit, &mut response, &entered.token, &entered.member);
    Ok(response)
}

/// Asks the provider for the person of the code. Each code counts by its sender before the provider is asked, and a
/// code that the provider rejects goes on counting, because strangers can invent codes.
async fn ask_for_person(
    visit: &Visit<'_>,
    provider: &Provider,
    begun: &BegunSignIn,
) -> Result<Person, Rejection> {
    let caller = match session::member_of_browser(visit).await? {
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
        .person(caller, &begun.request(visit), code, issuer, visit.now)
        .await;
    if !matches!(person, Err(Failure::Invalid(_))) {
        guesses.forget_code(caller);
    }
    person.map_err(Rejection::Provider)
}

/// A member who has a new session.
struct EnteredMember {
    member: StaffMember,
    /// The secret of the session.
    token: Token,
}

/// The change of a member that lets a person in.
enum Entry {
    /// The member gets the role that the provider states, and then the entry is decided again.
    ChangeRole(StaffChange),
    /// The session begins with this change.
    BeginSession(StaffChange),
}

/// Signs the person in: as their member, as the member of the link, or as a new member. Decides again if something
/// changes between the decision and the write.
async fn enter(
    visit: &Visit<'_>,
    person: &Person,
    role: Role,
    begun: &BegunSignIn,
) -> Result<EnteredMember, Rejection> {
    for _ in 0..MAX_TRIES {
        match decide_entry(visit, person, role, begun).await? {
            Entry::ChangeRole(change) => {
                visit.write(change, Actor::Clock.into()).await?;
            }
            Entry::BeginSession(change) => {
                if let Some(entered) = begin_session(visit, person, change).await? {
                    return Ok(entered);
                }
            }
        }
    }
    Err(changed_meanwhile().into())
}

/// Decides how the person enters, from the present members.
async fn decide_entry(
    visit: &Visit<'_>,
    person: &Person,
    role: Role,
    begun: &BegunSignIn,
) -> Result<Entry, Rejection> {
    let store = &visit.console.app.store;
    let key = StaffKey::Identity(person.identity.clone());
    let member = store.find_staff(key).await?;
    let linked_member = find_linked_member(visit, begun).await?;

    if let Some(member) = member {
        if let Some(linked_member) = linked_member
            && linked_member.id != member.id
        {
            let host = required_provider(visit)?.settings.issuer.host();
            return Err(Rejection::Message(texts().identity_of_another(host)));
        }
        return enter_as_member(visit, member, role);
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
        return Ok(Entry::BeginSession(change));
    }
    if begun.link().is_some() {
        let message = texts().link_invalid_hint.to_owned();
        return Err(Rejection::Message(message));
    }
    let staff = store.list_staff().await?;
    let name = free_name(person, &staff).ok_or_else(changed_meanwhile)?;
    let unused_link = visit.console.with_random(Token::generate);
    let new_member = StaffMember::new(name, role, &unused_link, visit.now).with_identity(identity);
    let change = StaffChange::new(0, new_member, ActType::StaffAdded);
    Ok(Entry::BeginSession(change))
}

/// Finds the member of the link from which the sign-in began, if the member may use the link.
async fn find_linked_member(
    visit: &Visit<'_>,
    begun: &BegunSignIn,
) -> Result<Option<StaffMember>, ApiError> {
    let Some(link) = begun.link() else {
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

/// Decides how a person enters who is a member already.
fn enter_as_member(visit: &Visit<'_>, member: StaffMember, role: Role) -> Result<Entry, Rejection> {
    if member.disabled_at.is_some() {
        let message = texts().access_disabled.to_owned();
        return Err(Rejection::Message(message));
    }
    if member.role != role {
        let change = member.change(|member| member.with_role(role), ActType::StaffRoleChanged);
        return Ok(Entry::ChangeRole(change));
    }
    let change = StaffChange::new(member.version, member, ActType::StaffSignedIn)
        .with_ended_sessions(session::ended_by_sign_in(visit));
    Ok(Entry::BeginSession(change))
}

/// Writes the change with which a session begins. Returns `None` if something has changed since the decision.
async fn begin_session(
    visit: &Visit<'_>,
    person: &Person,
    mut change: StaffChange,
) -> Result<Option<EnteredMember>, Rejection> {
    let is_new_member = change.seen_version == 0;
    let actor: NamedActor = if is_new_member {
        Actor::Clock.into()
    } else {
        session::actor(&change.after)
    };
    let NewSession { token, mut record } = session::begin(visit, change.after.id, true);
    record.confirmed_at = proved_at(visit, person);
    record.provider_session.clone_from(&person.session);
    change.new_session = Some(record);

    let mut member = change.after.clone();
    match visit.write(change, actor).await? {
        StaffWriteOutcome::Done(id) => {
            member.id = id;
            Ok(Some(EnteredMember { member, token }))
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
    Ok(sign_in_page::page(
        visit,
        &destination,
        Some(&message),
        Candidate::default(),
        status,
    ))
}

/// Responds to `GET /sign-in/done`: the new tab of a member who signed in again.
pub(crate) fn signed_in(visit: &Visit<'_>) -> Ready<Result<Response, ApiError>> {
    let content = html! { p { (texts().signed_in_hint) } };
    ready(Ok(layout::page(
        StatusCode::OK,
        &visit.facts,
        texts().signed_in,
        &content,
    )))
}
