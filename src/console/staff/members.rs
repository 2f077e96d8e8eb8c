//! The staff, for managers: who there is, their roles, links and sessions.

use maud::{Markup, html};

use super::{
    Input,
    account::{moment, sessions},
    choice, done, secret, settings_page,
    sign_in::changed_meanwhile,
};
use crate::{
    console::{call::PageCall, layout, redirect},
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

const ROLES: [(&str, &str); 3] = [
    ("clerk", "Clerk: changes animals and orders"),
    ("viewer", "Viewer: only looks"),
    ("manager", "Manager: also staff, keys, webhooks and activity"),
];

/// `GET /settings/staff`.
pub(in crate::console) async fn members(call: &PageCall<'_>) -> Result<Response, ApiError> {
    page(call, None).await
}

async fn page(call: &PageCall<'_>, wrong: Option<&str>) -> Result<Response, ApiError> {
    let PageCall { visit, session } = call;
    let store = &visit.console.app.store;
    let (staff, begun) = (store.list_staff().await?, store.list_sessions().await?);
    let message = match visit.form.get("done") {
        "role" => Some("The role is changed."),
        "disable" => Some("This member cannot sign in any more. Their sessions have ended."),
        "session" => Some("The session has ended."),
        _ => None,
    };
    let name_of = |of: &StaffSession| {
        staff.iter().find(|member| member.id == of.staff).map(|of| of.name.as_str().to_owned())
    };
    let name = Input {
        id: "name",
        label: "Name",
        kind: "text",
        value: visit.form.get("name"),
        autocomplete: "off",
        hint: Some("With this name, the member signs in."),
    };
    let content = html! {
        (done(message))
        div.stack {
            div.table {
                table {
                    thead { tr { th { "Name" } th { "Role" } th { "State" } th { "Actions" } } }
                    tbody {
                        @for member in &staff {
                            (row(call, member))
                        }
                    }
                }
            }
            section.card {
                h2 { "Add a member" }
                form.fields method="post" action=(PAGE) {
                    (call.key_field())
                    (name.show())
                    (choice("role", "Role", &ROLES, "clerk"))
                    div.buttons { button.main { "Add, and make a link" } }
                }
            }
            section {
                h2 { "Sessions" }
                (sessions(begun.into_iter(), visit.now, Some(&session.record),
                    "/settings/sessions/end", name_of))
            }
        }
    };
    Ok(settings_page("Staff", session, wrong, &content))
}

fn row(call: &PageCall<'_>, member: &StaffMember) -> Markup {
    let (is_self, now) = (member.id == call.session.member.id, call.visit.now);
    let action = format!("{PAGE}/{}", member.id);
    let roles = Role::ALL.map(|role| (role.as_str(), role.as_str()));
    let button = |act: &str, label: &str| {
        html! {
            form method="post" action=(action) {
                (call.key_field())
                input type="hidden" name="version" value=(member.version);
                input type="hidden" name="do" value=(act);
                button { (label) span.hidden { " for " (member.name.as_str()) } }
            }
        }
    };
    html! {
        tr {
            td data-label="Name" { bdi { (member.name.as_str()) } }
            td data-label="Role" {
                @if is_self { (member.role.as_str()) } @else {
                    form.row method="post" action=(action) {
                        input type="hidden" name="do" value="role";
                        select name="role" aria-label={ "Role of " (member.name.as_str()) } {
                            @for (value, label) in roles {
                                option value=(value) selected[value == member.role.as_str()] { (label) }
                            }
                        }
                        button { "Change" span.hidden { " the role of " (member.name.as_str()) } }
                    }
                }
            }
            td data-label="State" {
                @if let Some(at) = member.disabled_at { "disabled since " (moment(at)) }
                @else if member.password.is_some() {
                    "active" @if member.second_factor.is_some() { ", with second factor" }
                }
                @else if member.has_link_at(now) { "has a link" }
                @else { "link expired" }
            }
            td data-label="Actions" {
                div.buttons {
                    @if is_self { "you" } @else {
                        (button("reset", "New link"))
                        @if member.disabled_at.is_none() { (button("disable", "Disable")) }
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
        (StaffName::new(form.get("name")), Role::parse(form.get("role")))
    else {
        return page(call, Some("The name must be one line of 1 to 64 characters.")).await;
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
        StaffWritten::NameTaken => {
            page(call, Some("There is a member with this name. Choose another one.")).await
        }
        StaffWritten::Full | StaffWritten::Stale => {
            page(call, Some("There are too many members. No more can be added.")).await
        }
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
    let content = html! {
        p { "Give this link to " bdi { (name.as_str()) } ", and to nobody else. It is valid for 24 "
            "hours and is not shown again." }
        (secret(&url))
        p { a href=(PAGE) { "Back to the staff" } }
    };
    layout::page("A link to choose a password", Some(&call.session), &content)
}

/// `POST /settings/staff/{id}`: `do` is `role`, `reset` or `disable`.
pub(in crate::console) async fn change_member(call: &PageCall<'_>) -> Result<Response, ApiError> {
    let PageCall { visit, session } = call;
    let id = text::integer(visit.parameter).map(StaffId).ok_or_else(ApiError::no_such_path)?;
    if id == session.member.id {
        // So there is always a manager.
        let message = "You cannot change your own role or access. Ask another manager.";
        return Err(ApiError::new(Problem::InsufficientScope, message));
    }
    let member = visit.console.app.store.find_staff(StaffKey::Id(id)).await?;
    let member = member.ok_or_else(ApiError::no_such_path)?;
    let (seen, name) = (member.version, member.name.clone());
    match (visit.form.get("do"), Role::parse(visit.form.get("role"))) {
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
        _ => Err(ApiError::new(Problem::InvalidBody, "This form is not complete.")),
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
