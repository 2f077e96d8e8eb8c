//! The response of a page, with the message about the last action.

use hyper::{
    Method, StatusCode,
    header::{self, HeaderValue},
};
use maud::{Markup, html};
use petstore_domain::{
    PetId,
    store_area::{OrderId, StorePet},
    text,
};
use petstore_languages::{console_texts as texts, window_texts};
use petstore_web::edge::{ApiError, Body, Response, response};

use super::{
    cookies::Cookie,
    desk::Desk,
    layout::{self, Follows, Frame},
    markup, session,
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
    /// A response that is ready to send.
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
        Self {
            status: StatusCode::OK,
            title: title.into(),
            follows: Follows::Nothing,
            content,
        }
    }

    pub(super) fn following(self, follows: Follows) -> Self {
        Self { follows, ..self }
    }

    /// Marks the page as one with an error, which programs and people who hear the page notice. It follows nothing.
    pub(super) fn with_error_status_if(self, is_wrong: bool) -> Self {
        if !is_wrong {
            return self;
        }
        Self {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            title: format!("{}{}", texts().error_prefix, self.title),
            follows: Follows::Nothing,
            content: self.content,
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

/// The input of a button "Undo" with the number of a change of its act.
pub(super) const CHANGE: &str = "change";

/// The longest path of a page that a cookie carries to the next page, in bytes.
const MAX_PAGE_LENGTH: usize = 2_000;

/// The code of a message, and the number in it. See [`wording::flash`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flash {
    pub(super) code: String,
    pub(super) id: i64,
    /// The act of the message, if a button can undo it.
    pub(super) undo: Option<Undo>,
}

/// The act that the button "Undo" of a message reverts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Undo {
    /// The number of a change of the act.
    pub(super) seq: i64,
    /// The path of the page that shows what the act changed, perhaps with a query.
    pub(super) page: String,
}

impl Flash {
    pub(super) fn new(code: &str, id: i64) -> Self {
        Self {
            code: code.to_owned(),
            id,
            undo: None,
        }
    }

    /// Returns the message after "Undo". A message that would be the same as before says "undone", and does not offer to
    /// make the change again.
    pub(super) fn into_undone(self) -> Self {
        match &*self.code {
            "saved" => Self::new("undone", self.id),
            "changed-many" => Self::new("undone-many", self.id),
            _ => self,
        }
    }

    /// Lets a message about a change of one animal begin with its name. A list has other animals, too, or no longer has
    /// this one.
    pub(super) fn name_animal(&mut self) {
        match &*self.code {
            "saved" => self.code = "animal-saved".to_owned(),
            "undone" => self.code = "animal-undone".to_owned(),
            _ => {}
        }
    }

    /// Reads the cookie with a message that this member got.
    fn from_cookie(desk: &Desk<'_>) -> Option<Self> {
        let (signature, text) = Cookie::Message.get(&desk.visit)?.split_once('.')?;
        if !desk
            .visit
            .is_signature_of(signature, &signed_text(desk, text))
        {
            return None;
        }
        Self::parse(text)
    }

    /// Returns the value of a cookie with this message. The value is signed, because the button sends a form.
    fn to_cookie(&self, desk: &Desk<'_>) -> String {
        let text = self.to_string();
        format!("{}.{text}", desk.visit.sign(&signed_text(desk, &text)))
    }

    /// Parses the form in which a message is displayed: its code and its number, and if it can be undone, the number of
    /// a change and a page.
    ///
    /// `sold.5` is the sale of order 5, and `sold.5.12./orders/5` offers to revert the act of change 12.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(4, '.');
        let code = parts.next()?;
        let id = text::parse_integer(parts.next()?)?;
        let undo = match (parts.next(), parts.next()) {
            (Some(seq), Some(page)) => Some(Undo {
                seq: text::parse_integer(seq)?,
                page: page.to_owned(),
            }),
            (None, None) => None,
            _ => return None,
        };
        let is_code_byte = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
        if !code.bytes().all(is_code_byte) {
            return None;
        }
        Some(Self {
            code: code.to_owned(),
            id,
            undo,
        })
    }

    /// Shows the message, with what it links to, and with the button that undoes the act.
    async fn show(&self, desk: &Desk<'_>) -> Result<Option<Markup>, ApiError> {
        let Some((message, link)) = wording::flash(&self.code, self.id) else {
            return Ok(None);
        };
        let pet = self.pet(desk).await?;
        Ok(Some(html! {
            span {
                @if let Some(pet) = &pet {
                    a href={ "/animals/" (pet.id) } { (markup::name(pet.name.as_str(), markup::SHORT_LENGTH)) }
                    (window_texts().colon)
                }
                (message)
            }
            @if let Some((to, label)) = link { " " a href=(to) { (label) } }
            @if let Some(undo) = &self.undo { " " (undo.form(desk)) }
        }))
    }

    /// Returns the animal that the message names, or the animal of the order that the message is about. People know it by
    /// its name.
    async fn pet(&self, desk: &Desk<'_>) -> Result<Option<StorePet>, ApiError> {
        if ["animal-saved", "animal-undone"].contains(&&*self.code) {
            return match PetId::new(self.id) {
                Some(id) => Ok(desk.store().get_store_pet(id).await?),
                None => Ok(None),
            };
        }
        let codes_of_orders = [
            "reserved",
            "sold",
            "sale-undone",
            "cancelled",
            "returned",
            "extended",
        ];
        if !codes_of_orders.contains(&&*self.code) {
            return Ok(None);
        }
        let Some(id) = OrderId::new(self.id) else {
            return Ok(None);
        };
        let Some(order) = desk.store().get_order(id).await? else {
            return Ok(None);
        };
        Ok(desk.store().get_store_pet(order.pet_id).await?)
    }
}

