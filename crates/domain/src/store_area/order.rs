//! Orders: the reservation or sale of one animal.

#![expect(missing_docs, reason = "self-explanatory names need no doc")]

use jiff::{SignedDuration, Timestamp};

use super::{Decimal, Patch, PrivateText, Text};
use crate::{PetId, named_enum::named_enum, pet::id};

id! {
    /// The identifier of an order: from 1 to 2^53 - 1, ascending.
    OrderId
}

named_enum! {
    /// The status of an order. An order is open while it is reserved, and closed otherwise.
    pub enum OrderStatus {
        /// The animal is reserved until [`Order::expires_at`].
        Reserved = "reserved",
        /// The animal is sold.
        Completed = "completed",
        /// The reservation ended without a sale, by a command.
        Cancelled = "cancelled",
        /// The reservation ended without a sale, when its time was over.
        Expired = "expired",
        /// The sold animal came back.
        Returned = "returned",
    }
}

/// The store's own reference for an order, such as an invoice number. The service does not
/// interpret it. It must not contain personal data.
pub type Reference = Text<255>;

/// A remark for the staff.
pub type Note = Text<2000>;

/// The reason why an order was cancelled or returned.
pub type Reason = Text<255>;

/// The customer's contact data in free text, such as "Anna Miller, 0171 555 01 23". It is erased
/// some time after the order is closed.
pub type Contact = PrivateText<500>;

/// An order for one animal. Times have a resolution of one millisecond.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Assigned by the store, and unique.
    pub id: OrderId,
    /// The ordered animal. It never changes.
    pub pet_id: PetId,
    pub status: OrderStatus,
    /// The store's own reference for the order.
    pub reference: Option<Reference>,
    pub note: Option<Note>,
    pub reason: Option<Reason>,
    /// When the reservation expires, unless it is completed, cancelled or extended before. `None`
    /// for a direct sale. The value is kept when the order is closed.
    pub expires_at: Option<Timestamp>,
    pub created_at: Timestamp,
    /// When the order got its present status; `None` while it is open.
    pub closed_at: Option<Timestamp>,
    /// Starts at 1 and increases by one with each change.
    pub version: i64,
    /// The price, in the currency of the store.
    pub price: Option<Decimal>,
    /// The customer's contact data.
    pub contact: Option<Contact>,
    /// Whether the status of the animal results from this order. This is the case if the order
    /// reserves or sold the animal, and nobody has changed the status by hand since. At most one
    /// order holds an animal. Clients do not see this.
    pub holds: bool,
}

impl Order {
    /// The maximum duration of a reservation.
    pub const LONGEST_RESERVATION: SignedDuration = SignedDuration::from_hours(400 * 24);

    /// Returns the total length of the texts, in bytes.
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

/// An order to be placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOrder {
    pub pet_id: PetId,
    pub terms: OrderTerms,
    /// The store's own reference for the order.
    pub reference: Option<Reference>,
    pub note: Option<Note>,
    /// The price. [`Patch::Keep`] stands for the asking price of the animal.
    pub price: Patch<Decimal>,
    /// The customer's contact data.
    pub contact: Option<Contact>,
}

impl NewOrder {
    /// Creates an order without reference, note, price or contact.
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

    /// Returns the order with all optional values from a patch. `expires_at` is ignored, because
    /// the terms of the order determine when it ends.
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

    /// Creates the order with this identifier, reserved or completed according to its terms.
    ///
    /// `asking_price` is the price of the order, unless the new order sets or clears the price.
    pub(super) fn to_order(
        &self,
        id: OrderId,
        asking_price: Option<Decimal>,
        now: Timestamp,
    ) -> Order {
        let mut price = asking_price;
        self.price.apply(&mut price);
        let (status, expires_at, closed_at) = match self.terms {
            OrderTerms::ReservedUntil(end) => (OrderStatus::Reserved, Some(end), None),
            OrderTerms::Completed => (OrderStatus::Completed, None, Some(now)),
        };
        Order {
            id,
            pet_id: self.pet_id,
            status,
            reference: self.reference.clone(),
            note: self.note.clone(),
            reason: None,
            expires_at,
            created_at: now,
            closed_at,
            version: 1,
            price,
            contact: self.contact.clone(),
            holds: true,
        }
    }
}

/// The terms of a new order: it reserves the animal, or sells it at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderTerms {
    /// The animal is reserved until this time.
    ReservedUntil(Timestamp),
    /// The animal is sold.
    Completed,
}

/// A change of an order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OrderPatch {
    pub reference: Patch<Reference>,
    pub note: Patch<Note>,
    /// The new end of the reservation; `None` keeps it. There is no way to clear it, because a
    /// reservation always has an end.
    pub expires_at: Option<Timestamp>,
    /// The new price. Only the price of a reserved or completed order can change.
    pub price: Patch<Decimal>,
    pub contact: Patch<Contact>,
}

impl OrderPatch {
    /// Applies the patch to an order. The pattern has no `..`, so that a new member cannot be
    /// forgotten here.
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
