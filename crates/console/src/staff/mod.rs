//! The pages with which staff sign in, and manage their accounts, each other and API keys.

mod account;
mod attempts;
mod destination;
mod keys;
mod link;
mod members;
mod passkey_assertion;
mod passkey_button;
mod passkeys;
mod pending_sign_in;
mod provider;
mod saved_form;
mod second_factor;
mod sign_in;
mod sign_in_page;
mod sign_out;

use std::future::{Ready, ready};

use hyper::StatusCode;
use petstore_domain::{Problem, staff::StaffChange};
use petstore_store::StaffWriteOutcome;

pub(super) use self::{
    account::{account, end_session, set_language, set_password},
    keys::{add_key, change_key, keys},
    link::{choose_password, link_form},
    members::{add_member, change_member, end_session_of_member, members},
    passkey_assertion::challenge,
    passkeys::{add_passkey, passkeys, remove_passkey, sign_in_with_passkey},
    provider::{handle_callback, redirect_to_provider, signed_in_page},
    saved_form::page as saved_form_page,
    second_factor::{new_recovery_codes, remove_second_factor, second_factor, set_second_factor},
    sign_in::{continue_here, give_code, sign_in, sign_in_form},
    sign_in_page::sign_in_page,
    sign_out::{end_sessions, sign_out},
};

use super::reply::Flash;
use crate::prelude::*;

/// Renders an input for a password.
fn password_input(id: &str, label: &str, hint: Option<&str>) -> Markup {
    let mut input = password(id, label);
    input.hint = hint;
    input.show()
}

/// Returns an input for a password, which a password manager fills in.
fn password<'a>(id: &'a str, label: &'a str) -> Input<'a> {
    let autocomplete = match id {
        "new" | "again" => "new-password",
        _ => "current-password",
    };
    Input {
        id,
        label,
        kind: "password",
        is_required: true,
        autocomplete,
        ..Input::default()
    }
}

/// Renders two inputs for the same new password.
fn new_password_inputs() -> Markup {
    let hint = Some(texts().new_password_hint);
    html! {
        (password_input("new", texts().new_password, hint))
        (password_input("again", texts().new_password_again, None))
    }
}

/// Renders an input for a code of the second factor.
fn code_input(label: &str, hint: Option<&str>) -> Markup {
    Input {
        id: "code",
        label,
        hint,
        is_required: true,
        autocomplete: "one-time-code",
        ..Input::default()
    }
    .show()
}

/// Renders the problem, if there is one.
fn problem(message: Option<&str>) -> Markup {
    html! {
        @if let Some(message) = message {
            div.problem role="alert" tabindex="-1" autofocus { p { (message) } }
        }
    }
}

/// Renders a secret that is shown once, with a hint, and with the link to the page after it.
pub(super) fn secret_card(hint: &Markup, secret: &str, next_path: &str) -> Markup {
    html! {
        div.card {
            p { (hint) }
            code.secret { (secret) }
            div.buttons {
                // Only the script shows it, where the browser lets a page copy.
                button type="button" data-copy=(secret) data-done=(texts().copied) hidden { (texts().copy) }
                a.button.main href=(next_path) { (texts().secret_kept) }
            }
            span.hidden role="status" #copied {}
        }
    }
}

/// Returns 422 for a page with a problem, and otherwise 200.
fn status_of(problem: Option<&str>) -> StatusCode {
    match problem {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    }
}

/// Renders the menu of the settings, with a mark at the page that has this title.
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

/// Responds to `GET /settings` with its first page.
pub(super) fn settings(_: &Desk<'_>) -> Ready<Result<Reply, ApiError>> {
    ready(Ok(Reply::See("/settings/store".to_owned(), None)))
}

/// Returns a page of the settings, with a hint about its purpose.
pub(super) fn settings_page(
    title: &str,
    hint: Option<&str>,
    errors: &Errors,
    content: &Markup,
) -> Reply {
    let content = html! {
        (settings_menu(title))
        @if let Some(hint) = hint { p.muted { (hint) } }
        (errors.summary())
        (content)
    };
    page(title, errors, &content)
}

/// Returns a page of the member's own account.
fn account_page(title: &str, errors: &Errors, content: &Markup) -> Reply {
    page(title, errors, &html! { (errors.summary()) (content) })
}

/// Returns a page with its title as the heading.
fn page(title: &str, errors: &Errors, content: &Markup) -> Reply {
    let content = html! { h1 { (title) } (content) };
    Page::new(title, content)
        .with_error_status_if(!errors.is_empty())
        .into()
}

/// Sends the browser to a page, which shows the message with this code. See [`wording::flash`].
pub(super) fn redirect_with_message(path: &str, code: &str) -> Reply {
    Reply::See(path.to_owned(), Some(Flash::new(code, 0)))
}

/// Makes a change of a member, and sends the browser to a page with a message. Fails with 409 if somebody else has
/// changed the member, and like the store.
async fn write_and_redirect(
    desk: &Desk<'_>,
    change: StaffChange,
    next_path: &str,
    code: &str,
) -> Result<Reply, ApiError> {
    match desk.visit.write(change, desk.session.actor()).await? {
        StaffWriteOutcome::Done(_) => Ok(redirect_with_message(next_path, code)),
        _ => Err(changed_meanwhile()),
    }
}

/// Returns the error when two people change a member at once.
fn changed_meanwhile() -> ApiError {
    ApiError::new(Problem::InvalidTransition, texts().changed_meanwhile)
}
