//! The session of a request: its cookie, and whose it is.

use std::sync::Arc;

use hyper::header::{self, HeaderMap};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{call::Visit, redirect};
use crate::{
    domain::{
        Actor, NamedActor,
        staff::{StaffMember, StaffSession, TokenDigest},
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
        let name = Some(Arc::from(self.member.name.as_str()));
        NamedActor { actor: Actor::Staff(self.member.id), name }
    }
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
///
/// # Errors
///
/// Those of the store.
pub(super) async fn of(visit: &Visit<'_>) -> Result<Option<Session>, ApiError> {
    let found = with_or_without_code(visit).await?;
    Ok(found.filter(|session| session.record.confirmed_at.is_some()))
}

/// The same, also if the second factor is still missing.
///
/// # Errors
///
/// Those of the store.
pub(super) async fn with_or_without_code(visit: &Visit<'_>) -> Result<Option<Session>, ApiError> {
    let presented = cookie(&visit.request.headers, cookie_name(visit.visitor.is_secure));
    let Some(digest) = presented.and_then(TokenDigest::of_presented) else {
        return Ok(None);
    };
    let store = &visit.console.app.store;
    let Some((record, member)) = store.find_session(digest).await? else {
        return Ok(None);
    };
    if !record.is_alive_at(visit.now) || member.disabled_at.is_some() {
        return Ok(None);
    }
    if record.is_to_be_saved_at(visit.now) {
        store.touch_session(digest, visit.now).await?;
    }
    Ok(Some(Session { member, record }))
}

/// Sends the browser to the page to sign in, and from there back.
pub(super) fn sign_in_first(visit: &Visit<'_>) -> Response {
    let path = visit.request.uri.path_and_query().map_or("/", |path| path.as_str());
    redirect(&format!("/sign-in?next={}", utf8_percent_encode(path, NON_ALPHANUMERIC)))
}
