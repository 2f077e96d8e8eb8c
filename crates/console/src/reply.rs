//! [`Reply`]: what a staff page responds with, and how it becomes the response that the member
//! gets.

mod flash;

use hyper::{
    StatusCode,
    header::{self, HeaderValue},
};
use maud::Markup;
use petstore_languages::console_texts as texts;
use petstore_web::edge::{ApiError, Body, Response, response};

pub(super) use self::flash::{CHANGE_FIELD, FROM_FIELD, FROM_TODAY, Flash, Undo};
use super::{
    desk::Desk,
    layout::{self, Follows, Frame},
    session,
};

/// What a staff page responds with.
pub(super) enum Reply {
    Page(Page),
    /// A redirect to this path, and the flash message to show there.
    Redirect(String, Option<Flash>),
    /// A CSV download: its file name and its content.
    Csv(String, Vec<u8>),
    /// An open-ended stream of server-sent events.
    Events(Body),
    /// A complete response.
    Response(Response),
}

/// The content of a page. [`Reply::into_response`] renders the frame around it.
pub(super) struct Page {
    status: StatusCode,
    title: String,
    follows: Follows,
    content: Markup,
}

impl Page {
    /// Returns a page that has the status 200 and does not follow changes.
    pub(super) fn new(title: impl Into<String>, content: Markup) -> Self {
        Self {
            status: StatusCode::OK,
            title: title.into(),
            follows: Follows::Nothing,
            content,
        }
    }

    /// Makes the page follow these changes while it is open. See [`Follows`].
    pub(super) fn following(self, follows: Follows) -> Self {
        Self { follows, ..self }
    }

    /// Marks the page as an error page if `has_errors`: by the status 422 for programs, and by a
    /// prefix of the title for people with a screen reader. Such a page does not follow changes,
    /// because a reload would lose what somebody typed.
    pub(super) fn with_error_status_if(self, has_errors: bool) -> Self {
        if !has_errors {
            return self;
        }
        Self {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            title: format!("{}{}", texts().error_prefix, self.title),
            follows: Follows::Nothing,
            content: self.content,
        }
    }

    /// Sets the status of the response.
    pub(super) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }
}

impl From<Page> for Reply {
    fn from(page: Page) -> Self {
        Self::Page(page)
    }
}

impl Reply {
    /// Returns a redirect to this path, without a flash message.
    pub(super) fn redirect_to(path: &str) -> Self {
        Self::Redirect(path.to_owned(), None)
    }

    /// Renders the response. Fails with 503 if there is not enough response memory left for it.
    pub(super) async fn into_response(self, desk: &Desk<'_>) -> Result<Response, ApiError> {
        match self {
            Self::Page(page) => page.into_response(desk).await,
            Self::Redirect(path, flash) => {
                let mut response = layout::redirect(&path);
                if let Some(flash) = flash {
                    flash.set_cookie(desk, &mut response);
                }
                Ok(response)
            }
            Self::Csv(name, content) => csv_response(desk, &name, content),
            Self::Events(body) => Ok(response::events(body)),
            Self::Response(response) => Ok(response),
        }
    }
}

impl Page {
    /// Renders the page in its frame, with the pending flash message. The response to a background
    /// request of a script does not have the message, because nobody would see it there.
    async fn into_response(self, desk: &Desk<'_>) -> Result<Response, ApiError> {
        let visit = &desk.visit;
        let shows_message = flash::has_cookie(visit) && !session::is_in_background(visit.request);
        let mut message = None;
        if shows_message && let Some(flash) = Flash::from_cookie(desk) {
            message = flash.show(desk).await?;
        }

        let frame = Frame {
            member_name: desk.session.member.name.as_str(),
            facts: &visit.facts,
            window_url: visit.console.settings.window.as_deref(),
            role: desk.role(),
            path: visit.request.uri.path(),
            flash: message,
            follows: self.follows,
            last_change: desk.journal_position,
            today: visit.facts.day_of(visit.now),
        };
        let html = layout::framed_page(&frame, &self.title, &self.content).into_string();
        let memory = &visit.console.edge.response_memory;
        let mut response = layout::html_response(self.status, memory.hold(html.into_bytes())?);
        // An invalid message is deleted, too. Every page would otherwise read it again.
        if shows_message {
            flash::clear_cookie(visit, &mut response);
        }
        Ok(response)
    }
}

/// Returns the response with a CSV file, which the browser saves under this name. Fails with 503 if
/// there is not enough response memory left.
fn csv_response(desk: &Desk<'_>, file_name: &str, content: Vec<u8>) -> Result<Response, ApiError> {
    let memory = &desk.visit.console.edge.response_memory;
    let response_body = memory.hold(content)?.into();
    let mut response = layout::response_of_type("text/csv; charset=utf-8", response_body);
    let disposition = format!("attachment; filename=\"{file_name}\"");
    // Without the header, the browser shows the file instead of saving it.
    if let Ok(value) = HeaderValue::try_from(disposition) {
        response
            .headers_mut()
            .insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}
