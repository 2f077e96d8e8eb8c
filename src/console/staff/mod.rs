//! The pages with which staff sign in, and manage their accounts, each other and API keys.

mod account;
mod keys;
mod link;
mod members;
mod second_factor;
mod sign_in;

use hyper::StatusCode;
use maud::{Markup, html};

pub(super) use self::{
    account::{account, end_session, set_password},
    keys::{add_key, change_key, keys},
    link::{choose_password, link_form},
    members::{add_member, change_member, end_session_of_member, members},
    second_factor::{new_recovery_codes, remove_second_factor, second_factor, set_second_factor},
    sign_in::{give_code, required, sign_in, sign_in_form, sign_out},
};

use super::{
    forms::Input,
    layout::{self, Menu},
    session::Session,
    texts,
};
use crate::http::Response;

/// A field for a password.
fn password_input(id: &str, label: &str, hint: Option<&str>) -> Markup {
    let autocomplete =
        if id == "new" || id == "again" { "new-password" } else { "current-password" };
    let (kind, is_required) = ("password", true);
    Input { id, label, hint, kind, is_required, autocomplete, ..Input::default() }.show()
}

/// A field for a new password, twice.
fn new_password() -> Markup {
    html! {
        (password_input("new", texts::NEW_PASSWORD, Some(texts::NEW_PASSWORD_HINT)))
        (password_input("again", texts::NEW_PASSWORD_AGAIN, None))
    }
}

/// A field for a code.
fn code_input(label: &str, hint: Option<&str>) -> Markup {
    let (autocomplete, is_required) = ("one-time-code", true);
    Input { id: "code", label, hint, is_required, autocomplete, ..Input::default() }.show()
}

/// What is wrong, if something is.
fn problem(message: Option<&str>) -> Markup {
    html! { @if let Some(message) = message { div.problem role="alert" { p { (message) } } } }
}

/// What was done, if something was.
fn done(message: Option<&str>) -> Markup {
    html! { @if let Some(message) = message { div.flash role="status" { p { (message) } } } }
}

/// A secret that is shown once: what to do with it, and the page after it.
pub(super) fn shown_once(hint: &Markup, secret: &str, next: &str) -> Markup {
    html! {
        div.card {
            p { (hint) }
            code.secret { (secret) }
            a.button.main href=(next) { (texts::COPIED) }
        }
    }
}

/// 422 with an error, and otherwise 200.
fn status_of(problem: Option<&str>) -> StatusCode {
    if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK }
}

/// The menu of the settings. `title` is that of the present page.
pub(super) fn settings_menu(title: &str) -> Markup {
    let pages = [
        ("/settings/staff", texts::STAFF),
        ("/settings/keys", texts::KEYS),
        ("/settings/webhooks", texts::WEBHOOKS),
    ];
    html! {
        nav.sub aria-label=(texts::SETTINGS) {
            ul {
                @for (path, name) in pages {
                    li { a href=(path) aria-current=[(name == title).then_some("page")] { (name) } }
                }
            }
        }
    }
}

/// A page of the settings.
fn settings_page(
    title: &str,
    session: &Session,
    problem: Option<&str>,
    content: &Markup,
) -> Response {
    let content = html! {
        (settings_menu(title))
        (self::problem(problem))
        (content)
    };
    layout::page_in(Menu::Settings, status_of(problem), title, Some(session), &content)
}
