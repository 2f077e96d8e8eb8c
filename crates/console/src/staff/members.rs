//! The staff settings for managers: adding and disabling members, their roles, links and sessions.

use jiff::Timestamp;
use petstore_domain::{
    Problem, Role, StaffId, StaffName,
    staff::{EndedSessions, Identity, StaffChange, StaffMember, Token},
    store_area::ActType,
};
use petstore_store::{StaffKey, StaffWriteOutcome};

use super::{
    ACTION,
    account::{SessionTable, end_session_in_form},
    changed_meanwhile, secret_card, settings_page, write_and_redirect,
};
use crate::{ask::SettingChange, prelude::*};

/// The path of the page, to which its forms redirect.
const PAGE: &str = "/settings/staff";

/// The action that gives a member another role.
const CHANGE_ROLE: &str = "role";

/// The action that replaces a member's password by a new link.
const RESET: &str = "reset";

/// The action that disables a member.
const DISABLE: &str = "disable";

/// Responds to `GET /settings/staff`, and renders the page again after an invalid form.
pub(crate) async fn show_members(desk: &Desk<'_>, errors: &Errors) -> Result<Reply, ApiError> {
    let staff = desk.store().list_staff().await?;
    let sessions = desk.store().list_sessions(None).await?;
    let session_table = SessionTable {
        now: desk.visit.now,
        current_session: &desk.session.record,
        end_path: "/settings/sessions/end",
        members: &staff,
    };
    let labels = [
        texts().name,
        texts().role_label,
        texts().state,
        texts().actions,
    ];
    let rows = html! { @for member in &staff { (member_row(desk, member)) } };
    let content = html! {
        div.stack {
            (markup::table(&markup::headings(&labels), &rows))
            (new_member_form(desk, errors))
            section {
                h2 { (texts().sessions) }
                (session_table.show(sessions))
            }
        }
    };
    Ok(settings_page(texts().staff, None, errors, &content))
}

/// Renders the form for adding a member.
fn new_member_form(desk: &Desk<'_>, errors: &Errors) -> Markup {
    let form = &desk.visit.form;
    let name = Input::from_form("name", texts().name, form, errors)
        .with_hint(texts().member_name_hint)
        .make_required();
    let mut role = Input::from_form("role", texts().role_label, form, errors);
    role.value = form.raw("role").parse().unwrap_or(Role::Clerk).as_str();
    let roles = Role::ALL.map(|role| (role.as_str(), texts().what_role_may(role)));
    html! {
        section.card {
            h2 { (texts().add_member) }
            form.fields method="post" action=(PAGE) {
                (desk.idempotency_field("add"))
                (name.show())
                (role.show_dropdown(&roles))
                div.buttons { button.main { (texts().add_member_button) } }
            }
        }
    }
}

/// Renders the table row of a member. The signed-in member's own row has no buttons, because nobody
/// may change their own access.
fn member_row(desk: &Desk<'_>, member: &StaffMember) -> Markup {
    let is_self = member.id == desk.session.member.id;
    html! {
        tr {
            td.first { bdi { (member.name.as_str()) } }
            td data-label=(texts().role_label) {
                @if is_self || member.identity.is_some() {
                    (texts().role(member.role))
                } @else {
                    (role_form(desk, member))
                }
            }
            td data-label=(texts().state) { (member_state(member, desk.visit.now)) }
            td data-label=(texts().actions) {
                div.buttons {
                    @if is_self {
                        (texts().you)
                    } @else {
                        (action_button(desk, member, RESET, texts().new_link))
                        @if member.disabled_at.is_none() {
                            (action_button(desk, member, DISABLE, texts().block_member))
                        }
                    }
                }
            }
        }
    }
}

/// Renders the dropdown for a member's role, with its submit button.
fn role_form(desk: &Desk<'_>, member: &StaffMember) -> Markup {
    let name = member.name.as_str();
    html! {
        form.row method="post" action={ (PAGE) "/" (member.id) } {
            (desk.idempotency_field("role"))
            input type="hidden" name=(ACTION) value=(CHANGE_ROLE);
            select name="role" aria-label=(texts().role_of(name)) {
                @for role in Role::ALL {
                    option value=(role.as_str()) selected[role == member.role] {
                        (texts().role(role))
                    }
                }
            }
            button {
                (texts().change_verb)
                span.hidden { (window_texts().colon) (texts().role_of(name)) }
            }
        }
    }
}

