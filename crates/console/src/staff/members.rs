//! The staff, for managers: who there is, their roles, links and sessions.

use petstore_domain::{
    Problem, Role, StaffId, StaffName,
    staff::{EndedSessions, Identity, StaffChange, StaffMember, StaffSession, Token},
    store_area::ActType,
};
use petstore_store::{StaffKey, StaffWriteOutcome};

use super::{
    account::{end_named_session, sessions},
    changed_meanwhile, make, settings_page, shown_once,
};
use crate::{ask::Question, prelude::*};

const PAGE: &str = "/settings/staff";

/// `GET /settings/staff`.
pub(crate) async fn members(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let store = desk.store();
    let (staff, begun) = (store.list_staff().await?, store.list_sessions(None).await?);
    let name_of = |of: &StaffSession| {
        staff
            .iter()
            .find(|member| member.id == of.staff)
            .map(|of| of.name.as_str().to_owned())
    };
    let form = &desk.visit.form;
    let name =
        Input::from_form("name", texts().name, form, errors).with_hint(texts().member_name_hint);
    let role = Input {
        value: form.raw("role").parse().unwrap_or(Role::Clerk).as_str(),
        ..Input::from_form("role", texts().role_label, form, errors)
    };
    let roles = Role::ALL.map(|of| (of.as_str(), texts().what_role_may(of)));
    let labels = [
        texts().name,
        texts().role_label,
        texts().state,
        texts().actions,
    ];
    let rows = html! { @for member in &staff { (row(desk, member)) } };
    let content = html! {
        div.stack {
            (markup::table(&markup::headings(&labels), &rows))
            section.card {
                h2 { (texts().add_member) }
                form.fields method="post" action=(PAGE) {
                    (desk.key("add"))
                    (name.as_required().show())
                    (role.choose(&roles))
                    div.buttons { button.main { (texts().add_member_button) } }
                }
            }
            section {
                h2 { (texts().sessions) }
                (sessions(begun.into_iter(), desk.visit.now, &desk.session.record,
                    "/settings/sessions/end", name_of))
            }
        }
    };
    Ok(settings_page((texts().staff, None), errors, &content))
}

fn row(desk: &Desk<'_>, member: &StaffMember) -> Markup {
    let (is_self, now) = (member.id == desk.session.member.id, desk.visit.now);
    let action = format!("{PAGE}/{}", member.id);
    let button = |act: &str, label: &str| {
        html! {
            form method="post" action=(action) {
                (desk.key(&format!("{act}-{}", member.id)))
                input type="hidden" name="version" value=(member.version);
                input type="hidden" name="do" value=(act);
                button { (label) span.hidden { (texts().for_member(member.name.as_str())) } }
            }
        }
    };
    html! {
        tr {
            td.first { bdi { (member.name.as_str()) } }
            td data-label=(texts().role_label) {
                @if is_self || member.identity.is_some() { (texts().role(member.role)) } @else {
                    form.row method="post" action=(action) {
                        (desk.key("role"))
                        input type="hidden" name="do" value="role";
                        select name="role" aria-label=(texts().role_of(member.name.as_str())) {
                            @for role in Role::ALL {
                                option value=(role.as_str()) selected[role == member.role] {
                                    (texts().role(role))
                                }
                            }
                        }
                        button {
                            (texts().change_verb)
                            span.hidden { (texts().for_member(member.name.as_str())) }
                        }
                    }
                }
            }
            td data-label=(texts().state) {
                @if let Some(at) = member.disabled_at { (texts().disabled_state) " " (markup::time(at, now)) }
                @else if let Some(of) = &member.identity { (texts().signs_in_at(host_of(of))) }
                @else if member.password.is_some() && member.has_second_factor() {
                    (texts().active_with_second_factor)
                }
                @else if member.password.is_some() { (texts().active) }
                @else if member.has_link_at(now) { (texts().has_link) }
                @else { (texts().link_expired) }
            }
            td data-label=(texts().actions) {
                div.buttons {
                    @if is_self { (texts().you) } @else {
                        (button("reset", texts().new_link))
                        @if member.disabled_at.is_none() { (button("disable", texts().disable)) }
                    }
                }
            }
        }
    }
}

/// The host of the provider.
fn host_of(identity: &Identity) -> &str {
    let (_, host) = identity.issuer.split_once("://").unwrap_or_default();
    host.split('/').next().unwrap_or_default()
}

