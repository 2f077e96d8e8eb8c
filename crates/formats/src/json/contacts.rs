//! Inserts the contacts of orders into remembered responses, which are stored without this personal
//! data.

use memchr::memmem;
use petstore_domain::store_area::{Contact, OrderId};
use serde::Deserialize;

use super::write_string;

/// A missing contact. Within a JSON string, the quotes would be escaped, so these bytes are always
/// the member of an order.
const NO_CONTACT: &[u8] = b"\"contact\":null";

/// An animal or an order in a response.
#[derive(Deserialize)]
struct ResponseItem {
    id: i64,
    /// The id of the animal of an order. An animal does not have this member.
    #[serde(rename = "petId")]
    pet_id: Option<i64>,
}

/// Returns the identifiers of the orders in a response, in the order in which they occur. An order
/// that occurs twice is in the result twice. The result is empty if no contact is missing in the
/// response.
pub fn order_ids_without_contact(body: &[u8]) -> Vec<OrderId> {
    if memmem::find(body, NO_CONTACT).is_none() {
        return Vec::new();
    }
    let items: serde_json::Result<Vec<ResponseItem>> = if body.starts_with(b"[") {
        serde_json::from_slice(body)
    } else {
        serde_json::from_slice(body).map(|item| vec![item])
    };
    // The service has written the response, so items without this form are not orders.
    items
        .unwrap_or_default()
        .into_iter()
        .filter(|item| item.pet_id.is_some())
        .filter_map(|order| OrderId::new(order.id))
        .collect()
}

/// Inserts contacts into a response. The first `"contact":null` of the response becomes the first
/// contact, and so on. For `None`, the contact stays null.
///
/// `contacts` has one element for each of the [`order_ids_without_contact`].
pub fn insert_contacts(body: &[u8], contacts: &[Option<Contact>]) -> Vec<u8> {
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