/// Renders whether a member can sign in, and how.
fn member_state(member: &StaffMember, now: Timestamp) -> Markup {
    if let Some(disabled_at) = member.disabled_at {
        return html! { (texts().disabled_state) " " (markup::time(disabled_at, now)) };
    }
    if let Some(identity) = &member.identity {
        return html! { (texts().signs_in_at(provider_host(identity))) };
    }
    let state = if member.password.is_some() && member.has_second_factor() {
        texts().active_with_second_factor
    } else if member.password.is_some() {
        texts().active
    } else if member.has_link_at(now) {
        texts().has_link
    } else {
        texts().link_expired
    };
    html! { (state) }
}

/// Renders a button that changes a member: it submits the value `action` of the field [`ACTION`],
/// which [`change_member`] executes.
fn action_button(desk: &Desk<'_>, member: &StaffMember, action: &str, label: &str) -> Markup {
    html! {
        form method="post" action={ (PAGE) "/" (member.id) } {
            (desk.idempotency_field(&format!("{action}-{}", member.id)))
            input type="hidden" name="version" value=(member.version);
            input type="hidden" name=(ACTION) value=(action);
            button {
                (label)
                // For screen readers, because each member has a button with this label.
                span.hidden { (window_texts().colon) (member.name.as_str()) }
            }
        }
    }
}

/// Returns the host of the provider that issued an identity: `login.example` for the issuer
/// `https://login.example/realms/shop`.
fn provider_host(identity: &Identity) -> &str {
    let (_, host_and_path) = identity.issuer.split_once("://").unwrap_or_default();
    host_and_path.split('/').next().unwrap_or_default()
}

/// Responds to `POST /settings/staff`: adds a member, and shows the link with which the member
/// chooses a password.
pub(crate) async fn add_member(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let form = &desk.visit.form;
    let Some(name) = StaffName::new(form.raw("name")) else {
        return show_members(desk, &Errors::from_text(texts().member_name_invalid)).await;
    };
    let Ok(role) = form.raw("role").parse() else {
        return Err(ApiError::new(Problem::InvalidBody, texts().incomplete_form));
    };
    let link = Token::generate(&mut desk.random_from_form());
    let member = StaffMember::new(name.clone(), role, &link, desk.visit.now);
    let change = StaffChange::adding(member);
    let outcome = desk
        .visit
        .write_member(change, desk.session.actor())
        .await?;
    let message = match outcome {
        StaffWriteOutcome::Done(_) => return Ok(link_page(desk, &name, &link)),
        StaffWriteOutcome::NameTaken => {
            // The first request of a double click may have added this very member.
            if already_created(desk, &link).await? {
                return Ok(link_page(desk, &name, &link));
            }
            texts().member_name_taken
        }
        // A new member is never stale.
        StaffWriteOutcome::Full | StaffWriteOutcome::Stale => texts().too_many_members,
    };
    show_members(desk, &Errors::from_text(message)).await
}

/// Whether this form has already created `link`, because of a double click. The same form always
/// generates the same link: see [`Desk::random_from_form`].
///
/// The result is `false` once somebody has used the link, because it then no longer exists.
async fn already_created(desk: &Desk<'_>, link: &Token) -> Result<bool, ApiError> {
    let key = StaffKey::Link(link.digest());
    Ok(desk.store().find_staff(key).await?.is_some())
}

/// Returns the page that shows a member's link once.
fn link_page(desk: &Desk<'_>, name: &StaffName, link: &Token) -> Reply {
    let url = format!("{}/link/{}", desk.visit.visitor.origin, link.reveal());
    let content = secret_card(&texts().give_link(name.as_str()), &url, PAGE);
    settings_page(texts().link, None, &Errors::default(), &content)
}

