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

/// Closes or reopens an order: `POST /v1/store/orders/{orderId}/complete`, `/cancel`, `/return` or `/reopen`.
pub(crate) async fn act(
    area: &StoreArea,
    call: Call<'_>,
    act: OrderAct,
) -> Result<Response, ApiError> {
    let preconditions = preconditions::from_headers(&call.request.headers)?;
    let write = Write::read(area, call, Some(Accepted::JsonOrNothing)).await?;
    let members = write.members(act.member_names())?;
    let command = act.read_command(area, &members, write.order_id(), preconditions, write.now)?;
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

    /// Parses the members of the body into a command. Fails with 400 if a member is invalid. `id` is the
    /// result of parsing the id: its error comes second, because a client should first learn of an invalid
    /// body.
    pub(super) fn read_command(
        self,
        area: &StoreArea,
        members: &Members<'_>,
        id: Result<OrderId, ApiError>,
        preconditions: Preconditions,
        now: Timestamp,
    ) -> Result<Command, ApiError> {
        match self {
            Self::Complete => {
                let CompleteOrder { price } = members.read()?;
                Ok(Command::CompleteOrder {
                    id: id?,
                    price,
                    preconditions,
                })
            }
            Self::Cancel => {
                let EndOrder { reason } = members.read()?;
                Ok(Command::CancelOrder {
                    id: id?,
                    reason,
                    preconditions,
                })
            }
            Self::Return => {
                let EndOrder { reason } = members.read()?;
                Ok(Command::ReturnOrder {
                    id: id?,
                    reason,
                    preconditions,
                })
            }
            Self::Reopen => {
                let ReopenOrder { expires_at } = members.read()?;
                Ok(Command::ReopenOrder {
                    id: id?,
                    expires_at,
                    default_end: area.app.commands.default_end(now),
                    preconditions,
                })
            }
        }
    }
}
