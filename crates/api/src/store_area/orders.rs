//! The operations that list, place, read and change orders. The operations that close or reopen one are in
//! `order_acts.rs`.

use std::borrow::Cow;

use jiff::Timestamp;
use petstore_domain::{
    PetId,
    store_area::{Command, NewOrder, Order, OrderId, OrderPatch, OrderQuery, Reference},
    text,
};
use petstore_formats::json::PlaceOrder;
use petstore_web::edge::{ApiError, Response, body::Accepted};

use super::{
    contacts,
    cursor::{self, Walk},
    members::{Body, Members},
    page::{self, ElementRenderer},
    preconditions,
    shared::StoreArea,
    subjects, wire,
    write::Write,
};
use crate::{context::Call, query};

/// The parameters of `listOrders`.
const LIST_PARAMETERS: [&str; 5] = ["status", "petId", "reference", "limit", "cursor"];

/// Lists orders, with a link to the next page: `GET /v1/store/orders`.
pub(crate) async fn list_orders(
    area: &StoreArea,
    Call {
        request, caller, ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    let parameters = query::parameters(request.uri.query(), LIST_PARAMETERS)?;
    let mut query = parse_query(&parameters)?;
    query::check_utf8(request.uri.query())?;
    let [status, pet_id, reference, _, cursor] = &parameters;
    let filters = [
        ("status", status.as_deref()),
        ("petId", pet_id.as_deref()),
        ("reference", reference.as_deref()),
    ];
    let walk = Walk::new(cursor::ORDERS, &filters.map(|(_, value)| value));
    query.after = walk.id_before_page(cursor.as_deref(), OrderId::new)?;

    let _turn = area.turns.take(caller).await?;
    // The list is empty if no animal can have the requested id.
    let has_impossible_pet_id = pet_id.is_some() && query.pet_id.is_none();
    let (orders, last_id) = if has_impossible_pet_id {
        (Vec::new(), None)
    } else {
        area.app.store.list_orders(&query).await?
    };

    let next = last_id.and_then(|id| {
        let cursor = walk.encode_id(id.get());
        page::next_link(area, "/store/orders", query.limit, &filters, &cursor)
    });
    let renderer = ElementRenderer {
        texts_length: Order::length,
        write: contacts::order_writer(caller),
    };
    let response = page::respond(area, request, orders, renderer, next).await?;
    Ok(contacts::vary_by_key(response))
}

/// Parses all parameters except the cursor.
///
/// If no animal can have the requested id, the query has no `pet_id`. The caller must handle this case, in
/// which the list is empty.
fn parse_query(
    [status, pet_id, reference, limit, _]: &[Option<Cow<'_, str>>; LIST_PARAMETERS.len()],
) -> Result<OrderQuery, ApiError> {
    let pet_number = query::parse_parameter(
        "petId",
        pet_id.as_ref(),
        text::parse_integer,
        query::AN_INTEGER,
    )?;
    Ok(OrderQuery {
        status: query::parse_parameter(
            "status",
            status.as_ref(),
            |text| text.parse().ok(),
            "one of reserved, completed, cancelled, expired and returned",
        )?,
        pet_id: pet_number.and_then(PetId::new),
        reference: query::parse_parameter(
            "reference",
            reference.as_ref(),
            |text| Reference::new(text.to_owned()),
            &Reference::rule(),
        )?,
        limit: query::parse_limit(limit.as_ref())?,
        newest_first: false,
        after: None,
    })
}

/// Places an order: `POST /v1/store/orders`.
pub(crate) async fn place_order(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read_with_key(area, call).await?;
    let members = write.members(PlaceOrder::NAMES)?;
    let new_order = read_new_order(area, &members, write.now)?;
    write
        .execute(area, Command::PlaceOrder(new_order), wire::created_result)
        .await
}

/// Parses the members of `placeOrder`. Fails with 400 if one is invalid, and with 404 if no animal can have
/// the id.
pub(super) fn read_new_order(
    area: &StoreArea,
    members: &Members<'_>,
    now: Timestamp,
) -> Result<NewOrder, ApiError> {
    let order: PlaceOrder = members.read()?;
    let pet_id = subjects::pet_id(order.pet_id)?;
    Ok(order.into_order(pet_id, area.app.commands.default_end(now)))
}

/// Reads an order: `GET /v1/store/orders/{orderId}`.
pub(crate) async fn get_order(
    area: &StoreArea,
    Call {
        request,
        parameter,
        caller,
        ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    query::reject_parameters(request.uri.query())?;
    let order = subjects::find_order(area, subjects::order_id_in_path(parameter)?).await?;
    let write_order = contacts::order_writer(caller);
    let body = wire::render(|out| write_order(out, &order));
    let response = wire::respond_with_body(area, request, body, order.version)?;
    Ok(contacts::vary_by_key(response))
}

/// Changes the texts, the price or the contact of an order, or extends its reservation:
/// `PATCH /v1/store/orders/{orderId}`.
pub(crate) async fn patch_order(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::Patch)).await?;
    let patch = write.members(OrderPatch::NAMES)?.read()?;
    let command = Command::PatchOrder {
        id: write.order_id()?,
        patch,
        preconditions,
    };
    write.execute(area, command, wire::first_result).await
}
