//! The contacts of orders in responses: only for callers with permission to change orders.

use hyper::header::{self, HeaderValue};
use petstore_app::Caller;
use petstore_domain::{
    Scope,
    store_area::{Change, Contact, Order, OrderId},
};
use petstore_formats::json;
use petstore_store::StoreError;
use petstore_web::edge::Response;

use super::shared::StoreArea;

/// How this caller gets an order that it reads.
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

/// The response to commands with the contacts that its orders have now. It is kept without them, and
/// only callers with permission to change orders can give commands. `changes` are those that were just made;
/// `has_all` says whether each order of the response is among them.
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
    for id in json::orders_in(&body) {
        contacts.push(match after(changes, id) {
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

/// The last change of the order.
fn after(changes: &[Change], id: OrderId) -> Option<&Change> {
    let order = |change: &Change| Some(change.after.as_ref()?.order()?.id);
    changes
        .iter()
        .rev()
        .find(|change| order(change) == Some(id))
}

fn contact_after(change: &Change) -> Option<&Contact> {
    change.after.as_ref()?.order()?.contact.as_ref()
}

async fn current(area: &StoreArea, id: OrderId) -> Result<Option<Contact>, StoreError> {
    Ok(area
        .app
        .store
        .get_order(id)
        .await?
        .and_then(|order| order.contact))
}
