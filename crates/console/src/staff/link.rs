//! The single-use link with which a new or reset member chooses a password, or links their account
//! at the provider.

use hyper::StatusCode;
use maud::{Markup, html};
use petstore_domain::{
    Role,
    staff::{EndedSessions, Password, PasswordHash, StaffChange, StaffMember, TokenDigest},
    store_area::ActType,
};
use petstore_languages::console_texts as texts;
use petstore_store::{StaffKey, StaffWriteOutcome};
use petstore_web::edge::{ApiError, Response};

use super::{
    NEW_PASSWORD, NEW_PASSWORD_AGAIN,
    attempts::{SignInMethod, count_success},
    changed_meanwhile, new_password_inputs, problem_banner,
    sign_in::begin_session,
    sign_in_page::provider_path,
    status_of,
};
use crate::{
    layout,
    passwords::{Sender, random_for_thread},
    session::{self, NewSession},
    visit::Visit,
};

/// Responds to `GET /link/{token}` with the form for a new password. The link of a demo signs the
/// browser in at once instead.
pub(crate) async fn link_form(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let link = TokenDigest::from_presented(visit.parameter);
    if link.is_some() && link == visit.console.settings.demo_link {
        return sign_in_to_demo(visit).await;
    }
    match find_member_by_path(visit).await? {
        Some(member) => Ok(form_page(visit, &member, None)),
        None => Ok(invalid_link_page(visit)),
    }
}

/// Signs the browser in as the first manager who is not disabled. Only `petstore demo` configures a
/// link for this.
async fn sign_in_to_demo(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let staff = visit.console.app.store.list_staff().await?;
    let manager = staff
        .into_iter()
        .find(|member| member.role == Role::Manager && member.disabled_at.is_none());
    let Some(member) = manager else {
        return Ok(invalid_link_page(visit));
    };
    let act = member.create_act(ActType::StaffSignedIn);
    let token = begin_session(visit, &member, act)
        .await?
        .ok_or_else(changed_meanwhile)?;
    let mut response = layout::redirect("/");
    session::set_cookies(visit, &mut response, &token, &member);
    Ok(response)
}

/// Responds to `POST /link/{token}`: signs the member in, and sets the new password if the console
/// has passwords. Ends the member's other sessions. The link is not valid any more afterwards.
pub(crate) async fn use_link(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let Some(member) = find_member_by_path(visit).await? else {
        return Ok(invalid_link_page(visit));
    };
    let NewSession { token, record } = NewSession::confirmed(visit, member.id);
    let actor = session::actor_of(&member);
    let version = member.version;
    let mut change = if visit.console.has_passwords() {
        let password = match parse_new_password(visit, &member) {
            Ok(password) => password,
            Err(message) => return Ok(form_page(visit, &member, Some(&message))),
        };
        let hash = hash_password(visit, password).await?;
        StaffChange::new(
            version,
            member.with_password(hash),
            ActType::StaffPasswordSet,
        )
    } else {
        // The member signs in only once with the link, and at the provider afterwards.
        StaffChange::new(version, member.without_link(), ActType::StaffSignedIn)
    };
    change.ended_sessions = EndedSessions::All;
    change.new_session = Some(record);

    let signed_in_member = change.after.clone();
    if visit.write_member(change, actor).await? == StaffWriteOutcome::Stale {
        return Err(changed_meanwhile());
    }
    count_success(visit, SignInMethod::Link);
    let mut response = layout::redirect("/");
    session::set_cookies(visit, &mut response, &token, &signed_in_member);
    Ok(response)
}

/// Hashes a new password. This is not counted as an attempt, because a valid link can be used only
/// once.
async fn hash_password(visit: &Visit<'_>, password: Password) -> Result<PasswordHash, ApiError> {
    let random = visit.console.with_random(random_for_thread);
    let passwords = &visit.console.passwords;
    let slot = passwords.acquire_slot(Sender::KnownMember)?;
    passwords.hash(slot, password, random).await
}

