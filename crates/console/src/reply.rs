//! Responses of staff pages, and the flash message that reports the last action on the next page.

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

    pub(super) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }
}

impl From<Page> for Reply {
    fn from(page: Page) -> Self {
        Self::Page(page)
    }
}

/// The form field that names the page of the pressed button, to which the redirect leads back.
pub(super) const FROM_FIELD: &str = "from";
/// The value of [`FROM_FIELD`] on the page Today.
pub(super) const FROM_TODAY: &str = "today";

/// The form field of an "Undo" button that identifies the act to undo: the number of one of its
/// changes.
pub(super) const CHANGE_FIELD: &str = "change";

/// The maximum length of a page's path and query in the message cookie, in bytes. Browsers limit a
/// cookie to 4,096 bytes.
const MAX_PAGE_LENGTH: usize = 2_000;

/// A message about the last action, which the next page shows once. The code selects the text: see
/// [`wording::flash`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flash {
    /// The code of the text, such as `sold`.
    pub(super) code: String,
    /// The id of the changed entry, or how many entries were changed; 0 if the message needs neither.
    pub(super) id: i64,
    /// The act that the message reports, if a button can undo it.
    pub(super) undo: Option<Undo>,
}

/// The act that the button "Undo" of a message reverts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Undo {
    /// The number of a change of the act.
    pub(super) seq: i64,
    /// The path of the page that shows what the act changed, possibly with a query.
    pub(super) page: String,
}

impl Flash {
    /// Returns a message without an "Undo" button.
    pub(super) fn new(code: &str, id: i64) -> Self {
        Self {
            code: code.to_owned(),
            id,
            undo: None,
        }
    }

    /// Returns the message to show after an "Undo". A message such as "saved" would only repeat the
    /// previous one, so it becomes "undone", without an "Undo" button.
    pub(super) fn into_undone(self) -> Self {
        match &*self.code {
            "saved" => Self::new("undone", self.id),
            "changed-many" => Self::new("undone-many", self.id),
            _ => self,
        }
    }

    /// Makes a message about one animal begin with the animal's name. Pages that list several
    /// animals need it, all the more if the list no longer has this one.
    pub(super) fn add_animal_name(&mut self) {
        match &*self.code {
            "saved" => self.code = "animal-saved".to_owned(),
            "undone" => self.code = "animal-undone".to_owned(),
            _ => {}
        }
    }

    /// Reads the message from its cookie; `None` unless the service signed it for this member.
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

    /// Returns the cookie value for this message. It is signed, because the form of the "Undo"
    /// button contains values from it, and a forged cookie could otherwise choose them.
    fn to_cookie(&self, desk: &Desk<'_>) -> String {
        let text = self.to_string();
        format!("{}.{text}", desk.visit.sign(&signed_text(desk, &text)))
    }

    /// Parses the [`Display`](std::fmt::Display) form of a message: `CODE.ID`, or
    /// `CODE.ID.CHANGE.PAGE` if the act can be undone.
    ///
    /// Example: `sold.5` reports the sale of order 5, and `sold.5.12./orders/5` also offers to undo
    /// the act of change 12.
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

    /// Renders the message with its link and its "Undo" button; `None` if the code is unknown.
    async fn show(&self, desk: &Desk<'_>) -> Result<Option<Markup>, ApiError> {
        let Some((message, link)) = wording::flash(&self.code, self.id) else {
            return Ok(None);
        };
        let pet = self.find_pet(desk).await?;
        Ok(Some(html! {
            span {
                @if let Some(pet) = &pet {
                    a href={ "/animals/" (pet.id) } { (markup::name(pet.name.as_str(), markup::SHORT_LENGTH)) }
                    (window_texts().colon)
                }
                (message)
            }
            @if let Some((to, label)) = link { " " a href=(to) { (label) } }
            @if let Some(undo) = &self.undo { " " (undo.render_form(desk)) }
        }))
    }

