//! The operations that close or reopen an order: `completeOrder`, `cancelOrder`, `returnOrder` and
//! `reopenOrder`.

use jiff::Timestamp;
use petstore_domain::store_area::{Command, Decimal, OrderId, Patch, Preconditions, Reason};
use petstore_web::edge::{ApiError, Response, body::Accepted};

use super::{
    members::{Body, Members, bodies},
    preconditions,
    shared::StoreArea,
    wire,
    write::Write,
};
use crate::context::Call;

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

/// The operations that close or reopen an order, also as commands of a batch.
#[derive(Clone, Copy)]
pub(crate) enum OrderAct {
    /// Sells the reserved animal.
    Complete,
    /// Ends a reservation.
    Cancel,
    /// Undoes a sale.
    Return,
    /// Reserves the animal again.
    Reopen,
}

/// The body of an operation that closes or reopens an order.
pub(super) enum OrderActBody {
    Complete(CompleteOrder),
    Cancel(EndOrder),
    Return(EndOrder),
    Reopen(ReopenOrder),
}

/// Closes or reopens an order: `POST /v1/store/orders/{orderId}/complete`, `/cancel`, `/return` or `/reopen`.
pub(crate) async fn close_or_reopen(
    area: &StoreArea,
    call: Call<'_>,
    act: OrderAct,
) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::JsonOrNothing)).await?;
    let members = write.members(act.member_names())?;
    let body = act.parse_body(&members)?;
    let default_end = || area.app.commands.default_end(write.now);
    let command = body.into_command(write.order_id()?, preconditions, default_end);
    write.execute(area, command, wire::first_result).await
}

impl OrderAct {
    /// Returns the names of the members that the body of the operation can have.
    pub(super) fn member_names(self) -> &'static [&'static str] {
        match self {
            Self::Complete => CompleteOrder::NAMES,
            Self::Cancel | Self::Return => EndOrder::NAMES,
            Self::Reopen => ReopenOrder::NAMES,
        }
    }

    /// Parses the members of the body. Fails with 400 if a member is invalid.
    pub(super) fn parse_body(self, members: &Members<'_>) -> Result<OrderActBody, ApiError> {
        Ok(match self {
            Self::Complete => OrderActBody::Complete(members.read()?),
            Self::Cancel => OrderActBody::Cancel(members.read()?),
            Self::Return => OrderActBody::Return(members.read()?),
            Self::Reopen => OrderActBody::Reopen(members.read()?),
        })
    }
}

impl OrderActBody {
    /// Returns the command on the order with this id. `default_end` returns the end of a reopened
    /// reservation if the body has none.
    pub(super) fn into_command(
        self,
        id: OrderId,
        preconditions: Preconditions,
        default_end: impl FnOnce() -> Timestamp,
    ) -> Command {
        match self {
            Self::Complete(CompleteOrder { price }) => Command::CompleteOrder {
                id,
                price,
                preconditions,
            },
            Self::Cancel(EndOrder { reason }) => Command::CancelOrder {
                id,
                reason,
                preconditions,
            },
            Self::Return(EndOrder { reason }) => Command::ReturnOrder {
                id,
                reason,
                preconditions,
            },
            Self::Reopen(ReopenOrder { expires_at }) => Command::ReopenOrder {
                id,
                expires_at,
                default_end: default_end(),
                preconditions,
            },
        }
    }
}
