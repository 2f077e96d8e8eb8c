//! The operations on orders.

use jiff::Timestamp;
use petstore_domain::{
    PetId,
    store_area::{
        Command, Decimal, NewOrder, Order, OrderId, OrderPatch, OrderQuery, Patch, Preconditions,
        Reason, Reference,
    },
    text,
};
use petstore_formats::json::PlaceOrder;
use petstore_web::edge::{ApiError, Response, body::Accepted};

use super::{
    contacts,
    cursor::{self, Walk},
    members::{Body, Members, bodies},
    page::{self, Element},
    preconditions,
    shared::StoreArea,
    wire,
    write::{self, Write},
};
use crate::{context::Call, query};

bodies! {
    CompleteOrder: price;
    EndOrder: reason;
    ReopenOrder: expires_at as expiresAt;
}

/// The body of `completeOrder`.
pub(super) struct CompleteOrder {
    price: Patch<Decimal>,
}

/// The body of `cancelOrder` and `returnOrder`.
pub(super) struct EndOrder {
    reason: Option<Reason>,
}

/// The body of `reopenOrder`.
pub(super) struct ReopenOrder {
    expires_at: Option<Timestamp>,
}

/// `GET /v1/store/orders`: a page of orders, and a link to the next one.
pub(crate) async fn list_orders(
    area: &StoreArea,
    Call {
        request, caller, ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    let names = ["status", "petId", "reference", "limit", "cursor"];
    let [status, pet_id, reference, limit, cursor] = query::parameters(request.uri.query(), names)?;
    let is_status = "one of reserved, completed, cancelled, expired and returned";
    let wanted = query::filter(
        "petId",
        pet_id.as_ref(),
        text::parse_integer,
        query::AN_INTEGER,
    )?;
    let new_reference = |text: &str| Reference::new(text.to_owned());
    let mut query = OrderQuery {
        status: query::filter(
            "status",
            status.as_ref(),
            |text| text.parse().ok(),
            is_status,
        )?,
        pet_id: wanted.and_then(PetId::new),
        reference: query::filter(
            "reference",
            reference.as_ref(),
            new_reference,
            &Reference::rule(),
        )?,
        limit: query::limit(limit.as_ref())?,
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
    let _turn = area.turns.take(caller).await?;
    let (orders, next) = if is_impossible {
        (Vec::new(), None)
    } else {
        area.app.store.list_orders(&query).await?
    };
    let next = next.and_then(|id| {
        let cursor = walk.encode("", id.get());
        page::next_link(area, "/store/orders", query.limit, &filters, &cursor)
    });
    let element = Element {
        length: Order::length,
        write: contacts::writer(caller),
    };
    page::respond(area, request, orders, element, next)
        .await
        .map(contacts::vary)
}

/// `POST /v1/store/orders`.
pub(crate) async fn place_order(area: &StoreArea, call: Call<'_>) -> Result<Response, ApiError> {
    let write = Write::read_with_key(area, call).await?;
    let new_order = new(area, &write.members(PlaceOrder::NAMES)?, write.now)?;
    write
        .execute(area, Command::PlaceOrder(new_order), wire::created_result)
        .await
}

pub(super) fn new(
    area: &StoreArea,
    members: &Members<'_>,
    now: Timestamp,
) -> Result<NewOrder, ApiError> {
    let order: PlaceOrder = members.read()?;
    let pet_id = write::pet_id(Some(order.pet_id))?;
    Ok(order.into_order(pet_id, area.app.commands.default_end(now)))
}

/// `GET /v1/store/orders/{orderId}`.
pub(crate) async fn get_order(
    area: &StoreArea,
    Call {
        request,
        parameter,
        caller,
        ..
    }: Call<'_>,
) -> Result<Response, ApiError> {
    let [] = query::parameters(request.uri.query(), [])?;
    let id = write::order_id(query::path_integer(parameter))?;
    let order = area
        .app
        .store
        .get_order(id)
        .await?
        .ok_or_else(write::no_order)?;
    let body = wire::render(|out| contacts::writer(caller)(out, &order));
    wire::respond_with(area, request, body, order.version).map(contacts::vary)
}

/// `PATCH /v1/store/orders/{orderId}`: changes texts, the price and the contact, or extends a reservation.
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

/// The operations that close or reopen an order, also as commands of a batch.
#[derive(Clone, Copy)]
pub(crate) enum Act {
    /// Sells the reserved animal.
    Complete,
    /// Ends a reservation.
    Cancel,
    /// Undoes a sale.
    Return,
    /// Reserves the animal again.
    Reopen,
}

/// `POST /v1/store/orders/{orderId}/complete`, `/cancel`, `/return` and `/reopen`.
pub(crate) async fn act(area: &StoreArea, call: Call<'_>, act: Act) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::JsonOrNothing)).await?;
    let members = write.members(act.names())?;
    let command = act.command(area, &members, write.order_id(), preconditions, write.now)?;
    write.execute(area, command, wire::first_result).await
}

impl Act {
    /// Returns the members that its body can have, and its command in a batch.
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            Self::Complete => CompleteOrder::NAMES,
            Self::Cancel | Self::Return => EndOrder::NAMES,
            Self::Reopen => ReopenOrder::NAMES,
        }
    }

    pub(super) fn command(
        self,
        area: &StoreArea,
        members: &Members<'_>,
        id: Result<OrderId, ApiError>,
        preconditions: Preconditions,
        now: Timestamp,
    ) -> Result<Command, ApiError> {
        Ok(match self {
            Self::Complete => {
                let CompleteOrder { price } = members.read()?;
                Command::CompleteOrder {
                    id: id?,
                    price,
                    preconditions,
                }
            }
            Self::Cancel => {
                let EndOrder { reason } = members.read()?;
                Command::CancelOrder {
                    id: id?,
                    reason,
                    preconditions,
                }
            }
            Self::Return => {
                let EndOrder { reason } = members.read()?;
                Command::ReturnOrder {
                    id: id?,
                    reason,
                    preconditions,
                }
            }
            Self::Reopen => {
                let ReopenOrder { expires_at } = members.read()?;
                let default_end = area.app.commands.default_end(now);
                Command::ReopenOrder {
                    id: id?,
                    expires_at,
                    default_end,
                    preconditions,
                }
            }
        })
    }
}
