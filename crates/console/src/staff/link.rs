//! The link with which a member of the staff chooses a password.

use hyper::StatusCode;
use maud::html;
use petstore_domain::{
    Role,
    staff::{EndedSessions, Password, StaffChange, StaffMember, TokenDigest},
    store_area::ActType,
};
use petstore_languages::console_texts as texts;
use petstore_store::{StaffKey, StaffWriteOutcome};
use petstore_web::edge::{ApiError, Response};

use super::{
    changed_meanwhile, new_password, problem,
    sign_in::{let_in, path_to_provider},
    status_of,
};
use crate::{layout, passwords::random_for_thread, session, visit::Visit};

/// `GET /link/{token}`.
pub(crate) async fn link_form(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let link = TokenDigest::of_presented(visit.parameter);
    if link.is_some() && link == visit.console.settings.demo_link {
        return sign_in_to_demo(visit).await;
    }
    Ok(match member_of(visit).await? {
        Some(member) => form(visit, &member, visit.request.uri.path(), None),
        None => invalid(visit),
    })
}

/// Signs in as the first manager. A service has no link that leads here: see `petstore demo`.
async fn sign_in_to_demo(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let staff = visit.console.app.store.list_staff().await?;
    let is_manager = |of: &StaffMember| of.role == Role::Manager && of.disabled_at.is_none();
    let Some(member) = staff.into_iter().find(is_manager) else {
        return Ok(invalid(visit));
    };
    let act = member.act(ActType::StaffSignedIn);
    let token = let_in(visit, &member, Some(act))
        .await?
        .ok_or_else(changed_meanwhile)?;
    let mut response = layout::redirect("/");
    session::sign_in(visit, &mut response, &token, &member);
    Ok(response)
}

/// `POST /link/{token}`.
pub(crate) async fn choose_password(visit: &Visit<'_>) -> Result<Response, ApiError> {
    let Some(member) = member_of(visit).await? else {
        return Ok(invalid(visit));
    };
    let path = visit.request.uri.path();
    let (token, begun) = session::begin(visit, member.id, true);
    let (seen, actor) = (member.version, session::actor(&member));
    let (after, act) = if visit.console.has_passwords() {
        let password = match chosen(visit, &member) {
            Ok(password) => password,
            Err(wrong) => return Ok(form(visit, &member, path, Some(&wrong))),
        };
        let random = visit.console.with_random(random_for_thread);
        // A link is for one hash, so there is no need to count.
        let place = visit.console.passwords.place(true)?;
        let hash = visit
            .console
            .passwords
            .hash(place, password, random)
            .await?;
        (member.with_password(hash), ActType::StaffPasswordSet)
    } else {
        (member.without_link(), ActType::StaffSignedIn)
    };
    let change = StaffChange::new(seen, after.clone(), act).ending(EndedSessions::All);
    let change = StaffChange {
        begins: Some(begun),
        ..change
    };
    if visit.write(change, actor).await? == StaffWriteOutcome::Stale {
        return Err(changed_meanwhile());
    }
    visit.console.app.sign_ins.count("link", "accepted");
    let mut response = layout::redirect("/");
    session::sign_in(visit, &mut response, &token, &after);
    Ok(response)
}

/// The member with this link, if it is still valid.
async fn member_of(visit: &Visit<'_>) -> Result<Option<StaffMember>, ApiError> {
    let Some(digest) = TokenDigest::of_presented(visit.parameter) else {
        return Ok(None);
    };
    let member = visit
        .console
        .app
        .store
        .find_staff(StaffKey::Link(digest))
        .await?;
    Ok(member.filter(|member| member.has_link_at(visit.now) && member.disabled_at.is_none()))
}

/// The new password in a form, or what is wrong with it.
pub(super) fn chosen(visit: &Visit<'_>, member: &StaffMember) -> Result<Password, String> {
    if visit.form.raw("new") != visit.form.raw("again") {
        return Err(texts().passwords_different.to_owned());
    }
    Password::chosen(visit.form.raw("new"), &member.name).map_err(|of| texts().weak(of))
}

fn form(visit: &Visit<'_>, member: &StaffMember, path: &str, wrong: Option<&str>) -> Response {
    let host = visit
        .console
        .provider
        .as_ref()
        .map(|of| of.settings.issuer.host());
    let content = html! {
        (problem(wrong))
        @if visit.console.has_passwords() {
            p { (texts().welcome(member.name.as_str())) }
            form.fields.card method="post" action=(path) {
                // For password managers.
                input type="hidden" name="username" autocomplete="username" value=(member.name.as_str());
                (new_password())
                div.buttons { button.main { (texts().save_password) } }
            }
        }
        @if let Some(host) = host {
            div.card {
                p { (texts().link_to_provider(host)) }
                div.buttons { a.button href=(path_to_provider(path)) { (texts().sign_in_at(host)) } }
            }
            @if !visit.console.has_passwords() {
                form.fields.card method="post" action=(path) {
                    p { (texts().enter_once_hint(host)) }
                    div.buttons { button { (texts().enter_once) } }
                }
            }
        }
    };
    let has_passwords = visit.console.has_passwords();
    let title = if has_passwords {
        texts().choose_password
    } else {
        texts().sign_in
    };
    layout::page(status_of(wrong), &visit.facts, title, &content)
}

fn invalid(visit: &Visit<'_>) -> Response {
    let content = html! {
        p { (texts().link_invalid_hint) }
        p { a href="/sign-in" { (texts().sign_in) } }
    };
    layout::page(
        StatusCode::NOT_FOUND,
        &visit.facts,
        texts().link_invalid,
        &content,
    )
}
