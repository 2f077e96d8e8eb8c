//! The flash message, which reports the last action of a member on the next page. A signed cookie
//! carries it there.
//!
//! Its "Undo" button reverts an act: all changes that one request made. An act has no number of
//! its own. The number of any of its changes in the journal identifies it.

use std::fmt;

use hyper::Method;
use maud::{Markup, html};
use petstore_domain::{
    PetId,
    store_area::{OrderId, StorePet},
    text,
};
use petstore_languages::{console_texts as texts, window_texts};
use petstore_web::edge::{ApiError, Response};

use crate::{
    cookies::Cookie,
    desk::Desk,
    markup,
    visit::{Form, Visit},
    wording::{self, FlashText},
};

/// The form field that names the page of the pressed button, to which the redirect leads back.
pub(crate) const FROM_FIELD: &str = "from";

/// The value of [`FROM_FIELD`] on the page Today, whose path is `/`.
pub(crate) const FROM_TODAY: &str = "today";

/// The form field of an "Undo" button that identifies the act to undo: the number of one of its
/// changes.
pub(crate) const CHANGE_FIELD: &str = "change";

/// The maximum length of a page's path and query in the message cookie, in bytes. Browsers limit a
/// cookie to 4,096 bytes.
const MAX_PAGE_LENGTH: usize = 2_000;

/// How long the message cookie lives, in seconds. The next page, which shows the message, is loaded
/// at once.
const MESSAGE_SECONDS: u32 = 60;

/// A message about the last action, which the next page shows once. The code selects the text: see
/// [`wording::compose_flash`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flash {
    /// The code of the text, such as `sold`.
    pub(crate) code: String,
    /// The id of the changed entry, or how many entries were changed; 0 if the message needs
    /// neither.
    pub(crate) id: i64,
    /// The act that the message reports, if a button can undo it.
    pub(crate) undo: Option<Undo>,
}

/// The act that the button "Undo" of a message reverts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Undo {
    /// The number of any change of the act in the journal.
    pub(crate) seq: i64,
    /// The path of the page that shows what the act changed, possibly with a query.
    pub(crate) page: String,
}

impl Flash {
    /// Returns a message without an "Undo" button.
    pub(crate) fn new(code: &str, id: i64) -> Self {
        Self {
            code: code.to_owned(),
            id,
            undo: None,
        }
    }

    /// Returns the message to show after an "Undo". A message such as "saved" would only repeat the
    /// previous message, so it becomes "undone", without an "Undo" button.
    pub(crate) fn into_undone(self) -> Self {
        match &*self.code {
            "saved" => Self::new("undone", self.id),
            "changed-many" => Self::new("undone-many", self.id),
            _ => self,
        }
    }

    /// Makes a message about one animal begin with the animal's name, by another code. Pages that
    /// list several animals need the name, all the more if the list no longer contains this animal.
    pub(crate) fn begin_with_animal_name(&mut self) {
        match &*self.code {
            "saved" => self.code = "animal-saved".to_owned(),
            "undone" => self.code = "animal-undone".to_owned(),
            _ => {}
        }
    }

    /// Reads the message from its cookie; `None` unless the service signed it for this member.
    pub(super) fn from_cookie(desk: &Desk<'_>) -> Option<Self> {
        let visit = &desk.visit;
        let (signature, text) = Cookie::Message.get(visit)?.split_once('.')?;
        if !visit.is_signature_of(signature, &signed_text(desk, text)) {
            return None;
        }
        Self::parse(text)
    }

    /// Stores the message in its cookie, for the next page. The value is signed, because the form
    /// of the "Undo" button contains values from it, which a forged cookie could otherwise choose.
    pub(super) fn set_cookie(&self, desk: &Desk<'_>, response: &mut Response) {
        let text = self.to_string();
        let signature = desk.visit.sign(&signed_text(desk, &text));
        let value = format!("{signature}.{text}");
        Cookie::Message.set_for_seconds(&desk.visit, response, &value, MESSAGE_SECONDS);
    }

