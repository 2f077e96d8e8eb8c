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

use super::{layout, session::Session};
use crate::http::Response;

/// An input with its label.
struct Input<'a> {
    id: &'a str,
    label: &'a str,
    kind: &'a str,
    value: &'a str,
    /// What a password manager may fill in.
    autocomplete: &'a str,
    hint: Option<&'a str>,
}

impl Input<'_> {
    fn show(&self) -> Markup {
        html! {
            div.field {
                label for=(self.id) { (self.label) }
                @if let Some(hint) = self.hint { div.hint id={ (self.id) "-hint" } { (hint) } }
                input #(self.id) name=(self.id) type=(self.kind) value=(self.value) required
                    autocomplete=(self.autocomplete)
                    aria-describedby=[self.hint.map(|_| format!("{}-hint", self.id))];
            }
        }
    }
}

/// A field for a new password, twice.
fn new_password() -> Markup {
    let hint = "At least 12 characters, such as four random words. You may paste it.";
    let input = |id, label, hint| {
        let (kind, value, autocomplete) = ("password", "", "new-password");
        Input { id, label, kind, value, autocomplete, hint }.show()
    };
    html! {
        (input("new", "New password", Some(hint)))
        (input("again", "New password again", None))
    }
}

/// A choice between these values.
fn choice(id: &str, label: &str, options: &[(&str, &str)], chosen: &str) -> Markup {
    html! {
        div.field {
            label for=(id) { (label) }
            select #(id) name=(id) {
                @for (value, text) in options {
                    option value=(value) selected[*value == chosen] { (text) }
                }
            }
        }
    }
}

/// What is wrong, if something is.
fn problem(message: Option<&str>) -> Markup {
    html! { @if let Some(message) = message { div.problem role="alert" { p { (message) } } } }
}

/// What was done, if something was.
fn done(message: Option<&str>) -> Markup {
    html! { @if let Some(message) = message { div.flash role="status" { p { (message) } } } }
}

/// A secret that is shown once.
fn secret(text: &str) -> Markup {
    html! { p { code.secret { (text) } } }
}

/// 422 with an error, and otherwise 200.
fn status_of(problem: Option<&str>) -> StatusCode {
    if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK }
}

/// The menu of the settings. `title` is that of the present page.
pub(super) fn settings_menu(title: &str) -> Markup {
    let pages = [
        ("/settings/staff", "Staff"),
        ("/settings/keys", "API keys"),
        ("/settings/webhooks", "Webhooks"),
    ];
    html! {
        nav.sub aria-label="Settings" {
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
    layout::page_with_status(status_of(problem), title, Some(session), &content)
}
