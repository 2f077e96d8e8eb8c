//! Pages for signing in, for the member's own account, and for managing staff and API keys. This
//! file contains the parts that several pages share.

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
mod provider_decision;
mod provider_rejection;
mod saved_form;
mod second_factor;
mod sign_in;
mod sign_in_page;
mod sign_out;
mod totp_secrets;

use std::future::{Ready, ready};

use hyper::StatusCode;
use petstore_domain::{NamedActor, Problem, staff::StaffChange};
use petstore_store::StaffWriteOutcome;
use petstore_web::edge::Origin;

use super::{openid::Provider, reply::Flash, visit::Visit};
use crate::prelude::*;

pub(super) use self::{
    account::{end_session, set_language, set_password, show_account},
    keys::{add_key, change_key, show_keys},
    link::{link_form, use_link},
    members::{add_member, change_member, end_session_of_member, show_members},
    passkey_assertion::send_challenge,
    passkeys::{add_passkey, remove_passkey, show_passkeys, sign_in_with_passkey},
    provider::{handle_callback, redirect_to_provider, signed_in_page},
    saved_form::saved_form_page,
    second_factor::{
        remove_second_factor, replace_recovery_codes, set_second_factor, show_second_factor,
    },
    sign_in::{continue_here, sign_in, sign_in_form, submit_code},
    sign_in_page::sign_in_page,
    sign_out::{handle_provider_logout, sign_out},
};

/// The hidden form field that names the action to execute, if several forms have the same path.
const ACTION: &str = "do";

/// The name of the input for a one-time code or a recovery code.
const CODE: &str = "code";

/// The name of the input for a new password.
const NEW_PASSWORD: &str = "new";

/// The name of the input for the same new password again.
const NEW_PASSWORD_AGAIN: &str = "again";

/// Returns a required input for a password. Password managers fill in the current one, unless the
/// caller changes `autocomplete`.
fn password_field<'a>(id: &'a str, label: &'a str) -> Input<'a> {
    Input {
        id,
        label,
        kind: InputKind::Password,
        is_required: true,
        autocomplete: "current-password",
        ..Input::default()
    }
}

/// Renders two inputs for a new password, which must be typed twice. Password managers suggest one.
fn new_password_inputs() -> Markup {
    let first_input = Input {
        autocomplete: "new-password",
        hint: Some(texts().new_password_hint),
        ..password_field(NEW_PASSWORD, texts().new_password)
    };
    let second_input = Input {
        autocomplete: "new-password",
        ..password_field(NEW_PASSWORD_AGAIN, texts().new_password_again)
    };
    html! { (first_input.show()) (second_input.show()) }
}

/// Returns an input for a one-time code or a recovery code.
fn code_field(label: &str) -> Input<'_> {
    Input {
        id: CODE,
        label,
        is_required: true,
        autocomplete: "one-time-code",
        ..Input::default()
    }
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
                // The script `live.js` reveals the button if the browser allows copying. After
                // copying, the text in `data-done` becomes the label of the button and the status
                // for screen readers.
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

/// Responds to `GET /settings` with a redirect to the first settings page. Returns a future, as
/// each handler of a route does.
pub(super) fn redirect_to_settings(_: &Desk<'_>) -> Ready<Result<Reply, ApiError>> {
    ready(Ok(Reply::redirect_to("/settings/store")))
}

/// Returns a settings page: the settings menu, a hint about the purpose of the page, the errors,
/// and the content.
pub(super) fn settings_page(
    title: &str,
    hint: Option<&str>,
    errors: &Errors,
    content: &Markup,
) -> Reply {
    let content_with_menu = html! {
        (settings_menu(title))
        @if let Some(hint) = hint { p.muted { (hint) } }
        (errors.summary())
        (content)
    };
    titled_page(title, errors, &content_with_menu)
}

/// Returns a page of the member's own account: the errors, and the content.
fn account_page(title: &str, errors: &Errors, content: &Markup) -> Reply {
    titled_page(title, errors, &html! { (errors.summary()) (content) })
}

/// Returns a page with its title as the heading. With errors, the page is marked as an error page.
fn titled_page(title: &str, errors: &Errors, content: &Markup) -> Reply {
    let content_with_heading = html! { h1 { (title) } (content) };
    Page::new(title, content_with_heading)
        .with_error_status_if(!errors.is_empty())
        .into()
}

/// Returns a redirect to a page, which then shows the flash message with this code. See
/// [`wording::compose_flash`].
pub(super) fn redirect_with_message(path: &str, code: &str) -> Reply {
    // The messages of these pages contain no id.
    let unused_id = 0;
    Reply::Redirect(path.to_owned(), Some(Flash::new(code, unused_id)))
}

/// Writes a change of an existing member, as the signed-in member. Returns a redirect to
/// `next_path`, where the page shows the flash message with this code. Fails with 409 if somebody
/// else has changed the member in the meantime.
async fn write_and_redirect(
    desk: &Desk<'_>,
    change: StaffChange,
    next_path: &str,
    code: &str,
) -> Result<Reply, ApiError> {
    let outcome = desk
        .visit
        .write_member(change, desk.session.actor())
        .await?;
    match outcome {
        StaffWriteOutcome::Done(_) => Ok(redirect_with_message(next_path, code)),
        // `NameTaken` and `Full` only refuse new members, so they do not occur here.
        StaffWriteOutcome::Stale | StaffWriteOutcome::NameTaken | StaffWriteOutcome::Full => {
            Err(changed_meanwhile())
        }
    }
}

impl Visit<'_> {
    /// Writes a change of a member. Returns [`StaffWriteOutcome::Stale`] if somebody else has
    /// changed the member in the meantime, which is the only refusal for an existing member.
    async fn write_member(
        &self,
        change: StaffChange,
        actor: NamedActor,
    ) -> Result<StaffWriteOutcome, ApiError> {
        let context = self.context_without_idempotency(actor);
        Ok(self.console.app.store.write_staff(change, context).await?)
    }
}

/// Returns the 409 error for a change that conflicts with a concurrent change of the same member.
fn changed_meanwhile() -> ApiError {
    ApiError::new(Problem::InvalidTransition, texts().changed_meanwhile)
}

/// Returns the configured public origin of the console; empty if no origin is configured.
fn console_origin<'v>(visit: &'v Visit<'_>) -> &'v str {
    visit
        .console
        .settings
        .url
        .as_ref()
        .map_or("", Origin::as_str)
}

/// Returns the console's provider. Fails with 404 if the operator has not configured one.
fn required_provider<'v>(visit: &'v Visit<'_>) -> Result<&'v Provider, ApiError> {
    visit
        .console
        .provider
        .as_ref()
        .ok_or_else(ApiError::no_such_path)
}
