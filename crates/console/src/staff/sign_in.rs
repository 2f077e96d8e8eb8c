//! Signing in and out.

use std::future::{Ready, ready};

use hyper::StatusCode;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use petstore_domain::{
    Actor, NamedActor, Problem, StaffId, StaffName,
    staff::{EndedSessions, StaffChange, StaffMember, Token, TotpSecret},
    store_area::{Act, ActType, JournalSubject, SubjectKind},
};
use petstore_store::{StaffKey, StaffWriteOutcome};
use petstore_web::edge::Response;
use tracing::warn;

use super::{
    code_input, kept, passkey_button, password, problem, status_of,
    then::{DONE, Then},
};
use crate::{
    Console, layout,
    openid::{Failure, Provider},
    prelude::*,
    session::{self, BrowserSecret, Cookie, Session},
    visit::Visit,
};

/// `GET /sign-in`.
pub(crate) fn sign_in_form(visit: &Visit<'_>) -> Ready<Result<Response, ApiError>> {
    let then = Then::page(visit, visit.query.raw("next"));
    ready(Ok(form(visit, &then, None, Who::default(), StatusCode::OK)))
}

/// `POST /sign-in/done`: a member who used another tab to sign in continues with what was typed in this one.
pub(crate) async fn continue_here(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let then = Then::sent(visit)?;
    let Some(Session { member, .. }) = session::find(visit).await? else {
        return Ok(form(
            visit,
            &then,
            None,
            Who::default(),
            StatusCode::FORBIDDEN,
        ));
    };
    match &then.kept {
        Some(kept) => kept::page(visit, &member, &kept.path, &kept.form).await,
        None => Ok(layout::redirect(&then.next)),
    }
}

/// The response of a page that needs a session, or one in which the password was given recently.
pub(crate) fn sign_in_page(visit: &Visit<'_>, session: Option<&Session>) -> Response {
    // A second click, or the session has ended already.
    if visit.request.uri.path() == "/sign-out" {
        return layout::redirect("/sign-in");
    }
    let browser = BrowserSecret::from_cookie_or_new(visit);
    let then = Then::back_to(visit, &browser);
    if then.kept.is_none() && then.lost.is_none() && session.is_none() {
        let next = utf8_percent_encode(&then.next, NON_ALPHANUMERIC);
        let leads = |provider: &Provider| provider.settings.redirects;
        let is_led = visit.console.provider.as_ref().is_some_and(leads);
        // A script cannot go to another site.
        let is_led = is_led && !session::is_in_background(visit.request);
        let page = if is_led {
            "/sign-in/provider"
        } else {
            "/sign-in"
        };
        return layout::redirect(&format!("{page}?next={next}"));
    }
    let member = session.map(|session| &session.member);
    let name = member.map_or("", |member| member.name.as_str());
    let mut response = form(
        visit,
        &then,
        None,
        Who { name, member },
        StatusCode::FORBIDDEN,
    );
    if then.kept.is_some() {
        browser.give(visit, &mut response);
    }
    response
}

/// Who signs in, as far as a page knows: the typed name, and the member who signs in again.
#[derive(Clone, Copy, Default)]
pub(super) struct Who<'m> {
    name: &'m str,
    member: Option<&'m StaffMember>,
}

/// The page to sign in, with the proofs that this member has, or that a member can have.
pub(super) fn form(
    visit: &Visit<'_>,
    then: &Then,
    wrong: Option<&str>,
    Who { name, member }: Who<'_>,
    status: StatusCode,
) -> Response {
    let has_password = member.is_none_or(|member| member.password.is_some());
    let has_password = has_password && visit.console.has_passwords();
    let has_identity = member.is_none_or(|member| member.identity.is_some());
    let at_provider = visit.console.provider.as_ref().filter(|_| has_identity);
    let name = Input {
        id: "name",
        label: texts().name,
        value: name,
        autocomplete: "username",
        is_required: true,
        is_first: name.is_empty(),
        ..Input::default()
    };
    let content = html! {
        (problem(wrong))
        @if let Some(lost) = then.lost {
            (problem(Some(lost)))
        } @else if wrong.is_none() && member.is_some() && has_password {
            p { (texts().password_again) }
        } @else if !has_password && at_provider.is_none() {
            p { (texts().link_needed) }
        } @else if then.kept.is_some() && wrong.is_none() {
            p { (texts().form_kept) }
        }
        @if let Some(at) = at_provider { (way(at, then, member.is_some())) }
        @if has_password {
            form.fields.card method="post" action="/sign-in" {
                (name.show())
                (Input { is_first: !name.value.is_empty(), ..password("password", texts().password) }.show())
                (then.fields())
                div.buttons { button.main { (texts().sign_in) } }
                @if member.is_none_or(|member| !member.passkeys.is_empty()) {
                    (passkey_button::button(visit, member))
                }
            }
            p.hint { (texts().no_password) }
        }
    };
    layout::page(status, &visit.facts, texts().sign_in, &content)
}

