//! Signing out here, and the end of sessions that the OpenID provider sends.

use hyper::{StatusCode, header::HeaderValue};
use petstore_domain::{
    Actor, NamedActor, Problem,
    staff::{EndedSessions, Identity, StaffChange, StaffMember, TokenDigest},
    store_area::ActType,
};
use petstore_store::{StaffKey, StaffWriteOutcome};
use petstore_web::edge::{Origin, Response};

use super::changed_meanwhile;
use crate::{
    layout,
    openid::{LoggedOut, Provider},
    prelude::*,
    session::Cookie,
    visit::Visit,
};

/// Where browsers reach the console.
pub(super) fn origin<'v>(visit: &'v Visit<'_>) -> &'v str {
    visit
        .console
        .settings
        .url
        .as_ref()
        .map_or("", Origin::as_str)
}

/// The provider of the console. Fails with 404 without one.
pub(super) fn provider<'v>(visit: &'v Visit<'_>) -> Result<&'v Provider, ApiError> {
    visit
        .console
        .provider
        .as_ref()
        .ok_or_else(ApiError::no_such_path)
}

/// `POST /sign-out`.
pub(crate) async fn sign_out(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Desk { visit, session, .. } = desk;
    end_session(visit, session.record.digest, session.actor(), None).await?;
    let mut response = signed_out(visit, &session.member).await;
    Cookie::Session.clear(visit, &mut response);
    Ok(Reply::Made(response))
}

/// How often the end of a session is tried when the member changes at the same moment.
const MAX_TRIES: u32 = 10;

/// Ends a session, if it has not ended yet.
async fn end_session(
    visit: &Visit<'_>,
    digest: TokenDigest,
    actor: NamedActor,
    act: Option<ActType>,
) -> Result<(), ApiError> {
    for _ in 0..MAX_TRIES {
        // Read again, because somebody may have changed the member meanwhile.
        let found = visit.console.app.store.find_session(digest).await?;
        let Some((_, after)) = found else {
            return Ok(());
        };
        let act = act.map(|kind| after.act(kind));
        let (seen, ends) = (after.version, EndedSessions::One(digest));
        let change = StaffChange {
            seen,
            after,
            ends,
            begins: None,
            act,
        };
        if visit.write(change, actor.clone()).await? != StaffWriteOutcome::Stale {
            return Ok(());
        }
    }
    Err(changed_meanwhile())
}

/// The response after a member signed out here. If the provider offers a sign-out, this page links to it: the
/// policy for forms does not allow a form to lead to another site.
async fn signed_out(visit: &Visit<'_>, member: &StaffMember) -> Response {
    let provider = visit
        .console
        .provider
        .as_ref()
        .filter(|_| member.identity.is_some());
    if let Some(provider) = provider
        && let Some(url) = provider
            .sign_out_url(&format!("{}/sign-in", origin(visit)))
            .await
        && let Ok(refresh) = HeaderValue::try_from(format!("0; url={url}"))
    {
        let host = provider.settings.issuer.host();
        let content = html! {
            p { (texts().signed_out_hint(host)) }
            p { a.button.main href=(url) { (texts().sign_out_at(host)) } }
        };
        let title = texts().signed_out_title;
        let mut response = layout::page(StatusCode::OK, &visit.facts, title, &content);
        response.headers_mut().insert("refresh", refresh);
        return response;
    }
    layout::redirect("/sign-in")
}

/// `POST /sign-in/back-channel`: the provider ends sessions (OpenID Connect Back-Channel Logout).
pub(crate) async fn end_sessions(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let token = visit.form.raw("logout_token");
    let logouts = &visit.console.used.logouts;
    let why = match provider(visit)?.logged_out(token, visit.now).await {
        Ok(LoggedOut { id, .. }) if logouts.has(&id, visit.now) => {
            "it came before (jti)".to_owned()
        }
        Ok(LoggedOut {
            identity,
            session,
            id,
        }) => {
            end(visit, identity.as_ref(), session.as_deref()).await?;
            // Afterwards, so that the provider can repeat a logout that failed.
            logouts.take(&id, visit.now);
            return Ok(Response::default());
        }
        Err(failure) => failure.to_string(),
    };
    if let Some(left_out) = visit
        .console
        .edge
        .lines_of_logouts
        .line(visit.console.app.clock.instant())
    {
        tracing::warn!(request_id = ?visit.request_id, left_out, "a logout token was rejected: {why}");
    }
    Err(ApiError::new(Problem::InvalidBody, texts().incomplete_form))
}

/// Ends sessions of a person, or the session that the provider names. A session of the person may be the named one if it
/// has no name, because its ID token had none (sid).
pub(super) async fn end(
    visit: &Visit<'_>,
    person: Option<&Identity>,
    name: Option<&str>,
) -> Result<(), ApiError> {
    let store = &visit.console.app.store;
    let mut member = None;
    if let Some(person) = person {
        let Some(known) = store.find_staff(StaffKey::Identity(person.clone())).await? else {
            return Ok(());
        };
        member = Some(known.id);
    }
    for session in store.list_sessions(member).await? {
        let is_meant = match &session.provider_session {
            Some(own) => name.is_none_or(|name| name == own),
            None => member.is_some(),
        };
        if is_meant {
            let act = Some(ActType::StaffSessionsEnded);
            end_session(visit, session.digest, Actor::Clock.into(), act).await?;
        }
    }
    Ok(())
}