impl Undo {
    /// Shows the button. Its form goes below the page, and has the query of the page as fields. Empty if there is no
    /// such form.
    fn form(&self, desk: &Desk<'_>) -> Markup {
        let (path, query) = self.page.split_once('?').unwrap_or((&self.page, ""));
        let target = format!("{path}/undo");
        if (desk.visit.find_form_action)(&Method::POST, &target).is_none() {
            return html! {};
        }
        let query = Form::from_own_bytes(query.to_owned().into());
        html! {
            form data-undo method="post" action=(target) {
                (desk.key("undo"))
                input type="hidden" name=(CHANGE) value=(self.seq);
                @if desk.visit.request.uri.path() == "/" { input type="hidden" name=(FROM) value=(TODAY); }
                @for (name, value) in query.fields() { input type="hidden" name=(name) value=(value); }
                button { (texts().undo) }
            }
        }
    }

    /// Returns the page as far as a cookie has room for it: a page with a very long query is named without the query.
    fn short_page(&self) -> &str {
        if self.page.len() <= MAX_PAGE_LENGTH {
            return &self.page;
        }
        self.page.split('?').next().unwrap_or_default()
    }
}

/// Returns the text from which the tag of a message is made.
fn signed_text(desk: &Desk<'_>, text: &str) -> Vec<u8> {
    format!("message for staff {}: {text}", desk.session.member.id).into_bytes()
}

impl std::fmt::Display for Flash {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}.{}", self.code, self.id)?;
        if let Some(undo) = &self.undo {
            write!(formatter, ".{}.{}", undo.seq, undo.short_page())?;
        }
        Ok(())
    }
}

/// The time that a message waits for the next page.
const MESSAGE_SECONDS: u32 = 60;

impl Reply {
    /// Returns the response. Fails with 503 if there is not enough memory for it.
    pub(super) async fn into_response(self, desk: &Desk<'_>) -> Result<Response, ApiError> {
        match self {
            Self::Page(page) => page.into_response(desk).await,
            Self::See(path, flash) => {
                let mut response = layout::redirect(&path);
                if let Some(flash) = flash {
                    let value = flash.to_cookie(desk);
                    let seconds = Some(MESSAGE_SECONDS);
                    Cookie::Message.set(&desk.visit, &mut response, &value, seconds);
                }
                Ok(response)
            }
            Self::Csv(name, content) => csv_response(desk, &name, content),
            Self::Events(body) => Ok(response::events(body)),
            Self::Made(response) => Ok(response),
        }
    }
}

impl Page {
    /// Returns the page in its frame, with the message that waits for it. A request of the script in the background
    /// leaves the message for the next page.
    async fn into_response(self, desk: &Desk<'_>) -> Result<Response, ApiError> {
        let visit = &desk.visit;
        let is_read =
            Cookie::Message.get(visit).is_some() && !session::is_in_background(visit.request);
        let mut message = None;
        if is_read && let Some(flash) = Flash::from_cookie(desk) {
            message = flash.show(desk).await?;
        }

        let frame = Frame {
            name: desk.session.member.name.as_str(),
            facts: &visit.facts,
            window: visit.console.settings.window.as_deref(),
            role: desk.role(),
            path: visit.request.uri.path(),
            flash: message,
            follows: self.follows,
            after: desk.position,
            today: visit.facts.day_of(visit.now),
        };
        let html = layout::framed_page(&frame, &self.title, &self.content).into_string();
        let memory = &visit.console.edge.response_memory;
        let mut response = layout::html(self.status, memory.hold(html.into_bytes())?);
        if is_read {
            Cookie::Message.clear(visit, &mut response);
        }
        Ok(response)
    }
}

/// Returns a file that the browser keeps under this name.
fn csv_response(desk: &Desk<'_>, name: &str, content: Vec<u8>) -> Result<Response, ApiError> {
    let memory = &desk.visit.console.edge.response_memory;
    let content = memory.hold(content)?.into();
    let mut response = layout::of_type("text/csv; charset=utf-8", content);
    let disposition = format!("attachment; filename=\"{name}\"");
    if let Ok(value) = HeaderValue::try_from(disposition) {
        response
            .headers_mut()
            .insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_a_code_and_a_number_and_nothing_else() {
        let flash = Flash::new("added-many", 12);
        assert_eq!(Flash::parse(&flash.to_string()).as_ref(), Some(&flash));
        let flash = Flash {
            undo: Some(Undo {
                seq: 7,
                page: "/animals?q=3.4".to_owned(),
            }),
            ..flash
        };
        assert_eq!(Flash::parse(&flash.to_string()), Some(flash));
        for text in [
            "",
            "saved",
            "saved.",
            "saved.x",
            "<b>.1",
            "a;b.1",
            "Saved.1",
            "saved.1.2",
            "saved.1.x./",
        ] {
            assert_eq!(Flash::parse(text), None, "{text}");
        }
        assert_eq!(wording::flash("unknown", 1), None);
    }
}
