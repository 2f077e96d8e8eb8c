//! The order: a reservation or a sale of one animal.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use jiff::{SignedDuration, Timestamp};

use super::{Decimal, Patch, PrivateText, Text};
use crate::{PetId, pet::id, words::words};

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

/// The store's own number for an order, such as the number of an invoice. Opaque, and not personal data.
pub type Reference = Text<255>;

/// A remark for the people of the store.
pub type Note = Text<2000>;

pub type Reason = Text<255>;

/// The customer's contact data, as the staff write it, such as "Anna Miller, 0171 555 01 23". It is erased some time
/// after the order closed.
pub type Contact = PrivateText<500>;

/// An order for one animal. Times have milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Given by the store, and unique.
    pub id: OrderId,
    /// The animal, which never changes.
    pub pet_id: PetId,
    pub status: OrderStatus,
    /// The store's own number for the order.
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
    /// The price in the currency of the store.
    pub price: Option<Decimal>,
    /// The customer's contact data.
    pub contact: Option<Contact>,
    /// Whether the animal has its status because of this order: the order reserves it or has sold it, and nobody
    /// has changed its status since. At most one order holds an animal. Clients do not see this.
    pub holds: bool,
}

impl Order {
    /// The maximum duration of a reservation.
    pub const LONGEST_RESERVATION: SignedDuration = SignedDuration::from_hours(400 * 24);

    /// Returns the length of its texts, in bytes.
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

/// An order that is about to be placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOrder {
    pub pet_id: PetId,
    pub terms: OrderTerms,
    /// The store's own number for the order.
    pub reference: Option<Reference>,
    pub note: Option<Note>,
    pub price: Patch<Decimal>,
    /// The customer's contact data.
    pub contact: Option<Contact>,
}

impl NewOrder {
    /// Returns an order without reference, note, price and contact.
    pub fn new(pet_id: PetId, terms: OrderTerms) -> Self {
        Self {
            pet_id,
            terms,
            reference: None,
            note: None,
            price: Patch::Keep,
            contact: None,
        }
    }

    /// Returns the order with these values in place of its own. `expires_at` is ignored, because the terms of the order say
    /// when it ends.
    pub fn with_values(self, values: OrderPatch) -> Self {
        let OrderPatch {
            reference,
            note,
            expires_at: _,
            price,
            contact,
        } = values;
        Self {
            pet_id: self.pet_id,
            terms: self.terms,
            reference: reference.into_value(),
            note: note.into_value(),
            price,
            contact: contact.into_value(),
        }
    }

    /// Returns the order when it is placed, as a reservation without an end. `asking_price` is its price if the new order
    /// names none.
    pub(super) fn place(
        &self,
        id: OrderId,
        asking_price: Option<Decimal>,
        now: Timestamp,
    ) -> Order {
        let mut price = asking_price;
        self.price.apply(&mut price);
        Order {
            id,
            pet_id: self.pet_id,
            status: OrderStatus::Reserved,
            reference: self.reference.clone(),
            note: self.note.clone(),
            reason: None,
            expires_at: None,
            created_at: now,
            closed_at: None,
            version: 1,
            price,
            contact: self.contact.clone(),
            holds: true,
        }
    }
}

/// Whether an order reserves or sells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderTerms {
    ReservedUntil(Timestamp),
    Completed,
}

/// New values of an order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OrderPatch {
    pub reference: Patch<Reference>,
    pub note: Patch<Note>,
    /// The end of a reservation; `None` keeps it. A reservation always has an end.
    pub expires_at: Option<Timestamp>,
    /// The price, which only a reserved or completed order can change.
    pub price: Patch<Decimal>,
    pub contact: Patch<Contact>,
}

impl OrderPatch {
    /// Changes an order. The pattern has no `..`, so that no member is forgotten.
    pub(super) fn apply(&self, order: &mut Order) {
        let Self {
            reference,
            note,
            expires_at,
            price,
            contact,
        } = self;
        reference.apply(&mut order.reference);
        note.apply(&mut order.note);
        order.expires_at = expires_at.or(order.expires_at);
        price.apply(&mut order.price);
        contact.apply(&mut order.contact);
    }
}
