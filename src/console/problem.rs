//! The page that a member of the staff sees when a request fails.

use hyper::{header::HeaderValue, http::request::Parts};
use maud::html;

use super::{layout, texts};
use crate::{
    http::{ApiError, Response},
    store::Cause,
};

/// What is wrong, what to do next, and the id by which an operator finds the cause in the log.
pub(super) fn page(
    error: ApiError,
    _: &Parts,
    request_id: &HeaderValue,
) -> (Response, Option<Cause>) {
    let (_, status) = error.problem().code_and_status();
    let (title, message, next) = texts::problem(error.problem(), error.message());
    let content = html! {
        p { (message) }
        p { (next) }
        p { a href="/" { (texts::TO_FIRST_PAGE) } }
        p { small { (texts::REQUEST) code { (request_id.to_str().unwrap_or_default()) } } }
    };
    let mut response = layout::page(status, title, &content);
    // `Allow`, `Retry-After` and `Connection` are as for programs.
    let (for_programs, cause) = error.into_response();
    for (name, value) in for_programs.headers() {
        response.headers_mut().entry(name).or_insert(value.clone());
    }
    (response, cause)
}