/// The button that leads to the provider. What was typed stays on this page, because no other site gets it:
/// the member signs in in a new tab, and continues here afterwards.
fn way(provider: &Provider, then: &Then, again: bool) -> Markup {
    let host = provider.settings.issuer.host();
    let next = if then.kept.is_some() {
        DONE
    } else {
        &then.next
    };
    let path = path_to_provider(next);
    let path = if again { path + "&again=1" } else { path };
    let label = texts().sign_in_at(host);
    html! {
        div.card {
            @if then.kept.is_some() {
                p { (texts().sign_in_in_new_tab(host)) }
                div.buttons { a.button.main href=(path) target="_blank" { (label) } }
                form method="post" action=(DONE) {
                    (then.fields())
                    div.buttons { button { (texts().continue_label) } a href="/" { (texts().drop_kept) } }
                }
            } @else {
                div.buttons { a.button.main href=(path) { (label) } }
            }
        }
    }
}

/// The path of the button that leads to the provider, and then to this page.
pub(super) fn path_to_provider(next: &str) -> String {
    format!(
        "/sign-in/provider?next={}",
        utf8_percent_encode(next, NON_ALPHANUMERIC)
    )
}

/// `POST /sign-in`.
pub(crate) async fn sign_in(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let form_name = visit.form.raw("name");
    let then = Then::sent(visit)?;
    let who = Who {
        name: form_name,
        member: None,
    };
    let again = |wrong: &str, status| form(visit, &then, Some(wrong), who, status);
    if !visit.console.has_passwords() {
        return Ok(again(texts().no_passwords, StatusCode::FORBIDDEN));
    }
    let store = &visit.console.app.store;
    let key = StaffName::new(form_name)
        .map(|name| name.key())
        .unwrap_or_default();
    let member = store.find_staff(StaffKey::Name(key.clone())).await?;
    let known = member
        .as_ref()
        .filter(|member| session::is_known_browser(visit, member));
    let known = known.map(|member| member.id);
    // First, because an attempt that finds no place does not count.
    let place = visit.console.passwords.place(known.is_some())?;
    if let Err(error) = visit.guess(&key, known) {
        return Ok(again(error.message(), StatusCode::TOO_MANY_REQUESTS));
    }
    let active = member.filter(|member| member.disabled_at.is_none());
    let hash = active.as_ref().and_then(|member| member.password.clone());
    let typed = visit.form.raw("password");
    let is_right = visit.console.passwords.is_right(place, typed, hash).await?;
    let member = match active {
        Some(member) if is_right => member,
        wrong => {
            rejected(visit, "password", wrong.as_ref(), None).await?;
            return Ok(again(texts().sign_in_wrong, StatusCode::FORBIDDEN));
        }
    };
    let act = (!member.has_second_factor()).then(|| member.act(ActType::StaffSignedIn));
    let is_complete = act.is_some();
    let Some(token) = let_in(visit, &member, act).await? else {
        return Ok(again(texts().sign_in_wrong, StatusCode::FORBIDDEN));
    };
    if !is_complete {
        let mut response = code_form(visit, &then, &member, None);
        Cookie::Session.set(visit, &mut response, &token.reveal(), None);
        return Ok(response);
    }
    then.go(visit, &token, &member, "password").await
}

/// Begins a session in place of that of the browser: without an act, one in which the second factor is missing.
/// `None` if the member has just changed.
pub(super) async fn let_in(
    visit: &Visit<'_>,
    member: &StaffMember,
    act: Option<Act>,
) -> Result<Option<Token>, ApiError> {
    let (token, begun) = session::begin(visit, member.id, act.is_some());
    let ends = session::presented_digest(visit).map_or(EndedSessions::None, EndedSessions::One);
    let (seen, after) = (member.version, member.clone());
    let change = StaffChange {
        seen,
        after,
        ends,
        begins: Some(begun),
        act,
    };
    let written = visit.write(change, session::actor(member)).await?;
    Ok((written != StaffWriteOutcome::Stale).then_some(token))
}

/// The page for the second factor, after the password.
fn code_form(
    visit: &Visit<'_>,
    then: &Then,
    member: &StaffMember,
    wrong: Option<&str>,
) -> Response {
    let content = html! {
        (problem(wrong))
        form.fields.card method="post" action="/sign-in/code" {
            (then.fields())
            @if member.second_factor.is_some() {
                (code_input(texts().code, Some(texts().code_hint)))
                div.buttons { button.main { (texts().continue_label) } }
            } @else {
                p { (texts().passkey_needed) }
            }
            @if !member.passkeys.is_empty() { (passkey_button::button(visit, Some(member))) }
        }
    };
    layout::page(status_of(wrong), &visit.facts, texts().sign_in, &content)
}

