//! What every page has around its content.

use hyper::{
    StatusCode,
    header::{self, HeaderValue},
};
use maud::{DOCTYPE, Markup, html};

use super::session::Session;
use crate::http::Response;

/// A page with this title. `session` is whose page it is, if somebody is signed in.
pub(super) fn page(title: &str, session: Option<&Session>, content: &Markup) -> Response {
    page_with_status(StatusCode::OK, title, session, content)
}

/// The same with another status code.
pub(super) fn page_with_status(
    status: StatusCode,
    title: &str,
    session: Option<&Session>,
    content: &Markup,
) -> Response {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { (title) " – Petstore" }
            }
            body {
                @if let Some(session) = session {
                    p { (session.member.name.as_str()) }
                }
                main {
                    h1 { (title) }
                    (content)
                }
            }
        }
    };
    let mut response = Response::new(bytes::Bytes::from(markup.into_string()).into());
    *response.status_mut() = status;
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, html);
    response
}