/// Finds the member of the link in the path. See [`find_member_by_link`].
async fn find_member_by_path(visit: &Visit<'_>) -> Result<Option<StaffMember>, ApiError> {
    match TokenDigest::from_presented(visit.parameter) {
        Some(link) => find_member_by_link(visit, link).await,
        None => Ok(None),
    }
}

/// Finds the member with this link; `None` if the link is not valid any more, or if the member is
/// disabled.
pub(super) async fn find_member_by_link(
    visit: &Visit<'_>,
    link: TokenDigest,
) -> Result<Option<StaffMember>, ApiError> {
    let key = StaffKey::Link(link);
    let member = visit.console.app.store.find_staff(key).await?;
    Ok(member.filter(|member| member.has_link_at(visit.now) && member.disabled_at.is_none()))
}

/// Parses the new password in a form, which must have been typed twice. The error is a message for
/// the member.
pub(super) fn parse_new_password(
    visit: &Visit<'_>,
    member: &StaffMember,
) -> Result<Password, String> {
    let typed_password = visit.form.raw(NEW_PASSWORD);
    if typed_password != visit.form.raw(NEW_PASSWORD_AGAIN) {
        return Err(texts().passwords_different.to_owned());
    }
    let store_name = visit.facts.name().value;
    Password::new(typed_password, &member.name, store_name)
        .map_err(|weakness| texts().weak(weakness))
}

/// Returns the page of a valid link, with what the console offers: choosing a password, linking an
/// account at the provider, or signing in once. `message` says why a password was rejected.
fn form_page(visit: &Visit<'_>, member: &StaffMember, message: Option<&str>) -> Response {
    let has_passwords = visit.console.has_passwords();
    let provider = visit.console.provider.as_ref();
    let host = provider.map(|provider| provider.settings.issuer.host());
    let content = html! {
        (problem_banner(message))
        @if has_passwords { (password_form(visit, member)) }
        @if let Some(host) = host {
            (provider_card(visit, host))
            @if !has_passwords { (enter_once_form(visit, host)) }
        }
    };
    let title = if has_passwords {
        texts().choose_password
    } else {
        texts().sign_in
    };
    layout::public_page(status_of(message), &visit.facts, title, &content)
}

/// Renders the form for a new password.
fn password_form(visit: &Visit<'_>, member: &StaffMember) -> Markup {
    let name = member.name.as_str();
    html! {
        p { (texts().welcome(name)) }
        form.fields.card method="post" action=(visit.request.uri.path()) {
            // Tells password managers the account for which they save the password.
            input type="hidden" name="username" autocomplete="username" value=(name);
            (new_password_inputs())
            div.buttons { button.main { (texts().save_password) } }
        }
    }
}

/// Renders the button that links the member's account at the provider.
fn provider_card(visit: &Visit<'_>, host: &str) -> Markup {
    let path = provider_path(visit.request.uri.path());
    html! {
        div.card {
            p { (texts().link_to_provider(host)) }
            div.buttons { a.button href=(path) { (texts().sign_in_at(host)) } }
        }
    }
}

/// Renders the form for signing in once without the provider, for example while the provider is not
/// set up yet.
fn enter_once_form(visit: &Visit<'_>, host: &str) -> Markup {
    html! {
        form.fields.card method="post" action=(visit.request.uri.path()) {
            p { (texts().enter_once_hint(host)) }
            div.buttons { button { (texts().enter_once) } }
        }
    }
}

/// Returns the 404 page for a link that is not valid.
fn invalid_link_page(visit: &Visit<'_>) -> Response {
    let content = html! {
        p { (texts().link_invalid_hint) }
        p { a href="/sign-in" { (texts().sign_in) } }
    };
    let title = texts().link_invalid;
    layout::public_page(StatusCode::NOT_FOUND, &visit.facts, title, &content)
}
