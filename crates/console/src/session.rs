//! The session of a request: its cookie, and its member.

use std::sync::Arc;

use hyper::{
    header::{self, HeaderValue},
    http::request::Parts,
};
use petstore_domain::{
    Actor, NamedActor, StaffId,
    staff::{EndedSessions, StaffMember, StaffSession, Token, TokenDigest},
};
use petstore_languages as languages;
use petstore_web::edge::{ApiError, Response};

use super::visit::Visit;

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

/// A cookie of the console.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cookie {
    /// The secret of the session.
    Session,
    /// The tags of the members who have signed in in this browser before. See [`super::guesses`].
    Browser,
    /// The message on the next page.
    Message,
    /// The sign-ins at the provider that have begun in this browser.
    Provider,
    /// The random text from which the challenge of a passkey follows.
    Passkey,
    /// The random text of this browser, with which the tag of a kept form is made.
    Form,
}

impl Cookie {
    /// Returns the name of the cookie, such as `__Host-petstore-8443-browser`.
    ///
    /// Browsers let only this host set a cookie with the prefix, over HTTPS. Cookies have no port, so the name has it:
    /// another service on this host has cookies of its own.
    fn name(self, visit: &Visit<'_>) -> String {
        let prefix = if visit.visitor.is_secure {
            "__Host-"
        } else {
            ""
        };
        let (_, port) = visit.visitor.origin.rsplit_once(':').unwrap_or_default();
        let port = match port.parse::<u16>() {
            Ok(port) => format!("-{port}"),
            Err(_) => String::new(),
        };
        let suffix = match self {
            Self::Session => "",
            Self::Browser => "-browser",
            Self::Message => "-message",
            Self::Provider => "-provider",
            Self::Passkey => "-passkey",
            Self::Form => "-form",
        };
        format!("{prefix}petstore{port}{suffix}")
    }

    /// Returns the value of the cookie in a request.
    pub(super) fn get<'v>(self, visit: &'v Visit<'_>) -> Option<&'v str> {
        let cookie_name = self.name(visit);
        for line in visit.request.headers.get_all(header::COOKIE) {
            for pair in line.to_str().unwrap_or_default().split(';') {
                if let Some((name, value)) = pair.trim().split_once('=')
                    && name == cookie_name
                {
                    return Some(value);
                }
            }
        }
        None
    }

