//! The response of a page, with the message about the last action.

use hyper::{
    Method, StatusCode,
    header::{self, HeaderValue},
};
use maud::{Markup, html};
use petstore_domain::{
    store_area::{OrderId, StorePet},
    text,
};
use petstore_languages::{console_texts as texts, window_texts};
use petstore_web::edge::{ApiError, Body, Response, response};

use super::{
    desk::Desk,
    layout::{self, Follows, Frame},
    markup,
    session::{self, Cookie},
    visit::Form,
    wording,
};

/// The outcome of a request.
pub(super) enum Reply {
    Page(Page),
    /// Look there, with a message.
    See(String, Option<Flash>),
    /// A file to keep, with its name.
    Csv(String, Vec<u8>),
    /// Events, until something ends them.
    Events(Body),
    /// What is ready to send.
    Made(Response),
}

pub(super) struct Page {
    status: StatusCode,
    title: String,
    follows: Follows,
    content: Markup,
}

impl Page {
    pub(super) fn new(title: impl Into<String>, content: Markup) -> Self {
        let (status, follows) = (StatusCode::OK, Follows::Nothing);
        Self {
            status,
            title: title.into(),
            follows,
            content,
        }
    }

    pub(super) fn following(self, follows: Follows) -> Self {
        Self { follows, ..self }
    }

    /// The page with an error, which programs and people who hear it notice. It follows nothing.
    pub(super) fn wrong_if(self, is_wrong: bool) -> Self {
        if !is_wrong {
            return self;
        }
        let title = format!("{}{}", texts().error_prefix, self.title);
        let follows = Follows::Nothing;
        Self {
            title,
            follows,
            ..self.with_status(StatusCode::UNPROCESSABLE_ENTITY)
        }
    }

    pub(super) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }
}

impl From<Page> for Reply {
    fn from(page: Page) -> Self {
        Self::Page(page)
    }
}

/// The input that names the page of a button, and its value on the page Today.
pub(super) const FROM: &str = "from";
pub(super) const TODAY: &str = "today";

/// The input of the form of a button "Undo". Such a form needs no question.
pub(super) const UNDOES: &str = "undoes";

/// The code of a message, and the number in it. See [`texts::flash`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flash {
    pub(super) code: String,
    pub(super) id: i64,
    /// The form that undoes what the message is about: its path, and its fields as a query.
    pub(super) undo: Option<String>,
}

impl Flash {
    pub(super) fn new(code: &str, id: i64) -> Self {
        Self {
            code: code.to_owned(),
            id,
            undo: None,
        }
    }

    /// The message after "Undo", if it were the same as before: a second press would make the change again.
    pub(super) fn undone(self) -> Self {
        match &*self.code {
            "saved" => Self::new("undone", self.id),
            "changed-many" => Self::new("undone-many", self.id),
            _ => self,
        }
    }

    /// Reads the cookie with a message that this member got.
    fn of_cookie(desk: &Desk<'_>) -> Option<Self> {
        let (tag, text) = Cookie::Message.get(&desk.visit)?.split_once('.')?;
        if !desk.visit.is_tag_of(tag, &signed_text(desk, text)) {
            return None;
        }
        Self::parse(text)
    }

    /// Returns the value of a cookie with this message. It is signed, because its button sends a form.
    fn to_cookie(&self, desk: &Desk<'_>) -> String {
        let text = self.to_string();
        format!("{}.{text}", desk.visit.tag_of(&signed_text(desk, &text)))
    }

