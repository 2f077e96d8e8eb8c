//! Error pages: their content, with or without the member's menu.

use hyper::header::HeaderValue;
use maud::{Markup, html};
use petstore_app::StoreFacts;
use petstore_domain::Problem;
use petstore_languages::console_texts as texts;
use petstore_store::Cause;
use petstore_web::edge::{ApiError, Response, http_status};

use super::{
    layout::{self, Follows, Frame},
    session::Session,
    visit::{MAX_FORM_FIELDS, Visit},
};

/// The title and the content of an error page.
struct ErrorText {
    title: &'static str,
    content: Markup,
}

/// Returns the text of an error page: what is wrong, what to do next, and the request id, by which
/// an operator finds the cause in the log.
fn describe_error(error: &ApiError, request_id: &HeaderValue) -> ErrorText {
    let (title, general_message, next_step) = texts().problem(error.problem());
    let message = general_message.unwrap_or_else(|| specific_message(error));
    let content = html! {
        p data-failed { (message) }
        p { (next_step) }
        p { a href="/" { (texts().to_first_page) } }
        p { small { (texts().request) code { (request_id.to_str().unwrap_or_default()) } } }
    };
    ErrorText { title, content }
}

/// Returns the message for an error whose problem has no general text.
///
/// For some problems, the console itself wrote the message of the error in the language of the
/// request. Problems that only other code reports get a text of the console instead.
fn specific_message(error: &ApiError) -> &str {
    match error.problem() {
        Problem::BodyTooLarge => texts().body_too_large,
        Problem::InvalidRequest
        | Problem::InvalidBody
        | Problem::InvalidTransition
        | Problem::InsufficientScope
        | Problem::RateLimited => error.message(),
        _ => texts().not_accepted,
    }
}

/// Replaces the English message of a form that cannot be parsed by one in the language of the
/// request. Returns other errors unchanged.
pub(super) fn translate_unreadable_form(error: ApiError) -> ApiError {
    match error.problem() {
        Problem::InvalidRequest | Problem::InvalidBody => {
            error.with_message(texts().incomplete_form)
        }
        _ => error,
    }
}

/// Returns the error for a form or a query with too many fields, in the language of the request.
pub(super) fn too_many_fields(problem: Problem) -> ApiError {
    ApiError::new(problem, texts().form_too_large(MAX_FORM_FIELDS))
}

/// Renders the error page with the member's menu, and attaches it to the error, for [`error_page`].
/// Returns the error unchanged if nobody is signed in.
pub(super) fn with_menu(
    mut error: ApiError,
    visit: &Visit<'_>,
    session: Option<&Session>,
) -> ApiError {
    let Some(session) = session else { return error };
    let ErrorText { title, content } = describe_error(&error, visit.request_id);
    let frame = Frame {
        member_name: session.member.name.as_str(),
        facts: &visit.facts,
        window_url: visit.console.settings.window.as_deref(),
        role: session.member.role,
        path: "",
        flash: None,
        follows: Follows::Nothing,
        // Not used by a page that follows nothing.
        last_change: 0,
        today: visit.facts.day_of(visit.now),
    };
    let content = html! { h1 { (title) } div.card { (content) } };
    let page = layout::framed_page(&frame, title, &content);
    error.body = Some(Box::new(page.into_string().into()));
    error
}

/// Returns the response for an error, and the cause for the log. The response has the page that
/// [`with_menu`] attached to the error, or else a page without a menu.
pub(super) fn error_page(
    mut error: ApiError,
    request_id: &HeaderValue,
) -> (Response, Option<Cause>) {
    let status = http_status(error.problem());
    let mut response = if let Some(page) = error.body.take() {
        layout::html_response(status, *page)
    } else {
        let ErrorText { title, content } = describe_error(&error, request_id);
        layout::public_page(status, &StoreFacts::default(), title, &content)
    };
    // The response that the API would send has headers such as `Allow`, `Retry-After` and
    // `Connection`, which a browser needs, too.
    let (api_response, cause) = error.into_response();
    for (name, value) in api_response.headers() {
        // The page's own headers stay. The API sends none of its headers twice.
        response.headers_mut().entry(name).or_insert(value.clone());
    }
    (response, cause)
}
