//! `returnOrder`: `POST /v1/store/orders/{orderId}/return`.

use super::super::{
    members::REASON,
    wire,
    write::{self, Write},
};
use crate::{
    domain::store_area::Command,
    http::{App, Response, body::Accepted, error::ApiError, query, routes::Call},
};

/// Undoes a sale.
pub(in crate::http) async fn return_order(app: &App, call: Call<'_>) -> Result<Response, ApiError> {
    let id = query::path_integer(call.parameter);
    let write = Write::read(app, call, Some(Accepted::JsonOrNothing)).await?;
    let reason = write.members(&["reason"])?.optional("reason", &REASON)?;
    let command = Command::ReturnOrder { id: write::order_id(id)?, reason };
    write.execute(app, command, wire::one).await
}