/// Responds to `POST /settings/staff/{id}`: executes the action in the form, which is
/// [`CHANGE_ROLE`], [`RESET`] or [`DISABLE`].
pub(crate) async fn change_member(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let id = desk
        .path_id(|id| Some(StaffId(id)))
        .ok_or_else(ApiError::no_such_path)?;
    if id == desk.session.member.id {
        // Managers cannot change themselves, so at least one manager always remains.
        return Err(ApiError::new(
            Problem::InsufficientScope,
            texts().own_access,
        ));
    }
    let member = desk
        .store()
        .find_staff(StaffKey::Id(id))
        .await?
        .ok_or_else(ApiError::no_such_path)?;
    match desk.visit.form.raw(ACTION) {
        CHANGE_ROLE => change_role(desk, member).await,
        DISABLE => disable_member(desk, member).await,
        RESET => reset_member(desk, member).await,
        _ => Err(ApiError::new(Problem::InvalidBody, texts().incomplete_form)),
    }
}

/// Returns the object of a question such as "Change role for Ana?": `for Ana`. The translated text
/// begins with a space, which the question already has.
fn object_in_question(name: &str) -> String {
    texts().for_member(name).trim().to_owned()
}

/// Changes a member's role to the one in the form, once the manager has confirmed it. Fails with
/// 403 for a member whose role comes from the provider.
async fn change_role(desk: &Desk<'_>, member: StaffMember) -> Result<Reply, ApiError> {
    if member.identity.is_some() {
        let message = texts().role_of_provider;
        return Err(ApiError::new(Problem::InsufficientScope, message));
    }
    let Ok(role) = desk.visit.form.raw("role").parse::<Role>() else {
        return Err(ApiError::new(Problem::InvalidBody, texts().incomplete_form));
    };
    if role == member.role {
        return Ok(Reply::redirect_to(PAGE));
    }

    let name = member.name.as_str();
    let object = object_in_question(name);
    let role_change = SettingChange {
        verb: texts().change_role,
        object: &object,
        effect: &texts().role_becomes(name, member.role, role),
        back_path: PAGE,
    };
    if let Some(question_page) = role_change.confirm(desk) {
        return Ok(question_page);
    }
    let change = member.change(|member| member.with_role(role), ActType::StaffRoleChanged);
    write_and_redirect(desk, change, PAGE, "role-changed").await
}

/// Disables a member and ends the member's sessions, once the manager has confirmed it.
async fn disable_member(desk: &Desk<'_>, member: StaffMember) -> Result<Reply, ApiError> {
    let name = member.name.as_str();
    let disabling = SettingChange {
        verb: texts().block_member,
        object: name,
        effect: &texts().disable_member(name),
        back_path: PAGE,
    };
    if let Some(question_page) = disabling.confirm(desk) {
        return Ok(question_page);
    }
    let now = desk.visit.now;
    let change = member
        .change(|member| member.disable(now), ActType::StaffDisabled)
        .with_ended_sessions(EndedSessions::All);
    write_and_redirect(desk, change, PAGE, "member-disabled").await
}

/// Resets a member, once the manager has confirmed it: ends the member's sessions, and replaces the
/// password by a new link, which is shown once.
async fn reset_member(desk: &Desk<'_>, member: StaffMember) -> Result<Reply, ApiError> {
    let name = member.name.clone();
    let object = object_in_question(name.as_str());
    let reset = SettingChange {
        verb: texts().make_link,
        object: &object,
        effect: &texts().reset_member(name.as_str()),
        back_path: PAGE,
    };
    if let Some(question_page) = reset.confirm(desk) {
        return Ok(question_page);
    }
    let link = Token::generate(&mut desk.random_from_form());
    // The version is the one that the page showed. If the form is submitted again later, its
    // version is stale, so it does not undo newer changes.
    let shown_version = desk.visit.form.integer("version").unwrap_or(member.version);
    let member = member.reset(&link, desk.visit.now);
    let change = StaffChange::new(shown_version, member, ActType::StaffReset)
        .with_ended_sessions(EndedSessions::All);
    let outcome = desk
        .visit
        .write_member(change, desk.session.actor())
        .await?;
    if matches!(outcome, StaffWriteOutcome::Done(_)) || already_created(desk, &link).await? {
        return Ok(link_page(desk, &name, &link));
    }
    Err(changed_meanwhile())
}

/// Responds to `POST /settings/sessions/end`: ends a session, which can be of any member.
pub(crate) async fn end_session_of_member(desk: &Desk<'_>) -> Result<Reply, ApiError> {
    let all_sessions = desk.store().list_sessions(None).await?;
    end_session_in_form(desk, all_sessions, PAGE).await
}
