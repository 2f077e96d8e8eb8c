//! The page that a member of the staff sees when a request fails.

use hyper::{header::HeaderValue, http::request::Parts};
use maud::html;

use super::layout;
use crate::{
    http::{ApiError, Problem, Response},
    store::Cause,
};

/// The message for a page of another role.
pub(super) const NOT_ALLOWED: &str =
    "Your role does not include this page. A manager can give you another role.";

/// What is wrong, what to do next, and the id by which an operator finds the cause in the log.
pub(super) fn page(
    error: ApiError,
    request: &Parts,
    request_id: &HeaderValue,
) -> (Response, Option<Cause>) {
    let (_, status) = error.problem().code_and_status();
    let (title, message, next) = match error.problem() {
        Problem::NotFound | Problem::OperationRemoved => (
            "Not found",
            "There is no such page.".to_owned(),
            "Check the address, or start again from the first page.",
        ),
        Problem::Internal => (
            "Something went wrong",
            "The service made a mistake. Nothing that you typed was wrong.".to_owned(),
            "Try once more. If it happens again, tell the operator of the service the number below.",
        ),
        Problem::Unavailable | Problem::IdempotencyInProgress => (
            "The service is busy",
            "The service could not complete this in time. A change may or may not have been made."
                .to_owned(),
            "Wait a moment and reload the page. The same form is never carried out twice.",
        ),
        Problem::BodyTooLarge => {
            ("Too much text", error.message().to_owned(), "Go back, and send it in several parts.")
        }
        Problem::InsufficientScope => {
            ("Not allowed", error.message().to_owned(), "Go back, or ask a manager.")
        }
        _ => ("This did not work", error.message().to_owned(), "Go back and check what you sent."),
    };
    let content = html! {
        p { (message) }
        p { (next) }
        p { a href="/" { "To the first page" } }
        p { small { "Request " code { (request_id.to_str().unwrap_or_default()) } } }
    };
    let mut response = layout::page_with_status(status, title, None, &content);
    // `Allow`, `Retry-After` and `Connection` are as for programs.
    let (for_programs, cause) = error.into_response();
    for (name, value) in for_programs.headers() {
        response.headers_mut().entry(name).or_insert(value.clone());
    }
    let _ = request;
    (response, cause)
}
