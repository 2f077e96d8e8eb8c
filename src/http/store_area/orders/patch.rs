//! `patchOrder`: `PATCH /v1/store/orders/{orderId}`.

use super::super::{
    members::{NOTE, REFERENCE, TIME},
    preconditions, wire,
    write::{self, Write},
};
use crate::{
    domain::store_area::{Command, OrderPatch},
    http::{App, Response, body::Accepted, error::ApiError, query, routes::Call},
};

/// Changes members of an order, or extends a reservation.
pub(in crate::http) async fn patch(app: &App, call: Call<'_>) -> Result<Response, ApiError> {
    let id = query::path_integer(call.parameter);
    let preconditions = preconditions::of(&call.request.headers)?;
    let write = Write::read(app, call, Some(Accepted::Patch)).await?;
    let members = write.members(&["reference", "note", "expiresAt"])?;
    let patch = OrderPatch {
        reference: members.patch("reference", &REFERENCE)?,
        note: members.patch("note", &NOTE)?,
        expires_at: members.optional("expiresAt", &TIME)?,
    };
    let command = Command::PatchOrder { id: write::order_id(id)?, patch, preconditions };
    write.execute(app, command, wire::one).await
}
