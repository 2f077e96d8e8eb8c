//! The staff, for managers: who there is, their roles, links and sessions.

use maud::{Markup, html};

use super::{account::sessions, done, settings_page, shown_once, sign_in::changed_meanwhile};
use crate::{
    console::{call::PageCall, forms::Input, markup, redirect, texts},
    domain::{
        Role, StaffId, StaffName,
        staff::{EndedSessions, StaffChange, StaffMember, StaffSession, Token},
        store_area::ActType,
    },
    http::{ApiError, Problem, Response},
    store::{StaffKey, StaffWritten},
    text,
};

const PAGE: &str = "/settings/staff";

/// `GET /settings/staff`.
pub(in crate::console) async fn members(call: &PageCall<'_>) -> Result<Response, ApiError> {
    page(call, None).await
}

async fn page(call: &PageCall<'_>, wrong: Option<&str>) -> Result<Response, ApiError> {
    let PageCall { visit, session } = call;
    let store = &visit.console.app.store;
    let (staff, begun) = (store.list_staff().await?, store.list_sessions().await?);
    let message = match visit.form.get("done") {
        "role" => Some(texts::ROLE_CHANGED),
        "disable" => Some(texts::MEMBER_DISABLED),
        "session" => Some(texts::SESSION_ENDED),
        _ => None,
    };
    let name_of = |of: &StaffSession| {
        staff.iter().find(|member| member.id == of.staff).map(|of| of.name.as_str().to_owned())
    };
    let name = Input {
        id: "name",
        label: texts::NAME,
        value: visit.form.get("name"),
        hint: Some(texts::MEMBER_NAME_HINT),
        is_required: true,
        ..Input::default()
    };
    let role = Input {
        id: "role",
        label: texts::ROLE,
        value: visit.form.get("role").parse().unwrap_or(Role::Clerk).as_str(),
        ..Input::default()
    };
    let roles = Role::ALL.map(|of| (of.as_str().to_owned(), texts::what_role_may(of).to_owned()));
    let labels = [texts::NAME, texts::ROLE, texts::STATE, texts::ACTIONS];
    let content = html! {
        (done(message))
        div.stack {
            div.table {
                table {
                    thead { tr { @for label in labels { th scope="col" { (label) } } } }
                    tbody {
                        @for member in &staff {
                            (row(call, member))
                        }
                    }
                }
            }
            section.card {
                h2 { (texts::ADD_MEMBER) }
                form.fields method="post" action=(PAGE) {
                    (call.key_field())
                    (name.show())
                    (role.choose(&roles))
                    div.buttons { button.main { (texts::ADD_MEMBER_BUTTON) } }
                }
            }
            section {
                h2 { (texts::SESSIONS) }
                (sessions(begun.into_iter(), visit.now, Some(&session.record),
                    "/settings/sessions/end", name_of))
            }
        }
    };
    Ok(settings_page(texts::STAFF, session, wrong, &content))
}

fn row(call: &PageCall<'_>, member: &StaffMember) -> Markup {
    let (is_self, now) = (member.id == call.session.member.id, call.visit.now);
    let action = format!("{PAGE}/{}", member.id);
    let button = |act: &str, label: &str| {
        html! {
            form method="post" action=(action) {
                (call.key_field())
                input type="hidden" name="version" value=(member.version);
                input type="hidden" name="do" value=(act);
                button { (label) span.hidden { (texts::for_member(member.name.as_str())) } }
            }
        }
    };
    html! {
        tr {
            td.first { bdi { (member.name.as_str()) } }
            td data-label=(texts::ROLE) {
                @if is_self { (texts::role(member.role)) } @else {
                    form.row method="post" action=(action) {
                        input type="hidden" name="do" value="role";
                        select name="role" aria-label=(texts::role_of(member.name.as_str())) {
                            @for role in Role::ALL {
                                option value=(role.as_str()) selected[role == member.role] {
                                    (texts::role(role))
                                }
                            }
                        }
                        button {
                            (texts::CHANGE)
                            span.hidden { (texts::for_member(member.name.as_str())) }
                        }
                    }
                }
            }
            td data-label=(texts::STATE) {
                @if let Some(at) = member.disabled_at { (texts::DISABLED) " " (markup::time(at, now)) }
                @else if member.password.is_some() && member.second_factor.is_some() {
                    (texts::ACTIVE_WITH_SECOND_FACTOR)
                }
                @else if member.password.is_some() { (texts::ACTIVE) }
                @else if member.has_link_at(now) { (texts::HAS_LINK) }
                @else { (texts::LINK_EXPIRED) }
            }
            td data-label=(texts::ACTIONS) {
                div.buttons {
                    @if is_self { (texts::YOU) } @else {
                        (button("reset", texts::NEW_LINK))
                        @if member.disabled_at.is_none() { (button("disable", texts::DISABLE)) }
                    }
                }
            }
        }
    }
}