    /// Parses the [`Display`](fmt::Display) form of a message: `CODE.ID`, or `CODE.ID.CHANGE.PAGE`
    /// if the act can be undone. Returns `None` for any other text.
    ///
    /// Example: `sold.5` reports the sale of order 5, and `sold.5.12./orders/5` also offers to undo
    /// the act of change 12.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        // The page is the last of at most four parts, because it can contain dots itself.
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
    pub(super) async fn show(&self, desk: &Desk<'_>) -> Result<Option<Markup>, ApiError> {
        let Some(FlashText { message, link }) = wording::compose_flash(&self.code, self.id) else {
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
            @if let Some(link) = link { " " a href=(link.path) { (link.label) } }
            @if let Some(undo) = &self.undo { " " (undo.render_form(desk)) }
        }))
    }

    /// Finds the animal that the message names. Returns `None` if the message names none, or if the
    /// animal no longer exists.
    ///
    /// Messages about orders name the animal, because staff know an order by its animal rather than
    /// by its number.
    async fn find_pet(&self, desk: &Desk<'_>) -> Result<Option<StorePet>, ApiError> {
        let pet_id = match self.code.as_str() {
            "animal-saved" | "animal-undone" => PetId::new(self.id),
            "reserved" | "sold" | "sale-undone" | "cancelled" | "returned" | "extended" => {
                self.find_pet_of_order(desk).await?
            }
            _ => None,
        };
        match pet_id {
            Some(id) => Ok(desk.store().get_store_pet(id).await?),
            None => Ok(None),
        }
    }

    /// Finds the animal of the order that the message is about. Returns `None` if the order no
    /// longer exists.
    async fn find_pet_of_order(&self, desk: &Desk<'_>) -> Result<Option<PetId>, ApiError> {
        let Some(id) = OrderId::new(self.id) else {
            return Ok(None);
        };
        let order = desk.store().get_order(id).await?;
        Ok(order.map(|order| order.pet_id))
    }
}

impl fmt::Display for Flash {
    /// Writes the text that [`Flash::parse`] parses. If the page of the "Undo" button is too long,
    /// the text has only its path.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.code, self.id)?;
        if let Some(undo) = &self.undo {
            write!(formatter, ".{}.{}", undo.seq, undo.page_for_cookie())?;
        }
        Ok(())
    }
}

impl Undo {
    /// Renders the "Undo" button. It submits the number of the change and the page's query
    /// parameters to `/undo` below the path of the page. Renders nothing if there is no such route.
    fn render_form(&self, desk: &Desk<'_>) -> Markup {
        let (path, query) = self.page.split_once('?').unwrap_or((&self.page, ""));
        let target = format!("{path}/undo");
        if (desk.visit.find_form_action)(&Method::POST, &target).is_none() {
            return html! {};
        }
        let parameters = Form::from_trusted_bytes(query.to_owned().into());
        html! {
            form data-undo method="post" action=(target) {
                (desk.idempotency_field("undo"))
                input type="hidden" name=(CHANGE_FIELD) value=(self.seq);
                @if desk.visit.request.uri.path() == "/" {
                    input type="hidden" name=(FROM_FIELD) value=(FROM_TODAY);
                }
                @for (name, value) in parameters.fields() {
                    input type="hidden" name=(name) value=(value);
                }
                button { (texts().undo) }
            }
        }
    }

    /// Returns the path of the page with its query, or only the path if the cookie has no room for
    /// the query.
    fn page_for_cookie(&self) -> &str {
        if self.page.len() <= MAX_PAGE_LENGTH {
            return &self.page;
        }
        self.page.split('?').next().unwrap_or_default()
    }
}

/// Whether the browser has a message for the next page, which need not be valid.
pub(super) fn has_cookie(visit: &Visit<'_>) -> bool {
    Cookie::Message.get(visit).is_some()
}

/// Makes the browser delete the message, because the response shows it.
pub(super) fn clear_cookie(visit: &Visit<'_>, response: &mut Response) {
    Cookie::Message.clear(visit, response);
}

/// Returns the bytes to sign for a message. They include the member, so the signature is valid for
/// nobody else.
fn signed_text(desk: &Desk<'_>, text: &str) -> Vec<u8> {
    format!("message for staff {}: {text}", desk.session.member.id).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_a_code_a_number_and_possibly_an_undo() {
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
    }

    #[test]
    fn an_unknown_code_has_no_text() {
        assert_eq!(wording::compose_flash("unknown", 1), None);
    }
}
