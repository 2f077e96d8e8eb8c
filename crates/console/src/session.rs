//! The session of a request: its cookie, and whose it is.

use std::sync::Arc;

use hyper::{
    header::{self, HeaderValue},
    http::request::Parts,
};
use petstore_domain::{
    Actor, NamedActor, StaffId,
    staff::{PasswordHash, StaffMember, StaffSession, Token, TokenDigest},
};
use petstore_languages as languages;
use petstore_web::edge::{ApiError, Response};

use super::visit::Visit;

/// Somebody who is signed in.
#[derive(Debug, Clone)]
pub(super) struct Session {
    /// Who, as they are now.
    pub(super) member: StaffMember,
    /// In which browser, and since when.
    pub(super) record: StaffSession,
}

impl Session {
    /// Who causes the changes of this session.
    pub(super) fn actor(&self) -> NamedActor {
        actor(&self.member)
    }
}

/// A member as the cause of a change.
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
    /// By which a browser is recognized in which members have signed in before. See [`super::guesses`].
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
    /// Its name. Browsers let only this host set one with the prefix, over HTTPS. Cookies have no port, so
    /// the name has it: another service on this host has cookies of its own.
    fn name(self, visit: &Visit<'_>) -> String {
        let (_, port) = visit.visitor.origin.rsplit_once(':').unwrap_or_default();
        let port = port
            .parse::<u16>()
            .map(|port| format!("-{port}"))
            .unwrap_or_default();
        let prefix = if visit.visitor.is_secure {
            "__Host-"
        } else {
            ""
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

    /// Its value in a request.
    pub(super) fn get<'v>(self, visit: &'v Visit<'_>) -> Option<&'v str> {
        let name = self.name(visit);
        let lines = visit.request.headers.get_all(header::COOKIE).iter();
        let pairs = lines
            .filter_map(|line| line.to_str().ok())
            .flat_map(|line| line.split(';'));
        let mut pairs = pairs.filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(of, _)| *of == name).map(|(_, value)| value)
    }

    /// Gives it to the browser for so many seconds, or until the browser ends.
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
        let age = seconds
            .map(|seconds| format!("; Max-Age={seconds}"))
            .unwrap_or_default();
        let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{age}");
        if let Ok(cookie) = HeaderValue::try_from(cookie) {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
    }

    /// Takes it from the browser.
    pub(super) fn clear(self, visit: &Visit<'_>, response: &mut Response) {
        self.set(visit, response, "", Some(0));
    }
}

/// The session of a request, if its browser has one that is valid now.
pub(super) async fn find(visit: &Visit<'_>) -> Result<Option<Session>, ApiError> {
    let found = find_with_or_without_code(visit).await?;
    Ok(found.filter(|session| session.record.confirmed_at.is_some()))
}

/// The same, even if the second factor is still missing.
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

/// The digest of the session that the browser presents, valid or not.
pub(super) fn presented_digest(visit: &Visit<'_>) -> Option<TokenDigest> {
    TokenDigest::of_presented(Cookie::Session.get(visit)?)
}

/// A new session, and its secret for the browser. `is_complete`: without a missing second factor.
pub(super) fn begin(visit: &Visit<'_>, staff: StaffId, is_complete: bool) -> (Token, StaffSession) {
    let token = visit.console.with_random(Token::generate);
    let browser = visit.request.headers.get(header::USER_AGENT);
    let browser = browser.map(|name| String::from_utf8_lossy(name.as_bytes()).into_owned());
    let session = StaffSession {
        digest: token.digest(),
        staff,
        begun_at: visit.now,
        seen_at: visit.now,
        confirmed_at: is_complete.then_some(visit.now),
        address: visit.visitor.address.to_string(),
        browser: browser
            .unwrap_or_default()
            .chars()
            .take(MAX_BROWSER)
            .collect(),
        provider_session: None,
    };
    (token, session)
}

/// How much of what a browser says of itself is kept, in characters.
const MAX_BROWSER: usize = 200;

/// For how many members a browser is known: those who signed in last.
const MAX_KNOWN: usize = 8;

/// The signed text in the tag of a browser of this member, until the member gets another password.
fn browser_text(member: &StaffMember) -> Vec<u8> {
    let of = format!("browser of staff {} with password ", member.id);
    let password = member
        .password
        .as_ref()
        .map_or(&[][..], PasswordHash::as_bytes);
    [of.as_bytes(), password].concat()
}

/// The tags that the browser presents, valid or not.
fn presented_tags<'v>(visit: &'v Visit<'_>) -> impl Iterator<Item = &'v str> {
    Cookie::Browser
        .get(visit)
        .unwrap_or_default()
        .split('.')
        .take(MAX_KNOWN)
}

/// Whether the member has signed in in this browser before, with the present password. See
/// [`super::guesses`].
pub(super) fn is_known_browser(visit: &Visit<'_>, member: &StaffMember) -> bool {
    let text = browser_text(member);
    presented_tags(visit).any(|tag| visit.is_tag_of(tag, &text))
}

/// Returns a member whom this browser knows from an earlier sign-in, and who may still sign in.
pub(super) async fn member_of_browser(visit: &Visit<'_>) -> Result<Option<StaffId>, ApiError> {
    if presented_tags(visit).all(str::is_empty) {
        return Ok(None);
    }
    let staff = visit.console.app.store.list_staff().await?;
    let mut active = staff.iter().filter(|member| member.disabled_at.is_none());
    let known = active.find(|member| is_known_browser(visit, member));
    Ok(known.map(|member| member.id))
}

/// How long a browser is remembered, in seconds: 400 days, the longest that browsers allow.
const REMEMBERED_FOR: u32 = 400 * 24 * 60 * 60;

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

/// Remembers the browser of a member who is signed in, with those of other members.
pub(super) fn remember(visit: &Visit<'_>, response: &mut Response, member: &StaffMember) {
    let tag = visit.tag_of(&browser_text(member));
    let others = presented_tags(visit).filter(|other| other.len() == tag.len() && *other != tag);
    let tags: Vec<_> = std::iter::once(&*tag)
        .chain(others)
        .take(MAX_KNOWN)
        .collect();
    Cookie::Browser.set(visit, response, &tags.join("."), Some(REMEMBERED_FOR));
}

/// A random text that one browser keeps until it ends, so that a tag made with it is worthless in another browser. The
/// cookie of the session changes when somebody signs in, and the browsers of one member share that of known browsers.
pub(super) struct BrowserSecret {
    text: String,
    is_new: bool,
}

impl BrowserSecret {
    /// Returns the secret that this browser presents.
    pub(super) fn from_cookie(visit: &Visit<'_>) -> Option<Self> {
        let text = Cookie::Form.get(visit)?.to_owned();
        TokenDigest::of_presented(&text)?;
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
/// an open page for ever, or what is typed into a search.
pub(super) fn is_from_script(request: &Parts) -> bool {
    request.uri.path() == "/live" || request.headers.contains_key("x-petstore-live")
}

/// Whether the script of a page sends the request without leaving the page, so nobody sees a message in the response.
pub(super) fn is_in_background(request: &Parts) -> bool {
    is_from_script(request) || request.headers.contains_key("x-petstore-send")
}