/// `POST /settings/staff`.
pub(crate) async fn add_member(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let (Some(name), Some(role)) = (
        StaffName::new(form.raw("name")),
        form.raw("role").parse().ok(),
    ) else {
        return members(desk, &Errors::from_text(texts().member_name_invalid)).await;
    };
    let link = Token::generate(&mut desk.random_of_form());
    let new = StaffMember::new(name.clone(), role, &link, desk.visit.now);
    let change = StaffChange::new(0, new, ActType::StaffAdded);
    let wrong = match desk.visit.write(change, desk.session.actor()).await? {
        StaffWriteOutcome::Done(_) => return Ok(link_page(desk, &name, &link)),
        StaffWriteOutcome::NameTaken if was_made(desk, &link).await? => {
            return Ok(link_page(desk, &name, &link));
        }
        StaffWriteOutcome::NameTaken => texts().member_name_taken,
        StaffWriteOutcome::Full | StaffWriteOutcome::Stale => texts().too_many_members,
    };
    members(desk, &Errors::from_text(wrong)).await
}

/// Whether this form has made its link before, and nobody has used it.
async fn was_made(desk: &Desk<'_>, link: &Token) -> Result<bool, ApiError> {
    Ok(desk
        .store()
        .find_staff(StaffKey::Link(link.digest()))
        .await?
        .is_some())
}

/// Shows a link once.
fn link_page(desk: &Desk<'_>, name: &StaffName, link: &Token) -> Reply {
    let url = format!("{}/link/{}", desk.visit.visitor.origin, link.reveal());
    let content = shown_once(&texts().give_link(name.as_str()), &url, PAGE);
    settings_page((texts().link, None), &Errors::default(), &content)
}

/// `POST /settings/staff/{id}`: `do` is `role`, `reset` or `disable`.
pub(crate) async fn change_member(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let Desk { visit, session, .. } = desk;
    let id = desk
        .id(|id| Some(StaffId(id)))
        .ok_or_else(ApiError::no_such_path)?;
    if id == session.member.id {
        // So there is always a manager.
        return Err(ApiError::new(
            Problem::InsufficientScope,
            texts().own_access,
        ));
    }
    let member = desk.store().find_staff(StaffKey::Id(id)).await?;
    let member = member.ok_or_else(ApiError::no_such_path)?;
    let (seen, name) = (member.version, member.name.clone());
    let (shown, of) = (name.as_str(), texts().for_member(name.as_str()));
    let role: Option<Role> = visit.form.raw("role").parse().ok();
    let question = match visit.form.raw("do") {
        "disable" => Some((texts().disable, shown, texts().disable_member(shown))),
        "reset" => Some((texts().make_link, of.trim(), texts().reset_member(shown))),
        "role" if role.is_some_and(|role| role != member.role) => {
            let effect = role.map(|role| texts().role_becomes(shown, member.role, role));
            Some((texts().change_role, of.trim(), effect.unwrap_or_default()))
        }
        _ => None,
    };
    if let Some((verb, what, effect)) = question
        && let Some(asked) = Question::of_setting(desk, verb, what, effect, PAGE)
    {
        return Ok(asked);
    }
    match (visit.form.raw("do"), role) {
        ("role", _) if member.identity.is_some() => Err(ApiError::new(
            Problem::InsufficientScope,
            texts().role_of_provider,
        )),
        ("role", Some(role)) if role == member.role => Ok(Reply::See(PAGE.to_owned(), None)),
        ("role", Some(role)) => {
            let change = member.change(|of| of.with_role(role), ActType::StaffRoleChanged);
            make(desk, change, PAGE, "role-changed").await
        }
        ("disable", _) => {
            let change = member.change(|of| of.disabled(visit.now), ActType::StaffDisabled);
            make(
                desk,
                change.ending(EndedSessions::All),
                PAGE,
                "member-disabled",
            )
            .await
        }
        ("reset", _) => {
            let link = Token::generate(&mut desk.random_of_form());
            // As on the page of the button, so a form that is sent again takes nothing back.
            let seen = visit.form.integer("version").unwrap_or(seen);
            let after = member.reset(&link, visit.now);
            let change = StaffChange::new(seen, after, ActType::StaffReset);
            let written = visit
                .write(change.ending(EndedSessions::All), session.actor())
                .await?;
            if matches!(written, StaffWriteOutcome::Done(_)) || was_made(desk, &link).await? {
                return Ok(link_page(desk, &name, &link));
            }
            Err(changed_meanwhile())
        }
        _ => Err(ApiError::new(Problem::InvalidBody, texts().incomplete_form)),
    }
}

/// `POST /settings/sessions/end`.
pub(crate) async fn end_session_of_member(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    end_named_session(desk, None, PAGE).await
}
