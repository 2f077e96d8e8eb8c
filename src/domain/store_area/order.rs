//! The order: a reservation or a sale of one animal.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use jiff::{SignedDuration, Timestamp};

use super::{Contact, Decimal};
use crate::domain::{PetId, pet::id, words::words};

id! {
    /// The identifier of an order: from 1 to 2^53 - 1, ascending.
    OrderId
}

words! {
    pub enum OrderStatus {
        /// The animal is reserved until [`Order::expires_at`]. The order is open.
        Reserved = "reserved",
        Completed = "completed",
        Cancelled = "cancelled",
        Expired = "expired",
        Returned = "returned",
    }
}

/// Unicode text of at most `MAX` characters (code points) without U+0000, which PostgreSQL cannot
/// store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text<const MAX: usize>(String);

impl<const MAX: usize> Text<MAX> {
    /// `None` if the text is longer than `MAX` characters, or contains U+0000.
    pub fn new(text: String) -> Option<Self> {
        (text.chars().nth(MAX).is_none() && !text.contains('\0')).then_some(Self(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The store's own number for an order, such as that of an invoice. Opaque, and not personal data.
pub type Reference = Text<255>;

/// A remark for people.
pub type Note = Text<2000>;

pub type Reason = Text<255>;

/// An order for one animal. Times have milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Given by the store, and unique.
    pub id: OrderId,
    /// The animal, which never changes.
    pub pet_id: PetId,
    pub status: OrderStatus,
    /// The store's own number for it.
    pub reference: Option<Reference>,
    pub note: Option<Note>,
    pub reason: Option<Reason>,
    /// When the reservation ends, unless it is completed, cancelled or extended before. `None` for
    /// a direct sale. It keeps its value when the order is closed.
    pub expires_at: Option<Timestamp>,
    pub created_at: Timestamp,
    /// When it got its present status; `None` while it is open.
    pub closed_at: Option<Timestamp>,
    /// From 1, one higher with each change.
    pub version: i64,
    /// In the currency of the store.
    pub price: Option<Decimal>,
    /// The customer's contact data.
    pub contact: Option<Contact>,
    /// Whether the animal has its status by this order: it is reserved or sold by it, and nobody
    /// changed its status since. At most one order holds an animal. Not shown to clients.
    pub holds: bool,
}

impl Order {
    /// How long a reservation lasts at most.
    pub const LONGEST_RESERVATION: SignedDuration = SignedDuration::from_hours(400 * 24);

    /// The length of its texts, in bytes.
    pub fn length(&self) -> usize {
        let texts = [
            self.reference.as_ref().map(Text::as_str),
            self.note.as_ref().map(Text::as_str),
            self.reason.as_ref().map(Text::as_str),
            self.contact.as_ref().map(Contact::as_str),
        ];
        texts.into_iter().flatten().map(str::len).sum()
    }
}
