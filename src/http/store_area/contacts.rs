//! The contacts of orders in responses: only for those who may change orders.

use hyper::header::{self, HeaderValue};

use super::shared::StoreArea;
use crate::{
    app::Caller,
    domain::{
        Scope,
        store_area::{Change, Contact, Order, OrderId, Resource},
    },
    edge::{ApiError, Response},
    json,
};

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
/// only those who may change orders can give commands. `changes` are those that were just made.
pub(super) async fn add(
    area: &StoreArea,
    body: Vec<u8>,
    changes: &[Change],
) -> Result<Vec<u8>, ApiError> {
    let mut contacts = Vec::new();
    for id in json::orders_in(&body) {
        contacts.push(match after(changes, id) {
            Some(order) => order.contact.clone(),
            None => current(area, id).await?,
        });
    }
    if contacts.iter().all(Option::is_none) {
        return Ok(body);
    }
    Ok(json::with_contacts(&body, &contacts))
}

/// The order after the changes, if one of them is of it.
fn after(changes: &[Change], id: OrderId) -> Option<&Order> {
    changes.iter().rev().find_map(|change| match &change.after {
        Some(Resource::Order(order)) if order.id == id => Some(order),
        _ => None,
    })
}

async fn current(area: &StoreArea, id: OrderId) -> Result<Option<Contact>, ApiError> {
    Ok(area.app.store.get_order(id).await?.and_then(|order| order.contact))
}