    /// Gives the cookie to the browser for this number of seconds, or until the browser ends.
    pub(super) fn set(
        self,
        visit: &Visit<'_>,
        response: &mut Response,
        value: &str,
        seconds: Option<u32>,
    ) {
        let name = self.name(visit);
        let secure = if visit.visitor.is_secure {
            "; Secure"
        } else {
            ""
        };
        let age = match seconds {
            Some(seconds) => format!("; Max-Age={seconds}"),
            None => String::new(),
        };
        let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{age}");
        if let Ok(cookie) = HeaderValue::try_from(cookie) {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
    }

    /// Takes the cookie from the browser.
    pub(super) fn clear(self, visit: &Visit<'_>, response: &mut Response) {
        self.set(visit, response, "", Some(0));
    }
}

/// Finds the session of a request, if its browser has one that is valid now.
pub(super) async fn find(visit: &Visit<'_>) -> Result<Option<Session>, ApiError> {
    let session = find_with_or_without_code(visit).await?;
    Ok(session.filter(|session| session.record.confirmed_at.is_some()))
}

/// Finds the session of a request, even if the second factor is still missing.
pub(super) async fn find_with_or_without_code(
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

/// Begins a session. `is_complete` says that no second factor is missing.
pub(super) fn begin(visit: &Visit<'_>, staff: StaffId, is_complete: bool) -> NewSession {
    let token = visit.console.with_random(Token::generate);
    let browser = match visit.request.headers.get(header::USER_AGENT) {
        Some(user_agent) => String::from_utf8_lossy(user_agent.as_bytes())
            .chars()
            .take(MAX_BROWSER_LENGTH)
            .collect(),
        None => String::new(),
    };
    let record = StaffSession {
        digest: token.digest(),
        staff,
        begun_at: visit.now,
        seen_at: visit.now,
        confirmed_at: is_complete.then_some(visit.now),
        address: visit.visitor.address.to_string(),
        browser,
        provider_session: None,
    };
    NewSession { token, record }
}

/// The length of the part that is kept of the `User-Agent` of a browser, in characters.
const MAX_BROWSER_LENGTH: usize = 200;

/// The number of members for whom a browser is known: those who signed in last.
const MAX_KNOWN_MEMBERS: usize = 8;

/// Returns the text that the tag of a member's browser signs. It changes with the password of the member.
fn browser_text(member: &StaffMember) -> Vec<u8> {
    let mut text = format!("browser of staff {} with password ", member.id).into_bytes();
    if let Some(password) = &member.password {
        text.extend_from_slice(password.as_bytes());
    }
    text
}

/// Returns the tags that the browser presents, valid or not.
fn presented_tags<'v>(visit: &'v Visit<'_>) -> impl Iterator<Item = &'v str> {
    Cookie::Browser
        .get(visit)
        .unwrap_or_default()
        .split('.')
        .take(MAX_KNOWN_MEMBERS)
}

/// Whether the member has signed in in this browser before, with the present password. See
/// [`super::guesses`].
pub(super) fn is_known_browser(visit: &Visit<'_>, member: &StaffMember) -> bool {
    let text = browser_text(member);
    presented_tags(visit).any(|tag| visit.is_signature_of(tag, &text))
}

/// Returns a member whom this browser knows from an earlier sign-in, and who may still sign in.
pub(super) async fn member_of_browser(visit: &Visit<'_>) -> Result<Option<StaffId>, ApiError> {
    if presented_tags(visit).all(str::is_empty) {
        return Ok(None);
    }
    let staff = visit.console.app.store.list_staff().await?;
    let known_member = staff
        .iter()
        .find(|member| member.disabled_at.is_none() && is_known_browser(visit, member));
    Ok(known_member.map(|member| member.id))
}

/// The time for which a browser is remembered, in seconds: 400 days, the longest that browsers allow.
const BROWSER_MEMORY_SECONDS: u32 = 400 * 24 * 60 * 60;

/// Gives the browser the secret of its session, and remembers the browser.
pub(super) fn sign_in(
    visit: &Visit<'_>,
    response: &mut Response,
    token: &Token,
    member: &StaffMember,
) {
    Cookie::Session.set(visit, response, &token.reveal(), None);
    remember(visit, response, member);
}

/// Remembers the browser of a member who is signed in, in addition to the other members of the browser.
pub(super) fn remember(visit: &Visit<'_>, response: &mut Response, member: &StaffMember) {
    let member_tag = visit.sign(&browser_text(member));
    let mut tags = vec![&*member_tag];
    for tag in presented_tags(visit) {
        if tag.len() == member_tag.len() && tag != member_tag {
            tags.push(tag);
        }
    }
    tags.truncate(MAX_KNOWN_MEMBERS);
    let seconds = Some(BROWSER_MEMORY_SECONDS);
    Cookie::Browser.set(visit, response, &tags.join("."), seconds);
}

/// A random text that one browser keeps until it ends, so that a tag made with it is worthless in another browser. The
/// cookie of the session changes when somebody signs in, and the members of one browser share the cookie of known
/// browsers.
pub(super) struct BrowserSecret {
    text: String,
    is_new: bool,
}

impl BrowserSecret {
    /// Returns the secret that this browser presents.
    pub(super) fn from_cookie(visit: &Visit<'_>) -> Option<Self> {
        let text = Cookie::Form.get(visit)?.to_owned();
        TokenDigest::from_presented(&text)?;
        Some(Self {
            text,
            is_new: false,
        })
    }

    /// Returns the secret of this browser, or a new one that the response must give to it.
    pub(super) fn from_cookie_or_new(visit: &Visit<'_>) -> Self {
        if let Some(secret) = Self::from_cookie(visit) {
            return secret;
        }
        Self {
            text: visit.console.with_random(Token::generate).reveal(),
            is_new: true,
        }
    }

    /// Returns the text of the secret.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Gives a new secret to the browser.
    pub(super) fn give(&self, visit: &Visit<'_>, response: &mut Response) {
        if self.is_new {
            Cookie::Form.set(visit, response, &self.text, None);
        }
    }
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
