//! Orders as JSON: the bodies of requests, and the representations for clients, for the log of changes and for files.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use jiff::Timestamp;
use petstore_domain::{
    PetId,
    store_area::{
        Contact, Decimal, NewOrder, Note, Order, OrderPatch, OrderStatus, OrderTerms, Patch,
        Reference,
    },
};

use super::{
    Invalid,
    declared::{Keywords, keywords_of_words},
    members::{Member, Members, Value, bodies, values},
    resource::{Readers, Resource, resource},
};

resource!(Order: id, pet_id as petId, status, reference, note, reason, expires_at as expiresAt,
    created_at as createdAt, closed_at as closedAt; version, since price, private contact, file holds);

bodies! {
    PlaceOrder: pet_id as petId, status, reference, note, end as expiresAt, price, contact;
    OrderPatch: reference, note, expires_at as expiresAt, price, contact;
}

/// The body of `placeOrder`.
pub struct PlaceOrder {
    pub pet_id: i64,
    status: Option<IsCompleted>,
    reference: Option<Reference>,
    note: Option<Note>,
    end: End,
    price: Patch<Decimal>,
    contact: Patch<Contact>,
}

/// The status of a new order: whether it is completed at once.
#[derive(Default)]
struct IsCompleted(bool);

/// The end of a reservation, which an order that is completed at once has not.
struct End(Option<Timestamp>);

values! {
    IsCompleted: "reserved or completed",
        |value| match &*super::string(value)? {
            "reserved" => Some(Self(false)),
            "completed" => Some(Self(true)),
            _ => None,
        },
        keywords_of_words(&["reserved", "completed"]);
}

impl Member for End {
    const IS_REQUIRED: bool = false;
    const IS_NULLABLE: bool = false;

    fn keywords() -> Keywords {
        <Timestamp as Value>::keywords()
    }

    fn from_body(members: &Members<'_>, name: &str) -> Result<Self, Invalid> {
        let IsCompleted(is_completed) = members.optional("status")?.unwrap_or_default();
        let end = members.optional(name)?;
        if is_completed && end.is_some() {
            return Err(Invalid::from_reason(
                "expiresAt is only for a reservation; an order with the status completed has no end.",
            ));
        }
        Ok(Self(end))
    }
}

impl PlaceOrder {
    /// Returns the new order for this animal, a reservation until `default_end` if the body names no end.
    pub fn into_order(self, pet_id: PetId, default_end: Timestamp) -> NewOrder {
        let IsCompleted(is_completed) = self.status.unwrap_or_default();
        let terms = if is_completed {
            OrderTerms::Completed
        } else {
            OrderTerms::ReservedUntil(self.end.0.unwrap_or(default_end))
        };
        NewOrder {
            pet_id,
            terms,
            reference: self.reference,
            note: self.note,
            price: self.price,
            contact: self.contact.into_value(),
        }
    }
}

/// Writes an order without its contact, for the log of changes, for remembered responses, and for callers without
/// permission to see the contact.
pub fn write_order(out: &mut Vec<u8>, order: &Order) {
    order.write(out, Readers::All);
}

pub fn write_order_with_contact(out: &mut Vec<u8>, order: &Order) {
    order.write(out, Readers::Staff);
}

/// Writes an order for an export, which has also whether the order holds its animal.
pub(crate) fn write_whole_order(out: &mut Vec<u8>, order: &Order) {
    order.write(out, Readers::File);
}

/// The members that an older representation of an order may not have, as `"name":` and `,"name":null`.
pub const MEMBERS_ADDED_TO_ORDERS: &[[&str; 2]] = Order::ADDED_MEMBERS;

/// Reads an order in an export, and checks that its members agree.
pub fn read_order(object: &[u8]) -> Result<Order, Invalid> {
    let order = Order::read_representation(object, "The order", Readers::File)?;
    let is_open = order.status == OrderStatus::Reserved;
    if is_open != order.closed_at.is_none() {
        return Err(Invalid::from_reason(
            "closedAt must be null for a reserved order, and for no other",
        ));
    }
    if is_open && order.expires_at.is_none() {
        return Err(Invalid::from_reason(
            "expiresAt must not be null for a reserved order",
        ));
    }
    if order.status != OrderStatus::Completed && order.holds != is_open {
        return Err(Invalid::from_reason(
            "holds must be true for a reserved order, and false for a cancelled, expired or \
             returned one",
        ));
    }
    Ok(order)
}

/// Reads an order in the log of changes, which has no contact. It holds its animal by its status: when a change
/// was logged that made an order reserved or completed, the animal had its status because of the order.
pub(super) fn read_logged_order(object: &[u8]) -> Result<Order, Invalid> {
    let order = Order::read_representation(object, "The order", Readers::All)?;
    let holds = matches!(order.status, OrderStatus::Reserved | OrderStatus::Completed);
    Ok(Order { holds, ..order })
}
