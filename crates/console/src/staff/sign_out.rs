//! Sign-out from the console, and back-channel logouts from the OpenID provider.

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

/// Returns the configured public origin of the console; empty if none is configured.
pub(super) fn console_origin<'v>(visit: &'v Visit<'_>) -> &'v str {
    visit
        .console
        .settings
        .url
        .as_ref()
        .map_or("", Origin::as_str)
}

/// Returns the console's provider. Fails with 404 if there is none.
pub(super) fn required_provider<'v>(visit: &'v Visit<'_>) -> Result<&'v Provider, ApiError> {
    visit
        .console
        .provider
        .as_ref()
        .ok_or_else(ApiError::no_such_path)
}

/// Responds to `POST /sign-out`: ends the session, and leads to the provider's sign-out if the
/// member signed in there.
pub(crate) async fn sign_out(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Desk { visit, session, .. } = desk;
    end_session(visit, session.record.digest, session.actor(), None).await?;
    let mut response = signed_out_response(visit, &session.member).await;
    Cookie::Session.clear(visit, &mut response);
    if Cookie::IdToken.get(visit).is_some() {
        Cookie::IdToken.clear(visit, &mut response);
    }
    Ok(Reply::Response(response))
}

/// The maximum number of attempts to end a session. Each concurrent change of the member can make
/// one fail.
const MAX_TRIES: u32 = 10;

/// Ends a session, unless it has already ended. Records `act` in the audit trail, if there is one.
/// Fails with 409 if concurrent changes make every attempt fail.
async fn end_session(
    visit: &Visit<'_>,
    digest: TokenDigest,
    actor: NamedActor,
    act: Option<ActType>,
) -> Result<(), ApiError> {
    for _ in 0..MAX_TRIES {
        // Found again in each attempt, because somebody may have changed the member.
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

/// Returns the response to a member after the sign-out: the page that leads to the provider's
/// sign-out, or else a redirect to the sign-in page.
async fn signed_out_response(visit: &Visit<'_>, member: &StaffMember) -> Response {
    if member.identity.is_some()
        && let Some(provider) = &visit.console.provider
        && let Some(page) = provider_sign_out_page(visit, provider).await
    {
        return page;
    }
    layout::redirect("/sign-in")
}

/// Returns the page that leads to the provider's sign-out; `None` if the provider does not support
/// it. It is a page because the `form-action` policy forbids redirecting the sign-out form to
/// another site.
async fn provider_sign_out_page(visit: &Visit<'_>, provider: &Provider) -> Option<Response> {
    let next_url = format!("{}/sign-in", console_origin(visit));
    let id_token = Cookie::IdToken.get(visit);
    let url = provider.sign_out_url(&next_url, id_token).await?;
    let refresh = HeaderValue::try_from(format!("0; url={url}")).ok()?;
    let host = provider.settings.issuer.host();
    let content = html! {
        p { (texts().signed_out_hint(host)) }
        p { a.button.main href=(url) { (texts().sign_out_at(host)) } }
    };
    let title = texts().signed_out_title;
    let mut response = layout::public_page(StatusCode::OK, &visit.facts, title, &content);
    response.headers_mut().insert("refresh", refresh);
    Some(response)
}

/// Responds to `POST /sign-in/back-channel`, with which the provider ends sessions (OpenID Connect
/// Back-Channel Logout). Fails with 400 if the logout token is invalid or was used before, and logs
/// the reason.
pub(crate) async fn end_sessions(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let token = visit.form.raw("logout_token");
    let used_logouts = &visit.console.replay_caches.logouts;
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
            // Inserted only now, so that the provider can retry a logout that failed.
            used_logouts.insert(&id, visit.now);
            return Ok(Response::default());
        }
        Err(failure) => failure.to_string(),
    };
    let now = visit.console.app.clock.instant();
    if let Some(left_out) = visit.console.edge.logout_log_limiter.try_acquire(now) {
        tracing::warn!(request_id = ?visit.request_id, left_out, "a logout token was rejected: {reason}");
    }
    Err(ApiError::new(Problem::InvalidBody, texts().incomplete_form))
}

/// Ends the sessions of a person, or only those with the provider's session id `session_name`, if
/// there is one. A session of the person without a session id is ended in either case, because it
/// may be the named one: its ID token had no `sid`.
///
/// Without a person, ends the sessions of anybody with this session id.
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
        let may_be_named = match &session.provider_session {
            Some(name) => session_name.is_none_or(|session_name| session_name == name),
            None => member.is_some(),
        };
        if may_be_named {
            let act = Some(ActType::StaffSessionsEnded);
            end_session(visit, session.digest, Actor::Clock.into(), act).await?;
        }
    }
    Ok(())
}
