//! What a page becomes: a response, with the message about what was just done.

use bytes::Bytes;
use hyper::{
    StatusCode,
    header::{self, HeaderName, HeaderValue},
};
use maud::Markup;

use super::Desk;
use crate::{
    console::{
        layout::{self, Follows, Frame, Menu},
        redirect, session, texts,
    },
    http::{ApiError, Body, Interface, Response},
    text,
};

/// What becomes of a request.
pub(in crate::console) enum Reply {
    Page(Page),
    /// Look there, with a message.
    See(String, Option<Flash>),
    /// A file to keep, with its name.
    Csv(String, Vec<u8>),
    /// Events, until something ends them.
    Events(Body),
}

/// A page.
pub(in crate::console) struct Page {
    pub(super) status: u16,
    pub(super) title: String,
    pub(super) menu: Menu,
    pub(super) follows: Follows,
    pub(super) content: Markup,
}

impl Page {
    pub(super) fn new(menu: Menu, title: impl Into<String>, content: Markup) -> Self {
        Self { status: 200, title: title.into(), menu, follows: Follows::Nothing, content }
    }

    pub(super) fn following(self, follows: Follows) -> Self {
        Self { follows, ..self }
    }

    /// The page with an error, which programs and people who hear it notice.
    pub(super) fn wrong_if(self, is_wrong: bool) -> Self {
        if !is_wrong {
            return self;
        }
        Self { title: format!("{}{}", texts::ERROR_PREFIX, self.title), ..self.with_status(422) }
    }

    pub(super) fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }
}

impl From<Page> for Reply {
    fn from(page: Page) -> Self {
        Self::Page(page)
    }
}

/// The code of a message, and the number in it. See [`texts::flash`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::console) struct Flash {
    pub(super) code: String,
    pub(super) id: i64,
}

impl Flash {
    /// Parses the form in which it is displayed.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (code, id) = text.split_once('.')?;
        let is_code = code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        is_code.then_some(Self { code: code.to_owned(), id: text::integer(id)? })
    }
}

impl std::fmt::Display for Flash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.code, self.id)
    }
}

/// The name of the cookie that carries a message to the next page.
fn cookie_name(is_secure: bool) -> &'static str {
    if is_secure { "__Host-petstore-message" } else { "petstore-message" }
}

fn cookie(is_secure: bool, value: &str, seconds: u32) -> Option<HeaderValue> {
    let (name, secure) = (cookie_name(is_secure), if is_secure { "; Secure" } else { "" });
    let cookie =
        format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::try_from(cookie).ok()
}

impl Reply {
    /// The response. Fails with 503 if there is not enough memory for it.
    pub(super) fn into_response(self, desk: &Desk<'_>) -> Result<Response, ApiError> {
        let visit = &desk.call.visit;
        let is_secure = visit.visitor.is_secure;
        let mut response = match self {
            Self::Page(page) => {
                let shown = session::cookie(&visit.request.headers, cookie_name(is_secure));
                let flash = shown.and_then(Flash::parse);
                let frame = Frame {
                    name: desk.call.session.member.name.as_str(),
                    role: desk.role,
                    menu: page.menu,
                    flash: flash.and_then(|Flash { code, id }| texts::flash(&code, id)),
                    follows: page.follows,
                };
                let html = layout::framed(&frame, &page.title, &page.content).into_string();
                let body = desk.app().edge().response_memory.hold(html.into_bytes())?;
                let status = StatusCode::from_u16(page.status).unwrap_or_default();
                let mut response = layout::html(status, body);
                let gone = shown.and_then(|_| cookie(is_secure, "", 0));
                response.headers_mut().extend(gone.map(|gone| (header::SET_COOKIE, gone)));
                response
            }
            Self::See(path, flash) => {
                let mut response = redirect(&path);
                let flash = flash.and_then(|flash| cookie(is_secure, &flash.to_string(), 60));
                response.headers_mut().extend(flash.map(|flash| (header::SET_COOKIE, flash)));
                response
            }
            Self::Csv(name, content) => {
                let body = desk.app().edge().response_memory.hold(content)?;
                let mut response = of_type(body.into(), "text/csv; charset=utf-8");
                let disposition = format!("attachment; filename=\"{name}\"");
                if let Ok(value) = HeaderValue::try_from(disposition) {
                    response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
                }
                response
            }
            Self::Events(body) => {
                let mut response = of_type(body, "text/event-stream");
                // Makes nginx pass it on while it is received.
                let buffering = HeaderName::from_static("x-accel-buffering");
                response.headers_mut().insert(buffering, HeaderValue::from_static("no"));
                response
            }
        };
        let fields = response.headers_mut();
        fields.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
        Ok(response)
    }
}

fn of_type(body: Body, media_type: &'static str) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// A style, script or picture of all pages. Its path changes with its content. Fails with 404 for
/// another path.
pub(in crate::console) fn asset(path: &str) -> Result<Response, ApiError> {
    let asset = layout::asset(path).ok_or_else(ApiError::no_such_path)?;
    let mut response =
        of_type(Bytes::from_static(asset.content.as_bytes()).into(), asset.media_type);
    let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
    response.headers_mut().insert(header::CACHE_CONTROL, forever);
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_a_code_and_a_number_and_nothing_else() {
        let flash = Flash { code: "added-many".to_owned(), id: 12 };
        assert_eq!(Flash::parse(&flash.to_string()), Some(flash));
        for text in ["", "saved", "saved.", "saved.x", "<b>.1", "a;b.1", "Saved.1"] {
            assert_eq!(Flash::parse(text), None, "{text}");
        }
        assert_eq!(texts::flash("unknown", 1), None);
    }
}
