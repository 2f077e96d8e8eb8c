//! What a visitor sees when a request fails.

use hyper::{
    header::{self, HeaderValue},
    http::request::Parts,
};
use maud::html;

use super::{layout::Layout, texts};
use crate::{
    edge::{ApiError, Body, Response},
    store::Cause,
};

/// The page about an error; for programs, the same error as of the interface. No cache keeps it.
pub(super) fn response(
    layout: &Layout,
    error: ApiError,
    request: &Parts,
    request_id: &HeaderValue,
) -> (Response, Option<Cause>) {
    let (title, next) = texts::problem(error.problem());
    let message = error.message().to_owned();
    let (mut response, cause) = error.into_response();
    let no_store = HeaderValue::from_static("no-store");
    response.headers_mut().insert(header::CACHE_CONTROL, no_store);
    if request.uri.path() == "/animals.json" {
        return (response, cause);
    }
    let content = html! {
        p { (message) }
        p { (next) }
        p.small { (texts::REQUEST) code { (request_id.to_str().unwrap_or_default()) } }
    };
    let page = layout.message(response.status(), title, &content);
    *response.body_mut() = Body::Whole(page.body.into());
    let media_type = HeaderValue::from_static(page.media_type);
    response.headers_mut().insert(header::CONTENT_TYPE, media_type);
    (response, cause)
}