/// `POST /settings/staff`.
pub(in crate::console) async fn add_member(call: &PageCall<'_>) -> Result<Response, ApiError> {
    let PageCall { visit, session } = call;
    let form = &visit.form;
    let (Some(name), Some(role)) =
        (StaffName::new(form.get("name")), form.get("role").parse().ok())
    else {
        return page(call, Some(texts::MEMBER_NAME_INVALID)).await;
    };
    let link = Token::generate(&mut call.random_of_form());
    let new = StaffMember::new(name, role, &link, visit.now);
    let name = new.name.clone();
    let change = StaffChange::new(0, new, ActType::StaffAdded);
    match visit.write(change, session.actor()).await? {
        StaffWritten::Done(_) => Ok(link_page(call, &name, &link)),
        StaffWritten::NameTaken if was_made(call, &link).await? => {
            Ok(link_page(call, &name, &link))
        }
        StaffWritten::NameTaken => page(call, Some(texts::MEMBER_NAME_TAKEN)).await,
        StaffWritten::Full | StaffWritten::Stale => page(call, Some(texts::TOO_MANY_MEMBERS)).await,
    }
}

/// Whether this form has made its link before, and nobody has used it.
async fn was_made(call: &PageCall<'_>, link: &Token) -> Result<bool, ApiError> {
    let key = StaffKey::Link(link.digest());
    Ok(call.visit.console.app.store.find_staff(key).await?.is_some())
}

/// Shows a link once.
fn link_page(call: &PageCall<'_>, name: &StaffName, link: &Token) -> Response {
    let url = format!("{}/link/{}", call.visit.visitor.origin, link.reveal());
    let content = shown_once(&texts::give_link(name.as_str()), &url, PAGE);
    settings_page(texts::LINK, &call.session, None, &content)
}

/// `POST /settings/staff/{id}`: `do` is `role`, `reset` or `disable`.
pub(in crate::console) async fn change_member(call: &PageCall<'_>) -> Result<Response, ApiError> {
    let PageCall { visit, session } = call;
    let id = text::integer(visit.parameter).map(StaffId).ok_or_else(ApiError::no_such_path)?;
    if id == session.member.id {
        // So there is always a manager.
        return Err(ApiError::new(Problem::InsufficientScope, texts::OWN_ACCESS));
    }
    let member = visit.console.app.store.find_staff(StaffKey::Id(id)).await?;
    let member = member.ok_or_else(ApiError::no_such_path)?;
    let (seen, name) = (member.version, member.name.clone());
    match (visit.form.get("do"), visit.form.get("role").parse().ok()) {
        ("role", Some(role)) if role == member.role => Ok(redirect(PAGE)),
        ("role", Some(role)) => {
            let after = member.with_role(role);
            let change = StaffChange::new(seen, after, ActType::StaffRoleChanged);
            call.change(change, "/settings/staff?done=role").await
        }
        ("disable", _) => {
            let after = member.disabled(visit.now);
            let change = StaffChange::new(seen, after, ActType::StaffDisabled);
            let change = change.ending(EndedSessions::All);
            call.change(change, "/settings/staff?done=disable").await
        }
        ("reset", _) => {
            let link = Token::generate(&mut call.random_of_form());
            // As on the page of the button, so a form that is sent again takes nothing back.
            let seen = text::integer(visit.form.get("version")).unwrap_or(seen);
            let after = member.reset(&link, visit.now);
            let change = StaffChange::new(seen, after, ActType::StaffReset);
            let written = visit.write(change.ending(EndedSessions::All), session.actor()).await?;
            if matches!(written, StaffWritten::Done(_)) || was_made(call, &link).await? {
                return Ok(link_page(call, &name, &link));
            }
            Err(changed_meanwhile())
        }
        _ => Err(ApiError::new(Problem::InvalidBody, texts::INCOMPLETE_FORM)),
    }
}

/// `POST /settings/sessions/end`.
pub(in crate::console) async fn end_session_of_member(
    call: &PageCall<'_>,
) -> Result<Response, ApiError> {
    let store = &call.visit.console.app.store;
    let all = store.list_sessions().await?;
    let named = |of: &&StaffSession| of.digest.name() == call.visit.form.get("session");
    let next = "/settings/staff?done=session";
    let Some(ended) = all.iter().find(named) else { return Ok(redirect(next)) };
    let Some(member) = store.find_staff(StaffKey::Id(ended.staff)).await? else {
        return Ok(redirect(next));
    };
    let change = StaffChange::new(member.version, member, ActType::StaffSessionsEnded)
        .ending(EndedSessions::One(ended.digest));
    call.change(change, next).await
}
