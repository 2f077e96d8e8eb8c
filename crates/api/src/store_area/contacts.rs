//! The contacts of orders in responses. They are personal data, so only callers with permission to change
//! orders get them.

use hyper::header::{self, HeaderValue};
use petstore_app::Caller;
use petstore_domain::{
    Scope,
    store_area::{Change, Contact, Order, OrderId, Resource},
};
use petstore_formats::json;
use petstore_store::StoreError;
use petstore_web::edge::Response;

use super::shared::StoreArea;

/// Returns the function that renders an order for this caller, with or without the contact.
pub(super) fn order_writer(caller: Option<&Caller>) -> fn(&mut Vec<u8>, &Order) {
    if caller.is_some_and(|caller| caller.may(Scope::StoreWrite)) {
        json::write_order_with_contact
    } else {
        json::write_order
    }
}

/// Adds `Vary: Authorization` to a response that depends on the permissions of the caller.
pub(super) fn vary_by_key(mut response: Response) -> Response {
    let authorization = HeaderValue::from_static("Authorization");
    response.headers_mut().append(header::VARY, authorization);
    response
}

/// Whether an order may have a contact after these changes. Without changes, nothing is known about the
/// orders, so the result is `true`.
pub(super) fn may_exist_after(changes: &[Change]) -> bool {
    changes.is_empty() || changes.iter().any(|change| contact_after(change).is_some())
}

/// Inserts the present contacts of the orders into `body`, the response to commands.
///
/// Responses are rendered and remembered without contacts, so that erasing a contact erases it everywhere.
/// Every client that may run the commands may also see the contacts. `changes` are the changes that the
/// commands have just made. It is empty for a retry.
pub(super) async fn add_contacts(
    area: &StoreArea,
    body: Vec<u8>,
    changes: &[Change],
) -> Result<Vec<u8>, StoreError> {
    let mut contacts = Vec::new();
    for id in json::order_ids_without_contact(&body) {
        contacts.push(find_present_contact(area, changes, id).await?);
    }
    if contacts.iter().all(Option::is_none) {
        return Ok(body);
    }
    Ok(json::insert_contacts(&body, &contacts))
}

/// Finds the present contact of an order: in the last of `changes` that concerns the order, or else in the
/// store.
async fn find_present_contact(
    area: &StoreArea,
    changes: &[Change],
    id: OrderId,
) -> Result<Option<Contact>, StoreError> {
    let contact = match find_last_change(changes, id) {
        Some(change) => Ok(contact_after(change).cloned()),
        None => read_contact(area, id).await,
    };
    contact.map_err(|error| {
        if changes.is_empty() {
            error
        } else {
            // The changes were made, so the error must not claim that nothing was changed.
            error.into_unknown_outcome()
        }
    })
}

/// Finds the last of the changes that concerns the order.
fn find_last_change(changes: &[Change], id: OrderId) -> Option<&Change> {
    changes.iter().rev().find(|change| {
        let order = change.after.as_ref().and_then(Resource::order);
        order.is_some_and(|order| order.id == id)
    })
}

/// Returns the contact that the changed order has after a change. Returns `None` if it has no contact, or if
/// the change does not concern an order.
fn contact_after(change: &Change) -> Option<&Contact> {
    change.after.as_ref()?.order()?.contact.as_ref()
}

/// Reads the present contact of an order from the store.
async fn read_contact(area: &StoreArea, id: OrderId) -> Result<Option<Contact>, StoreError> {
    Ok(area
        .app
        .store
        .get_order(id)
        .await?
        .and_then(|order| order.contact))
}
