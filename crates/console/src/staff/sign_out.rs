//! Sign-out from the console, and back-channel logouts from the OpenID provider.

use hyper::{StatusCode, header::HeaderValue};
use petstore_domain::{
    Actor, NamedActor, Problem, StaffId,
    staff::{EndedSessions, Identity, StaffChange, StaffMember, StaffSession, TokenDigest},
    store_area::ActType,
};
use petstore_store::{StaffKey, StaffWriteOutcome};
use petstore_web::edge::Response;
use tracing::warn;

use super::{changed_meanwhile, console_origin, required_provider};
use crate::{
    cookies::Cookie,
    layout,
    openid::{Logout, Provider},
    prelude::*,
    visit::Visit,
};

/// The maximum number of attempts to end a session. Each concurrent change of the member can make
/// one fail.
const MAX_TRIES: u32 = 10;

/// Responds to `POST /sign-out`: ends the session, and leads to the provider's sign-out if the
/// member signed in there.
pub(crate) async fn sign_out(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let visit = &desk.visit;
    let session = &desk.session;
    // An ordinary sign-out is not in the audit trail, so it has no act type.
    end_session(visit, session.record.digest, session.actor(), None).await?;
    let mut response = signed_out_response(visit, &session.member).await;
    Cookie::Session.clear(visit, &mut response);
    // The browser has this cookie only after a sign-in at the provider.
    if Cookie::IdToken.get(visit).is_some() {
        Cookie::IdToken.clear(visit, &mut response);
    }
    Ok(Reply::Response(response))
}

/// Ends a session, unless it has already ended. If `act_type` is given, records an act of this type
/// in the audit trail. Fails with 409 if concurrent changes make every attempt fail.
async fn end_session(
    visit: &Visit<'_>,
    digest: TokenDigest,
    actor: NamedActor,
    act_type: Option<ActType>,
) -> Result<(), ApiError> {
    for _ in 0..MAX_TRIES {
        // Found again in each attempt, because somebody may have changed the member.
        let session = visit.console.app.store.find_session(digest).await?;
        let Some((_, member)) = session else {
            return Ok(());
        };
        let change = StaffChange {
            seen_version: member.version,
            act: act_type.map(|act_type| member.create_act(act_type)),
            after: member,
            ended_sessions: EndedSessions::One(digest),
            new_session: None,
        };
        // A refused change of an existing member is always stale.
        if visit.write_member(change, actor.clone()).await? != StaffWriteOutcome::Stale {
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
/// it, or if its URL is not a valid header value. A redirect would not do: the `form-action` policy
/// forbids redirecting the sign-out form to another site.
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
pub(crate) async fn handle_provider_logout(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let provider = required_provider(visit)?;
    let logout = match parse_unused_logout(visit, provider).await {
        Ok(logout) => logout,
        Err(reason) => {
            log_rejected_logout(visit, &reason);
            // The provider only evaluates the status. The reason is for the operator.
            let message = texts().incomplete_form;
            return Err(ApiError::new(Problem::InvalidBody, message));
        }
    };
    end_sessions_of_logout(visit, &logout).await?;
    // Inserted only now, so that the provider can retry a logout that failed. Two requests with the
    // same token at the same time do no harm: they end the same sessions.
    let used_logouts = &visit.console.replay_caches.logouts;
    used_logouts.insert(&logout.id, visit.now);
    Ok(Response::default())
}

/// Parses the logout token in the form. Fails with the reason for the log if the token is invalid,
/// or if it was used before.
async fn parse_unused_logout(visit: &Visit<'_>, provider: &Provider) -> Result<Logout, String> {
    let token = visit.form.raw("logout_token");
    let logout = provider
        .parse_logout(token, visit.now)
        .await
        .map_err(|failure| failure.to_string())?;
    let used_logouts = &visit.console.replay_caches.logouts;
    if used_logouts.contains(&logout.id, visit.now) {
        return Err("it came before (jti)".to_owned());
    }
    Ok(logout)
}

/// Logs that a logout token was rejected, unless too many rejections were logged recently.
/// The next logged rejection states how many were left out.
fn log_rejected_logout(visit: &Visit<'_>, reason: &str) {
    let now = visit.console.app.clock.instant();
    if let Some(left_out) = visit.console.edge.logout_log_limiter.try_acquire(now) {
        warn!(request_id = ?visit.request_id, left_out, "a logout token was rejected: {reason}");
    }
}

/// Ends the sessions that a logout token means. A token names a person, a session at the provider
/// (`sid`), or both:
///
/// - If it names only a person, ends all sessions of the person.
/// - If it names only a session, ends all sessions with this `sid`.
/// - If it names both, ends the person's sessions with this `sid` or without any. Some providers
///   send no `sid` in the ID token, so each session without one may be the named session.
async fn end_sessions_of_logout(visit: &Visit<'_>, logout: &Logout) -> Result<(), ApiError> {
    let member_id = match &logout.identity {
        Some(person) => {
            let Some(id) = find_member_id(visit, person).await? else {
                return Ok(());
            };
            Some(id)
        }
        None => None,
    };
    let session_name = logout.session.as_deref();
    for session in visit.console.app.store.list_sessions(member_id).await? {
        let may_be_meant = match &session.provider_session {
            Some(name) => session_name.is_none_or(|session_name| session_name == name),
            None => member_id.is_some(),
        };
        if may_be_meant {
            end_session_for_provider(visit, &session).await?;
        }
    }
    Ok(())
}

/// Ends all sessions of a person.
pub(super) async fn end_sessions_of_person(
    visit: &Visit<'_>,
    person: &Identity,
) -> Result<(), ApiError> {
    let Some(member_id) = find_member_id(visit, person).await? else {
        return Ok(());
    };
    let store = &visit.console.app.store;
    for session in store.list_sessions(Some(member_id)).await? {
        end_session_for_provider(visit, &session).await?;
    }
    Ok(())
}

/// Finds the member with this identity at the provider.
async fn find_member_id(visit: &Visit<'_>, person: &Identity) -> Result<Option<StaffId>, ApiError> {
    let key = StaffKey::Identity(person.clone());
    let member = visit.console.app.store.find_staff(key).await?;
    Ok(member.map(|member| member.id))
}

/// Ends a session because the provider said so, and records this in the audit trail.
async fn end_session_for_provider(
    visit: &Visit<'_>,
    session: &StaffSession,
) -> Result<(), ApiError> {
    let act_type = Some(ActType::StaffSessionsEnded);
    // There is no actor for the provider, so the service itself counts as the actor.
    end_session(visit, session.digest, Actor::Clock.into(), act_type).await
}
