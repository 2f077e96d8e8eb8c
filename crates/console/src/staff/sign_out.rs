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
    cookies::Cookie,
    layout,
    openid::{Logout, Provider},
    prelude::*,
    visit::Visit,
};

/// Returns the origin at which browsers reach the console; empty without a setting for it.
pub(super) fn console_origin<'v>(visit: &'v Visit<'_>) -> &'v str {
    visit
        .console
        .settings
        .url
        .as_ref()
        .map_or("", Origin::as_str)
}

/// Returns the provider of the console. Fails with 404 without one.
pub(super) fn required_provider<'v>(visit: &'v Visit<'_>) -> Result<&'v Provider, ApiError> {
    visit
        .console
        .provider
        .as_ref()
        .ok_or_else(ApiError::no_such_path)
}

/// Responds to `POST /sign-out`.
pub(crate) async fn sign_out(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Desk { visit, session, .. } = desk;
    end_session(visit, session.record.digest, session.actor(), None).await?;
    let mut response = signed_out_response(visit, &session.member).await;
    Cookie::Session.clear(visit, &mut response);
    if Cookie::IdToken.get(visit).is_some() {
        Cookie::IdToken.clear(visit, &mut response);
    }
    Ok(Reply::Made(response))
}

/// The number of times that the end of a session is tried when the member changes at the same moment.
const MAX_TRIES: u32 = 10;

/// Ends a session, if it has not ended yet.
async fn end_session(
    visit: &Visit<'_>,
    digest: TokenDigest,
    actor: NamedActor,
    act: Option<ActType>,
) -> Result<(), ApiError> {
    for _ in 0..MAX_TRIES {
        // Read in each try, because somebody may have changed the member.
        let session = visit.console.app.store.find_session(digest).await?;
        let Some((_, member)) = session else {
            return Ok(());
        };
        let change = StaffChange {
            seen_version: member.version,
            act: act.map(|kind| member.act(kind)),
            after: member,
            ended_sessions: EndedSessions::One(digest),
            new_session: None,
        };
        if visit.write(change, actor.clone()).await? != StaffWriteOutcome::Stale {
            return Ok(());
        }
    }
    Err(changed_meanwhile())
}

/// Returns the response after a member signed out here. If the provider offers a sign-out, this page links to it: the
/// policy for forms does not allow a form to lead to another site.
async fn signed_out_response(visit: &Visit<'_>, member: &StaffMember) -> Response {
    if member.identity.is_some()
        && let Some(provider) = &visit.console.provider
        && let Some(page) = provider_sign_out_page(visit, provider).await
    {
        return page;
    }
    layout::redirect("/sign-in")
}

/// Returns the page that leads to the sign-out of the provider; `None` if the provider does not offer it.
async fn provider_sign_out_page(visit: &Visit<'_>, provider: &Provider) -> Option<Response> {
    let back = format!("{}/sign-in", console_origin(visit));
    let id_token = Cookie::IdToken.get(visit);
    let url = provider.sign_out_url(&back, id_token).await?;
    let refresh = HeaderValue::try_from(format!("0; url={url}")).ok()?;
    let host = provider.settings.issuer.host();
    let content = html! {
        p { (texts().signed_out_hint(host)) }
        p { a.button.main href=(url) { (texts().sign_out_at(host)) } }
    };
    let title = texts().signed_out_title;
    let mut response = layout::page(StatusCode::OK, &visit.facts, title, &content);
    response.headers_mut().insert("refresh", refresh);
    Some(response)
}

/// Responds to `POST /sign-in/back-channel`: the provider ends sessions (OpenID Connect Back-Channel Logout).
pub(crate) async fn end_sessions(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let token = visit.form.raw("logout_token");
    let used_logouts = &visit.console.used.logouts;
    let provider = required_provider(visit)?;
    let reason = match provider.parse_logout(token, visit.now).await {
        Ok(logout) if used_logouts.contains(&logout.id, visit.now) => {
            "it came before (jti)".to_owned()
        }
        Ok(Logout {
            identity,
            session,
            id,
        }) => {
            end_sessions_of(visit, identity.as_ref(), session.as_deref()).await?;
            // Afterwards, so that the provider can repeat a logout that failed.
            used_logouts.take(&id, visit.now);
            return Ok(Response::default());
        }
        Err(failure) => failure.to_string(),
    };
    let now = visit.console.app.clock.instant();
    if let Some(left_out) = visit.console.edge.lines_of_logouts.line(now) {
        tracing::warn!(request_id = ?visit.request_id, left_out, "a logout token was rejected: {reason}");
    }
    Err(ApiError::new(Problem::InvalidBody, texts().incomplete_form))
}

/// Ends the sessions of a person, or the session that the provider names. A session of the person may be the named one
/// if it has no name, because its ID token had none (sid).
pub(super) async fn end_sessions_of(
    visit: &Visit<'_>,
    person: Option<&Identity>,
    session_name: Option<&str>,
) -> Result<(), ApiError> {
    let store = &visit.console.app.store;
    let member = match person {
        Some(person) => {
            let key = StaffKey::Identity(person.clone());
            let Some(member) = store.find_staff(key).await? else {
                return Ok(());
            };
            Some(member.id)
        }
        None => None,
    };
    for session in store.list_sessions(member).await? {
        let is_named = match &session.provider_session {
            Some(name) => session_name.is_none_or(|session_name| session_name == name),
            None => member.is_some(),
        };
        if is_named {
            let act = Some(ActType::StaffSessionsEnded);
            end_session(visit, session.digest, Actor::Clock.into(), act).await?;
        }
    }
    Ok(())
}
