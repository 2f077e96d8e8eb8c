//! Sessions of members of the staff: how one begins, and how the session of a request is found.

use std::sync::Arc;

use hyper::{header, http::request::Parts};
use petstore_domain::{
    Actor, NamedActor, StaffId,
    staff::{EndedSessions, StaffMember, StaffSession, Token, TokenDigest},
};
use petstore_languages as languages;
use petstore_web::edge::{ApiError, Response};

use super::{cookies::Cookie, known_browsers, visit::Visit};

/// The maximum length of the name of a browser in a session, in characters.
const MAX_BROWSER_NAME_LENGTH: usize = 200;

/// A session of a member who is signed in.
#[derive(Debug, Clone)]
pub(super) struct Session {
    /// The member, as the store has it now.
    pub(super) member: StaffMember,
    /// The browser of the session, and its times.
    pub(super) record: StaffSession,
}

impl Session {
    /// Returns the actor of the changes in this session.
    pub(super) fn actor(&self) -> NamedActor {
        actor(&self.member)
    }
}

/// Returns a member as the actor of a change.
pub(super) fn actor(member: &StaffMember) -> NamedActor {
    NamedActor {
        actor: Actor::Staff(member.id),
        name: Some(Arc::from(member.name.as_str())),
    }
}

/// Finds the session of a request, if its browser has one that is valid now.
pub(super) async fn find(visit: &Visit<'_>) -> Result<Option<Session>, ApiError> {
    let session = find_with_or_without_second_factor(visit).await?;
    Ok(session.filter(|session| session.record.confirmed_at.is_some()))
}

/// Finds the session of a request, even if the second factor is still missing.
pub(super) async fn find_with_or_without_second_factor(
    visit: &Visit<'_>,
) -> Result<Option<Session>, ApiError> {
    let Some(digest) = presented_digest(visit) else {
        return Ok(None);
    };
    let store = &visit.console.app.store;
    let Some((record, member)) = store.find_session(digest).await? else {
        return Ok(None);
    };
    if !record.is_alive_at(visit.now) || member.disabled_at.is_some() {
        return Ok(None);
    }
    if let Some(language) = member.language {
        languages::set_language(language);
    }
    if record.is_to_be_saved_at(visit.now) && !is_from_script(visit.request) {
        store.touch_session(digest, visit.now).await?;
    }
    Ok(Some(Session { member, record }))
}

/// Returns the digest of the session that the browser presents, valid or not.
fn presented_digest(visit: &Visit<'_>) -> Option<TokenDigest> {
    TokenDigest::from_presented(Cookie::Session.get(visit)?)
}

/// Returns the session that ends when a member signs in: the one that the browser presents.
pub(super) fn ended_by_sign_in(visit: &Visit<'_>) -> EndedSessions {
    match presented_digest(visit) {
        Some(digest) => EndedSessions::One(digest),
        None => EndedSessions::None,
    }
}

/// A session that is not stored yet.
pub(super) struct NewSession {
    /// The secret of the session, for the browser.
    pub(super) token: Token,
    pub(super) record: StaffSession,
}

impl NewSession {
    /// Begins a session in which the member has given every proof.
    pub(super) fn confirmed(visit: &Visit<'_>, staff: StaffId) -> Self {
        let mut session = Self::without_second_factor(visit, staff);
        session.record.confirmed_at = Some(visit.now);
        session
    }

    /// Begins a session in which the second factor is still missing.
    pub(super) fn without_second_factor(visit: &Visit<'_>, staff: StaffId) -> Self {
        let token = visit.console.with_random(Token::generate);
        let record = StaffSession {
            digest: token.digest(),
            staff,
            begun_at: visit.now,
            seen_at: visit.now,
            confirmed_at: None,
            address: visit.visitor.address.to_string(),
            browser: browser_name(visit),
            provider_session: None,
        };
        Self { token, record }
    }
}

/// Returns the beginning of the `User-Agent` of the browser.
fn browser_name(visit: &Visit<'_>) -> String {
    let Some(user_agent) = visit.request.headers.get(header::USER_AGENT) else {
        return String::new();
    };
    let name = String::from_utf8_lossy(user_agent.as_bytes());
    name.chars().take(MAX_BROWSER_NAME_LENGTH).collect()
}

/// Gives the browser the secret of its session, and remembers the browser.
pub(super) fn sign_in(
    visit: &Visit<'_>,
    response: &mut Response,
    token: &Token,
    member: &StaffMember,
) {
    Cookie::Session.set(visit, response, &token.reveal(), None);
    known_browsers::remember(visit, response, member);
}

/// Whether the script of a page sends the request: to follow the store, which does not keep the session of
/// an open page for ever, or to search while somebody types.
pub(super) fn is_from_script(request: &Parts) -> bool {
    request.uri.path() == "/live" || request.headers.contains_key("x-petstore-live")
}

/// Whether the script of a page sends the request without leaving the page, so nobody sees a message in the response.
pub(super) fn is_in_background(request: &Parts) -> bool {
    is_from_script(request) || request.headers.contains_key("x-petstore-send")
}