    /// Parses the form in which it is displayed.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (code, rest) = text.split_once('.')?;
        let (id, undo) = rest
            .split_once('.')
            .map_or((rest, None), |(id, undo)| (id, Some(undo)));
        let is_code = code
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        let flash = Self {
            undo: undo.map(str::to_owned),
            ..Self::new(code, text::integer(id)?)
        };
        is_code.then_some(flash)
    }

    /// The message, with what it links to, and with the button that undoes what was done.
    async fn show(&self, desk: &Desk<'_>) -> Result<Option<Markup>, ApiError> {
        let Some((message, link)) = wording::flash(&self.code, self.id) else {
            return Ok(None);
        };
        let pet = self.pet(desk).await?;
        let undo = self
            .undo
            .as_deref()
            .map(|undo| undo.split_once('?').unwrap_or((undo, "")));
        let undo = undo.filter(|(path, _)| (desk.visit.find)(&Method::POST, path).is_some());
        Ok(Some(html! {
            span {
                @if let Some(pet) = &pet {
                    a href={ "/animals/" (pet.id) } { (markup::name(pet.name.as_str(), markup::SHORT)) }
                    (window_texts().colon)
                }
                (message)
            }
            @if let Some((to, label)) = link { " " a href=(to) { (label) } }
            @if let Some((path, fields)) = undo {
                " "
                form data-undo method="post" action=(path) {
                    (desk.key("undo"))
                    input type="hidden" name=(UNDOES) value="yes";
                    @if desk.visit.request.uri.path() == "/" { input type="hidden" name=(FROM) value=(TODAY); }
                    @for (name, value) in Form::from_own_bytes(fields.to_owned().into()).fields() {
                        input type="hidden" name=(name) value=(value);
                    }
                    button { (texts().undo) }
                }
            }
        }))
    }

    /// The animal of the order that the message is about. People know it by its name.
    async fn pet(&self, desk: &Desk<'_>) -> Result<Option<StorePet>, ApiError> {
        let of_orders = [
            "reserved",
            "sold",
            "sale-undone",
            "cancelled",
            "returned",
            "extended",
        ];
        let id = OrderId::new(self.id).filter(|_| of_orders.contains(&&*self.code));
        let Some(id) = id else { return Ok(None) };
        let Some(order) = desk.store().get_order(id).await? else {
            return Ok(None);
        };
        Ok(desk.store().get_store_pet(order.pet_id).await?)
    }
}

/// The text of which the tag of a message is made.
fn signed_text(desk: &Desk<'_>, text: &str) -> Vec<u8> {
    format!("message for staff {}: {text}", desk.session.member.id).into_bytes()
}

impl std::fmt::Display for Flash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.code, self.id)?;
        self.undo.iter().try_for_each(|undo| write!(f, ".{undo}"))
    }
}

/// How long a message waits for the next page, in seconds.
const SHOWN_WITHIN: u32 = 60;

impl Reply {
    /// The response. Fails with 503 if there is not enough memory for it.
    pub(super) async fn into_response(self, desk: &Desk<'_>) -> Result<Response, ApiError> {
        let visit = &desk.visit;
        let memory = &visit.console.edge.response_memory;
        Ok(match self {
            Self::Page(page) => {
                let is_read = Cookie::Message.get(visit).is_some()
                    && !session::is_in_background(visit.request);
                let mut shown = None;
                if is_read && let Some(flash) = Flash::of_cookie(desk) {
                    shown = flash.show(desk).await?;
                }
                let frame = Frame {
                    name: desk.session.member.name.as_str(),
                    facts: &visit.facts,
                    window: visit.console.settings.window.as_deref(),
                    role: desk.role(),
                    path: visit.request.uri.path(),
                    flash: shown,
                    follows: page.follows,
                    after: desk.position,
                };
                let html = layout::framed_page(&frame, &page.title, &page.content).into_string();
                let mut response = layout::html(page.status, memory.hold(html.into_bytes())?);
                if is_read {
                    Cookie::Message.clear(visit, &mut response);
                }
                response
            }
            Self::See(path, flash) => {
                let mut response = layout::redirect(&path);
                if let Some(flash) = flash {
                    let seconds = Some(SHOWN_WITHIN);
                    Cookie::Message.set(visit, &mut response, &flash.to_cookie(desk), seconds);
                }
                response
            }
            Self::Csv(name, content) => {
                let content = memory.hold(content)?.into();
                let mut response = layout::of_type("text/csv; charset=utf-8", content);
                let disposition = format!("attachment; filename=\"{name}\"");
                if let Ok(value) = HeaderValue::try_from(disposition) {
                    response
                        .headers_mut()
                        .insert(header::CONTENT_DISPOSITION, value);
                }
                response
            }
            Self::Events(body) => response::events(body),
            Self::Made(response) => response,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_a_code_and_a_number_and_nothing_else() {
        let flash = Flash::new("added-many", 12);
        assert_eq!(Flash::parse(&flash.to_string()).as_ref(), Some(&flash));
        let flash = Flash {
            undo: Some("/animals/1/restore?version=3.4".to_owned()),
            ..flash
        };
        assert_eq!(Flash::parse(&flash.to_string()), Some(flash));
        for text in [
            "", "saved", "saved.", "saved.x", "<b>.1", "a;b.1", "Saved.1",
        ] {
            assert_eq!(Flash::parse(text), None, "{text}");
        }
        assert_eq!(wording::flash("unknown", 1), None);
    }
}