/// `POST /sign-in/code`.
pub(crate) async fn give_code(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let then = Then::sent(visit)?;
    let begun = session::find_with_or_without_code(visit).await?;
    let Some(Session { member, record }) =
        begun.filter(|begun| begun.record.confirmed_at.is_none())
    else {
        let wrong = Some(texts().sign_in_ended);
        return Ok(form(
            visit,
            &then,
            wrong,
            Who::default(),
            StatusCode::FORBIDDEN,
        ));
    };
    let known = session::is_known_browser(visit, &member).then_some(member.id);
    if let Err(error) = visit.guess(&member.name.key(), known) {
        return Ok(code_form(visit, &then, &member, Some(error.message())));
    }
    let accepted = match &member.second_factor {
        Some(second) => {
            let secret = visit
                .console
                .open_secret(member.id, &second.sealed_secret)?;
            second.after(visit.form.raw("code"), &secret, visit.now)
        }
        None => None,
    };
    let Some(second) = accepted else {
        rejected(visit, "password", Some(&member), None).await?;
        return Ok(code_form(visit, &then, &member, Some(texts().code_wrong)));
    };
    let (token, begun) = session::begin(visit, member.id, true);
    let actor = session::actor(&member);
    let after = |of: StaffMember| of.with_second_factor(Some(second));
    let ends = EndedSessions::One(record.digest);
    let change = member
        .clone()
        .change(after, ActType::StaffSignedIn)
        .ending(ends);
    let change = StaffChange {
        begins: Some(begun),
        ..change
    };
    // Another request has used the code, or the member was changed.
    if visit.write(change, actor).await? == StaffWriteOutcome::Stale {
        return Ok(code_form(visit, &then, &member, Some(texts().code_wrong)));
    }
    then.go(visit, &token, &member, "password").await
}

/// Counts and records a failed attempt, for a known name with its member. The name that was typed is not
/// recorded, because it can be a password.
pub(super) async fn rejected(
    visit: &Visit<'_>,
    method: &str,
    member: Option<&StaffMember>,
    cause: Option<&Failure>,
) -> Result<(), ApiError> {
    let is_unavailable = matches!(cause, Some(Failure::Unreachable(_)));
    let result = if is_unavailable {
        "unavailable"
    } else {
        "rejected"
    };
    visit.console.app.sign_ins.count(method, result);
    let now = visit.console.app.clock.instant();
    if let Some(cause) = cause
        && let Some(left_out) = visit.console.edge.lines_of_sign_ins.line(now)
    {
        warn!(request_id = ?visit.request_id, left_out, "a sign-in by {method} failed: {cause}");
    }
    if is_unavailable {
        return Ok(());
    }
    if !visit.console.guesses.is_recorded(now) {
        if let Some(left_out) = visit.console.edge.lines_of_unrecorded.line(now) {
            let address = visit.visitor.address;
            warn!(%address, left_out, "a failed sign-in is not in the audit trail, because it has too many of this hour");
        }
        return Ok(());
    }
    let subject = JournalSubject {
        kind: SubjectKind::Staff.into(),
        id: member.map(|member| member.id.0),
    };
    let details = vec![("address".into(), visit.visitor.address.to_string())];
    let act = Act {
        kind: ActType::StaffSignInFailed.into(),
        subject,
        details,
    };
    let context = visit.context(Actor::Clock.into());
    Ok(visit.console.app.store.record_act(act, context).await?)
}

impl Visit<'_> {
    /// Counts an attempt to sign in. Fails with 429 after too many attempts.
    pub(crate) fn guess(&self, name: &str, known: Option<StaffId>) -> Result<(), ApiError> {
        let now = self.console.app.clock.instant();
        self.console
            .guesses
            .take(name, self.visitor.address, known, now)
    }

    /// Makes a change of a member. A concurrent one is [`StaffWriteOutcome::Stale`].
    pub(crate) async fn write(
        &self,
        change: StaffChange,
        actor: NamedActor,
    ) -> Result<StaffWriteOutcome, ApiError> {
        Ok(self
            .console
            .app
            .store
            .write_staff(change, self.context(actor))
            .await?)
    }
}

impl Console {
    /// Reads the secret of a second factor. Fails with 500 without the key file.
    pub fn open_secret(&self, member: StaffId, sealed: &[u8]) -> Result<TotpSecret, ApiError> {
        let internal = |error| ApiError::internal(std::sync::Arc::new(error));
        let bytes = self
            .app
            .webhooks
            .registrar
            .vault()
            .open(&secret_of(member), sealed)
            .map_err(internal)?;
        TotpSecret::from_bytes(&bytes)
            .ok_or_else(|| ApiError::new(Problem::Internal, "invalid secret"))
    }
}

/// Of what a secret is encrypted.
pub(super) fn secret_of(member: StaffId) -> String {
    format!("staff {member}")
}
