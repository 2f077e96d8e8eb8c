//! The contacts of orders in responses: only for callers with permission to change orders.

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

/// Returns the function that writes an order for this caller.
pub(super) fn writer(caller: Option<&Caller>) -> fn(&mut Vec<u8>, &Order) {
    if caller.is_some_and(|caller| caller.may(Scope::StoreWrite)) {
        json::write_order_with_contact
    } else {
        json::write_order
    }
}

/// Says that another caller may get another response.
pub(super) fn vary(mut response: Response) -> Response {
    let by_key = HeaderValue::from_static("Authorization");
    response.headers_mut().append(header::VARY, by_key);
    response
}

/// Adds the present contacts of its orders to the response to commands. The response is stored without them, and
/// only callers with permission to change orders can give commands. `changes` are the changes that were just made;
/// `has_all` says whether they include each order of the response.
pub(super) async fn add(
    area: &StoreArea,
    body: Vec<u8>,
    changes: &[Change],
    has_all: bool,
) -> Result<Vec<u8>, StoreError> {
    if has_all && changes.iter().all(|change| contact_after(change).is_none()) {
        return Ok(body);
    }
    let mut contacts = Vec::new();
    for id in json::order_ids_without_contact(&body) {
        contacts.push(match last_change(changes, id) {
            Some(change) => contact_after(change).cloned(),
            // The changes are done, whatever becomes of this.
            None => current(area, id).await.map_err(|error| {
                if changes.is_empty() {
                    error
                } else {
                    error.into_unknown_outcome()
                }
            })?,
        });
    }
    if contacts.iter().all(Option::is_none) {
        return Ok(body);
    }
    Ok(json::with_contacts(&body, &contacts))
}

/// Returns the last change of the order.
fn last_change(changes: &[Change], id: OrderId) -> Option<&Change> {
    changes.iter().rev().find(|change| {
        let order = change.after.as_ref().and_then(Resource::order);
        order.is_some_and(|order| order.id == id)
    })
}

/// Returns the contact of an order after a change.
fn contact_after(change: &Change) -> Option<&Contact> {
    change.after.as_ref()?.order()?.contact.as_ref()
}

/// Reads the present contact of an order.
async fn current(area: &StoreArea, id: OrderId) -> Result<Option<Contact>, StoreError> {
    Ok(area
        .app
        .store
        .get_order(id)
        .await?
        .and_then(|order| order.contact))
}
