//! The contacts of orders in remembered responses, which are stored without contacts.

use memchr::memmem;
use petstore_domain::store_area::{Contact, OrderId};
use serde::Deserialize;

use super::write_string;

/// The member of an order without a contact. In a text, its quotes are escaped, so no other part of a response has it.
const NO_CONTACT: &[u8] = b"\"contact\":null";

/// An animal or an order in a response.
#[derive(Deserialize)]
struct ResponseItem {
    id: i64,
    /// The animal of an order. An animal has no such member.
    #[serde(rename = "petId")]
    pet_id: Option<i64>,
}

/// Returns the identifiers of the orders in a response, as often and in the order in which they occur. Empty for a response
/// in which no contact is missing.
pub fn order_ids_without_contact(body: &[u8]) -> Vec<OrderId> {
    if memmem::find(body, NO_CONTACT).is_none() {
        return Vec::new();
    }
    let items: Vec<ResponseItem> = if body.starts_with(b"[") {
        serde_json::from_slice(body).unwrap_or_default()
    } else {
        serde_json::from_slice(body).into_iter().collect()
    };
    items
        .into_iter()
        .filter(|item| item.pet_id.is_some())
        .filter_map(|order| OrderId::new(order.id))
        .collect()
}

/// Returns a response with the contacts of its orders. `contacts` has one for each of [`order_ids_without_contact`]: the
/// first `"contact":null` of the response becomes the first contact, and so on. `None` stays null.
pub fn with_contacts(body: &[u8], contacts: &[Option<Contact>]) -> Vec<u8> {
    let contacts_length: usize = contacts
        .iter()
        .flatten()
        .map(|contact| contact.as_str().len())
        .sum();
    let mut out = Vec::with_capacity(body.len() + contacts_length);
    let mut copied_length = 0;
    for (position, contact) in memmem::find_iter(body, NO_CONTACT).zip(contacts) {
        if let Some(contact) = contact {
            let member_end = position + NO_CONTACT.len();
            let null_start = member_end - b"null".len();
            out.extend_from_slice(&body[copied_length..null_start]);
            write_string(&mut out, contact.as_str());
            copied_length = member_end;
        }
    }
    out.extend_from_slice(&body[copied_length..]);
    out
}
