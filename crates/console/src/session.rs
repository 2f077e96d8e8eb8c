//! Staff sessions: resumes the session of a request, and creates new sessions.

use std::sync::Arc;

use hyper::{header, http::request::Parts};
use petstore_domain::{
    Actor, NamedActor, StaffId,
    staff::{EndedSessions, StaffMember, StaffSession, Token, TokenDigest},
};
use petstore_languages as languages;
use petstore_web::edge::{ApiError, Response};

use super::{cookies::Cookie, known_browsers, visit::Visit};

/// The maximum length of the `User-Agent` in a session, in characters.
const MAX_BROWSER_NAME_LENGTH: usize = 200;

/// The header of the requests that a page's script sends on its own.
const AUTOMATIC_HEADER: &str = "x-petstore-live";

/// The header of the forms that a page's script submits in the background.
const BACKGROUND_FORM_HEADER: &str = "x-petstore-send";

/// A session with its member.
#[derive(Debug, Clone)]
pub(super) struct Session {
    /// The member, as the store has it now.
    pub(super) member: StaffMember,
    /// The stored session: its times, its browser and its address.
    pub(super) record: StaffSession,
}

/// A session that has not been stored yet.
pub(super) struct NewSession {
    /// The session token for the browser's cookie. The store gets only its digest.
    pub(super) token: Token,
    /// The session to store.
    pub(super) record: StaffSession,
}

impl Session {
    /// Returns the actor for changes that are made in this session.
    pub(super) fn actor(&self) -> NamedActor {
        actor_of(&self.member)
    }
}

/// Returns the actor for changes by this member.
pub(super) fn actor_of(member: &StaffMember) -> NamedActor {
    NamedActor {
        actor: Actor::Staff(member.id),
        name: Some(Arc::from(member.name.as_str())),
    }
}

/// Resumes the session of a request, even if its second factor is still missing. Returns `None` if
/// the browser has no valid session.
///
/// Sets the language of the request to that of the member. Also records the use of the session,
/// which postpones its end, unless a script sent the request on its own: see [`is_automatic`].
pub(super) async fn resume_any(visit: &Visit<'_>) -> Result<Option<Session>, ApiError> {
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
    // A use soon after the last one is not saved, so that not every request writes to the store.
    if record.needs_saving_at(visit.now) && !is_automatic(visit.request) {
        store.touch_session(digest, visit.now).await?;
    }
    Ok(Some(Session { member, record }))
}

/// Resumes the session of a request, with the same effects as [`resume_any`]. Returns `None` if the
/// second factor is still missing.
pub(super) async fn resume(visit: &Visit<'_>) -> Result<Option<Session>, ApiError> {
    let session = resume_any(visit).await?;
    Ok(session.filter(|session| session.record.confirmed_at.is_some()))
}

/// Returns the digest of the session token in the cookie; `None` without a well-formed token. There
/// may be no session with this token.
fn presented_digest(visit: &Visit<'_>) -> Option<TokenDigest> {
    TokenDigest::from_presented(Cookie::Session.get(visit)?)
}

/// Returns the session that a sign-in ends: the one in the browser's cookie, if there is one. A
/// sign-in always creates a new session, which prevents session fixation.
pub(super) fn sessions_ended_by_sign_in(visit: &Visit<'_>) -> EndedSessions {
    match presented_digest(visit) {
        Some(digest) => EndedSessions::One(digest),
        None => EndedSessions::None,
    }
}

impl NewSession {
    /// Creates a session of a member who is fully signed in.
    pub(super) fn confirmed(visit: &Visit<'_>, staff_id: StaffId) -> Self {
        let mut session = Self::without_second_factor(visit, staff_id);
        session.record.confirmed_at = Some(visit.now);
        session
    }

    /// Creates a session of a member who still has to provide the second factor.
    pub(super) fn without_second_factor(visit: &Visit<'_>, staff_id: StaffId) -> Self {
        let token = visit.console.with_random(Token::generate);
        let record = StaffSession {
            digest: token.digest(),
            staff: staff_id,
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

/// Returns the request's `User-Agent`, cut to [`MAX_BROWSER_NAME_LENGTH`].
fn browser_name(visit: &Visit<'_>) -> String {
    let Some(user_agent) = visit.request.headers.get(header::USER_AGENT) else {
        return String::new();
    };
    let name = String::from_utf8_lossy(user_agent.as_bytes());
    name.chars().take(MAX_BROWSER_NAME_LENGTH).collect()
}

/// Sets the session cookie, and the cookie that marks the browser as known to the member.
pub(super) fn set_cookies(
    visit: &Visit<'_>,
    response: &mut Response,
    token: &Token,
    member: &StaffMember,
) {
    Cookie::Session.set(visit, response, &token.reveal());
    known_browsers::remember(visit, response, member);
}

/// Whether a page's script sent the request on its own: to follow changes, or to search while
/// somebody types. Such a request does not extend the session, because an open page would otherwise
/// keep it alive forever.
pub(super) fn is_automatic(request: &Parts) -> bool {
    request.uri.path() == "/live" || request.headers.contains_key(AUTOMATIC_HEADER)
}

/// Whether a page's script sent the request without leaving the page: on its own, or to submit a
/// form of the member. Nobody would see a flash message in the response.
pub(super) fn is_in_background(request: &Parts) -> bool {
    is_automatic(request) || request.headers.contains_key(BACKGROUND_FORM_HEADER)
}
