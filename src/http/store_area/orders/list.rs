//! `listOrders`: `GET /v1/store/orders`.

use super::super::{
    cursor::{self, Walk},
    page::{self, Element},
};
use crate::{
    domain::{
        PetId,
        store_area::{Order, OrderId, OrderQuery, Reference},
    },
    http::{App, Response, error::ApiError, query, routes::Call},
    json, text,
};

/// Responds with a page of orders and a link to the next one.
pub(in crate::http) async fn list(
    app: &App,
    Call { request, .. }: Call<'_>,
) -> Result<Response, ApiError> {
    let names = ["status", "petId", "reference", "limit", "cursor"];
    let [status, pet_id, reference, limit, cursor] = query::parameters(request.uri.query(), names)?;
    let is_status = "one of reserved, completed, cancelled, expired and returned";
    let is_reference = "at most 255 characters without U+0000";
    let wanted = page::filter("petId", pet_id.as_ref(), text::integer, page::AN_INTEGER)?;
    let new_reference = |text: &str| Reference::new(text.to_owned());
    let mut query = OrderQuery {
        status: page::filter("status", status.as_ref(), |text| text.parse().ok(), is_status)?,
        pet_id: wanted.and_then(PetId::new),
        reference: page::filter("reference", reference.as_ref(), new_reference, is_reference)?,
        limit: page::limit(limit.as_ref())?,
        newest_first: false,
        after: None,
    };
    query::check_utf8(request.uri.query())?;
    let filters = [
        ("status", status.as_deref()),
        ("petId", pet_id.as_deref()),
        ("reference", reference.as_deref()),
    ];
    let walk = Walk::new(cursor::ORDERS, &filters.map(|(_, value)| value));
    if let Some(cursor) = cursor {
        let (_, id) = walk.decode(&cursor)?;
        query.after = Some(OrderId::new(id).ok_or_else(cursor::invalid)?);
    }
    // No animal can have another id, so there is no order for it.
    let is_impossible = wanted.is_some() && query.pet_id.is_none();
    let (orders, next) =
        if is_impossible { (Vec::new(), None) } else { app.store.list_orders(&query).await? };
    let next = next.and_then(|id| {
        let cursor = walk.encode("", id.get());
        page::next_link(app, "/store/orders", query.limit, &filters, &cursor)
    });
    page::respond(app, request, orders, Element { length, write: json::write_order }, next).await
}

fn length(order: &Order) -> usize {
    let of_reference = order.reference.as_ref().map_or(0, |text| text.as_str().len());
    let of_note = order.note.as_ref().map_or(0, |text| text.as_str().len());
    of_reference + of_note + order.reason.as_ref().map_or(0, |text| text.as_str().len())
}
