//! Pages for signing in, for the member's own account, and for managing staff and API keys. Also
//! contains the parts that all settings pages share.

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
    sign_in::{continue_here, sign_in, sign_in_form, submit_code},
    sign_in_page::sign_in_page,
    sign_out::{end_sessions, sign_out},
};

use super::reply::Flash;
use crate::prelude::*;

/// Renders a password input. See [`password_field`].
fn password_input(id: &str, label: &str, hint: Option<&str>) -> Markup {
    let mut input = password_field(id, label);
    input.hint = hint;
    input.show()
}

/// Returns a password input, which is required. By its `autocomplete`, password managers fill in
/// the current password, or suggest a new one if `id` is `new` or `again`.
fn password_field<'a>(id: &'a str, label: &'a str) -> Input<'a> {
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

/// Renders two inputs for a new password, which must be typed twice.
fn new_password_inputs() -> Markup {
    let hint = Some(texts().new_password_hint);
    html! {
        (password_input("new", texts().new_password, hint))
        (password_input("again", texts().new_password_again, None))
    }
}

/// Renders an input for a one-time code or a recovery code.
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

/// Renders an error message for the top of a page. Renders nothing without a message.
fn problem_banner(message: Option<&str>) -> Markup {
    html! {
        @if let Some(message) = message {
            div.problem role="alert" tabindex="-1" autofocus { p { (message) } }
        }
    }
}

/// Renders a secret that is shown only once, with a hint, a button to copy it, and a link to
/// continue at `next_path`.
pub(super) fn secret_card(hint: &Markup, secret: &str, next_path: &str) -> Markup {
    html! {
        div.card {
            p { (hint) }
            code.secret { (secret) }
            div.buttons {
                // The script reveals the button if the browser allows copying.
                button type="button" data-copy=(secret) data-done=(texts().copied) hidden { (texts().copy) }
                a.button.main href=(next_path) { (texts().secret_kept) }
            }
            span.hidden role="status" #copied {}
        }
    }
}

/// Returns the status of a page: 422 if it shows a problem, and otherwise 200.
fn status_of(problem: Option<&str>) -> StatusCode {
    match problem {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    }
}

/// Renders the menu of the settings pages, and marks the page with this title as the current one.
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

/// Responds to `GET /settings` with a redirect to the first settings page.
pub(super) fn settings(_: &Desk<'_>) -> Ready<Result<Reply, ApiError>> {
    ready(Ok(Reply::Redirect("/settings/store".to_owned(), None)))
}

/// Returns a settings page: the settings menu, a hint about the purpose of the page, the errors,
/// and the content.
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
    titled_page(title, errors, &content)
}

/// Returns a page of the member's own account: the errors, and the content.
fn account_page(title: &str, errors: &Errors, content: &Markup) -> Reply {
    titled_page(title, errors, &html! { (errors.summary()) (content) })
}

/// Returns a page with its title as the heading. With errors, it is marked as an error page.
fn titled_page(title: &str, errors: &Errors, content: &Markup) -> Reply {
    let content = html! { h1 { (title) } (content) };
    Page::new(title, content)
        .with_error_status_if(!errors.is_empty())
        .into()
}

/// Redirects to a page, and shows the flash message with this code there. See [`wording::flash`].
pub(super) fn redirect_with_message(path: &str, code: &str) -> Reply {
    Reply::Redirect(path.to_owned(), Some(Flash::new(code, 0)))
}

/// Writes a change of a member, redirects to a page, and shows the flash message with this code
/// there. Fails with 409 if somebody else has changed the member in the meantime, and if the store fails.
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

/// Returns the 409 error for a change that conflicts with a concurrent change of the same member.
fn changed_meanwhile() -> ApiError {
    ApiError::new(Problem::InvalidTransition, texts().changed_meanwhile)
}