    /// Returns the animal that the message names; `None` if the message names none, or if the
    /// animal no longer exists. Messages about orders name the animal, because staff know an order
    /// by it rather than by its number.
    async fn find_pet(&self, desk: &Desk<'_>) -> Result<Option<StorePet>, ApiError> {
        if matches!(self.code.as_str(), "animal-saved" | "animal-undone") {
            return match PetId::new(self.id) {
                Some(id) => Ok(desk.store().get_store_pet(id).await?),
                None => Ok(None),
            };
        }
        let order_codes = [
            "reserved",
            "sold",
            "sale-undone",
            "cancelled",
            "returned",
            "extended",
        ];
        if !order_codes.contains(&self.code.as_str()) {
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
    /// Renders the "Undo" button, which submits the number of the change and the page's query
    /// parameters to `/undo` below the path of the page. Renders nothing if there is no such route.
    fn render_form(&self, desk: &Desk<'_>) -> Markup {
        let (path, query) = self.page.split_once('?').unwrap_or((&self.page, ""));
        let target = format!("{path}/undo");
        if (desk.visit.find_form_action)(&Method::POST, &target).is_none() {
            return html! {};
        }
        let query = Form::from_trusted_bytes(query.to_owned().into());
        html! {
            form data-undo method="post" action=(target) {
                (desk.key_field("undo"))
                input type="hidden" name=(CHANGE_FIELD) value=(self.seq);
                @if desk.visit.request.uri.path() == "/" { input type="hidden" name=(FROM_FIELD) value=(FROM_TODAY); }
                @for (name, value) in query.fields() { input type="hidden" name=(name) value=(value); }
                button { (texts().undo) }
            }
        }
    }

    /// Returns the path of the page, without its query if the cookie has no room for it.
    fn page_for_cookie(&self) -> &str {
        if self.page.len() <= MAX_PAGE_LENGTH {
            return &self.page;
        }
        self.page.split('?').next().unwrap_or_default()
    }
}

/// Returns the bytes to sign for a message. They include the member, so the signature is valid for
/// nobody else.
fn signed_text(desk: &Desk<'_>, text: &str) -> Vec<u8> {
    format!("message for staff {}: {text}", desk.session.member.id).into_bytes()
}

impl std::fmt::Display for Flash {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}.{}", self.code, self.id)?;
        if let Some(undo) = &self.undo {
            write!(formatter, ".{}.{}", undo.seq, undo.page_for_cookie())?;
        }
        Ok(())
    }
}

/// How long the message cookie lives, in seconds.
const MESSAGE_SECONDS: u32 = 60;

impl Reply {
    /// Renders the response. Fails with 503 if there is not enough response memory left for it.
    pub(super) async fn into_response(self, desk: &Desk<'_>) -> Result<Response, ApiError> {
        match self {
            Self::Page(page) => page.into_response(desk).await,
            Self::Redirect(path, flash) => {
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
            Self::Response(response) => Ok(response),
        }
    }
}

impl Page {
    /// Renders the page in its frame, with the pending flash message. A background request of a
    /// script leaves the message for the next page, because nobody would see it.
    async fn into_response(self, desk: &Desk<'_>) -> Result<Response, ApiError> {
        let visit = &desk.visit;
        let shows_message =
            Cookie::Message.get(visit).is_some() && !session::is_in_background(visit.request);
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
            last_change: desk.position,
            today: visit.facts.day_of(visit.now),
        };
        let html = layout::framed_page(&frame, &self.title, &self.content).into_string();
        let memory = &visit.console.edge.response_memory;
        let mut response = layout::html_response(self.status, memory.hold(html.into_bytes())?);
        if shows_message {
            Cookie::Message.clear(visit, &mut response);
        }
        Ok(response)
    }
}

/// Returns a CSV file, which the browser saves under this name. Fails with 503 if there is not
/// enough response memory left.
fn csv_response(desk: &Desk<'_>, name: &str, content: Vec<u8>) -> Result<Response, ApiError> {
    let memory = &desk.visit.console.edge.response_memory;
    let content = memory.hold(content)?.into();
    let mut response = layout::response_of_type("text/csv; charset=utf-8", content);
    let disposition = format!("attachment; filename=\"{name}\"");
    // Without the header, the browser shows the file instead of saving it.
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
