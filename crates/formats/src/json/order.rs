//! Orders as JSON: the bodies of requests, and the representations for clients, the log of changes,
//! and files.

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
    declared::{Keywords, enum_keywords},
    members::{Member, Members, Value, bodies, values},
    resource::{AddedMember, Audience, DeclaredResource, resource},
};

resource!(Order: id, pet_id as petId, status, reference, note, reason, expires_at as expiresAt,
    created_at as createdAt, closed_at as closedAt; version, since price, private contact, file holds);

bodies! {
    PlaceOrder: pet_id as petId, status, reference, note, expires_at as expiresAt, price, contact;
    OrderPatch: reference, note, expires_at as expiresAt, price, contact;
}

/// The members that older representations of an order may lack.
pub const MEMBERS_ADDED_TO_ORDERS: &[AddedMember] = Order::ADDED_MEMBERS;

/// The body of `placeOrder`.
pub struct PlaceOrder {
    /// The id of the animal, which may not exist.
    pub pet_id: i64,
    status: Option<InitialStatus>,
    reference: Option<Reference>,
    note: Option<Note>,
    expires_at: ReservationEnd,
    price: Patch<Decimal>,
    contact: Patch<Contact>,
}

/// The status with which a new order begins.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum InitialStatus {
    #[default]
    Reserved,
    /// The animal is sold at once, without a reservation.
    Completed,
}

/// The end of a reservation. An order that is completed at once has none.
struct ReservationEnd(Option<Timestamp>);

values! {
    InitialStatus: "reserved or completed",
        |value| match &*super::as_string(value)? {
            "reserved" => Some(Self::Reserved),
            "completed" => Some(Self::Completed),
            _ => None,
        },
        enum_keywords(&["reserved", "completed"]);
}

impl Member for ReservationEnd {
    const IS_REQUIRED: bool = false;
    const IS_NULLABLE: bool = false;

    fn keywords() -> Keywords {
        <Timestamp as Value>::keywords()
    }

    /// Reads the member, which is only allowed if the member `status` makes the order a
    /// reservation.
    fn from_body(members: &Members<'_>, name: &str) -> Result<Self, Invalid> {
        let status: InitialStatus = members.optional("status")?.unwrap_or_default();
        let end = members.optional(name)?;
        if status == InitialStatus::Completed && end.is_some() {
            return Err(Invalid::from_reason(
                "expiresAt is only for a reservation; an order with the status completed has no end.",
            ));
        }
        Ok(Self(end))
    }
}

impl PlaceOrder {
    /// Returns the new order for this animal. A reservation ends at `default_end` if the body names
    /// no end.
    pub fn into_order(self, pet_id: PetId, default_end: Timestamp) -> NewOrder {
        let ReservationEnd(named_end) = self.expires_at;
        let terms = match self.status.unwrap_or_default() {
            InitialStatus::Reserved => OrderTerms::ReservedUntil(named_end.unwrap_or(default_end)),
            InitialStatus::Completed => OrderTerms::Completed,
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

/// Writes an order without its contact: for the log of changes, for remembered responses, and for
/// callers without permission to see the contact.
pub fn write_order(out: &mut Vec<u8>, order: &Order) {
    order.write(out, Audience::All);
}

/// Writes an order with its contact, for callers with permission to see it.
pub fn write_order_with_contact(out: &mut Vec<u8>, order: &Order) {
    order.write(out, Audience::Staff);
}

/// Writes an order for an export. It also says whether the order holds its animal, which is then
/// reserved or sold because of this order.
pub(crate) fn write_exported_order(out: &mut Vec<u8>, order: &Order) {
    order.write(out, Audience::File);
}

/// Reads an order from an export, and checks that its members are consistent.
pub fn read_order(object: &[u8]) -> Result<Order, Invalid> {
    let order = Order::read_representation(object, "The order", Audience::File)?;
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

/// Reads an order from the log of changes, which has no contacts.
///
/// The log does not say whether the order holds its animal, but the status does: when a change made
/// the order reserved or completed, the animal had its own status because of the order.
pub(super) fn read_logged_order(object: &[u8]) -> Result<Order, Invalid> {
    let order = Order::read_representation(object, "The order", Audience::All)?;
    let holds = matches!(order.status, OrderStatus::Reserved | OrderStatus::Completed);
    Ok(Order { holds, ..order })
}
