//! The contacts of orders in responses that are kept without them.

use memchr::memmem;
use petstore_domain::store_area::{Contact, OrderId};
use serde::Deserialize;

use super::write_string;

/// A member without a contact. In a text, the quotes are escaped, so this is nowhere else.
const NONE: &[u8] = b"\"contact\":null";

/// An animal or an order.
#[derive(Deserialize)]
struct Shown {
    id: i64,
    /// Only of an order.
    #[serde(rename = "petId")]
    pet: Option<i64>,
}

/// Returns the orders in a response that is kept, in their order.
pub fn orders_in(body: &[u8]) -> Vec<OrderId> {
    if memmem::find(body, NONE).is_none() {
        return Vec::new();
    }
    let shown: Vec<Shown> = if body.starts_with(b"[") {
        serde_json::from_slice(body).unwrap_or_default()
    } else {
        serde_json::from_slice(body).into_iter().collect()
    };
    let orders = shown.into_iter().filter(|shown| shown.pet.is_some());
    orders.filter_map(|order| OrderId::new(order.id)).collect()
}

/// Returns the response with the contacts of its orders, in their order.
pub fn with_contacts(body: &[u8], contacts: &[Option<Contact>]) -> Vec<u8> {
    let texts = contacts
        .iter()
        .flatten()
        .map(|contact| contact.as_str().len());
    let mut out = Vec::with_capacity(body.len() + texts.sum::<usize>());
    let mut copied = 0;
    for (at, contact) in memmem::find_iter(body, NONE).zip(contacts) {
        if let Some(contact) = contact {
            let null = at + NONE.len() - b"null".len();
            out.extend_from_slice(&body[copied..null]);
            write_string(&mut out, contact.as_str());
            copied = at + NONE.len();
        }
    }
    out.extend_from_slice(&body[copied..]);
    out
}
