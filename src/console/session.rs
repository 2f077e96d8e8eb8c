//! The session of a request: its cookie, and whose it is.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hyper::{
    header::{self, HeaderMap, HeaderValue},
    http::request::Parts,
};
use ring::hmac;

use super::visit::Visit;
use crate::{
    domain::{
        Actor, NamedActor, StaffId,
        staff::{StaffMember, StaffSession, Token, TokenDigest},
    },
    http::{ApiError, Response},
};

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
    NamedActor { actor: Actor::Staff(member.id), name: Some(Arc::from(member.name.as_str())) }
}

/// The name of the cookie. Browsers let only this host set one with the prefix, over HTTPS.
pub(super) fn cookie_name(is_secure: bool) -> &'static str {
    if is_secure { "__Host-petstore" } else { "petstore" }
}

/// The value of a cookie.
pub(super) fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs =
        lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(of, _)| *of == name).map(|(_, value)| value).next()
}

/// The session of a request, if its browser has one that is valid now.
pub(super) async fn of(visit: &Visit<'_>) -> Result<Option<Session>, ApiError> {
    let found = with_or_without_code(visit).await?;
    Ok(found.filter(|session| session.record.confirmed_at.is_some()))
}

/// The same, also if the second factor is still missing.
pub(super) async fn with_or_without_code(visit: &Visit<'_>) -> Result<Option<Session>, ApiError> {
    let Some(digest) = presented(visit) else { return Ok(None) };
    let store = &visit.console.app.store;
    let Some((record, member)) = store.find_session(digest).await? else {
        return Ok(None);
    };
    if !record.is_alive_at(visit.now) || member.disabled_at.is_some() {
        return Ok(None);
    }
    if record.is_to_be_saved_at(visit.now) && !is_background(visit.request) {
        store.touch_session(digest, visit.now).await?;
    }
    Ok(Some(Session { member, record }))
}

/// The digest of the session that the browser presents, valid or not.
pub(super) fn presented(visit: &Visit<'_>) -> Option<TokenDigest> {
    let presented = cookie(&visit.request.headers, cookie_name(visit.visitor.is_secure))?;
    TokenDigest::of_presented(presented)
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
        browser: browser.unwrap_or_default().chars().take(MAX_BROWSER).collect(),
    };
    (token, session)
}

/// How much of what a browser says of itself is kept, in characters.
const MAX_BROWSER: usize = 200;

/// Gives the browser the secret of its session, until the browser ends.
pub(super) fn set_cookie(visit: &Visit<'_>, response: &mut Response, token: &Token) {
    add_cookie(visit, response, cookie_name(visit.visitor.is_secure), &token.reveal(), "");
}

/// Takes the secret away.
pub(super) fn clear_cookie(visit: &Visit<'_>, response: &mut Response) {
    add_cookie(visit, response, cookie_name(visit.visitor.is_secure), "", "; Max-Age=0");
}

fn add_cookie(visit: &Visit<'_>, response: &mut Response, name: &str, value: &str, age: &str) {
    let secure = if visit.visitor.is_secure { "; Secure" } else { "" };
    let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{age}");
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
}

/// The name of the cookie by which a browser is recognized in which a member has signed in before.
fn browser_cookie_name(is_secure: bool) -> &'static str {
    if is_secure { "__Host-petstore-browser" } else { "petstore-browser" }
}

fn browser_text(staff: StaffId) -> String {
    format!("browser of staff {staff}")
}

/// Whether the member has signed in in this browser before. See [`super::guesses`].
pub(super) fn is_known_browser(visit: &Visit<'_>, staff: StaffId) -> bool {
    let name = browser_cookie_name(visit.visitor.is_secure);
    let presented = cookie(&visit.request.headers, name).unwrap_or_default();
    let tag = URL_SAFE_NO_PAD.decode(presented).unwrap_or_default();
    hmac::verify(&visit.secret_key(), browser_text(staff).as_bytes(), &tag).is_ok()
}

/// Remembers the browser for 400 days, the longest that browsers allow.
pub(super) fn remember_browser(visit: &Visit<'_>, response: &mut Response, staff: StaffId) {
    let tag = hmac::sign(&visit.secret_key(), browser_text(staff).as_bytes());
    let (name, age) = (browser_cookie_name(visit.visitor.is_secure), "; Max-Age=34560000");
    add_cookie(visit, response, name, &URL_SAFE_NO_PAD.encode(tag), age);
}

/// Whether the script of a page sends the request while nobody does anything. So an open page does
/// not keep its session for ever.
fn is_background(request: &Parts) -> bool {
    request.uri.path() == "/live" || request.headers.contains_key("x-petstore-live")
}
