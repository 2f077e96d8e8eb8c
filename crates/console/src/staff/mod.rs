//! The pages with which staff sign in, and manage their accounts, each other and API keys.

mod account;
mod kept;
mod keys;
mod link;
mod members;
mod passkey_button;
mod passkeys;
mod provider;
mod second_factor;
mod sign_in;
mod sign_out;
mod then;

use std::future::{Ready, ready};

use hyper::StatusCode;
use petstore_domain::{Problem, staff::StaffChange};
use petstore_store::StaffWriteOutcome;

pub(super) use self::{
    account::{account, end_session, set_language, set_password},
    kept::page as kept_page,
    keys::{add_key, change_key, keys},
    link::{choose_password, link_form},
    members::{add_member, change_member, end_session_of_member, members},
    passkeys::{add_passkey, challenge, passkeys, remove_passkey, sign_in_with_passkey},
    provider::{come_back, leave, signed_in},
    second_factor::{new_recovery_codes, remove_second_factor, second_factor, set_second_factor},
    sign_in::{continue_here, give_code, sign_in, sign_in_form, sign_in_page},
    sign_out::{end_sessions, sign_out},
};

use super::reply::Flash;
use crate::prelude::*;

/// A field for a password.
fn password_input(id: &str, label: &str, hint: Option<&str>) -> Markup {
    Input {
        hint,
        ..password(id, label)
    }
    .show()
}

fn password<'a>(id: &'a str, label: &'a str) -> Input<'a> {
    let autocomplete = if id == "new" || id == "again" {
        "new-password"
    } else {
        "current-password"
    };
    let (kind, is_required) = ("password", true);
    Input {
        id,
        label,
        kind,
        is_required,
        autocomplete,
        ..Input::default()
    }
}

/// A field for a new password, twice.
fn new_password() -> Markup {
    html! {
        (password_input("new", texts().new_password, Some(texts().new_password_hint)))
        (password_input("again", texts().new_password_again, None))
    }
}

/// A field for a code.
fn code_input(label: &str, hint: Option<&str>) -> Markup {
    let (autocomplete, is_required) = ("one-time-code", true);
    Input {
        id: "code",
        label,
        hint,
        is_required,
        autocomplete,
        ..Input::default()
    }
    .show()
}

/// The problem, if there is one.
fn problem(message: Option<&str>) -> Markup {
    html! { @if let Some(message) = message { div.problem role="alert" tabindex="-1" autofocus { p { (message) } } } }
}

/// A secret that is shown once: what to do with it, and the page after it.
pub(super) fn shown_once(hint: &Markup, secret: &str, next: &str) -> Markup {
    html! {
        div.card {
            p { (hint) }
            code.secret { (secret) }
            a.button.main href=(next) { (texts().copied) }
        }
    }
}

/// 422 with an error, and otherwise 200.
fn status_of(problem: Option<&str>) -> StatusCode {
    if problem.is_some() {
        StatusCode::UNPROCESSABLE_ENTITY
    } else {
        StatusCode::OK
    }
}

/// The menu of the settings. `title` is that of the present page.
pub(super) fn settings_menu(title: &str) -> Markup {
    let pages = [
        ("/settings/store", texts().store),
        ("/settings/staff", texts().staff),
        ("/settings/keys", texts().keys),
        ("/settings/fields", texts().fields),
        ("/settings/webhooks", texts().webhooks),
    ];
    html! {
        nav.sub aria-label=(texts().settings) {
            ul {
                @for (path, name) in pages {
                    li { a href=(path) aria-current=[(name == title).then_some("page")] { (name) } }
                }
            }
        }
    }
}

/// `GET /settings`: its first page.
pub(super) fn settings(_: &Desk<'_>) -> Ready<Result<Reply, ApiError>> {
    ready(Ok(Reply::See("/settings/store".to_owned(), None)))
}

/// A page of the settings, with what it is for.
pub(super) fn settings_page(
    (title, hint): (&str, Option<&str>),
    errors: &Errors,
    content: &Markup,
) -> Reply {
    let hint = html! { @if let Some(hint) = hint { p.muted { (hint) } } };
    page(
        title,
        errors,
        &html! { (settings_menu(title)) (hint) (errors.summary()) (content) },
    )
}

/// A page of the member's own account.
fn account_page(title: &str, errors: &Errors, content: &Markup) -> Reply {
    page(title, errors, &html! { (errors.summary()) (content) })
}

fn page(title: &str, errors: &Errors, content: &Markup) -> Reply {
    let content = html! { h1 { (title) } (content) };
    Page::new(title, content)
        .wrong_if(!errors.is_empty())
        .into()
}

/// Shows this page, with a message.
pub(super) fn see(path: &str, code: &str) -> Reply {
    Reply::See(path.to_owned(), Some(Flash::new(code, 0)))
}

/// Makes a change of a member, and shows a page with a message. Fails with 409 if the member was
/// changed meanwhile, and like the store.
async fn make(
    desk: &Desk<'_>,
    change: StaffChange,
    next: &str,
    code: &str,
) -> Result<Reply, ApiError> {
    match desk.visit.write(change, desk.session.actor()).await? {
        StaffWriteOutcome::Done(_) => Ok(see(next, code)),
        _ => Err(changed_meanwhile()),
    }
}

/// The error when two people change a member at once.
fn changed_meanwhile() -> ApiError {
    ApiError::new(Problem::InvalidTransition, texts().changed_meanwhile)
}
